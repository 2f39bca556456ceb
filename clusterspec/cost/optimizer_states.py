"""What an optimizer keeps of each weight beside the weight itself."""

from __future__ import annotations

MOMENTS = {"adam": 2, "adamw": 2, "lion": 1, "momentum": 1, "muon": 1, "sgd": 0, "adafactor": 0}
"""Numbers that the optimizer keeps for each weight of a matrix beside the weight. Adafactor keeps a row and a
column for each matrix, which is negligible beside it (arXiv 1804.04235)."""
TABLE_MOMENTS = {**MOMENTS, "muon": 2}
"""The same for embedding and head, which Muon leaves to Adam (Jordan, "Muon", 2024)."""
