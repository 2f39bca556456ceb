"""Layout settings that a text states but that the reader of the file did not report, neither as a value nor as
unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from clusterspec.exchange.import_result import FileLine, ImportResult, InputFile, SkippedPart, excerpt
from clusterspec.logs.text_lines import line_at
from clusterspec.records import replace
from clusterspec.units import plural

MOST_SETTINGS = 400
MOST_TEXT = 4 << 20
"""Maximum number of characters searched for settings; logs print them at the start."""
_PARALLEL = r"(?:[_-]?model)?[_-]parallel(?:[_-]?(?:size|degree|ism))?"
_DEGREES = {"tensor": "tp", "pipeline": "pp", "context": "cp", "expert": "ep", "data": "dp", "sequence": "cp"}
_BATCH = r"[_-]batch[_-]size(?:[_-]per[_-](?:gpu|device))?"
_NODE = ("accelerators_per_node", "ranks_per_node", "accelerators", "ranks", "visible_devices", "num_processes")
_MEANINGS: Mapping[str, tuple[str, ...]] = {
    **{rf"{axis}{_PARALLEL}": (key, f"attention_{key}") for axis, key in _DEGREES.items()},
    **{rf"{key}[_-](?:size|degree)": (key, f"attention_{key}") for key in _DEGREES.values()},
    **{rf"{key}(?=[ \t]{{0,16}}[:=])": (key, f"attention_{key}") for key in ("tp", "pp", "cp", "ep")},
    r"etp(?=[ \t]{0,16}[:=])": ("expert_tp",),
    r"n(?:um)?[_-]?gpus(?:[_-]per[_-]node)?|gpus[_-]per[_-]node|nproc[_-]per[_-]node": _NODE,
    r"(?:nvidia|amd|habana|(?:gpu\.)?intel|aws\.amazon|google|huawei|rebellions|furiosa|tenstorrent|cambricon|iluvatar"
    r"|metax-tech|mthreads|hygon|enflame|qualcomm)\.(?:com|ai|cn)"
    r"/(?!\w{0,20}(?:rdma|roce|hostdev|nic|sriov|imex|network))[\w.]{1,24}": _NODE,
    r"num[_-]shard": ("tp",),
    r"n(?:um)?[_-]?nodes|node[_-]?count|num[_-]machines": ("nodes", "replicas"),
    r"(?:min|max)?replicas(?=[ \t]{0,16}:)": ("replicas", "nodes", "dp"),
    rf"(?:micro|(?:micro[_-])?per[_-]device(?:[_-]train)?|local){_BATCH}": ("micro_batch",),
    rf"(?:global|train|rollout|mini){_BATCH}": ("global_batch", "prompts_per_step", "minibatches"),
    r"batch[_-]size": ("micro_batch", "global_batch", "max_sequences"),
    r"grad(?:ient)?[_-]accum(?:ulation)?(?:[_-]steps)?": ("gradient_accumulation_steps",),
    r"seq(?:uence)?[_-]?len(?:gth)?|max[_-]seq[_-]len(?:gth)?|max[_-]model[_-]len": (
        *("sequence_length", "max_sequence_length", "max_length", "max_model_len", "cutoff_len"),
    ),
    r"max[_-]num[_-]seqs|max[_-]running[_-]requests": ("max_sequences",),
    r"chunked[_-]prefill[_-]size|max[_-]num[_-]batched[_-]tokens": ("chunk_tokens",),
    r"gpu[_-]memory[_-]utilization|mem[_-]fraction[_-]static|free[_-]gpu[_-]memory[_-]fraction": ("memory_fraction",),
    r"(?:input|prefill)(?:[_-]seq)?[_-]len(?:gth)?|isl(?=[ \t]{0,16}[:=])": ("isl", "max"),
    r"(?:output|decode)(?:[_-]seq)?[_-]len(?:gth)?|osl(?=[ \t]{0,16}[:=])": ("osl", "max"),
    r"max[_-]concurren(?:cy|t[_-]requests)": ("concurrency", "max_sequences"),
    r"zero[_-](?:stage|optimization_stage)": ("sharding",),
}
"""Patterns of setting names, with the last parts of the keys and counts under which a reader reports them."""
_PREFIX = r"(?:sm_)?(?:vllm|sglang)_|nim_|option_"
"""Prefixes of variables with options of an engine: of images of vLLM and SGLang on SageMaker, NIM, and LMI."""
_SETTING = re.compile(
    rf"(?<![\w$])(?=[-\"'A-Za-z])(?:--)?[\"']?(?=[A-Za-z])(?P<name>(?:\w{{1,40}}[.]|{_PREFIX})?(?:{'|'.join(_MEANINGS)}))[\"']?"
    r"(?:[ \t]{0,16}[:=][ \t]{0,16}|[ \t]{1,16})[\"']?(?:\$\{\w{1,60}:?[-=])?"
    r"(?P<value>[0-9][0-9_]{0,11}|0?\.[0-9]{1,6})(?![\w.+-])",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"(?<![\w$.-])(?=[-\"'A-Za-z])(?:--)?[\"']?(?=[A-Za-z])(?P<name>(?:{_PREFIX}|hf[_-])?(?:base[_-])?model(?:[_-](?:name|id|path|name[_-]or[_-]path|recipe[_-]name))?"
    r"|recipe(?:[_-]name)?|hf[_-]checkpoint)[\"']?"
    r"(?:[ \t]{0,16}[:=][ \t]{0,16}|[ \t]{1,16})[\"']?(?:\$\{\w{1,60}:?[-=])?"
    r"(?P<value>(?:[\w.-]{1,60}/)?[A-Za-z][\w.-]{0,60}?[0-9][\w.-]{0,60})(?=[\s\"'},;]|$)",
    re.IGNORECASE,
)
"""A model given by the name of a repository or recipe, which contains a version or size."""
_PAIR = re.compile(r"\bname:[ \t]*[\"']?(\w{1,60})[\"']?[ \t]*([,\n])[ \t]*value:[ \t]*([^\n}]{0,200})")
"""An environment variable of a container."""
_REMARK = re.compile(r"(?:^|[ \t])(?:#|//).*", re.MULTILINE)
_OFF_COUNTS = re.compile(r"zero[_-]", re.IGNORECASE)
"""Settings for which 0 is a value; for other settings 0 means off."""
_WHOLE = {
    name: re.compile(rf"(?:\w{{1,40}}[.]|{_PREFIX})?(?:{name.partition('(?=[ ')[0]})", re.IGNORECASE)
    for name in _MEANINGS
}


class Setting(NamedTuple):
    """A setting of a text: its name, value and line."""

    name: str
    value: float
    line: int

    @property
    def keys(self) -> tuple[str, ...]:
        """The last parts of the keys and counts that report the setting."""
        return next((keys for name, keys in _MEANINGS.items() if _WHOLE[name].fullmatch(self.name)), ())


def settings_of(text: str) -> Iterator[Setting]:
    """The layout settings that a text states as numbers outside comments, at most 400.

    >>> [each[:2] for each in settings_of('tp_size: 8  # of 16\\n# num_nodes: 2\\n--nproc-per-node 4 --seed 1')]
    [('tp_size', 8), ('nproc-per-node', 4)]
    """
    bare, line, at = _text_without_comments(text), 1, 0
    for match in islice(_SETTING.finditer(bare), MOST_SETTINGS):
        line, at = line + bare.count("\n", at, match.start("name")), match.start("name")
        least = 0 if _OFF_COUNTS.search(match["name"]) else 2 if match["name"].lower().endswith("replicas") else 1
        shown = match["value"]
        share = Setting(match["name"], float(shown), line) if "." in shown else None
        if share and share.keys == ("memory_fraction",):
            yield share
        elif share is None and int(shown) >= least:
            yield Setting(match["name"], int(shown), line)


def _text_without_comments(text: str) -> str:
    """A text without comments, with container variables rewritten as assignments on the lines of their names."""
    bare = _REMARK.sub("", text) if "#" in text or "//" in text else text
    return _PAIR.sub(lambda pair: f"{pair[1]}={pair[3]}{pair[2]}", bare) if "value:" in bare else bare


def _unread_model(file: InputFile, found: ImportResult, texts: str) -> SkippedPart | None:
    """The first model that a text names, if the result reports no model, neither as a value nor as unknown."""
    told = any(each.path[:2] == ("workload", "model") for each in found.given)
    told = told or any(each.what.startswith(("model ", "workload.model")) for each in found.unknown)
    bare, words = _text_without_comments(file.text[:MOST_TEXT]), set(re.findall(r"[\w./]+", texts))
    match = None if told else _NAMED.search(bare)
    if match is None or not words.isdisjoint(part.lower().replace("-", "_") for part in match.groups()):
        return None
    place = FileLine(file.name, line_at(bare, match.start("value")))
    return SkippedPart(f"{match['name']}: {match['value']}", "no model was read, and this may name it", place)


def shown_settings(settings: Mapping[str, Setting], most: int = 12) -> str:
    """The first settings as text, each with its value and line."""
    shown = ", ".join(
        f"{excerpt(each.name)} {each.value} (line {each.line})" for each in islice(settings.values(), most)
    )
    return shown + (", …" if len(settings) > most else "")


def stated_settings(text: str, most: int) -> str:
    """The first layout settings that a text states, as part of a message; empty if there are none."""
    stated = {f"{each.name} {each.value}": each for each in settings_of(text)}
    return f"it states {shown_settings(stated, most)}" if stated else ""


def with_unread_settings(file: InputFile, found: ImportResult) -> ImportResult:
    """The result with an entry that lists the settings of the file which it does not report.

    Nothing is added if the caller chose one of several parts, since the file also states the settings of the others.
    """
    if file.part is not None:
        return found
    told = {each.at.line for part in (found.given, found.counts, found.unknown) for each in part}
    values = {(str(each.path[-1]), each.value) for each in found.given if isinstance(each.value, int | float)}
    values |= {(str(each.path[-1]), True) for each in found.given if isinstance(each.value, str)}
    values |= {(each.name, each.value) for each in found.counts if isinstance(each.value, int)}
    texts = " ".join(f"{each.what} {each.why}" for each in found.unknown).lower().replace("-", "_")
    left = {
        f"{each.name} {each.value}": each
        for each in settings_of(file.text[:MOST_TEXT])
        if each.line not in told
        and not (each.name.endswith("eplicas") and found.kind.startswith("kubernetes"))  # parts of a sum
        and each.name.rpartition(".")[2].lower().replace("-", "_") not in texts
        and not any((key, each.value) in values or (key, True) in values for key in each.keys)
    }
    if (model := _unread_model(file, found, texts)) is not None:
        found = replace(found, unknown=(*found.unknown, model))
    if not left:
        return found
    why = f"on lines of which nothing was read: {shown_settings(left)}"
    place = FileLine(file.name, next(iter(left.values())).line)
    return replace(found, unknown=(*found.unknown, SkippedPart(plural(len(left), "setting"), why, place)))
