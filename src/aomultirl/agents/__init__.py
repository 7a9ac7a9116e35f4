"""The complete agents."""

from aomultirl import plugins
from aomultirl.agents.aomultirl import AOMultiRL
from aomultirl.agents.base import Agent, Report, Setting
from aomultirl.agents.baselines import OneEpisodeUCBVI, Optimal, OracleUCBVI, PooledUCBVI, Random
from aomultirl.agents.doubling import DoublingAOMultiRL
from aomultirl.agents.learners import OneEpisodeLearner, OracleLearner
from aomultirl.agents.recall import Recall
from aomultirl.agents.sequential import SequentialAOMultiRL
from aomultirl.agents.two_stage import TwoStageAOMultiRL
from aomultirl.agents.ucrl2 import UCRL2

__all__ = [
    "UCRL2",
    "AOMultiRL",
    "Agent",
    "DoublingAOMultiRL",
    "OneEpisodeLearner",
    "OneEpisodeUCBVI",
    "Optimal",
    "OracleLearner",
    "OracleUCBVI",
    "PooledUCBVI",
    "Random",
    "Recall",
    "Report",
    "SequentialAOMultiRL",
    "Setting",
    "TwoStageAOMultiRL",
]

plugins.offer_own("agent", Agent, (globals()[name] for name in __all__))
