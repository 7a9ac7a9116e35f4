"""``aomultirl`` and ``python -m aomultirl``."""

import signal
import sys
import warnings


def main() -> None:
    """Run the command line; without its packages, say how to install them."""
    signal.signal(signal.SIGTERM, _end)
    warnings.formatwarning = _one_line
    try:
        from aomultirl.cli import run
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(_missing(str(error.name)))
    except KeyboardInterrupt:
        sys.stderr.write("aomultirl: interrupted\n")
        sys.exit(128 + signal.SIGINT)
    sys.exit(run())


def _end(*_: object) -> None:
    """Ended from outside: as with Ctrl-C, nothing is left half written."""
    sys.exit(128 + signal.SIGTERM)


def _one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning as a command says it, without the line of code that it comes from."""
    return f"aomultirl: {message}\n"


def _missing(name: str) -> int:
    message = f"aomultirl: the command line needs {name}; install it with: pip install 'aomultirl[experiments]'\n"
    sys.stderr.write(message)
    return 2


if __name__ == "__main__":
    main()
