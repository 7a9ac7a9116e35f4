"""How to act once the world is known: learners, each a record of parameters."""

from aomultirl import plugins
from aomultirl.learning.azar import UCBVIBF, UCBVICH
from aomultirl.learning.base import Known, Learner, Learning, Share, Tally
from aomultirl.learning.euler import EULER, StrongEuler
from aomultirl.learning.practical import Practical
from aomultirl.learning.psrl import PSRL
from aomultirl.learning.q_learning import QLearning
from aomultirl.learning.rmax import RMax
from aomultirl.learning.ubev import UBEV
from aomultirl.learning.ucb_q_learning import QLearningUCBB, QLearningUCBH
from aomultirl.learning.ucbvi import UCBVI
from aomultirl.learning.ucfh import UCFH
from aomultirl.learning.ucrl2 import UCRL2
from aomultirl.learning.ucrl2b import UCRL2B

__all__ = [
    "EULER",
    "PSRL",
    "UBEV",
    "UCBVI",
    "UCBVIBF",
    "UCBVICH",
    "UCFH",
    "UCRL2",
    "UCRL2B",
    "Known",
    "Learner",
    "Learning",
    "Practical",
    "QLearning",
    "QLearningUCBB",
    "QLearningUCBH",
    "RMax",
    "Share",
    "StrongEuler",
    "Tally",
]

plugins.offer_own("learner", Learner, (Practical, UCBVI, UCBVICH, UCBVIBF, EULER, StrongEuler, UBEV, UCFH))
plugins.offer_own("learner", Learner, (UCRL2, UCRL2B, PSRL, RMax, QLearning, QLearningUCBH, QLearningUCBB))
