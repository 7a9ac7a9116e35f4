"""``aomultirl`` and ``python -m aomultirl``."""

import re
import signal
import sys
import warnings

from aomultirl import extras

RESTARTED = "A worker was restarted while some jobs"
"""What loky says where a process has compiled much, which takes memory and is no leak."""
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""What changes the colour in a terminal."""
RECEIVED: list[int] = []
"""The signals that asked this process to end, in their order."""
QUIET = "ignore:resource_tracker:UserWarning"
"""What the process that cleans up after workers need not say when they were interrupted."""


def main() -> None:
    """Run the command line; without its packages, say how to install them."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, _end)
    warnings.formatwarning = _one_line
    sys.warnoptions.append(QUIET)
    warnings.filterwarnings("ignore", message=RESTARTED)
    try:
        from aomultirl.cli import run
    except ModuleNotFoundError as error:
        words = extras.advice(error)
        if words is None:
            raise
        sys.stderr.write(f"aomultirl: the command line needs {words}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write("aomultirl: interrupted\n")
        sys.exit(128 + signal.SIGINT)
    status = run(signals=RECEIVED)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # it ends anyway, and in order
    sys.exit(status)


def _end(number: int, _: object) -> None:
    """Ended from outside: nothing is left half written."""
    RECEIVED.append(number)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning as a command says it, without the line of code that it comes from, and without colours of others."""
    return f"aomultirl: {COLOURS.sub('', str(message))}\n"


if __name__ == "__main__":
    main()
