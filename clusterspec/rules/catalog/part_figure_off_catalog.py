"""A text states a figure of a part or a model that its catalog entry does not have.

## What it finds

In the description and the comments: the memory, the memory bandwidth or the largest power of an accelerator or a node, the cages
or ports of a switch, the layers, heads, parameters, experts or context of a model, where the sentence names the part and the
catalog has another figure. Of the accelerator of the design, also where no sentence names it: a peak with sparsity that the text
calls dense, for one or for all, and a bandwidth of both directions that it gives for each. Of its model, the parameters. The figures of all parts that the name may mean are right, and so are figures of the keys. Bounds,
measured figures, parts of the whole and figures of several parts together are not read.

## Why it matters

Numbers computed from the figure are wrong: modules for 64 cages of a switch that has 32, or weights that do not fit.

## What to do

Look the part up with `clusterspec catalog show`, and compute again.

## When to ignore it

Ignore it where the text is about a variant that the catalog does not have.

## Fires

```yaml description
clusterspec: 1
description: The QM9700 has 64 OSFP cages, so 24 of them take 1,536 twin-port modules.
cluster: {platform: dgx-h200, nodes: 64}
```

```yaml description
clusterspec: 1
description: Llama 3.1 70B has 126 layers.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-70b, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, tp: 8, pp: 4}
```

```yaml description
clusterspec: 1
description: Con NVLink, cada GPU llega a 900 GB/s por sentido.
cluster: {platform: dgx-h100, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
description: The QM9700 has 32 OSFP cages for 64 ports; a leaf with 32 ports to nodes has 32 to spines.
cluster: {platform: dgx-h200, nodes: 64}
```

```yaml
clusterspec: 1
description: A server of eight offers 10.5 PFLOP/s of dense bf16, 20.9 with 2:4 sparsity.
cluster: {platform: mi300x-ubb8, nodes: 4}
```

## Sources

- The figures of the catalog, each with its source: docs/catalog.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.catalog.reader import Entry
from clusterspec.cluster.model import Cluster, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import clause_bounds
from clusterspec.rules.readers.part_mentions import PartMention, mentions_in
from clusterspec.rules.readers.statements.accelerator_figures import wrong_accelerator_figures
from clusterspec.rules.readers.statements.part_figures import ROWS, values_of_parts
from clusterspec.rules.readers.statements.stated_keys import (
    LONGEST_SENTENCE,
    Statement,
    is_stated_value,
    plain_text,
    statements_in,
)
from clusterspec.rules.readers.written_numbers import sentences_of, written_numbers
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely", yields_to=("sparse-peak-as-dense", "duplex-counted-as-one-way"))
PARAMETERS = [each for each in ROWS if each.key == "parameters"]
_NUMBER = pattern(r"\d[\d.,]*")
OF_SEVERAL = 3.0
"""Ratio to the largest value of the catalog above which a figure counts several parts together."""
_MASK = "_"
"""A sign in place of the letters of a name, whose digits are no figures."""
_MASKED = pattern(r"_+")
_SEVERAL = pattern(r"(?i)(?:\b\d{1,5} ?(?:x |× ?)?|\b(?:all|both|these|those|beide|alle|les|nos|two) )(?:[\w-]+ )?$")
"""Words before the name of several parts; a figure after them may be the sum of all."""


def check(
    own_remarks: str, catalog: Catalog, spec: Spec, cluster: Cluster | None, workload: Workload | None
) -> Iterator[Problem]:
    if not own_remarks:
        return
    if (problem := next(_part_problems(own_remarks, catalog, spec), None)) is not None or (
        problem := next(_own_problems(own_remarks, catalog, spec, cluster, workload), None)
    ) is not None:
        yield problem


def _own_problems(
    text: str, catalog: Catalog, spec: Spec, cluster: Cluster | None, workload: Workload | None
) -> Iterator[Problem]:
    """The problems of figures of the accelerator and of the model of the design, which their sentence does not name."""
    for wrong in wrong_accelerator_figures(text, cluster) if cluster is not None else ():
        message = f"the text calls `{wrong.words}` {wrong.called}, but the catalog has {wrong.right}"
        yield RULE.problem("description", message, "correct the text, and what was computed from it")
    if workload is None or workload.kind == "rl" or workload.model.id not in catalog.ids("model"):
        return
    own, of_own = values_of_parts([workload.model]), True
    if "parameters" not in own:
        return
    own["parameters"] = [*own["parameters"], *own.get("active parameters", ())]
    for sentence in sentences_of(plain_text(text)):
        models = [each for each in mentions_in(sentence, catalog) if each.kind == "model"]
        if not models and of_own:
            for stated in statements_in(sentence, own, PARAMETERS):
                whole = 0.5 * max(own["parameters"]) < stated.value < 2 * max(own["parameters"])
                if whole and not is_stated_value(stated, own[stated.key.key]) and not _is_of_another_part(stated, spec):
                    yield _problem(stated, "the model", [workload.model], own)
        of_own = workload.model.id in models[-1].ids if models else of_own


def _part_problems(own_remarks: str, catalog: Catalog, spec: Spec) -> Iterator[Problem]:
    """The problems of figures of parts that their sentence names."""
    for sentence in sentences_of(plain_text(own_remarks)):
        for part, entries, segment in _parts_of(sentence, catalog):
            own = values_of_parts(entries)
            for stated in statements_in(segment, own, ROWS):
                of_several = stated.value > OF_SEVERAL * max(own[stated.key.key])
                if (
                    not is_stated_value(stated, own[stated.key.key])
                    and not of_several
                    and not _is_of_another_part(stated, spec)
                ):
                    yield _problem(stated, sentence[part.start : part.end], entries, own)


def _parts_of(sentence: str, catalog: Catalog) -> Iterator[tuple[PartMention, list[Entry], str]]:
    """The parts that a sentence names, each with its entries and with the words about it: up to the next part."""
    if len(sentence) > LONGEST_SENTENCE:
        return
    parts = [*mentions_in(sentence, catalog)]
    for number, part in enumerate(parts):
        end = parts[number + 1].start if number + 1 < len(parts) else len(sentence)
        if _SEVERAL.search(sentence[: part.start]) is None:
            start = part.start if number else _start_of_words(sentence, part)
            segment = sentence[start : part.start] + _MASK * (part.end - part.start) + sentence[part.end : end]
            yield part, _entries(part, catalog), segment


def _start_of_words(sentence: str, part: PartMention) -> int:
    """Where the words about the first part begin: at the last figure of its clause before it, as others have other subjects."""
    start, _ = clause_bounds(sentence, part.start, part.end)
    figures = [each.start() for each in _NUMBER.finditer(sentence, start, part.start)]
    return figures[-1] if len(figures) > 1 else start


def _entries(part: PartMention, catalog: Catalog) -> list[Entry]:
    found = []
    for id_ in part.ids:
        try:
            found.append(catalog.get(part.kind, id_))
        except BrokenEntry:
            continue
    return found


def _is_of_another_part(stated: Statement, spec: Spec) -> bool:
    """Whether a key has the figure, for a changed part or for another thing in the same unit."""
    return not stated.key.counts and any(
        abs(stated.value - each) <= stated.key.same * abs(each) for each in written_numbers(spec)
    )


def _problem(stated: Statement, name: str, entries: Sequence[Entry], own: dict[str, Sequence[float]]) -> Problem:
    row = stated.key
    right = " or ".join(dict.fromkeys(display(each, row.unit) for each in own[row.key]))
    words = _MASKED.sub(name, stated.words)
    message = f"the text says `{words}` of {name}, but the catalog has {right} ({row.key} of {', '.join(each.id for each in entries)})"
    return RULE.problem("description", message, "correct the text, and what was computed from it")
