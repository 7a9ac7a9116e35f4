"""The suite ``large``: ICU-Sepsis, 716 states and 25 actions, with three hidden populations of patients."""

from aomultirl.experiments.suites.cases import SuiteCase, Target, Window
from aomultirl.experiments.suites.players import POOLED, RANDOM
from aomultirl.experiments.suites.scenes import Scene, world

MODELS = 3
WHOLE, LAST = Window("whole run"), Window("last quarter", last_quarter=True)
SURVIVAL_RANGE = (0.0, 1.0)
"""A life earns 1 for survival, so that its mean is the share of the patients who survive."""
PATIENT_STEPS = 100
"""Steps of a patient at most; hardly one in a thousand is under treatment for so long."""


def large_suite() -> list[SuiteCase]:
    """Reward in ICU-Sepsis with hidden populations: long episodes of one population, and one patient an episode."""
    strong, weaker = (world("icu_sepsis", models=MODELS, strength=strength) for strength in (1.0, 0.75))
    patients = world("icu_sepsis", models=MODELS, strength=1.0, terminal="end")
    columns = (WHOLE, LAST)
    scenes = [
        Scene(
            place="ICU-Sepsis, strength 1, H = 20,000",
            world=strong,
            horizon=20_000,
            episodes=60,
            windows=columns,
            targets=(Target(WHOLE.heading, 80.5), Target(LAST.heading, 83.0)),
            has_ceiling=False,
        ),
        Scene(
            place="ICU-Sepsis, strength 0.75, H = 20,000",
            world=weaker,
            horizon=20_000,
            episodes=60,
            windows=columns,
            targets=(Target(WHOLE.heading, 0.0, POOLED),),
            has_ceiling=False,
        ),
        Scene(
            place="ICU-Sepsis, strength 1, H = 5,000",
            world=strong,
            horizon=5_000,
            episodes=200,
            windows=columns,
            targets=(Target(WHOLE.heading, 2.0, POOLED),),
        ),
        Scene(
            place="ICU-Sepsis, strength 1, one patient, survival",
            world=patients,
            horizon=PATIENT_STEPS,
            episodes=20_000,
            windows=columns,
            targets=(Target(WHOLE.heading, 0.02, RANDOM),),
            reward_range=SURVIVAL_RANGE,
        ),
    ]
    return [case for scene in scenes for case in scene.cases()]
