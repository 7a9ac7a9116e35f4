"""The suite ``beds``: everybody who fits in other people's environments, of which nobody says or knows anything.

Every bed (:mod:`aomultirl.experiments.beds`) is a place twice: with one life an episode, and with episodes that go on
after the end of a life, in the same hidden variant.
"""

from collections.abc import Sequence

from aomultirl import checks
from aomultirl.experiments import beds
from aomultirl.experiments.suites.cases import SHARE, SuiteCase
from aomultirl.experiments.suites.contests import WINDOWS, stream
from aomultirl.experiments.suites.entrants import Contest, entrants

LIVES = {beds.END: "one life", beds.RESTART: "restarting"}
"""What places call the two kinds of life."""
UBEV, MOST_BYTES = "UBEV", 2**28
"""The learner whose table has an entry for every step, pair and successor, and how large that table may be here: those
of Taxi and GameOfLife take 0.8 to 12 GB for each variant, the others 256 MB at most."""


def beds_suite() -> list[SuiteCase]:
    """Reward in other people's environments with hidden variants: one life an episode, and restarting ones."""
    return [case for bed in beds.BEDS for life in beds.LIVES for case in _cases(bed, life)]


def _cases(bed: beds.Bed, life: str) -> list[SuiteCase]:
    """A row for everybody who is told nothing of the worlds, and for learners that are told which variant it is.

    UBEV is left out where its table is too large.
    """
    contest = Contest(bed.steps(life), bed.count(life), rewards="unknown")
    return [
        SuiteCase(
            place=f"{bed.name}, {LIVES[life]}",
            told=label,
            world={"name": bed.name, "parameters": {"terminal": life}},
            stream=stream("uniform"),
            agent=described,
            episodes=contest.episodes,
            horizon=contest.horizon,
            aim=SHARE,
            windows=WINDOWS,
            reward_range=bed.reward_range,
            is_bed=True,
        )
        for label, described in entrants(contest).items()
        if not (label.startswith(UBEV) and ubev_bytes(bed, life) > MOST_BYTES)
    ]


def ubev_bytes(bed: beds.Bed, life: str) -> int:
    """What the table of UBEV takes for one variant: how often every pair has led to every state, at every step.

    Examples
    --------
    >>> ubev_bytes(beds.find("Taxi"), "restart")
    12000000000
    """
    return 8 * bed.steps(life) * bed.states**2 * bed.actions


def installed(cases: Sequence[SuiteCase]) -> tuple[list[SuiteCase], list[str]]:
    """The rows that can be run here, and sentences on the beds whose packages are not installed.

    Raises
    ------
    ValueError
        no row can be run; the message says what to install.
    """
    names = dict.fromkeys(case.world["name"] for case in cases if case.is_bed)
    missing = [bed for bed in map(beds.find, names) if not bed.is_installed]
    commands = dict.fromkeys(bed.install for bed in missing)
    said = [_left_out([bed for bed in missing if bed.install == command]) for command in commands]
    lacking = {bed.name for bed in missing}
    there = [case for case in cases if not (case.is_bed and case.world["name"] in lacking)]
    if not there:
        raise checks.Refusal("suite", f"has nothing that can be run here: {' '.join(said)}")
    return there, said


def _left_out(missing: Sequence[beds.Bed]) -> str:
    """A sentence on beds that one command brings."""
    names = ", ".join(bed.name for bed in missing)
    packages = list(dict.fromkeys(bed.package for bed in missing))
    verbs = ("is", "is") if len(missing) == 1 else ("are", "is" if len(packages) == 1 else "are")
    return f"{names} {verbs[0]} left out, as {', '.join(packages)} {verbs[1]} not installed: {missing[0].install}."
