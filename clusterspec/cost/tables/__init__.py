"""Sub-results of an estimate, each computed once and cached by its inputs.

A kernel is cached by its shape, a collective by its links and size, a layer by its degrees and links, the weights of a
stage by its degrees and chunks. Estimates, the advice of rules, and searches share the same tables.
"""

from __future__ import annotations

from clusterspec.cost.tables.tables import EMBEDDING, HEAD, Groups, Part, Tables

__all__ = ["EMBEDDING", "HEAD", "Groups", "Part", "Tables"]
