"""Print the other Pythons of this machine that the project promises to run on, one executable a line.

They are looked for on the PATH (python3.12, python3.13, ...) and among those of pyenv; one for each minor version from
3.11 on, other than the version of the Python that runs this, in ascending order.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST, NEWEST = 11, 19


def version(executable):
    """(major, minor) of an executable; None where it does not run, as a shim of a version that is not chosen."""
    try:
        said = subprocess.run(
            [executable, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return tuple(map(int, said.stdout.split())) if said.returncode == 0 else None


def candidates():
    for minor in range(OLDEST, NEWEST + 1):
        if found := shutil.which(f"python3.{minor}"):
            yield found
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(root.glob("versions/3.*/bin/python")))


def main():
    found = {}
    for executable in candidates():
        which = version(executable)
        if which is not None and which >= (3, OLDEST) and which != sys.version_info[:2]:
            found.setdefault(which, executable)
    for _, executable in sorted(found.items()):
        print(executable)  # noqa: T201


if __name__ == "__main__":
    main()
