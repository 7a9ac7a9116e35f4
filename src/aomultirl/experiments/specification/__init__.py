"""Experiments described in a file; the format is in ``docs/specification.md``."""

from aomultirl.experiments.specification.document import Specification, read_specification, specification_of

__all__ = ["Specification", "read_specification", "specification_of"]
