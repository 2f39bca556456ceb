"""Studies: a spec resolved as far as possible, with its findings, waivers and plan, and the one way to vary it."""

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
