"""Measurements of the user's machine, from the spec and from logs; they replace efficiencies of the catalog."""

from __future__ import annotations

from clusterspec.cost.measured.calibration import LEAST_SIZE, calibrated, expected, idle_nics
from clusterspec.cost.measured.measurements import Measurement, Row, settle

__all__ = ["LEAST_SIZE", "Measurement", "Row", "calibrated", "expected", "idle_nics", "settle"]
