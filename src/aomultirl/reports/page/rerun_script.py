"""What the page's Python that runs it all again is made of; the template has the rest."""

from collections.abc import Sequence

from aomultirl import descriptions
from aomultirl.experiments.history import History
from aomultirl.reports.page.groups import Group
from aomultirl.reports.page.run_origin import agent_of, without_defaults

LONG = 72
"""Characters of arguments that fit on a line."""


def seeds(histories: Sequence[History]) -> str:
    """The seeds, run by run."""
    found = [history.about.get("seed", 0) for history in histories]
    if len(found) > 2 and found == list(range(found[0], found[0] + len(found))):
        return f"range({found[0]}, {found[-1] + 1})"
    return str(found)


def alike(one: Group) -> list[list[History]]:
    """The runs of an agent in one setting, together where only their seeds differ."""
    found: dict[tuple[str, int], list[History]] = {}
    for run in one.given.values():
        episodes = run.history.about.get("episodes", len(run.history))
        found.setdefault((agent_call(run.history), episodes), []).append(run.history)
    return list(found.values())


def agent_call(history: History) -> str:
    """The call that makes the agent, without arguments that are the defaults, an argument a line where it is long."""
    agent = agent_of(history)
    given = without_defaults(agent, "agent")["parameters"]
    written = [f"{key}={descriptions.code(value)}" for key, value in given.items()]
    arguments = ", ".join(written)
    if len(arguments) > LONG:
        arguments = "".join(f"\n        {argument}," for argument in written) + "\n    "
    return f"ao.agents.{agent['name'] or 'Agent'}({arguments})"
