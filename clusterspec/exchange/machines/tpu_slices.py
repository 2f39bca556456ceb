"""TPU slices that a launch requests, by the options of ``xpk workload create`` and of MaxText's benchmark runner.

Options: AI-Hypercomputer/xpk 0.16, ``--device-type`` or ``--tpu-type`` and ``--num-slices``; AI-Hypercomputer/maxtext,
benchmarks/benchmark_runner.py, ``--device_type`` and ``--num_slices``. Labels of GKE select the slice of a job
(``gke-tpu-accelerator``, ``gke-tpu-topology``); a job of a JobSet runs on one slice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from clusterspec.catalog import Catalog
from clusterspec.catalog.product_names import TpuSlice, slice_of_name
from clusterspec.exchange.import_result import LIST, ImportBuilder, InputFile, excerpt
from clusterspec.exchange.shell import variables_of
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.logs.text_lines import line_at

_VARIABLE = r"\$\w{1,40}|\$\{\w{1,40}\}"
_TYPE = re.compile(
    rf"(?<!\S)--(?:device|tpu)[-_]type[= \t]+[\"']?(?P<name>[A-Za-z0-9-]{{2,40}}|{_VARIABLE})[\"']?(?=\s|\\|\Z)"
)
_SLICES = re.compile(rf"(?<!\S)--num[-_]slices[= \t]+[\"']?(?P<count>[1-9]\d{{0,4}}|{_VARIABLE})[\"']?(?=\s|\\|\Z)")

OPEN_TYPE = "a variable that the text does not state"


def set_started_slices(file: InputFile, builder: ImportBuilder) -> int | None:
    """Set the machine by the slices that a launch requests; differing types or numbers are recorded.

    The number of devices that JAX sees on it; None if the file does not tell.
    """
    text = file.uncommented
    held = variables_of(file.text) if "$" in text else {}
    types, counts = list(_TYPE.finditer(text)), {_value_of(match["count"], held) for match in _SLICES.finditer(text)}
    if not types:
        return _selected_devices(file.objects or text, builder)
    line = line_at(text, types[0].start())
    names = dict.fromkeys(_value_of(match["name"], held) for match in types)
    found = slice_of_name(next(iter(names)), Catalog.open())
    numbers = {positive_integer_of(count) for count in counts}
    if len(names) > 1 or len(counts) > 1 or found is None or None in numbers:
        one = len(names) == 1 and len(counts) <= 1
        open_ = any(each.startswith("$") for each in (*names, *counts))
        why = OPEN_TYPE if open_ else "no TPU slice of the catalog"
        why = why if one else "several types or numbers of slices"
        builder.unknown(f"the machine: {excerpt(', '.join(names), LIST)}", why, line)
        return None
    slices = numbers.pop() or 1 if numbers else 1
    set_slices(found, slices, builder, line)
    return found.chips * slices * found.chip.ranks_per_accelerator


def _value_of(text: str, variables: Mapping[str, Word]) -> str:
    """A value, or that of the variable that it names; the name where no line or an undecided branch sets it."""
    word = variables.get(text.strip("${}")) if text.startswith("$") else None
    return text if word is None or word.branch else word.text


def set_slices(found: TpuSlice, slices: int, builder: ImportBuilder, line: int) -> None:
    """Set the machine of a number of slices of a size."""
    builder.set("cluster.platform", found.chip.id, line)
    builder.set("cluster.accelerators", found.chips * slices, line)
    if found.shape:
        builder.set("cluster.scale_up.shape", list(found.shape), line)
    builder.count("slices", slices, line)


_CHIP = re.compile(r"\bgke-tpu-accelerator[\"']?[ \t]*:[ \t]*[\"']?(?P<name>[a-z0-9-]{2,40})")
_TORUS = re.compile(r"\bgke-tpu-topology[\"']?[ \t]*:[ \t]*[\"']?(?P<shape>\d{1,4}(?:x\d{1,4}){1,2})\b")
_OBJECT = re.compile(r"^kind[ \t]*:[ \t]*[\"']?(?P<kind>JobSet|Job)\b", re.MULTILINE)
_REPLICAS = re.compile(r"^[ \t-]+replicas[ \t]*:[ \t]*(?P<count>\S{1,40})", re.MULTILINE)


def _selected_devices(text: str, builder: ImportBuilder) -> int | None:
    """The devices that JAX sees on the slices that one job or one JobSet selects; None if there are several selections.
    Only the slices are counted: the objects state the machine.
    """
    chips, toruses, objects = ([*each.finditer(text)] for each in (_CHIP, _TORUS, _OBJECT))
    if not len(chips) == len(toruses) == len(objects) == 1:
        return None
    found = slice_of_name(f"{chips[0]['name'].removesuffix('-slice')}-{toruses[0]['shape']}", Catalog.open())
    replicas = [match["count"] for match in _REPLICAS.finditer(text)] if objects[0]["kind"] == "JobSet" else ["1"]
    if found is None or len(replicas) != 1 or (slices := positive_integer_of(replicas[0])) is None:
        return None
    builder.count("slices", slices, line_at(text, toruses[0].start()))
    return found.chips * slices * found.chip.ranks_per_accelerator
