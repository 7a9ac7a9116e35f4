"""Many copies of a JAO or 2-JAO world, their hubs joined to a tree: S states, A actions (Appendix C).

A' = floor((A - 1) / 2) actions act inside a copy, A' + 1 walk along the tree: one to the parent, A' to the
children, numbered like a heap (the parent of copy c is (c - 1) // A').  The paper takes A' = A / 2, which leaves
one tree action too few.  A tree action without a target, any tree action outside a hub, and a spare action
stay where they are and earn nothing, also in a reward state, or one could stay there for ever; hence the greatest
hitting time is infinite.

Exactly one copy holds the special action, so there are as many worlds as copies times special actions.  The
diameter is at most 2 / delta + 2 ceil(log_A' copies); it is below D unless the tree is very deep (the paper's
condition D >= 16 alone does not ensure it).
"""

import numpy as np

from aomultirl import checks, sizes
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.jao import Table, check_probability, empty, fill_two_jao, mark_two_jao, move, read_delta, read_gap
from aomultirl.worlds.origin import origin

TABLE_BYTES, WORLD_BYTES = 350, 30
"""Memory for a pair of a state and an action: while the tree is built, and in each world; measured."""


def two_jao_tree(
    states: int = 30,
    actions: int = 20,
    diameter: float = 40.0,
    separation: float = 0.5,
    gap: float | None = None,
    horizon: int | None = None,
    kind: str = "two_jao",
    models: int | None = None,
) -> ModelSet:
    """The composite with at most ``states`` states and ``actions`` actions.

    Copy c has its hub at state c * w, its reward state next to it and, for 2-JAO, its left state after that,
    w = 3 for 2-JAO and 2 for JAO.  Inside a copy the actions are numbered as in :func:`two_jao`, left first;
    then an ordinary right one where A' is odd, the parent, and the children.

    Parameters
    ----------
    states
        S; floor(S / w) copies are made.
    actions
        A; at least 5 for 2-JAO, 3 for JAO.
    diameter
        the paper's D; delta = 4 / D.
    separation, gap, horizon
        as in :func:`aomultirl.worlds.two_jao`; JAO has no gap.
    kind
        "two_jao" or "jao".
    models
        how many of the worlds, in the order of copies and special actions; by default all.

    Examples
    --------
    >>> round(two_jao_tree(states=30, actions=20, diameter=40)[0].diameter(), 9)
    22.0
    """
    made = origin("two_jao_tree", locals())
    checks.choice("kind", kind, ("two_jao", "jao"))
    double = kind == "two_jao"
    width = 3 if double else 2
    copies = checks.integer("states", states, least=width) // width
    actions = checks.integer("actions", actions, least=5 if double else 3)
    inside = (actions - 1) // 2
    specials = inside // 2 if double else inside
    delta = read_delta(diameter, least=16.0 if double else 4.0)
    bias = checks.real("separation", separation, above=0.0, most=1.0 if double else 2.0) / 2.0
    if double:
        gap = read_gap(gap, horizon, states * actions, diameter, delta)
    elif gap is not None or horizon is not None:
        raise checks.Refusal("gap", "and horizon belong to kind = 'two_jao'; a JAO world has neither")
    else:
        check_probability("4 / diameter + separation / 2", delta + bias)
    most = copies * specials
    count = most if models is None else checks.integer("models", models, least=1, most=most)
    size = float(copies * width) * actions * (TABLE_BYTES + WORLD_BYTES * count)
    sizes.check("states", states, size, f"making {count} worlds with {actions} actions", "states, actions or models")

    plain = _plain(copies, width, inside, specials, actions, delta)
    rewards = np.zeros((copies * width, actions))
    rewards[1::width, :inside] = 1.0
    worlds = []
    for number in range(count):
        copy, special = divmod(number, specials)
        hub = copy * width
        table = plain.copy()
        table[hub] = plain[hub].copy()
        if gap is not None:
            mark_two_jao(table, (hub, hub + 1, hub + 2), special, specials, bias, delta, gap)
        else:
            move(table, hub, [special], hub + 1, delta + bias)
        worlds.append(MDP(table, rewards))
    return ModelSet(worlds, made)


def _plain(copies: int, width: int, inside: int, specials: int, actions: int, delta: float) -> Table:
    """The tree without a special action."""
    table = empty(copies * width, actions)
    for copy in range(copies):
        hub = copy * width
        move(table, hub, range(inside), hub + 1, delta)
        for state in range(hub + 1, hub + width):
            move(table, state, range(inside), hub, delta)
        if width == 3:
            fill_two_jao(table, (hub, hub + 1, hub + 2), specials, delta)
    for state in range(copies * width):
        move(table, state, range(inside, actions), state, 1.0)
    for copy in range(1, copies):
        parent, child = divmod(copy - 1, inside)
        move(table, copy * width, [inside], parent * width, 1.0)
        move(table, parent * width, [inside + 1 + child], copy * width, 1.0)
    return table
