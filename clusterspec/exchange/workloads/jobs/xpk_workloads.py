"""Workloads that xpk submits, also through MaxText's benchmark runner: the TPU slices on which they run.

Options: see `machines.tpu_slices`. ``--model_name`` of the runner names an entry of
benchmarks/maxtext_*_model_configs.py (AI-Hypercomputer/maxtext), which states the layout.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.machines.tpu_slices import OPEN_TYPE, set_started_slices
from clusterspec.logs.statements.required_words import first_match
from clusterspec.logs.text_lines import line_at

XPK = "xpk"
_SUBMITS = re.compile(
    r"\bxpk(?:\.py)?[ \t]+workload[ \t]+create(?:-pathways)?\b|\bbenchmark_runner(?:\.py)?[ \t]+xpk\b"
)
_ENTRY = re.compile(r"(?<!\S)--model[-_]name[= \t]+[\"']?(?P<name>[\w.-]{1,80})")


def matches_xpk(file: InputFile) -> bool:
    return first_match(_SUBMITS, file.uncommented) is not None


def read_xpk(file: InputFile) -> ImportResult:
    """The slices of a workload. Raises `FormatError` if it states none."""
    builder, text = ImportBuilder(XPK, file.name), file.uncommented
    set_started_slices(file, builder)
    if entry := _ENTRY.search(text):
        why = "an entry of the benchmarks of MaxText, which states the layout: import the launch that it makes"
        builder.unknown(f"model_name {excerpt(entry['name'])}", why, line_at(text, entry.start()))
    if not builder.given and all(each.why == OPEN_TYPE for each in builder.unknowns):
        raise FormatError("submits a workload of xpk whose type of device is a variable or not stated")
    return builder.reading()
