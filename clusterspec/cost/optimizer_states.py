"""Optimizer states per weight."""

from __future__ import annotations

MOMENTS = {"adam": 2, "adamw": 2, "lion": 1, "momentum": 1, "muon": 1, "sgd": 0, "adafactor": 0}
"""Moments per weight of a matrix. Adafactor stores one row and one column per matrix, which is negligible (arXiv
1804.04235).
"""
TABLE_MOMENTS = {**MOMENTS, "muon": 2}
"""Moments per weight of embedding and head, which Muon leaves to Adam (Jordan, "Muon", 2024)."""
