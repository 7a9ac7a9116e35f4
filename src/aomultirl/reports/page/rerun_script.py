"""Python that runs it all again."""

from collections.abc import Sequence

from aomultirl import descriptions
from aomultirl.analysis.phrases import counted
from aomultirl.experiments.history import History
from aomultirl.reports.page.groups import Group
from aomultirl.reports.page.run_origin import agent_of, setting_of, without_defaults, world_call

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
            does = "do" if one.before > 1 else "does"
            lines.append(f"# the first {counted(one.before, 'episode')} of a run {does} not count")
        world, stream, _ = one.setting
        needed = "" if stream is None else LOST if world is None else f"models = ao.worlds.{world_call(world)}"
        if needed and needed != defined:
            lines.append(needed)
            defined = needed
        for histories in _alike(one):
            lines += [f"for seed in {seeds(histories)}:", *_run(histories[0])]
        lines.append("")
    return "\n".join(lines).strip()


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
    setting = setting_of(history)
    options = f"episodes={history.about.get('episodes', len(history))}, seed=seed"
    if setting.noisy_rewards:
        options += ", noisy_rewards=True"
    return [
        f"    agent = {_agent(history)}",
        f"    history = ao.run(agent, models, ao.streams.{setting.stream}, {options})"
        if setting.stream
        else f"    history = ao.interact(agent, make_env, {options})  # make_env(k): the environment of episode k",
    ]


def _agent(history: History) -> str:
    """The call that makes the agent, without arguments that are the defaults, an argument a line where it is long."""
    agent = agent_of(history)
    name = agent["name"] or "Agent"
    given = without_defaults(agent, "agent")["parameters"]
    written = [f"{key}={descriptions.code(value)}" for key, value in given.items()]
    arguments = ", ".join(written)
    if len(arguments) > LONG:
        arguments = "".join(f"\n        {argument}," for argument in written) + "\n    "
    return f"ao.agents.{name}({arguments})"
