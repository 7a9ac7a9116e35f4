"""Which cluster is this episode, or is it a new one?"""

from aomultirl.identifying.threshold import identify_cluster

__all__ = ["identify_cluster"]
