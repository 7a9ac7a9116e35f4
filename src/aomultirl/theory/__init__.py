"""The paper's constants and bounds as functions."""

from aomultirl.theory.constants import clustering_horizon, samples_needed, threshold

__all__ = ["clustering_horizon", "samples_needed", "threshold"]
