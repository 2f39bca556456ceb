"""A compute budget in a text does not follow from the model, the machine or the tokens.

## What it finds

- FLOP of the run, as `6 x N x D` or as a result, with all parameters of a mixture of experts in place of the active
  ones.
- FLOP of the run that differ from those of model and tokens by more than a factor of 2.5.
- FLOP/s of the machine that use the peak with structured sparsity, or that are not accelerators times peak times the
  stated utilization.
- A time that is not the FLOP over the FLOP/s of the text.
- A quotient of tokens and parameters (`100 tokens per parameter`) that differs from the plan's.

## Why it matters

The time, the allocation and the price of a run follow this product. A mixture of experts with 235 billion parameters, of
which 22 billion are active, takes a tenth of the time that all parameters would take.

## What to do

Multiply six times the active parameters by the tokens, and divide by accelerators, dense peak of the precision, and
utilization.

## When to ignore it

Ignore it where the text works out the compute of another run.

## Fires

```yaml description
clusterspec: 1
description: The run takes 6 x 47e9 x 1e12 = 2.82e23 FLOP.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
layout: {framework: megatron-core, ep: 8}
```

```yaml description
clusterspec: 1
description: 128 GPUs x 1,979 TFLOP/s x 0.4 give 1.01e17 FLOP/s.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T, precision: bf16}
```

## Silent

```yaml
clusterspec: 1
description: The run takes 6 x 12.9e9 x 1e12 = 7.7e22 FLOP, and 128 GPUs x 989 TFLOP/s x 0.4 give 5.06e16 FLOP/s.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 1024, tokens: 1T, precision: bf16}
layout: {framework: megatron-core, ep: 8}
```

## Sources

- Six times parameters times tokens: J. Kaplan et al., Scaling Laws for Neural Language Models, section 2.1, https://arxiv.org/abs/2001.08361
- Active parameters of a mixture of experts in this product: Qwen3 Technical Report, https://arxiv.org/abs/2505.09388
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Workload
from clusterspec.cost.parameters import model_weights, workload_flops_per_token
from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.rules.readers.quantities import (
    BARE,
    BYTE,
    FLOP,
    FLOP_PER_SECOND,
    SECOND,
    SHARE,
    TextQuantity,
    sentence_quantities,
)
from clusterspec.rules.readers.results.explanations import Claim, follows_with_another
from clusterspec.rules.readers.results.expressions import text_products
from clusterspec.rules.readers.windows import is_certain
from clusterspec.rules.readers.written_numbers import are_close, number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
SPARSE_MODEL = 1.5
"""Smallest ratio of all to active parameters at which a text about one of them can be told from a text about the other."""
SAME = 0.06
"""Relative difference up to which rounded numbers of parameters, FLOP and FLOP/s are equal."""
OFF = 2.5
"""Factor between stated and computed FLOP that conventions for attention and recomputation cannot explain."""
OF_RUN = 1e19
"""Smallest number of FLOP that a whole run takes; smaller ones belong to a token, a layer or a step."""
_CUES = ("FLOP", "flop", "loating", "leitkomma", "virgule flottante", "6 x ", "6 × ", "6 * ", "6*", "6×", "6·")
_OPERATIONS = pattern(
    r"(?i)\b(?:floating[- ]point operations|gleitkomma-?operationen|opérations en virgule flottante|flops?)\b"
)
_ELSEWHERE = pattern(
    r"(?i)\b(?:per|a|each|every) (?:step|token|layer|block|sequence|day|gpu|accelerator|second|sample)\b|\b(?:reward|draft|teacher|smaller|larger|ablation\w*|published|paper|generation|rollout|inference|attention)\b"
)
"""Pattern of words in a sentence about the compute of a part, or of another run."""
_UTILIZED = pattern(r"(?i)\b(?:mfu|utili[sz]ation|efficiency|peak|auslastung|utilisation|utilizaci[oó]n)\b|%")
_SPARSE = pattern(r"(?i)\bspars|\b2:4\b|\bnot\b")
_LASTS = pattern(r"(?i)\b(?:lasts?|takes?|runs?|days?|needs?|dauert|dure|dura|tage|jours|d[ií]as)\b")
_PER_PARAMETER = pattern(
    r"(?i)(?<![\w.,])(\d[\d,]{0,8}(?:\.\d{1,3})?) (?:training )?tokens (?:per|for each|for every|a) (?:(?P<active>active|activated) |total )?parameter\b"
)
_OTHER_QUOTIENT = pattern(
    r"(?i)\b(?:chinchilla|optim\w+|law|rule|usual|recommend\w*|least|most|minimum|more|fewer|than|instead|up to|beyond)\b"
)


def check(own_remarks: str, training: Workload, cluster: Cluster | None) -> Iterator[Problem]:
    if not own_remarks or training.rl is not None:
        return
    if any(cue in own_remarks for cue in _CUES):
        yield from _flop_problem(own_remarks, training)
        if cluster is not None:
            yield from _rate_problem(own_remarks, training, cluster)
        yield from _time_problem(own_remarks)
    yield from _quotient_problem(own_remarks, training)


def _flop_problem(text: str, work: Workload) -> Iterator[Problem]:
    """The problem of the first FLOP figure of the run that does not follow from active parameters and tokens."""
    whole, active = model_weights(work.model).total, model_weights(work.model).active_weights
    for product in text_products(text):
        named = next((each for each in product.factors if are_close(_count(each), whole, SAME)), None)
        if (
            product.result.unit in (FLOP, BARE)
            and product.result.value > OF_RUN
            and named is not None
            and whole > SPARSE_MODEL * active
            and any(each.value in (2, 4, 6, 8) for each in product.factors)
        ):
            yield _all_parameters_problem(product.words, whole, active)
            return
    if not work.tokens:
        return
    right = work.tokens * workload_flops_per_token(work)
    for sentence, quantities in sentence_quantities(text):
        for quantity in quantities:
            counted = quantity.unit == FLOP or (quantity.unit == BARE and _OPERATIONS.search(sentence) is not None)
            if not counted or quantity.value < OF_RUN or not is_certain(sentence, quantity):
                continue
            if _ELSEWHERE.search(sentence) is not None or not _names_tokens(quantities, work):
                continue
            if whole > SPARSE_MODEL * active and are_close(quantity.value, 6 * whole * work.tokens, SAME):
                yield _all_parameters_problem(quantity.words, whole, active)
                return
            if not right / OFF < quantity.value < right * OFF:
                message = (
                    f"`{quantity.words}`: {display(work.tokens, '1')} tokens of {work.model.id} take {right:.2g} FLOP"
                )
                yield RULE.problem("description", message, "multiply 6 by the active parameters and the tokens")
                return


def _count(quantity: TextQuantity) -> float:
    """The count that a factor stands for: in a product of parameters, `46.7B` means billions, not bytes."""
    return quantity.value * 1e9 if quantity.unit == BYTE and quantity.words.endswith("B") else quantity.value


def _names_tokens(quantities: tuple[TextQuantity, ...], work: Workload) -> bool:
    """Whether a sentence computes FLOP with the tokens of the run; also true if it has no other figure of that size."""
    large = [each.value for each in quantities if each.unit in (BARE, "token") and each.value >= 1e10]
    weights = model_weights(work.model)
    others = [
        each for each in large if not any(are_close(each, own, SAME) for own in (weights.total, weights.active_weights))
    ]
    return not others or any(are_close(each, work.tokens or 0.0, SAME) for each in others)


def _all_parameters_problem(words: str, whole: float, active: float) -> Problem:
    message = f"`{words}` counts all {display(whole, '1')} parameters, but a token uses {display(active, '1')} of them: the compute is {whole / active:.2g} times too high"
    return RULE.problem("description", message, "multiply by the active parameters")


def _rate_problem(text: str, work: Workload, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a FLOP/s figure of the machine that no dense peak explains."""
    if work.peak is None:
        return
    dense, count = work.peak.value, cluster.accelerators
    peaks = [each.value for each in cluster.accelerator.peaks.values() if each.value <= dense * (1 + SAME)]
    if work.precision != "fp8" and "fp8" in text.casefold():
        return  # the peak of another precision, on purpose
    for words, rate in _narrow_rates(text, count):
        own = any(are_close(rate, each, 0.03) for each in peaks)
        if not own and any(are_close(rate, multiple * dense, 0.02) for multiple in (2, 4)):
            message = f"`{words}` multiplies the peak with 2:4 sparsity, or of a narrower format: dense {work.precision} reaches {display(dense, 'FLOP/s')}"
            yield RULE.problem("description", message, "use the dense peak of the precision")
            return
    for sentence, quantities in sentence_quantities(text):
        rates = [
            each for each in quantities if each.unit == FLOP_PER_SECOND and each.value > 1.5 * max([*peaks, dense])
        ]
        shares = [each.value for each in quantities if each.unit == SHARE and 0.05 <= each.value <= 0.9]
        rates.sort(key=lambda each: each.value)
        if len(rates) == 2 and len(shares) == 1 and are_close(rates[0].value, shares[0] * rates[1].value, SAME):
            del rates[1]  # the peak of the machine before the share of it
        if (
            len(rates) != 1
            or len(shares) != 1
            or _UTILIZED.search(sentence) is None
            or _SPARSE.search(sentence) is not None
        ):
            continue
        counts = {each.value for each in quantities if each.unit == "accelerator" and each.value > 1} or {float(count)}
        if counts != {float(count)} or any(
            are_close(rates[0].value, count * each * shares[0], SAME) for each in (*peaks, dense)
        ):
            continue
        if any(are_close(rates[0].value, count * each, SAME) for each in (*peaks, dense)):
            continue  # the peak of the machine, with the share of it that is used
        multiple = rates[0].value / (count * dense * shares[0])
        why = (
            ", twice the dense figure: the peak with 2:4 sparsity, or of a narrower format"
            if are_close(multiple, 2, SAME)
            else ""
        )
        message = f"`{rates[0].words}`{why}: {count:,} accelerators at {shares[0]:.0%} of {display(dense, 'FLOP/s')} deliver {count * dense * shares[0]:.3g} FLOP/s"
        yield RULE.problem("description", message, "multiply accelerators, dense peak and utilization")
        return


