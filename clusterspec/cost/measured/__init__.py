"""What the user's own machine was seen to do, from the spec and from logs, in place of the catalog's shares."""

from __future__ import annotations

from clusterspec.cost.measured.calibration import LEAST_SIZE, calibrated, expected, idle_nics
from clusterspec.cost.measured.measurements import Measurement, Row, settle

__all__ = ["LEAST_SIZE", "Measurement", "Row", "calibrated", "expected", "idle_nics", "settle"]
