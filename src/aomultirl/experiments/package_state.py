"""Which code this is, so that what other code began is not gone on with."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from aomultirl.engine.stranger_sources import PACKAGE, digest_of, own_files


def source(modules: Iterable[str] = ()) -> str:
    """A digest of the package as it is here, then ``MODULE:DIGEST`` for each of the plug-ins in ``modules``.

    What a plug-in imports counts as well, unless that is ours, or installed and not built on this package.
    """
    return " ".join([_package(), *(f"{module}:{_plugin(module)}" for module in modules)])


def states(sources: Iterable[str]) -> int:
    """How many different states of the package, or of one plug-in, some results were computed with.

    Examples
    --------
    >>> states(["a1", "a1 mine:b1"]), states(["a1 mine:b1", "a1 mine:b2 other:c1"])
    (1, 2)
    """
    found = defaultdict[str, set[str]](set)
    for word in {word for each in sources for word in each.split()}:
        module, _, digest = word.rpartition(":")
        found[module].add(digest)
    return max(map(len, found.values()), default=0)


@cache
def _package() -> str:
    digest = hashlib.sha256()
    for path in own_files():
        digest.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


@cache
def _plugin(module: str) -> str:
    digest = digest_of([module], source)
    return "edited" if digest is None else digest[:20]
