"""What a test bed is: other people's environment, made several times with something hidden that differs."""

import io
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym

Environment = gym.Env[Any, Any]
END, RESTART = "end", "restart"
LIVES = (END, RESTART)
"""The two kinds of life, as ``terminal=`` of ``ao.interact`` calls them: an episode ends with a life, or goes on."""
INSTALL = "pip install 'aomultirl[beds]'"
"""What brings other people's packages."""


@dataclass(frozen=True)
class Bed:
    """A bed.

    name
        of the environment.
    package
        that it comes from, as PyPI calls it.
    hidden
        what differs between the variants, in a few words.
    variants
        makes the hidden variants, anew at each call; :meth:`make` calls it.
    states, actions
        S and A, the same in all variants.
    reward_range
        (low, high) of the reward of a step.
    best
        more than anybody can earn in a life: where optimistic Q-learning starts.
    life
        steps of a life, at most.
    lives
        episodes of one life each.
    long
        steps of an episode with restarts.
    episodes
        episodes with restarts.
    modules
        that the variants import, by the names that Python has for them; empty where this library needs them anyway.
    install
        the command that brings them.
    """

    name: str
    package: str
    hidden: str
    variants: Callable[[], list[Environment]]
    states: int
    actions: int
    reward_range: tuple[float, float]
    best: float
    life: int
    lives: int
    long: int
    episodes: int
    modules: tuple[str, ...] = ()
    install: str = INSTALL

    def steps(self, life: str) -> int:
        """Steps of an episode, at most, where ``life`` is "end" or "restart"."""
        return self.life if life == END else self.long

    def count(self, life: str) -> int:
        """How many episodes there are, where ``life`` is "end" or "restart"."""
        return self.lives if life == END else self.episodes

    @property
    def is_installed(self) -> bool:
        """Whether the modules are there; none of them is imported to find out."""
        return all(find_spec(module) is not None for module in self.modules)

    def make(self) -> list[Environment]:
        """The hidden variants.

        What packages print or write into the working folder when they are imported is thrown away.

        Raises
        ------
        ImportError
            a package is missing; the message says how to install it.
        """
        printed = io.StringIO()
        with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(printed), redirect_stderr(printed):
            try:
                return self.variants()
            except ImportError as error:
                missing = error.name or self.package
                raise ImportError(f"the bed {self.name} needs {missing}: {self.install}") from error
