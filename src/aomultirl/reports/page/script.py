"""Python that runs it all again."""

from collections.abc import Mapping, Sequence
from typing import Any

from aomultirl import descriptions, plugins
from aomultirl.experiments.history import History
from aomultirl.reports.page import settings
from aomultirl.reports.page.data import Group
from aomultirl.reports.page.markup import block
from aomultirl.reports.page.phrases import counted

LONG = 72
"""Characters of arguments that fit on a line."""
LOST = "# models: your worlds; nobody wrote down what made them"


def script(groups: Sequence[Group]) -> str:
    """A loop over the seeds for each agent; more where its runs differ in more than their seeds."""
    lines = ["import aomultirl as ao", ""]
    defined = ""
    for one in groups:
        lines.append(f"# {' '.join(one.label.split())}")
        if one.before:
            lines.append(
                f"# the first {counted(one.before, 'episode')} of a run {'do' if one.before > 1 else 'does'} not count"
            )
        world, stream, _ = one.setting
        needed = "" if stream is None else LOST if world is None else f"models = ao.worlds.{settings.world_call(world)}"
        if needed and needed != defined:
            lines.append(needed)
            defined = needed
        for histories in _alike(one):
            lines += [f"for seed in {seeds(histories)}:", *_run(histories[0])]
        lines.append("")
    return block("\n".join(lines).strip(), "Python to run it again")


def seeds(histories: Sequence[History]) -> str:
    """The seeds, run by run."""
    found = [history.about.get("seed", 0) for history in histories]
    if len(found) > 2 and found == list(range(found[0], found[0] + len(found))):
        return f"range({found[0]}, {found[-1] + 1})"
    return str(found)


def _alike(one: Group) -> list[list[History]]:
    """The runs, together where only their seeds differ."""
    found: dict[str, list[History]] = {}
    for run in one.given.values():
        found.setdefault("\n".join(_run(run.history)), []).append(run.history)
    return list(found.values())


def _run(history: History) -> list[str]:
    about = history.about
    options = f"episodes={about.get('episodes', len(history))}, seed=seed"
    if about.get("noisy_rewards"):
        options += ", noisy_rewards=True"
    return [
        f"    agent = {_agent(settings.agent_of(history))}",
        f"    history = ao.run(agent, models, ao.streams.{settings.stream_call(about['stream'])}, {options})"
        if about.get("stream")
        else f"    history = ao.interact(agent, make_env, {options})  # make_env(k): the environment of episode k",
    ]


def _agent(agent: Mapping[str, Any]) -> str:
    """The call that makes the agent, without arguments that are the defaults, an argument a line where it is long."""
    name = agent["name"] or "Agent"
    maker = plugins.find("agent", name) if plugins.is_known("agent", name) else None
    given = descriptions.without_defaults(agent, maker)["parameters"]
    written = [f"{key}={descriptions.code(value)}" for key, value in given.items()]
    arguments = ", ".join(written)
    if len(arguments) > LONG:
        arguments = "".join(f"\n        {argument}," for argument in written) + "\n    "
    return f"ao.agents.{name}({arguments})"
