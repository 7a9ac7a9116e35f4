"""Agents and plain Q-learning in the test beds that nobody here wrote (:mod:`aomultirl.experiments.beds`).

``make test-beds`` runs them in a virtual environment of its own, and writes the table and the figure of
``docs/test_beds.md``.  Everything here is tested without other people's packages.
"""
