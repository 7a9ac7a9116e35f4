"""The images that README and docs show, each with the command that makes it: ``make screens`` runs those of minutes.

``test_screens.py`` sees to it that no image is shown that stands in neither table, and that every command can be run.
"""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
BUILD = ROOT / "build" / "screens"
PAGE = (1300, 900)
"""Pixels of the window that a page is shown in."""


class Screen(NamedTuple):
    """An image that a command makes.

    command
        as it is typed in the project's folder.
    made
        the file that it leaves, within the folder.
    is_page
        whether that is a page, of which a browser takes a picture.
    """

    command: str
    made: str
    is_page: bool = False


OTHERS = (
    'aomultirl compare --suite short --only FrozenLake --only cliff --only Taxi --agent Recall --agent "learner told" '
    '--agent "PSRL, pooled" --agent "Q-learning, pooled" --column "last quarter" --keep docs/measured/short.jsonl '
    "--out build/screens/others"
)
"""What draws the figure on other people's environments, from runs that are kept."""
PAPER = "aomultirl reproduce --out build/screens/paper"
SCREENS = {
    "recognising.gif": Screen(
        "aomultirl watch gridworld edges=stay --agent recall --episode 42 --seed 1 --speed 1.6 "
        "--gif build/screens/recognising.gif",
        "recognising.gif",
    ),
    "others.png": Screen(OTHERS, "others/figure.png"),
    "grids.png": Screen("aomultirl inspect gridworld --figure build/screens/grids.png", "grids.png"),
    "experiment.png": Screen(PAPER, "paper/figure.png"),
    "report.png": Screen(PAPER, "paper/report.html", is_page=True),
    "scale.png": Screen("aomultirl bench --scale --figure build/screens/scale.png", "scale.png"),
    "rooms.svg": Screen("make rooms", "../../docs/images/rooms.svg"),
}
"""Images that minutes make."""
LONG = {
    "test_beds.png": "make test-beds",
    "contest_hard.png": "aomultirl compare --suite hard --runs 3 --out results/hard",
    "contest_paper.png": "aomultirl compare --suite paper --runs 5 --out results/paper",
    "contest_drift.png": "aomultirl compare --suite drift --runs 5 --out results/drift",
    "ward_survival.png": "python examples/ward.py",
    "ward_recognition.png": "python examples/ward.py",
    "ward_wrong.png": "python examples/ward.py",
    "ward_history.png": "python examples/ward.py",
}
"""Images that take longer, with what makes them; they are made when the numbers on their pages are."""


def make(name: str) -> Path:
    """Make an image, and put it where the docs show it."""
    screen = SCREENS[name]
    BUILD.mkdir(parents=True, exist_ok=True)
    made, shown = (BUILD / screen.made).resolve(), IMAGES / name
    program, *words = shlex.split(screen.command)
    tool = Path(sys.executable).parent / program
    subprocess.run([str(tool) if tool.exists() else program, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    if screen.is_page:
        photograph(made, shown)
    elif made != shown:
        shutil.copyfile(made, shown)
    return shown


def photograph(page: Path, image: Path) -> None:
    """What a browser shows of a page when it is opened."""
    from browser import Browser

    browser = Browser()
    try:
        browser.width(*PAGE)
        browser.open(page)
        browser.picture(image)
    finally:
        browser.close()


if __name__ == "__main__":
    for asked in sys.argv[1:] or SCREENS:
        print(f"{make(asked).relative_to(ROOT)}", flush=True)  # noqa: T201
