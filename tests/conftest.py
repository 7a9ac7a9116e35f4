"""How many examples a property is tried on where its test does not say; and compiling is not announced in tests."""

import os

from hypothesis import settings

settings.register_profile("quick", max_examples=60)
settings.load_profile("quick")
os.environ["AOMULTIRL_QUIET"] = "1"  # whether something is compiled depends on what ran before
