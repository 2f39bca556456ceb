"""Settings of a layout that a text states, and that no reader reports: neither as a value, nor as unknown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from clusterspec.exchange.import_result import FileLine, ImportResult, InputFile, SkippedPart
from clusterspec.records import replace
from clusterspec.units import plural

MOST_SETTINGS = 400
_PARALLEL = r"(?:[_-]?model)?[_-]parallel(?:[_-]?(?:size|degree|ism))?"
_DEGREES = {"tensor": "tp", "pipeline": "pp", "context": "cp", "expert": "ep", "data": "dp", "sequence": "cp"}
_BATCH = r"[_-]batch[_-]size(?:[_-]per[_-](?:gpu|device))?"
_NODE = ("accelerators_per_node", "ranks_per_node", "accelerators", "ranks", "visible_devices", "num_processes")
_MEANINGS: Mapping[str, tuple[str, ...]] = {
    **{rf"{axis}{_PARALLEL}": (key, f"attention_{key}") for axis, key in _DEGREES.items()},
    **{rf"{key}[_-](?:size|degree)": (key, f"attention_{key}") for key in _DEGREES.values()},
    r"n(?:um)?[_-]?gpus(?:[_-]per[_-]node)?|gpus[_-]per[_-]node|nproc[_-]per[_-]node": _NODE,
    r"(?:nvidia|amd|habana|gpu\.intel|aws\.amazon|google|huawei)\.(?:com|ai)/[\w.]{1,24}": _NODE,
    r"n(?:um)?[_-]?nodes|node[_-]?count|num[_-]machines": ("nodes", "replicas"),
    rf"(?:micro|(?:micro[_-])?per[_-]device(?:[_-]train)?|local){_BATCH}": ("micro_batch",),
    rf"(?:global|train|rollout|mini){_BATCH}": ("global_batch", "prompts_per_step", "minibatches"),
    r"gradient[_-]accumulation(?:[_-]steps)?": ("gradient_accumulation_steps",),
    r"seq(?:uence)?[_-]?len(?:gth)?|max[_-]seq[_-]len(?:gth)?|max[_-]model[_-]len": (
        *("sequence_length", "max_sequence_length", "max_length", "max_model_len", "cutoff_len"),
    ),
    r"max[_-]num[_-]seqs|max[_-]running[_-]requests": ("max_sequences",),
    r"zero[_-](?:stage|optimization_stage)": ("sharding",),
}
"""Names of settings, and the last parts of the keys and counts that report them."""
_SETTING = re.compile(
    rf"(?<![\w$])(?:--)?[\"']?(?P<name>(?:\w{{1,40}}[.])?(?:{'|'.join(_MEANINGS)}))[\"']?"
    r"(?:[ \t]*[:=][ \t]*|[ \t]+)[\"']?(?P<value>[0-9][0-9_]{0,11})(?![\w.+-])",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?:^|[ \t])(?:#|//).*", re.MULTILINE)
_OFF_COUNTS = re.compile(r"zero[_-]", re.IGNORECASE)
"""Settings that state something at 0; others are turned off."""
_WHOLE = {name: re.compile(rf"(?:\w+[.])?(?:{name})", re.IGNORECASE) for name in _MEANINGS}


class Setting(NamedTuple):
    """A setting of a text: its name, value and line."""

    name: str
    value: int
    line: int

    @property
    def keys(self) -> tuple[str, ...]:
        """The last parts of the keys and counts that report the setting."""
        return next((keys for name, keys in _MEANINGS.items() if _WHOLE[name].fullmatch(self.name)), ())


def settings_of(text: str) -> Iterator[Setting]:
    """The settings of a layout that a text states as numbers outside comments, at most 400.

    >>> [each[:2] for each in settings_of('tp_size: 8  # of 16\\n# num_nodes: 2\\n--nproc-per-node 4 --seed 1')]
    [('tp_size', 8), ('nproc-per-node', 4)]
    """
    bare, line, at = _REMARK.sub("", text), 1, 0
    for match in islice(_SETTING.finditer(bare), MOST_SETTINGS):
        line, at = line + bare.count("\n", at, match.start("name")), match.start("name")
        if not int(match["value"]) and not _OFF_COUNTS.search(match["name"]):
            continue
        yield Setting(match["name"], int(match["value"]), line)


def shown_settings(settings: Mapping[str, Setting], most: int = 12) -> str:
    """Settings, each with its value and line, the first of them."""
    shown = ", ".join(f"{each.name[:40]} {each.value} (line {each.line})" for each in islice(settings.values(), most))
    return shown + (", …" if len(settings) > most else "")


def with_unread_settings(file: InputFile, found: ImportResult) -> ImportResult:
    """A result with the settings that it neither reports with their value nor names, on a line or in an entry.

    A file of which the caller chose one of several parts states those of the others as well.
    """
    if file.part is not None:
        return found
    told = {each.at.line for part in (found.given, found.counts, found.unknown) for each in part}
    values = {(str(each.path[-1]), each.value) for each in found.given if isinstance(each.value, int)}
    values |= {(str(each.path[-1]), True) for each in found.given if isinstance(each.value, str)}
    values |= {(each.name, each.value) for each in found.counts if isinstance(each.value, int)}
    texts = " ".join(f"{each.what} {each.why}" for each in found.unknown).lower().replace("-", "_")
    left = {
        each.name: each
        for each in settings_of(file.text)
        if each.line not in told
        and each.name.rpartition(".")[2].lower().replace("-", "_") not in texts
        and not any((key, each.value) in values or (key, True) in values for key in each.keys)
    }
    if not left:
        return found
    why = f"on lines of which nothing was read: {shown_settings(left)}"
    place = FileLine(file.name, next(iter(left.values())).line)
    return replace(found, unknown=(*found.unknown, SkippedPart(plural(len(left), "setting"), why, place)))
