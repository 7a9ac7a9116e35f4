"""Tables that templates make: what they are given is never taken for a sign of their format."""

import math

import aomultirl as ao
from aomultirl.analysis import inspection
from aomultirl.reports import tables


def test_values_keep_the_signs_that_templates_use():
    found = inspection.inspect(ao.worlds.gridworld(3, edges="stay"))
    title = "a | b\n# c | d\n= e \u2028[bad] f"
    facts, assumptions, phases = tables.inspection_tables(found, title)
    assert facts.title == title
    assert facts.headings == ["", ""]
    assert {len(row) for row in facts.rows} == {2}
    assert {len(row) for row in phases.rows} == {4}
    assert assumptions.rows[0][1] == tables.Judged("yes", True)


def test_times_that_differ_are_listed_world_by_world():
    found = inspection.inspect(ao.worlds.gridworld(3, edges="stay"))
    rows = {row[0]: row[1] for row in _facts(found, diameters=[1.5, math.inf, 2e3, 1.5])}
    assert rows["diameter"] == "m1: 1.5, m2: infinite, m3: 2,000, m4: 1.5"
    rows = {row[0]: row[1] for row in _facts(found, diameters=[3.0] * 4, hitting_times=[math.nan] * 4)}
    assert rows["diameter"] == "3 in every world"
    assert rows["greatest hitting time"].startswith("not computed")


def _facts(found, **changed):
    return tables.inspection_tables(found._replace(**changed), "worlds")[0].rows
