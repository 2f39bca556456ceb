"""Studies: a spec resolved as far as possible, with findings, waivers and plan, and the single way to vary it."""

from __future__ import annotations

from clusterspec.studies.study import Checked, Settings, Study, as_written, prose, study, study_file, study_text

__all__ = [
    "Checked",
    "Settings",
    "Study",
    "as_written",
    "prose",
    "study",
    "study_file",
    "study_text",
]