def _narrow_rates(text: str, count: int) -> Iterator[tuple[str, float]]:
    """The FLOP/s factors of products, and FLOP/s that a sentence multiplies by the accelerators and a share; each with
    its words.
    """
    for product in text_products(text):
        if FLOP_PER_SECOND in {product.result.unit, *(each.unit for each in product.factors)}:
            yield from ((product.words, each.value) for each in product.factors if each.unit in (BARE, FLOP_PER_SECOND))
    for sentence, quantities in sentence_quantities(text):
        rates = [each for each in quantities if each.unit == FLOP_PER_SECOND and is_certain(sentence, each)]
        shares = [each.value for each in quantities if each.unit in (SHARE, BARE) and 0.05 <= each.value <= 0.9]
        if len(rates) != 2 or len(shares) > 1 or _SPARSE.search(sentence) is not None:
            continue
        one, whole = sorted(rates, key=lambda each: each.value)
        if are_close(whole.value, one.value * count * (shares[0] if shares else 1), SAME):
            yield sentence[rates[0].start : rates[1].end], one.value


def _time_problem(text: str) -> Iterator[Problem]:
    """The problem of a time that is not the quotient of the text's only FLOP figure and its only FLOP/s figure of a
    machine.
    """
    read = sentence_quantities(text)
    flops = {
        each.value: each for _, quantities in read for each in quantities if each.unit == FLOP and each.value > OF_RUN
    }
    rates = {
        each.value: each
        for _, quantities in read
        for each in quantities
        if each.unit == FLOP_PER_SECOND and each.value > 2e16
    }
    if len(flops) != 1 or len(rates) != 1:
        return
    (total,), (rate,) = flops.values(), rates.values()
    seconds = total.value / rate.value
    times = [each for _, quantities in read for each in quantities if each.unit == SECOND and each.value >= DAY / 4]
    stated = [
        each
        for sentence, quantities in read
        if not {total, rate}.isdisjoint(quantities) and _ELSEWHERE.search(sentence) is None
        for each in quantities
        if each in times and _LASTS.search(sentence) is not None
    ]
    near = min((abs(each.value / seconds - 1) for each in times), default=0.0)
    first = min(stated, key=lambda each: abs(each.value / seconds - 1), default=None)
    if first is not None and near > 0.3:
        claim = Claim(first.words, display(seconds, "s"), f"{total.words} at {rate.words}")
        if follows_with_another(claim, text, ()):
            return
        message = f"`{total.words}` at `{rate.words}` take {display(seconds, 's')}, not {first.words}"
        yield RULE.problem("description", message, "divide the compute by the rate again")


def _quotient_problem(text: str, work: Workload) -> Iterator[Problem]:
    """The problem of a number of tokens per parameter that differs from the plan's."""
    if not work.tokens or "parameter" not in text or "token" not in text or work.trainable is not None:
        return
    match = _PER_PARAMETER.search(text)
    if match is None:
        return
    before, behind = text[max(0, match.start() - 60) : match.start()], text[match.start() : match.end() + 40]
    clause = re.split(r"[;.] ", before)[-1] + re.split(r"[;.] ", behind)[0]
    if _OTHER_QUOTIENT.search(clause) is not None:
        return
    weights = model_weights(work.model)
    sizes = (weights.active_weights,) if match["active"] else (weights.active_weights, weights.total)
    stated = number_in_text(match[1])
    if not any(abs(stated / (work.tokens / each) - 1) <= 0.25 for each in sizes):
        right = work.tokens / sizes[0]
        message = (
            f"`{match[0]}`: {display(work.tokens, '1')} tokens of {display(sizes[0], '1')} parameters are {right:.3g}"
        )
        yield RULE.problem("description", message, "divide the tokens by the parameters again")
