"""Logs of finished episodes: which of them were of the same hidden world."""

from aomultirl.offline.clustering import LogGroups, cluster

__all__ = ["LogGroups", "cluster"]
