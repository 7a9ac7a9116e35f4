"""How many examples a property is tried on where its test does not say."""

from hypothesis import settings

settings.register_profile("quick", max_examples=60)
settings.load_profile("quick")
