"""How to act once the world is known: learners, each a record of parameters."""

from aomultirl import plugins
from aomultirl.learning.base import Known, Learner, Learning, Share, Tally
from aomultirl.learning.practical import Practical
from aomultirl.learning.psrl import PSRL
from aomultirl.learning.q_learning import QLearning
from aomultirl.learning.ucbvi import UCBVI
from aomultirl.learning.ucrl2 import UCRL2

__all__ = ["PSRL", "UCBVI", "UCRL2", "Known", "Learner", "Learning", "Practical", "QLearning", "Share", "Tally"]

plugins.offer_own("learner", Learner, (Practical, UCBVI, UCRL2, PSRL, QLearning))
