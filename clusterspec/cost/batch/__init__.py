"""Many layouts of one job at once: columns of degrees in, columns of step time and memory out.

The sub-results come from the same tables as those of one plan, and `compose` puts them together on columns as it
does on numbers. The array library is handed in; without one, layouts are estimated one by one.
"""

from __future__ import annotations

from clusterspec.cost.batch.batch import Batch, BatchResult
from clusterspec.cost.batch.layouts import DEGREES, layout_of

__all__ = ["DEGREES", "Batch", "BatchResult", "layout_of"]
