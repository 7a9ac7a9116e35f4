"""Work on a Ray cluster: Ray schedules it, and does again what was lost with a worker or a machine."""

import logging
import os
import socket
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from ipaddress import IPv6Address, ip_address
from typing import Any, TypeVar

from aomultirl.engine import announcing, stepping
from aomultirl.engine.compiling import is_compiled

T = TypeVar("T")
R = TypeVar("R")
RETRIES = 4
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MISSING = "a Ray cluster needs ray: pip install 'aomultirl[cluster]'"
LOST = "it was lost again and again with the process or the machine that computed it"
TICK = 0.5
"""Seconds of waiting at a time: in between, signals are served, and machines counted."""
PATIENCE = 60.0
"""Seconds to wait for a machine when there is none."""
LOCAL_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_task_oom_retries": str(RETRIES)}
"""How a cluster of this machine alone is asked to listen to nobody else, and not to try for ever without memory.

Ray reads the first of them when it is imported, so nothing here imports Ray before they are set.
"""


class RayCluster:
    """A cluster that is there, or one that is started for this.

    Parameters
    ----------
    address
        "local" starts one on this machine that ends with the work; "auto" finds the one this machine is part of;
        HOST:PORT names one.
    workers
        for "local": how many processors it takes; all by default.
    """

    def __init__(self, address: str = "local", workers: int | None = None) -> None:
        self.address, self.workers = check_address(address), workers
        self._slots = workers or 1

    @property
    def slots(self) -> int:
        """Processors of the cluster while there is work for it; machines may come and go."""
        return self._slots

    def map(
        self, work: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R] | None = None
    ) -> Generator[R, None, None]:
        """As every executor; at most twice as many items as processors are handed over at a time."""
        with self._connected() as ray:
            if not is_compiled(stepping._run):
                announcing.announce()  # what is said on other machines nobody hears
            for number, result in enumerate(self._map(ray, work, items, lost)):
                if number == 0 and self.address == "local":
                    check_listens_here_only()  # now there are workers, too
                yield result

    def _map(
        self, ray: Any, work: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R] | None
    ) -> Generator[R, None, None]:
        task = ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(_call)
        shared = ray.put(work)
        waiting = list(reversed(items))
        under_way: dict[Any, T] = {}
        alive = time.monotonic()
        while waiting or under_way:
            self._slots = int(ray.cluster_resources().get("CPU", 0))
            alive = time.monotonic() if self._slots else alive
            if time.monotonic() - alive > PATIENCE:
                raise RuntimeError(f"no machine is left in the Ray cluster {self.address!r}; what was finished is kept")
            while waiting and len(under_way) < max(2, 2 * self._slots):
                item = waiting.pop()
                under_way[task.remote(shared, item)] = item
            for reference in ray.wait(list(under_way), num_returns=1, timeout=TICK)[0]:
                item = under_way.pop(reference)
                try:
                    result: R = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    raise error.cause from None
                except (
                    ray.exceptions.WorkerCrashedError,
                    ray.exceptions.NodeDiedError,
                    ray.exceptions.OutOfMemoryError,
                    ray.exceptions.ObjectLostError,
                ) as error:
                    why = f"{LOST} ({type(error).__name__})"
                    if lost is None:
                        raise RuntimeError(why) from None
                    result = lost(item, why)
                yield result

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        if self.address == "local":
            os.environ.update(LOCAL_ONLY)
        ray = import_ray()
        how: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "include_dashboard": False}
        if self.address == "local":
            how |= {"address": "local", "num_cpus": self.workers, "_node_ip_address": "127.0.0.1"}
        else:
            del how["include_dashboard"]
            how["address"] = self.address
            if (host := self._ring(ray)).startswith("127."):
                how["_node_ip_address"] = host
        try:
            ray.init(**how)
        except (ConnectionError, RuntimeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise ValueError(f"ray is {self.address!r}, and no cluster answers there: {reason}") from None
        try:
            if self.address == "local":
                check_listens_here_only()
            yield ray
        except ray.exceptions.RayError as error:
            reason = str(error).partition("\n")[0]
            raise RuntimeError(
                f"the Ray cluster {self.address!r} is gone, what was finished is kept: {reason}"
            ) from None
        finally:
            ray.shutdown()

    def _ring(self, ray: Any) -> str:
        """The host of the cluster; refuses an address where nobody listens, as Ray itself would try for minutes."""
        address = os.environ.get("RAY_ADDRESS", "") if self.address == "auto" else self.address
        host, colon, port = address.rpartition(":")
        if not colon or "/" in host:
            return ""
        if host in LOOPBACK:  # Ray takes these for the address that others see
            host = str(ray.util.get_node_ip_address())
        try:
            socket.create_connection((host, int(port)), timeout=5.0).close()
        except OSError as error:
            reason = f"nobody answers at {host}:{port}: {error.strerror or error}"
            raise ValueError(f"ray is {self.address!r}, and {reason}") from None
        return host


def _call(work: Callable[[T], R], item: T) -> R:
    return work(item)


def check_address(address: str) -> str:
    """Refuse what cannot be an address."""
    host, colon, port = address.rpartition(":")
    if address in ("local", "auto") or (host and colon and port.isdigit() and 0 < int(port) < 65536):
        return address
    raise ValueError(f"ray must be local, auto or HOST:PORT, not {address!r}")


def check_installed() -> None:
    """Say how to install Ray where it is missing; Ray is not imported."""
    if find_spec("ray") is None:
        raise ImportError(MISSING)


def import_ray() -> Any:
    """Ray, or how to install it."""
    try:
        import ray
    except ModuleNotFoundError:
        raise ImportError(MISSING) from None
    return ray


def check_listens_here_only() -> None:
    """Refuse to go on where this process or one that it started listens at an address that others can reach.

    What was asked of Ray is one thing, what its processes do is another: this looks at the sockets themselves.
    """
    for process, address in listening():
        if not _is_loopback(address):
            raise RuntimeError(
                f"ray is 'local', but its process {process} listens at {address}, which other machines can reach, so "
                f"it was stopped; was Ray imported before, without {'='.join(next(iter(LOCAL_ONLY.items())))}?"
            )


def listening() -> Iterator[tuple[str, str]]:
    """(process, address) of every TCP port at which this process, or one below it, waits for connections."""
    import psutil

    me = psutil.Process()
    for process in (me, *me.children(recursive=True)):
        with suppress(psutil.Error):  # it has ended meanwhile
            sockets = getattr(process, "net_connections", None) or process.connections  # psutil below 6
            for one in sockets(kind="tcp"):
                if one.status == psutil.CONN_LISTEN:
                    yield process.name(), str(one.laddr.ip)


def _is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address; IPv4 addresses may be written as IPv6 ones."""
    parsed = ip_address(address)
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return (mapped or parsed).is_loopback
