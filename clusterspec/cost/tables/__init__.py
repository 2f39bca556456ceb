"""Sub-results of an estimate, each computed once and kept by exactly what it reads.

A kernel is kept by its shape, a collective by its path and size, a layer by its degrees and paths, the weights
of a stage by its degrees and chunks. The same tables serve one estimate, the advice of rules, and a search.
"""

from __future__ import annotations

from clusterspec.cost.tables.tables import EMBEDDING, HEAD, Groups, Part, Tables

__all__ = ["EMBEDDING", "HEAD", "Groups", "Part", "Tables"]
