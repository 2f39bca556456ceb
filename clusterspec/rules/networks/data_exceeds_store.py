"""The data of the run do not fit into the storage system.

## What it finds

A data set larger than the `capacity` of `networks.storage`: its tokens (`dataset_tokens`; without it, `tokens`) times
the bytes of a token (`dataset_token_bytes`; without it 2 for vocabularies below 65,500 words, else 4). Where
`dataset_tokens`, or a size of the data in the description or a comment (in TB or PB), and `operations.checkpoint.keep`
are stated, the rule adds the kept checkpoints, of 14 bytes per parameter each. Checkpoints that a text keeps for a time
(`the last 48 hours`) or by number are counted by `checkpoint.interval`. The finding is an error where `dataset_tokens`
is stated, and a warning where only the tokens of the run are known, since some may repeat.

## Why it matters

The storage system that feeds the run contains tokenized data, checkpoints and logs. The rest must be streamed from
elsewhere, at a rate and with failures that the plan does not contain.

## What to do

Plan a larger storage system, or state where the data come from.

## When to ignore it

Ignore it where the run streams its data from an object store outside the cluster.

## Fires

```yaml cluster.networks.storage.capacity
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 100 GB/s, capacity: 40 TB}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 15T, dataset_tokens: 15T}
layout: {tp: 1}
```

```yaml cluster.networks.storage.capacity
clusterspec: 1
description: Each checkpoint of the last 48 hours stays on the file system.
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 100 GB/s, capacity: 60 TB}}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 1024, tokens: 1T}
layout: {tp: 8}
operations: {checkpoint: {interval: 30 min}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  networks: {storage: {bandwidth: 100 GB/s, capacity: 200 TB}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 15T, dataset_tokens: 15T}
layout: {tp: 1}
```

## Sources

- Bytes of a token in the data sets of Megatron, `DType.optimal_dtype`: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/datasets/indexed_dataset.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.cost.storage import token_width
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.knowledge.checkpoints import saved_bytes
from clusterspec.rules.readers.amounts import COUNT, TIME, amounts_in
from clusterspec.rules.readers.clauses import planned_text
from clusterspec.rules.readers.subjects import is_capacity_of_store
from clusterspec.rules.readers.written_numbers import number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec, WorkloadSpec
from clusterspec.standard import pattern
from clusterspec.units import display, plain, plural, rounded_up

RULE = Rule.of(__name__, "error", "likely")
_KEPT = pattern(
    r"(?i)\b(?:keeps?|kept|stays?|retain\w*|retention|remains?|preserv\w*|delet\w+|purg\w+|remov\w+|held|aufbewahrt|aufgehoben|bleib\w+|gelöscht|conserv\w+|rest(?:e|ent)|supprim\w+|behalten|guarda\w*|borra\w*)\b"
)
_SOME = pattern(
    r"(?i)(?<!half-)\b(?:hourly|daily|every (?!(?:checkpoint|half|\d|thirty))|one (?:in|of|per|a|each)|only|latest|object|tape|archive\w*|tier|not|moved|copied|logs?|metrics|traces)\b"
)
"""Pattern of words in a sentence that keeps only some of the checkpoints, or keeps them elsewhere."""
_CHECKPOINTS = ("checkpoint", "snapshot")
_SIZE = pattern(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?) ?(TB|PB)\b")
_DATA = pattern(
    r"(?i)\b(?:corpus|corpora|data ?sets?|scans|pages|images|videos?|recordings|shards|archive|korpus|datens[aä]tze?|datenbestand|\w*archiv(?<!bandarchiv)|aufnahmen|"
    r"jeux? de données|données|archives|datos|archivo|conjunto de datos|grabaciones|dati|archivio|dados|acervo|gegevens|archief)\b"
)
_OF_STORE = pattern(
    r"(?i)\b(?:capacity|usable|raw capacity|kapazität|nutzbar\w*|capacité|utiles?|capacidad|útil\w*|capacità|capaciteit)\b|\b(?:store|storage|file system) of\b"
    r"|\b(?:on|to|from) (?:tapes?|the object store|a bucket|buckets)\b|\belsewhere\b|\bauf (?:magnet)?b[aä]nd\w*|\bim bandarchiv\b|\bsur bandes?\b|\ben cintas?\b|\bsu nastr[oi]\b|"
    r"\b(?:another|other|external|different) (?:provider|vendor|supplier|site|cent(?:er|re)|contract|institute)\b|\bander\w+ (?:anbieter|standort|rechenzentrum|vertrag|haus)|\bautre (?:fournisseur|prestataire|site|centre)|"
    r"\botro (?:proveedor|centro|contrato)|\baltro (?:fornitore|centro|sito)|\bandere (?:aanbieder|leverancier|locatie)|\bannan leverantör|\binn\w+ (?:dostawc|ośrod)|"
    r"\b(?:stays?|remains?|is kept|bleibt|bleiben|reste|restent|queda|quedan|resta|restano|rimane|rimangono|blijft|blijven|fica|ficam|pozostaje|zostaje) (?:at|in|at the|in the|im|à|a|en|em|w|we) (?-i:[A-ZÀ-Ž])\w+"
)
"""Words of a sentence about the capacity of the store, or about data that lie elsewhere."""


def check(
    networks: NetworksSpec,
    training: Workload,
    model: Model,
    written_workload: WorkloadSpec,
    operations: OperationsSpec | None,
    own_remarks: str | None,
) -> Iterator[Problem]:
    capacity = networks.storage.capacity if networks.storage else None
    written = written_workload.dataset_tokens
    tokens = written.value if written is not None else training.tokens
    if capacity is None:
        return
    yield from _retention_problem(own_remarks or "", capacity, model, training, operations)
    yield from _data_and_checkpoints_problem(_named_data(own_remarks or ""), capacity, model, training, operations)
    if tokens is None:
        return
    width = token_width(written_workload, model).value
    if tokens * width <= capacity.value:
        if written is not None:
            yield from _data_and_checkpoints_problem(tokens * width, capacity, model, training, operations)
        return
    yield RULE.problem(
        "cluster.networks.storage.capacity",
        f"{display(tokens, '1')} tokens of {plain(width)} bytes are {display(tokens * width, 'B')}, more than the {capacity.written} of the storage system, "
        "before checkpoints",
        f"plan at least {display(rounded_up(2 * tokens * width), 'B')}, or state where the data are",
        severity="" if written is not None else "warning",
    )


def _retention_problem(
    text: str, capacity: Quantity, model: Model, training: Workload, operations: OperationsSpec | None
) -> Iterator[Problem]:
    """The problem of checkpoints that a text keeps, if they exceed the capacity of the storage system."""
    planned, size = operations.checkpoint if operations is not None else None, saved_bytes(model, training)
    if (
        planned is None
        or planned.keep is not None
        or planned.interval is None
        or size is None
        or not any(each in text.lower() for each in _CHECKPOINTS)
    ):
        return
    for sentence in sentences_of(" ".join(text.split())):
        kept = _kept_checkpoints_in(sentence, planned.interval.value)
        if kept is None:
            continue
        count, words = kept
        if count * size > capacity.value:
            message = f"{words} at one each {planned.interval.written} are {count:,} of {display(size, 'B')}, {display(count * size, 'B')} in all, more than the {capacity.written} of the storage system"
            yield RULE.problem(
                "cluster.networks.storage.capacity", message, f"keep at most {int(capacity.value / size):,}"
            )
            return


def _kept_checkpoints_in(sentence: str, interval: float) -> tuple[int, str] | None:
    """The number of checkpoints that a sentence keeps, by their count or their time, and its words; None if it states
    neither.

    >>> _kept_checkpoints_in("The last 100 checkpoints are kept", 1800.0), _kept_checkpoints_in("Checkpoints older than two days are deleted", 1800.0)
    ((100, 'checkpoints of 100'), (96, 'checkpoints of two days'))
    """
    folded = sentence.lower()
    if _KEPT.search(sentence) is None or _SOME.search(sentence) is not None or planned_text(sentence) != sentence:
        return None
    if not any(each in folded for each in _CHECKPOINTS):
        return None
    amounts = amounts_in(sentence)
    times = [each for each in amounts if each.kind == TIME and each.value > interval]
    if len(times) == 1:
        return int(times[0].value / interval), f"checkpoints of {times[0].written}"
    counts = [
        each for each in amounts if each.kind == COUNT and any(one.startswith(_CHECKPOINTS) for one in each.words[:2])
    ]
    if times or len(counts) != 1 or counts[0].value < 1:
        return None
    return int(counts[0].value), f"checkpoints of {counts[0].written}"


def _named_data(text: str) -> float:
    """Bytes of the data that a text states: the only size in a sentence about data; 0 without such a sentence."""
    for sentence in sentences_of(text) if "TB" in text or "PB" in text else ():
        found = list(_SIZE.finditer(sentence))
        sizes = [each.groups() for each in found if not is_capacity_of_store(sentence, *each.span())]
        if len(sizes) == len(found) == 1 and _DATA.search(sentence) is not None and _OF_STORE.search(sentence) is None:
            return number_in_text(sizes[0][0]) * (1e12 if sizes[0][1] == "TB" else 1e15)
    return 0.0


def _data_and_checkpoints_problem(
    data: float, capacity: Quantity, model: Model, training: Workload, operations: OperationsSpec | None
) -> Iterator[Problem]:
    """The problem of data and kept checkpoints that fit into the storage system separately but not together."""
    keep, size = (
        operations.checkpoint.keep if operations and operations.checkpoint else None,
        saved_bytes(model, training),
    )
    if not data or keep is None or size is None or not keep * size <= capacity.value < data + keep * size:
        return
    message = f"{display(data, 'B')} of data and {plural(keep, 'checkpoint')} of {display(size, 'B')} are {display(data + keep * size, 'B')}, more than the {capacity.written} of the storage system"
    most = int((capacity.value - data) / size)
    fewer = f"keep {plural(most, 'checkpoint')}, or " if most else ""
    help_ = f"{fewer}plan {display(rounded_up(1.25 * (data + keep * size)), 'B')}"
    yield RULE.problem("cluster.networks.storage.capacity", message, help_)
