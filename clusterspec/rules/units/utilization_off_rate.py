"""The MFU in a text is not the stated FLOP/s over the dense peak.

## What it finds

A sentence of the description or the comments with the FLOP/s that one accelerator reaches and a model FLOPs utilization
that is not their ratio to the dense peak. The peak may be of any precision in the sentence, or of the workload's
precision.

## Why it matters

The usual cause is the peak with 2:4 sparsity, which is twice the dense one: the utilization is then half of the true one,
and durations and purchases that follow from it are twice too long and too large.

## What to do

Divide by the dense peak of the precision in which the matrices are multiplied.

## When to ignore it

Ignore it where the FLOP/s belong to another part than the accelerator of the cluster.

## Fires

```yaml description
clusterspec: 1
description: The pilot reached 396 TFLOP/s per GPU in bf16, an MFU of 20 %.
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}
```

```yaml description
clusterspec: 1
description: "Gemessene Auslastung (MFU): 52 %, das sind 396 TFLOP/s je GPU."
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}
```

## Silent

```yaml
clusterspec: 1
description: The pilot reached 396 TFLOP/s per GPU in bf16, an MFU of 40 %.
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}
```

## Sources

- Model FLOPs utilization is achieved over peak FLOP/s: Chowdhery et al., PaLM, section 4.1, https://arxiv.org/abs/2204.02311
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.quantities import (
    ACCELERATOR,
    FLOP_PER_SECOND,
    NODE,
    SHARE,
    TextQuantity,
    sentence_quantities,
)
from clusterspec.rules.readers.written_numbers import are_close
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "error", "likely")
_UTILIZATION = pattern(
    r"(?i)\b(?:mfu|model flops? utili[sz]ation|utili[sz]ation|auslastung|utilisation|utilizaci[oó]n|of (?:the )?(?:dense |bf16 |fp8 |theoretical )*peak|der spitzenleistung|du pic)\b"
)
NEAR = 48
"""Largest distance, in characters, between a percentage and the word that makes it a utilization."""
_OTHER_SHARE = pattern(
    r"(?i)\b(?:more|less|faster|slower|higher|lower|better|above|below|up from|down from|hfu|hardware flops|target\w*|at least|at most|overhead|exposed|overlap\w*|sm|gpu utili\w+|power|memory)\b"
)
SAME = 0.06
"""Relative difference up to which two shares are equal, with rounding and slightly different clocks."""
LEAST = 0.02
"""Share of the peak below which a rate is probably not the rate of an accelerator."""


def check(statements: str, training: Workload, cluster: Cluster) -> Iterator[Problem]:
    if not statements or "FLOP" not in statements.upper() or training.peak is None:
        return
    for sentence, quantities in sentence_quantities(statements):
        share, rate = _utilization_of(sentence, quantities), _rate_of_one(sentence, quantities, cluster)
        if share is None or rate is None:
            continue
        peaks = _dense_peaks(sentence, training, cluster)
        if any(share.agrees(rate.value / each, SAME) for each in peaks.values()):
            continue
        precision = training.precision if training.precision in peaks else min(peaks)
        if rate.value > peaks[precision]:
            continue
        right, sparse = rate.value / peaks[precision], rate.value / peaks[precision] / 2
        cause = ": the share is of the peak with 2:4 sparsity" if share.agrees(sparse, SAME) else ""
        dense = f"the dense {precision} peak of {display(peaks[precision], 'FLOP/s')}"
        message = f"`{rate.words}` are {percent(right, 3)} of {dense}, not {share.words}{cause}"
        yield RULE.problem("description", message, "divide by the dense peak of the precision of the GEMMs")
        return


def _utilization_of(sentence: str, quantities: tuple[TextQuantity, ...]) -> TextQuantity | None:
    """The only percentage in a sentence, if it is a utilization of the peak; else None."""
    shares = [each for each in quantities if each.unit == SHARE]
    if len(shares) != 1 or not 0 < shares[0].value < 1:
        return None
    near = sentence[max(0, shares[0].start - NEAR) : shares[0].end + NEAR]
    return shares[0] if _UTILIZATION.search(near) is not None and _OTHER_SHARE.search(near) is None else None


def _rate_of_one(sentence: str, quantities: tuple[TextQuantity, ...], cluster: Cluster) -> TextQuantity | None:
    """The only FLOP/s figure in a sentence that is no peak, if an accelerator can reach it; else None."""
    peaks = [each.value for each in cluster.accelerator.peaks.values()]
    stated = [each for each in quantities if each.unit == FLOP_PER_SECOND]
    rates = [
        each for each in stated if not any(are_close(each.value, peak * n, 0.02) for peak in peaks for n in (1, 2))
    ]
    counted = any(each.unit in (ACCELERATOR, NODE) and each.value > 1 for each in quantities)
    own = cluster.accelerator.id.lower()
    if len(rates) != 1 or any(each.lower() not in own for each in _PART.findall(sentence)):
        return None
    of_one = _OF_ONE.search(sentence) is not None or not counted
    return rates[0] if of_one and LEAST * min(peaks) <= rates[0].value <= max(peaks) else None


_PART = pattern(r"(?i)\b(?:[abhlv]\d{2,3}|g[bh]\d{3}|mi\d{3}|v\d[a-z]|gaudi|trainium)(?=\b|[a-z])")
"""Pattern of the name of an accelerator."""
_OF_ONE = pattern(
    r"(?i)(?:\b(?:per|each|every|a|one|je|pro|par|por|cada|chaque) |/ ?)(?:gpus?|accelerators?|chips?|cards?|devices?|h100|h200|b200|b300|tpu|karte|beschleuniger|carte|tarjeta)\b"
)


def _dense_peaks(sentence: str, training: Workload, cluster: Cluster) -> dict[str, float]:
    """The dense peaks that a sentence may divide by: of the precisions that it names, and of the workload."""
    folded = sentence.lower()
    own = {training.precision: training.peak.value} if training.peak is not None else {}
    named = {name: peak.value for name, peak in cluster.accelerator.peaks.items() if name in folded}
    return (
        own | named | ({"bf16": cluster.accelerator.peaks["bf16"].value} if "bf16" in cluster.accelerator.peaks else {})
    )
