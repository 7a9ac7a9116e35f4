"""How many examples a property is tried on where its test does not say; compiling is not announced in tests; Ctrl-C is
answered as Python does, also where a shell began the tests in the background and had it ignored."""

import os
import signal

from hypothesis import settings

settings.register_profile("quick", max_examples=60)
settings.load_profile("quick")
os.environ["AOMULTIRL_QUIET"] = "1"  # whether something is compiled depends on what ran before
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
