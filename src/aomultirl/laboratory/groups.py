"""The whole laboratory: groups of claims, each the work of a module beside this one."""

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from importlib import import_module
from typing import NamedTuple, TypeVar

from aomultirl import checks
from aomultirl.experiments.executors import Executor
from aomultirl.laboratory.findings import Findings

T = TypeVar("T")
R = TypeVar("R")
Measure = Callable[[bool, int, Executor], Findings]
Done = Callable[[int, int], None]


class ClaimGroup(NamedTuple):
    """A group of claims.

    title: what people call the group.
    seconds: about how long a quick run takes on two cores.
    topic: what it is about, which several groups may share.
    """

    title: str
    seconds: int
    topic: str


RECOGNISING, ALIKE, LEARNING, ASSUMING = (
    "how long it takes to recognise a world",
    "worlds that are too alike",
    "what learning costs in a world that is known",
    "why the paper assumes what it assumes",
)
GROUPS = {
    "coin": ClaimGroup("coin game", 6, RECOGNISING),
    "clustering": ClaimGroup("clustering", 16, RECOGNISING),
    "minimax": ClaimGroup("minimax regime", 12, ALIKE),
    "regret_slopes": ClaimGroup("AOMultiRL's regret", 9, LEARNING),
    "told_tasks": ClaimGroup("told the task", 6, LEARNING),
    "assumptions": ClaimGroup("assumptions", 3, ASSUMING),
}
"""The groups by the names of their modules, in the order in which they are measured."""


def chosen(only: Iterable[str] = ()) -> list[str]:
    """These groups, each once and in the order of :data:`GROUPS`; all of them where none is named."""
    named = {checks.choice("only", name, list(GROUPS)) for name in only}
    return [name for name in GROUPS if name in named or not named]


def measure_all(
    quick: bool, seed: int, executor: Executor, done: Done | None = None, *, only: Iterable[str] = ()
) -> Findings:
    """What all groups find, or only some.

    Parameters
    ----------
    quick
        fewer and smaller experiments: about a minute in place of a quarter of an hour, on two cores.
    seed
        of all randomness; who does the work makes no difference.
    done
        is told ``(percent, 100)`` now and then.
    only
        names of groups, by default all; what they find does not depend on whether others are measured.
    """
    modules = [(import_module(f"aomultirl.laboratory.{name}"), GROUPS[name].seconds) for name in chosen(only)]
    return gather([(module.measure, seconds) for module, seconds in modules], quick, seed, executor, done)


def gather(
    parts: Sequence[tuple[Measure, int]], quick: bool, seed: int, executor: Executor, done: Done | None = None
) -> Findings:
    """What some experiments find, in their order; with each comes its share of the time.

    Parameters as in :func:`measure_all`.
    """
    seed = checks.seed("seed", seed)
    findings, before, total = Findings(), 0, sum(share for _, share in parts)
    for measure, share in parts:
        watched = _Watched(executor, done, before / total, share / total)
        findings += measure(quick, seed, watched)
        before += share
        watched.tell(1.0)
    return findings


class _Watched:
    """An executor that says how far it is, as a share of the whole."""

    def __init__(self, executor: Executor, done: Done | None, before: float, share: float) -> None:
        self.executor, self.done, self.before, self.share = executor, done, before, share
        self.furthest = 0.0

    @property
    def slots(self) -> int:
        return self.executor.slots

    def map(
        self, work: Callable[[T], R], items: Sequence[T], lost: Callable[[T, str], R] | None = None
    ) -> Generator[R, None, None]:
        with closing(self.executor.map(work, items, lost)) as results:
            for number, result in enumerate(results, 1):
                yield result
                self.tell(number / len(items))

    def tell(self, part: float) -> None:
        """Say how far the whole is; an experiment that maps several times is never said to go back."""
        self.furthest = max(self.furthest, part)
        if self.done is not None:
            self.done(int(100.0 * (self.before + self.share * self.furthest) + 1e-9), 100)
