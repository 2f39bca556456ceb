"""Causes of figures that tools print of a slow machine, each with the next step (`logs.machine_figures`)."""

from __future__ import annotations

from clusterspec.analysis import service_steps
from clusterspec.analysis.connection_causes import LINK
from clusterspec.analysis.log_steps import POWER
from clusterspec.analysis.reason_causes import NEXT_OF_REASONS
from clusterspec.analysis.stated_causes import GIVEN, STEP_OF, STRONG, WEAK

FIGURE_CAUSES = (
    ("bound-cores", "core-binding", ": what the process may use", NEXT_OF_REASONS["core-binding"], STRONG),
    ("stopped-group", "core-binding", ": the quota of cores was used up", NEXT_OF_REASONS["core-binding"], GIVEN),
    ("narrow-link", "wrong-pcie-generation", " of a link are in use", LINK, STRONG),
    ("unlike-widths", "wrong-pcie-generation", "", LINK, STRONG),
    ("low-clocks", "throttled-clocks", ": heat, power or a clock that was set is why", POWER, STRONG),
    ("busy-disk", "data-loading", ", as when data are read", service_steps.DATA, GIVEN),
    ("busy-disk", "storage-fault", ", as when checkpoints are written", STEP_OF["storage-fault"], WEAK),
)
"""Names of statements of figures, the causes that they are evidence of, and what the evidence adds."""
