"""Estimates of many layouts at once: columns of degrees in, columns of step time and memory out.

Sub-results come from the same tables as those of one plan, and `compose` combines columns as it combines numbers. The
caller passes the array library; without one, layouts are estimated one at a time.
"""

from __future__ import annotations

from clusterspec.cost.batch.batch import Batch, BatchResult
from clusterspec.cost.batch.layouts import DEGREES, layout_of

__all__ = ["DEGREES", "Batch", "BatchResult", "layout_of"]
