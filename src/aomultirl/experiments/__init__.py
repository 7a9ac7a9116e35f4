"""Runs, and what they leave behind."""

from aomultirl.experiments.check_agent import ContractError, check_agent
from aomultirl.experiments.check_explorer import check_explorer
from aomultirl.experiments.check_learner import check_learner
from aomultirl.experiments.history import History
from aomultirl.experiments.interaction import interact
from aomultirl.experiments.runner import run

__all__ = ["ContractError", "History", "check_agent", "check_explorer", "check_learner", "interact", "run"]
