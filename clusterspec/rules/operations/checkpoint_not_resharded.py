"""A checkpoint is loaded with other degrees than its format allows.

## What it finds

The description or a comment names a checkpoint format with a file for each rank (Megatron's `torch`, ZeRO checkpoints,
`LOCAL_STATE_DICT` of FSDP), and loads the checkpoint with other degrees or another number of ranks. The rule also
reports such a format with `recovery: shrink`. `catalog/checkpoint-formats.csv` lists the formats, the degrees that each
allows to change, and the sources. The rule is silent where the text converts the checkpoint or loads only the weights.

## Why it matters

A format with a file for each rank is read by the same ranks: the framework compares the degrees and stops, or finds no file for
a rank. The move to the new layout then waits for a conversion that nobody planned.

## What to do

Before the change, save in a format that can be resharded while it is read, such as `torch_dist`, or plan the
conversion.

## When to ignore it

Ignore it where a tool of your own converts the files.

## Fires

```yaml description
clusterspec: 1
description: Saved with --ckpt-format torch at tp 8, pp 4. The new cluster resumes from the directory as it is with tp 8, pp 2.
cluster: {platform: hgx-h200, nodes: 32}
```

## Silent

```yaml
clusterspec: 1
description: Saved with --ckpt-format torch_dist at tp 8, pp 4. The new cluster resumes from the directory as it is with tp 8, pp 2.
cluster: {platform: hgx-h200, nodes: 32}
```

## Sources

- Megatron compares tp and pp of a checkpoint that is not distributed: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64/megatron/training/checkpointing.py#L219
- Distributed checkpoints: https://docs.nvidia.com/megatron-core/developer-guide/latest/api-guide/dist_checkpointing.html
- ZeRO checkpoints and universal ones: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221/docs/_tutorials/universal-checkpointing.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.formats import CheckpointFormat, checkpoint_formats
from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import planned_text
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import LayoutSpec, OperationsSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_DEGREE = pattern(
    r"(?<![a-z0-9-])(?:--)?(?:(tp|pp|cp|ep|dp)|(tensor|pipeline|context|expert|data)[- ]parallel(?:ism|ität|e)?(?:[- ](?:size|degree))?)(?: of| von| de| at)?[ =:]{0,2}(\d{1,5})\b"
)
_CHANGE = pattern(
    r"(?<![a-z0-9-])(tp|pp|cp|ep|dp) (?:goes |changes |is changed |is raised |is lowered |wechselt )?(?:from|von|de) (\d{1,5}) (?:to|auf|à|a) (\d{1,5})\b"
)
_AXES = {"tensor": "tp", "pipeline": "pp", "context": "cp", "expert": "ep", "data": "dp"}
_RANKS = pattern(
    r"\b(?:from (\d{1,6}) to (\d{1,6}) (?:gpus|ranks|accelerators|nodes|replicas)|(\d{1,6}) (?:gpus|ranks|nodes|replicas) instead of (\d{1,6})"
    r"|(?:another|a different|any|fewer|more|a new) (?:number of |count of )?(?:gpus|ranks|nodes|world size|accelerators)|(?:new|other|different) world size|von (\d{1,6}) auf (\d{1,6}) (?:gpus|knoten|ranks)|andere\w* (?:anzahl|zahl) von (?:gpus|knoten|ranks))\b"
)
_LOADS = pattern(
    r"\b(?:resum\w*|continu\w*|loads?|loaded|loading|restart\w*|picks? up|goes on|restor\w*|fortsetz\w*|fortgesetzt|l[äa]dt|geladen|weiter|reprend\w*|repris\w*|repart\w*|charge\w*|reanuda\w*|carga\w*|contin[úu]a\w*)\b"
)
_CONVERTED = pattern(
    r"(?<!\bno )(?<!\bwithout )(?<!\bwithout a )(?<!\bohne )(?<!\bsans )(?<!\bsin )\b(?:conver(?:t|ts|ted|ting|sion|sions)|konvertier\w*|umgewandelt|umwandlung|conversion|convert[ií]\w*|conversión|reshard(?:ed|s)? (?:offline|by a)|weights (?:only|alone)|converting|zero_to_fp32|consolidat\w*|new optimizer|fresh optimizer|--finetune|--no-load-optim)\b(?! (?:is|are|was|step is)? ?(?:not|needless|unnecessary|nicht))"
)
_SAME = pattern(
    r"\b(?:same (?:degrees|layout|parallelism|number of|ranks|world size)|gleiche\w* (?:grad|layout|zahl)|mêmes degrés|mismos grados)\b"
)
_CUES = ("ckpt", "checkpoint", "state_dict", "torch files", "torch format", "format torch")


def check(own_remarks: str, written_layout: LayoutSpec | None, operations: OperationsSpec | None) -> Iterator[Problem]:
    folded = own_remarks.lower()
    if not any(cue in folded for cue in _CUES):
        return
    text = planned_text(" ".join(folded.replace("#", " ").split()))
    named = [each for each in checkpoint_formats() if any(_has_whole_word(text, name) for name in each.names)]
    rigid = [each for each in named if each.otherwise and _is_of_framework(each, text, written_layout)]
    if len(rigid) != 1 or any(not each.otherwise and each.framework == rigid[0].framework for each in named):
        return
    (saved,) = rigid
    if operations is not None and operations.shrinks and "dp" not in saved.free:
        message = f"a job that goes on with fewer replicas loads a checkpoint with another dp, but the format {saved.format} does not allow that"
        yield RULE.problem("operations.recovery", message, saved.otherwise)
        return
    if _LOADS.search(text) is None or _CONVERTED.search(text) is not None or _SAME.search(text) is not None:
        return
    changed = sorted(_changed_degrees(text, written_layout) - saved.free)
    if changed:
        message = f"the checkpoint is loaded with another {and_list(changed)}, but the format {saved.format} can only be loaded with the degrees of the save"
        yield RULE.problem("description", message, saved.otherwise)


def _has_whole_word(text: str, name: str) -> bool:
    """Whether a text has a name as a whole word: no letter, digit or underscore follows it."""
    start = text.find(name)
    while start >= 0:
        behind = text[start + len(name) : start + len(name) + 1]
        if not (behind.isalnum() or behind == "_"):
            return True
        start = text.find(name, start + 1)
    return False


def _is_of_framework(each: CheckpointFormat, text: str, layout: LayoutSpec | None) -> bool:
    """Whether a format belongs to the framework of the layout or of the text."""
    framework = (layout.framework or "") if layout is not None else ""
    return each.framework in framework or each.framework in text or each.framework == "megatron"


def _changed_degrees(text: str, layout: LayoutSpec | None) -> set[str]:
    """The degrees for which a lowercase text states several values, or a value other than the layout's.

    >>> sorted(_changed_degrees("old: tp 8, pp 4, 16 replicas; new: tp 8, pp=2", None)), _changed_degrees("from 64 to 48 GPUs".lower(), None)
    (['pp'], {'dp'})
    """
    values: dict[str, set[int]] = {}
    for degree, axis, number in _DEGREE.findall(text):
        values.setdefault(degree or _AXES[axis], set()).add(int(number))
    for degree, before, after in _CHANGE.findall(text):
        values.setdefault(degree, set()).update((int(before), int(after)))
    for degree in values:
        written = getattr(layout, degree) if layout is not None else None
        values[degree] |= {written} if isinstance(written, int) else set()
    changed = {degree for degree, found in values.items() if len(found) > 1}
    for match in _RANKS.finditer(text):
        numbers = [each for each in match.groups() if each]
        if not numbers or len(set(numbers)) > 1:
            changed.add("dp")
    return changed
