"""What is shown of a run while it goes on: the episode under way, those that are over, and the worlds in memory.

One thread tells the story, others ask for it as JSON.  What numbers of worlds mean is said in :mod:`.records`.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aomultirl.agents.game import NEW
from aomultirl.analysis.live.records import Card, Facts, Now, Outcome, Player, Turn
from aomultirl.analysis.recording import almost_sure_of, majority
from aomultirl.experiments.history import Row

MOST_TRAILS = 500
"""Episodes whose beliefs are kept step by step; those before keep their outcome alone."""
MOST_ROWS = 5_000
"""Episodes that an answer holds; who asks for more asks again."""
LEAST_SHARE = 5e-4
"""Of the belief: smaller shares are not listed, and nobody would see their bars."""

Shares = Mapping[int, float]
"""How probable the agent finds every world in its memory, by number, and NEW."""


class Story:
    """All of it.  Whoever plays or reads the run calls the methods; the page asks :meth:`as_json` and :meth:`trail`."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.facts: Facts | None = None
        self.players: list[Player] = []
        self.best: Player | None = None
        self.outcomes: list[Outcome] = []
        self._cards: dict[int, Card] = {}
        self._met: set[int] = set()
        self._memory: set[int] | None = None
        self._names_worlds = True
        self._now: Now | None = None
        self._trails: OrderedDict[int, Now] = OrderedDict()
        self._state, self._words = "preparing", ""
        self._progress: dict[str, int] = {}
        self._version = 0
        self._lock = threading.Lock()

    @property
    def state(self) -> str:
        """One of "preparing", "playing", "waiting", "done" and "failed"."""
        return self._state

    def say(self, state: str, words: str = "") -> None:
        """How it stands, and a sentence about that."""
        with self._lock:
            self._state, self._words = state, words

    def count(self, progress: Mapping[str, int]) -> None:
        """The numbers of cells of an experiment that another process runs: "all" of them, and those of each state."""
        with self._lock:
            self._progress = dict(progress)

    def introduce(self, facts: Facts, players: Sequence[Player], *, has_best: bool) -> None:
        """What is run, and who plays: the agent first, then those that it is compared with."""
        with self._lock:
            self.facts, self.players = facts, list(players)
            self.best = Player("the best possible, on average") if has_best else None
            self._version += 1

    def begin(self, episode: int, task: int) -> None:
        """An episode begins."""
        with self._lock:
            steps = None if self.facts is None else self.facts.steps
            self._state, self._words = "playing", ""
            self._now = Now(episode, task, steps)
            if self.facts is None or not self.facts.plays:  # otherwise the first look says it
                self._memory = None
            self._trails[episode] = self._now
            while len(self._trails) > MOST_TRAILS:
                self._trails.popitem(last=False)

    def look(
        self, step: int, shares: Shares, memory: Collection[int] | None = None, *, on_the_way: bool = True
    ) -> None:
        """What the agent believes after so many steps of the episode.

        Parameters
        ----------
        memory
            the worlds that it remembers from before the episode; None where nobody knows them.
        on_the_way
            whether this was looked at after that step; otherwise it is what the agent said when all was over, and
            nobody knows when it came to believe it.
        """
        with self._lock:
            now = self._now
            assert now is not None
            if memory is not None:
                self._memory = set(memory) - {NEW}
            if now.looks and now.looks[-1][0] == step:
                now.looks.pop()
            now.looks.append((step, {name: round(share, 4) for name, share in shares.items() if share >= LEAST_SHARE}))
            before = now.turns[-1].name if now.turns else None
            believed = almost_sure_of(shares, before) if on_the_way else before
            if believed != before and self._memory != set():  # where there is nothing to recognise, nothing is
                now.turns.append(Turn(step, believed, None if believed is None else self._is_right(believed, now.task)))

    def end(self, row: Row, rewards: Sequence[float] = (), best: float | None = None) -> None:
        """The episode is over.

        Parameters
        ----------
        row
            of the history.
        rewards
            what the players after the first earned in it; empty where they :meth:`join` with what they have earned.
        best
            what the episode could earn at best; None where that is not worked out.
        """
        with self._lock:
            now = self._now
            assert now is not None
            self._names_worlds = row.taken_for >= 0 or (self._names_worlds and row.cluster < 0)
            name = row.taken_for if row.taken_for >= 0 else row.cluster
            known = self._cards if self._memory is None else self._memory
            is_new = name >= 0 and name not in known and (self._memory is not None or row.new_cluster)
            steps = row.identification_steps + row.learning_steps
            certain = now.turns[-1] if now.turns else None
            outcome = Outcome(
                episode=row.episode,
                task=row.task,
                name=name,
                is_new=is_new,
                sure=row.sure if 0.0 <= row.sure <= 1.0 else None,
                recognised=None if certain is None or certain.name is None else certain.step,
                steps=steps,
                right=None if name < 0 else self._is_right(NEW if is_new else name, row.task),
            )
            now.steps = steps
            reward = row.clustering_reward + row.learning_reward
            self.outcomes.append(outcome)
            self._met.add(row.task)
            for player, earned in zip(self.players, [reward, *rewards], strict=False):
                player.add(earned)
            if self.best is not None and best is not None:
                self.best.add(best)
            if name >= 0:
                self._cards.setdefault(name, Card()).add(outcome, reward, best, row.cluster)
                if self._memory is not None:
                    self._memory.add(name)
            self._version += 1

    def join(self, player: Player, rewards: Sequence[float]) -> None:
        """One more player, with what it has earned in its episodes, from the first on."""
        for reward in rewards:
            player.add(reward)
        with self._lock:
            self.players.append(player)
            self._version += 1

    def _is_right(self, name: int, task: int) -> bool | None:
        """Whether a belief is the truth, by what the world mostly was; a new world is where the task was not met."""
        if name == NEW:
            return task not in self._met
        card = self._cards.get(name)
        mostly = None if card is None else majority(card.lately)
        return None if mostly is None else mostly == task

    def as_json(self, version: int = -1, rows: int = 0) -> dict[str, Any]:
        """What has happened since somebody asked last, who then got this ``version`` and so many ``rows`` in all."""
        with self._lock:
            is_held = self._memory is not None and self.facts is not None and self.facts.plays
            told: dict[str, Any] = {
                "version": self._version,
                "state": self._state,
                "words": self._words,
                "progress": self._progress,
                "now": None if self._now is None else self._now.as_json(),
                "memory": sorted(self._memory or ()) if is_held else None,
            }
            if version == self._version and rows >= len(self.outcomes):
                return told
            facts = None if self.facts is None else vars(self.facts)
            met, last = len(self.outcomes), min(len(self.outcomes), rows + MOST_ROWS)
            common = min((len(player.sums) - 1 for player in self.players), default=0)
            return {
                **told,
                "facts": facts,
                "namesWorlds": self._names_worlds,
                "first": rows,
                "rows": self.outcomes[rows:last],
                "isWhole": last == met,
                "cards": [card.as_json(name) for name, card in sorted(self._cards.items())],
                "players": [player.as_json(met) for player in self.players],
                "best": None if self.best is None else self.best.as_json(met),
                "common": {"episodes": min(common, met), "totals": self._totals(min(common, met))},
            }

    def _totals(self, episodes: int) -> list[float]:
        """What every player has earned in the first episodes, which all of them have played."""
        return [player.sums[episodes] for player in self.players]

    def trail(self, episode: int) -> dict[str, Any] | None:
        """The beliefs in an episode, step by step; None where they are not kept."""
        with self._lock:
            kept = self._trails.get(episode)
            return None if kept is None else kept.as_json()
