"""TPU slices that a launch requests, by the options of ``xpk workload create`` and of MaxText's benchmark runner.

Options: AI-Hypercomputer/xpk 0.16, ``--device-type`` or ``--tpu-type`` and ``--num-slices``; AI-Hypercomputer/maxtext,
benchmarks/benchmark_runner.py, ``--device_type`` and ``--num_slices``.
"""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.catalog.product_names import TpuSlice, slice_of_name
from clusterspec.exchange.import_result import LIST, ImportBuilder, InputFile, excerpt
from clusterspec.logs.text_lines import line_at

_TYPE = re.compile(r"(?<!\S)--(?:device|tpu)[-_]type[= \t]+[\"']?(?P<name>[A-Za-z0-9-]{2,40})[\"']?(?=\s|\\|\Z)")
_SLICES = re.compile(r"(?<!\S)--num[-_]slices[= \t]+[\"']?(?P<count>[1-9]\d{0,4})[\"']?(?=\s|\\|\Z)")


def set_started_slices(file: InputFile, builder: ImportBuilder) -> int | None:
    """Set the machine by the slices that a launch requests; differing types or numbers are recorded.

    The number of devices that JAX sees on it; None if the file does not tell.
    """
    text = file.uncommented
    types, counts = list(_TYPE.finditer(text)), {match["count"] for match in _SLICES.finditer(text)}
    if not types:
        return None
    line = line_at(text, types[0].start())
    names = dict.fromkeys(match["name"] for match in types)
    found = slice_of_name(types[0]["name"], Catalog.open())
    if len(names) > 1 or len(counts) > 1 or found is None:
        why = (
            "no TPU slice of the catalog" if found is None and len(names) == 1 else "several types or numbers of slices"
        )
        builder.unknown(f"the machine: {excerpt(', '.join(names), LIST)}", why, line)
        return None
    slices = int(counts.pop()) if counts else 1
    set_slices(found, slices, builder, line)
    return found.chips * slices * found.chip.ranks_per_accelerator


def set_slices(found: TpuSlice, slices: int, builder: ImportBuilder, line: int) -> None:
    """Set the machine of a number of slices of a size."""
    builder.set("cluster.platform", found.chip.id, line)
    builder.set("cluster.accelerators", found.chips * slices, line)
    if found.shape:
        builder.set("cluster.scale_up.shape", list(found.shape), line)
    builder.count("slices", slices, line)
