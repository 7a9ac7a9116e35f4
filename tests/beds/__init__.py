"""Test beds that nobody here wrote: other people's environments, with hidden variants, and agents that meet them.

``make test-beds`` runs them in a virtual environment of its own, and writes the table and the figure of
``docs/test_beds.md``.  Other people's packages are imported only where a bed is made, so that everything else here is
tested without them.
"""
