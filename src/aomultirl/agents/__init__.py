"""The complete agents."""

from aomultirl import plugins
from aomultirl.agents.alone import (
    UCRL2,
    OneEpisode,
    OneEpisodeLearner,
    OneEpisodeUCBVI,
    OracleLearner,
    OracleUCBVI,
    Pooled,
    PooledUCBVI,
    Told,
)
from aomultirl.agents.aomultirl import AOMultiRL
from aomultirl.agents.base import Agent, Report
from aomultirl.agents.baselines import Optimal, Random
from aomultirl.agents.cece import CECE
from aomultirl.agents.concurrent_pac_rl import ConcurrentPACRL
from aomultirl.agents.detect_and_restart import DetectAndRestart
from aomultirl.agents.doubling import DoublingAOMultiRL
from aomultirl.agents.finite_model_rl import FiniteModelRL
from aomultirl.agents.lr_max import LRMax
from aomultirl.agents.lucrl import LUCRL
from aomultirl.agents.max_q_init import MaxQInit
from aomultirl.agents.mixture import MixtureOfMDPs
from aomultirl.agents.model_ucb import MUCB, UMUCB
from aomultirl.agents.multi_model import MultiModel
from aomultirl.agents.online_discovery import ExploreFirst, ForcedExploration
from aomultirl.agents.recall import Recall
from aomultirl.agents.restart_q_ucb import RestartQUCB
from aomultirl.agents.sequential import SequentialAOMultiRL
from aomultirl.agents.tensor_ucb import TUCB
from aomultirl.agents.two_stage import TwoStageAOMultiRL
from aomultirl.agents.ucbvi_with_oracle import UCBVIWithOracle
from aomultirl.setting import Setting

__all__ = [
    "CECE",
    "LUCRL",
    "MUCB",
    "TUCB",
    "UCRL2",
    "UMUCB",
    "AOMultiRL",
    "Agent",
    "ConcurrentPACRL",
    "DetectAndRestart",
    "DoublingAOMultiRL",
    "ExploreFirst",
    "FiniteModelRL",
    "ForcedExploration",
    "LRMax",
    "MaxQInit",
    "MixtureOfMDPs",
    "MultiModel",
    "OneEpisode",
    "OneEpisodeLearner",
    "OneEpisodeUCBVI",
    "Optimal",
    "OracleLearner",
    "OracleUCBVI",
    "Pooled",
    "PooledUCBVI",
    "Random",
    "Recall",
    "Report",
    "RestartQUCB",
    "SequentialAOMultiRL",
    "Setting",
    "Told",
    "TwoStageAOMultiRL",
    "UCBVIWithOracle",
]

plugins.offer_own("agent", Agent, (globals()[name] for name in __all__))
