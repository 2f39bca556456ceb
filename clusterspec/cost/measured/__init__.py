"""Measurements of the user's machine, from the spec and from logs; they replace efficiencies of the catalog."""

from __future__ import annotations

from clusterspec.cost.measured.calibration import LEAST_SIZE, calibrated, expected, idle_nics
from clusterspec.cost.measured.measurements import MeasuredSize, Measurement, resolve_measurements

__all__ = ["LEAST_SIZE", "MeasuredSize", "Measurement", "calibrated", "expected", "idle_nics", "resolve_measurements"]
