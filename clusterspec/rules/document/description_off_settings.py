"""The description names another setting than the keys.

## What it finds

A `description` that names the accelerator, the model, the framework, the network technology, the sharding, the training precision, the size of the
model, a degree of the layout or the oversubscription, or states a figure of the machine (NICs and accelerators per node, host
memory, nodes per rack, spares, link rate, bandwidth of a node, storage, power), of the work (tokens, batch, load, targets), of operations (checkpoints, repair,
restart) or of the purchase (term, warranty, delivery, support, tax, discount, payment, PUE, electricity), where the keys state
another. A figure belongs to the key whose words are nearest in its clause. Numbers agree to 5 %, sizes of models to 30 %, PUE
and prices to 1 %. A key is skipped where the text also states the right figure, or several wrong ones; a number that another
key states in the same unit is accepted, and so are the memory, the bandwidths and the power of accelerators that the
text or the design names, and a setting that the text only compares with (`moved from`, `instead of`,
`not`). Sentences about another machine (one that is replaced, compared with, or bought later), bounds, promises that the key keeps, plans, parts, ranges,
and figures in a clause with `would` or `if` are not read. The requests a second of the busiest time are compared with the highest rate of
the keys where the text does not state that one too.

In a text that also speaks of another machine, order, offer or party, and in one with more than 15 figures, the finding is a note, unless a known mistake explains the difference (a power of ten, a factor
of two, bits for bytes, or one digit) or the key is one that such texts rarely mean otherwise: host memory, NICs and spare nodes,
the interval and number of checkpoints, restart and repair time, tokens and their number in a sequence, term, warranty, response
time, discount, tax, payments, PUE and the price of electricity.

## Why it matters

One of the two is wrong, and every figure of the report follows the keys.

## What to do

Correct the text or the key.

## When to ignore it

Ignore it where the text describes another machine or run.

## Fires

```yaml description
clusterspec: 1
description: 64 nodes on a non-blocking fabric.
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, topology: fat-tree, oversubscription: "3:1"}
```

```yaml description
clusterspec: 1
description: Continued training of Llama 3.1 8B.
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, tp: 8}
```

```yaml description
clusterspec: 1
description: Training on H200 with FSDP.
cluster: {platform: dgx-h100, nodes: 4}
```

```yaml description
clusterspec: 1
description: The service desk gets Qwen3-30B-A3B, with about 3 billion active parameters for each token.
cluster: {platform: dgx-h200, nodes: 2}
workload: {kind: serve, model: qwen3-32b, serving: {input_tokens: 8000, output_tokens: 800, concurrency: 128}}
layout: {framework: vllm, tp: 2, dp: 8}
```

```yaml description
clusterspec: 1
description: In the busiest hour 24,000 clerks ask nine requests each, all together 60 a second.
cluster: {platform: dgx-h200, nodes: 2}
workload: {kind: serve, model: qwen3-32b, serving: {input_tokens: 8000, output_tokens: 800, request_rate: 6}}
layout: {framework: vllm, tp: 2, dp: 8}
```

```yaml description
clusterspec: 1
description: Each node has 2 TB of system memory.
cluster: {platform: dgx-a100, nodes: 10, host_memory: 1 TB}
```

## Silent

```yaml
clusterspec: 1
description: 64 nodes, non-blocking within a leaf and 3:1 between leaves.
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, topology: fat-tree, oversubscription: "3:1"}
```

```yaml
clusterspec: 1
description: Continued training of Llama 3.1 70B with 64k tokens a sequence, moved from H200 to H100.
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 65536, global_batch: 64}
layout: {framework: megatron-core, tp: 8, cp: 2}
```

## Sources

- The keys that state these settings: docs/spec.md
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import prod

from clusterspec.catalog import Catalog
from clusterspec.catalog.names_of_parts import GPU_MODELS
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.document.schema import letters_and_digits
from clusterspec.finding import Confidence, Problem
from clusterspec.rules.knowledge.ranges import is_in_another_currency
from clusterspec.rules.readers.clauses import clauses_of, is_hypothetical
from clusterspec.rules.readers.doubt import confidence_in, words_of_another
from clusterspec.rules.readers.key_values import KILOWATT_HOUR, WEEK, values_named, values_of_keys
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.named_keys import MEASURES, SAME, NamedKey
from clusterspec.rules.readers.services.peaks import is_above, peak_rate_of
from clusterspec.rules.readers.statements.accelerator_figures import figures_of_accelerators
from clusterspec.rules.readers.statements.named_choices import wrong_framework, wrong_model
from clusterspec.rules.readers.statements.stated_keys import SIZES_OF_MACHINE, Statement, wrong_statements
from clusterspec.rules.readers.written_numbers import (
    belongs_to_something_else,
    written_numbers,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
_OF_OTHERS = pattern(
    r"^(?:'s)? (?:file|image|layout|settings|plan|recipe|run)\b|"
    r"^[^.;]{0,40}?\b(?:removed|taken out|stripped|not included|dismantled|decommissioned|scrapped|given up|switched off|abgebaut|abgeschaltet|démontée?s?|desmontad\w*|wymontow\w*|ausgebaut|entfernt|retirée?s?|rimoss\w*|verwijderd|borttag\w*)\b"
)
"""Pattern of words after a name that refer it to something else, such as the image of a container, or to a part that
was removed.
"""
_EARLIER = pattern(r"(?i) (?:\w+ )?(?:before(?! \w)|earlier|ago|previously|last (?:month|year))\b")
"""Pattern of words after a number that refer it to an earlier run."""
_CONDITION = pattern(r"(?i)\W*(?:with|for|under|mit|bei|für|avec|pour|con|para|por)\b")
"""Pattern of words that begin a conditional clause; the condition applies to the next clause too."""
NEAR = 400
"""Number of characters before and after a setting that are read with it."""
_WITHIN = pattern(r"^ ?(?:in|inside|within|per|up to|at|under|below|between|to)\b")
"""Pattern of words after `non-blocking` that limit it to a part of the fabric."""


_PASSES = pattern(r"\b(?:passes|epochs?|times)\b")
"""Pattern of words that say that a dataset is read more than once."""
_RATIO = pattern(
    r"(?<![\w.:/])(?P<down>\d{1,2}(?:\.\d)?):(?P<up>\d{1,2})(?![\w:])|\b(?:fully )?[Nn]on-?blocking\b|\bfull bisection\b"
)
_RATIO_CUES = ("blocking", "full bisection", "versubscri")
TECHNOLOGY = "cluster.scale_out.technology"
REQUEST_RATE = "workload.serving.request_rate"
_OF_DAYS = pattern(
    r"(?i)\b(?:days?|weeks?|months?|years?|tag|woche|monat|jahr|jour|semaine|mois|an|día|semana|mes|año|giorno|mese|dag|daily|täglich|monatlich)\b"
)
"""Times over which a number of requests is a mean."""
_NETWORKS = ("InfiniBand", "RoCE", "Spectrum-X", "Slingshot", "EFA", "Omni-Path", "TCPXO", "TCPX")
GENERATION = "generation"
_MEASURES = frozenset(MEASURES[name] for name in ("size", "rate", "watts"))
_OF_OTHER_NETWORKS = pattern(
    r"(?i)\b(?:stor\w+|front-?end|management|speicher\w*|stockage|cables?|splitters?|modules?|optics)\b"
)
_NAME_CUES = {
    GENERATION: ("DR",),
    "cluster.scale_out.technology": _NETWORKS,
    "layout.sharding": ("ZeRO", "SDP"),
    "workload.precision": (" in ", " en ", " em "),
}
_NAMES = {
    "cluster.accelerator": pattern(
        rf"\b(?:{GPU_MODELS}|RTX(?: PRO)? \d{{4}}|910[A-D]|Gaudi ?\d|Trainium ?\d|TPU v\d\w?)s?\b"
    ),
    "cluster.scale_out.technology": pattern(rf"\b(?:{'|'.join(_NETWORKS)})\b"),
    GENERATION: pattern(r"\b(?:EDR|HDR|NDR|XDR)\b"),
    "layout.sharding": pattern(r"\b(?:ZeRO-?[123]|FSDP2?|HSDP)\b"),
    "workload.precision": pattern(
        r"\b(?:[Tt]rain(?:ed|ing|s)?|[Pp]re-?train(?:ed|ing)?|[Tt]uning|[Tt]rainier\w+|[Ee]ntraîn\w+|[Ee]ntren\w+|[Aa]ddestr\w+|[Tt]rein\w+) (?:[\w.’'-]{1,24} ){0,6}?(?:in|en|em) (?P<name>[Ff][Pp]\d{1,2}|[Bb][Ff]16|MXFP\d|NVFP4)\b"
        r"|\bin (?P<german>FP8|BF16|FP16|MXFP8) (?:vor)?trainiert\b"
    ),
}
_FAMILIES = {
    "infiniband": "infiniband",
    "roce": "roce",
    "spectrumx": "roce",
    "slingshot": "slingshot",
    "efa": "efa",
    "omnipath": "omni-path",
    "tcpxo": "gpudirect-tcpxo",
    "tcpx": "gpudirect-tcpx",
}
_SHARDINGS = {
    "zero1": ("zero1",),
    "zero2": ("zero2",),
    "zero3": ("fsdp", "hsdp"),
    "fsdp": ("fsdp", "hsdp"),
    "fsdp2": ("fsdp", "hsdp"),
    "hsdp": ("hsdp",),
}


def check(
    own_description: str,
    spec: Spec,
    cluster: Cluster,
    layout: Layout | None,
    workload: Workload | None,
    catalog: Catalog,
) -> Iterator[Problem]:
    if spec.pools or spec.jobs:
        return
    own = values_of_keys(spec, cluster, layout, workload, own_description)
    found = [*_setting_problems(own_description, spec, cluster, layout, workload, catalog, own)]
    yield from found
    told = " ".join(each.message for each in found)
    yield from _plain_problems(own_description, spec, cluster, layout, own, told)


def _setting_problems(
    own_description: str,
    spec: Spec,
    cluster: Cluster,
    layout: Layout | None,
    workload: Workload | None,
    catalog: Catalog,
    own: Mapping[str, Sequence[float]],
) -> Iterator[Problem]:
    """The problems of the words of a key that stand near a figure, and of names of parts."""
    wrong = [each for each in wrong_statements(own_description, own) if not _is_of_other_key(each, spec)]
    currency = spec.procurement.currency if spec.procurement is not None else None
    wrong = [
        each for each in wrong if not (_is_mean_below_peak(each, own) or is_in_another_currency(currency, each.words))
    ]
    if wrong:
        of_parts = figures_of_accelerators(own_description, cluster, catalog)
        wrong = [each for each in wrong if not _is_measure(each.key) or not _is_among_values(each, of_parts)]
    if wrong:
        from clusterspec.rules.readers.demands.values import kept_limits  # most texts contradict no key

        limits = kept_limits(own_description, spec)
        wrong = [each for each in wrong if not _is_among_values(each, limits.get(each.key.key, ()))]
    for stated in wrong:
        value = _value_text(own[stated.key.key][0], stated.key.unit)
        yield _problem(stated.words, stated.key.key, value, stated.key.is_setting)
    if not any(stated.key.key == REQUEST_RATE for stated in wrong):
        yield from _peak_problem(own_description, spec)
    yield from _framework_problem(own_description, spec, workload, catalog)
    if not any(stated.key.key == "workload.model" for stated in wrong):
        yield from _model_problem(own_description, workload, catalog)
    yield from _ratio_problem(own_description, cluster)
    for key, (own_name, is_own) in _own_names(spec, cluster, workload).items():
        cued = any(cue in own_description for cue in _NAME_CUES.get(key, ("",)))
        found_names = list(_NAMES[key].finditer(own_description)) if cued else []
        names = {letters_and_digits(_name_of(match)) for match in found_names}
        if key == TECHNOLOGY and letters_and_digits(own_name) in letters_and_digits(own_description):
            continue  # a text that names the own network names the other for comparison
        if len(names) != 1 or is_own(*names) or _is_of_others(found_names[0], own_description):
            continue
        if key != GENERATION or not (_OF_OTHER_NETWORKS.search(own_description) or words_of_another(own_description)):
            yield _problem(found_names[0][0], TECHNOLOGY if key == GENERATION else key, own_name)


def _plain_problems(
    description: str,
    spec: Spec,
    cluster: Cluster,
    layout: Layout | None,
    own: Mapping[str, Sequence[float]],
    told: str,
) -> Iterator[Problem]:
    """The problems of sentences that state one value of one key and nothing else."""
    from clusterspec.rules.readers.statements.plain_findings import wrong_facts  # few specs have a description

    currency = spec.procurement.currency if spec.procurement is not None else None
    for each in wrong_facts(description[:MOST_CHARACTERS], spec, cluster, layout, own):
        if f"`{each.key}`" in told or (each.key in SIZES_OF_MACHINE and _has_counts(description, each.key, cluster)):
            continue
        if not is_in_another_currency(currency, each.words):
            yield _problem(each.words, each.key, each.value)


def _has_counts(description: str, key: str, cluster: Cluster) -> bool:
    """Whether a text counts nodes or accelerators in words that `description-off-keys` compares with the keys."""
    from clusterspec.rules.readers.statements.machine_counts import accelerator_counts_in, node_counts_in

    if key == "cluster.accelerators":
        return any(accelerator_counts_in(description))
    return any(node_counts_in(description)) or any(wrong_statements(description, {key: [float(cluster.nodes)]}))


def _peak_problem(description: str, spec: Spec) -> Iterator[Problem]:
    """The problem of a text that promises more requests a second in the busiest time than the plan has."""
    load = spec.workload.serving if spec.workload is not None else None
    if load is None or not load.request_rate or not any(map(str.isdigit, description)):
        return
    rates = [load.request_rate, *(each.request_rate or 0.0 for each in load.day or ())]
    peak = peak_rate_of(description[:MOST_CHARACTERS], {*rates})
    if peak is not None and is_above(peak, max(rates)):
        yield _problem(peak.words, REQUEST_RATE, display(max(rates), "1/s"), is_certain=True)


def _framework_problem(description: str, spec: Spec, workload: Workload | None, catalog: Catalog) -> Iterator[Problem]:
    """The problem of a text that names another framework than the key."""
    framework = spec.layout.framework if spec.layout is not None else None
    if workload is not None and workload.kind != "rl" and framework is not None:
        words = wrong_framework(description, workload.kind, framework, catalog)
        if words:
            yield _problem(words, "layout.framework", framework)


def _model_problem(description: str, workload: Workload | None, catalog: Catalog) -> Iterator[Problem]:
    """The problem of a text that names another model of the catalog than the key."""
    if workload is not None and workload.kind != "rl" and workload.model.id in catalog.ids("model"):
        words = wrong_model(description, workload.model, catalog)
        if words:
            yield _problem(words, "workload.model", workload.model.id)


def _is_of_other_key(stated: Statement, spec: Spec) -> bool:
    """Whether a figure is the value of another key for the same degree or in the same unit."""
    section, _, name = stated.key.key.partition(".")
    if section == "layout":
        return any(stated.value == each for each in values_named((spec.workload, spec.layout), name))
    if stated.key.is_unmistakable:
        return False
    return _is_among_values(stated, written_numbers(spec))


def _is_mean_below_peak(stated: Statement, own: Mapping[str, Sequence[float]]) -> bool:
    """Whether a figure is the number of requests of a day or a longer time, whose mean is below the rate of the key."""
    of_day = stated.key.key == REQUEST_RATE and _OF_DAYS.search(stated.words) is not None
    return of_day and stated.value < own[stated.key.key][0]


def _is_measure(key: NamedKey) -> bool:
    """Whether the figures of a key are sizes, rates or powers without the noun that tells what they are of."""
    return not key.is_setting and not key.powers.isdisjoint(_MEASURES)


def _is_among_values(stated: Statement, values: Iterable[float]) -> bool:
    return any(abs(stated.value - each) <= stated.key.same * abs(each) for each in values)


def _value_text(value: float, unit: str) -> str:
    if unit == "week":
        return f"{value / WEEK:.4g}"
    return f"{value * KILOWATT_HOUR:.4g}" if unit == "kWh" else display(value, unit)


def _is_of_another_case(match: re.Match[str], description: str) -> bool:
    """Whether a setting belongs to something else or to a hypothetical clause. A clause that begins with a preposition
    is read together with the next one.

    >>> texts = "two-year lease would cost less", "With a two-year lease, it would cost less", "a two-year lease, it is new"
    >>> [_is_of_another_case(re.search("two-year lease", text), text) for text in texts]
    [True, True, False]
    """
    if belongs_to_something_else(description, match.start()):
        return True
    near = description[max(0, match.start() - NEAR) : match.end() + NEAR]
    at = min(match.start(), NEAR)
    clauses = clauses_of(near)
    index = next((index for index, (start, end) in enumerate(clauses) if start <= at < end), 0)
    start, end = clauses[index]
    if _CONDITION.match(near[start:end]) and index + 1 < len(clauses):
        end = clauses[index + 1][1]
    return is_hypothetical(near[start:end])


def _ratio_problem(description: str, cluster: Cluster) -> Iterator[Problem]:
    """The problem of an oversubscription ratio in the text that no level of the fabric has; only a text with exactly
    one ratio is judged.
    """
    fabric = cluster.scale_out
    if fabric is None or not any(cue in description for cue in _RATIO_CUES):
        return
    found = list(_RATIO.finditer(description))
    if len(found) != 1:
        return
    (match,) = found
    confined = _WITHIN.search(description[match.end() :]) or _is_of_another_case(match, description)
    ratio = float(match["down"]) / float(match["up"]) if match["down"] and float(match["up"]) else 1.0
    levels = [each.oversubscription for each in fabric.levels] or list(fabric.oversubscription)
    if levels and not confined and not any(abs(ratio / each - 1) <= SAME for each in (*levels, prod(levels))):
        yield _problem(match[0], "cluster.scale_out.oversubscription", f"{prod(levels):g}:1")


def _own_names(spec: Spec, cluster: Cluster, workload: Workload | None) -> dict[str, tuple[str, Callable[[str], bool]]]:
    """For each key whose value is a name, that name, and a test whether a name in the text means the same."""
    found: dict[str, tuple[str, Callable[[str], bool]]] = {}
    if (accelerator := cluster.accelerator) is not None:
        own = (
            letters_and_digits(accelerator.id)
            + letters_and_digits(accelerator.name)
            + letters_and_digits(cluster.platform.id if cluster.platform else "")
        )
        found["cluster.accelerator"] = accelerator.id, lambda name: name.rstrip("s") in own
    if cluster.scale_out is not None:
        technology = cluster.scale_out.technology
        found["cluster.scale_out.technology"] = (
            technology.id,
            lambda name: _FAMILIES[name] in (technology.family, technology.id),
        )
        if technology.family == "infiniband":
            found[GENERATION] = technology.id, technology.id.endswith
    sharding = spec.layout.sharding if spec.layout is not None else None
    if sharding is not None:
        found["layout.sharding"] = sharding, lambda name: sharding in _SHARDINGS[name]
    if workload is not None and workload.kind == "train":
        digits = workload.precision.lstrip("abcdefghijklmnopqrstuvwxyz-")
        found["workload.precision"] = workload.precision, lambda name: name.endswith(digits)
    return found


def _name_of(match: re.Match[str]) -> str:
    return next(filter(None, match.groups()), match[0])


def _is_of_others(name: re.Match[str], description: str) -> bool:
    """Whether the words around a name refer it to another machine or to a removed part."""
    after = description[name.end() :]
    return _is_of_another_case(name, description) or _OF_OTHERS.search(after) is not None


def _problem(words: str, key: str, own: str, is_certain: bool = False) -> Problem:
    at = f"`{key}`" if "." in key else f"the {key}" if key.startswith("bandwidth") else f"the number of {key}"
    message = f"the description says `{words}`, but {at} is {own}"
    confidence = Confidence.CERTAIN if is_certain else confidence_in(words, own, of_key=True)
    return RULE.problem("description", message, "correct the text or the key", confidence=confidence)
