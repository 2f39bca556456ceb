"""Steps and tokens of a schedule in a text do not fit the run.

## What it finds

- A warm-up that lasts half of the run or longer.
- Warm-up, stable part and decay in one sentence whose sum is not the run, and phases whose tokens do not sum to
  `tokens`.
- A step at which a part begins and a number of remaining steps, where the run has another number of steps left.
- A number of steps with its number of tokens (`480,000 steps (12 T tokens)`), where the batch of the plan gives another
  number.
- A ramp of the batch that lasts longer than the run, or ends at another batch than `global_batch`.
- Steps or tokens whose stated share of the run is wrong.
- Checkpoints or evaluations at an interval of more steps than the run has (`save_steps 500`, `evaluated every 500
  steps`).
- Passes over unique tokens (`four epochs of 200 M tokens`) whose product is not `tokens`.

These are errors, except a warm-up that is shorter than the run and a ramp to another batch, which are warnings.

## Why it matters

Schedules are written in steps and budgets in tokens. After a change of the batch or of the sequence length one of the two
no longer fits, and the learning rate, the batch or the mixture of the data changes at the wrong time.

## What to do

Divide the tokens by `global_batch` times `sequence_length`.

## When to ignore it

Ignore it where the text describes the whole training and the keys one phase of it.

## Fires

```yaml description
clusterspec: 1
description: Warm-up of 150,000 steps, then cosine decay to the end of the run.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

```yaml description
clusterspec: 1
description: The base model is released at 120,000 steps (1 T tokens).
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

```yaml description
clusterspec: 1
description: The trainer saves and evaluates every 500,000 steps, and the best of five checkpoints is released.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

## Silent

```yaml
clusterspec: 1
description: Warm-up of 2,000 steps, stable rate for 188,400 steps, decay over the last 48,000 steps; 238,400 steps (1 T tokens).
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

## Sources

- Schedules in steps, samples and tokens: https://github.com/NVIDIA/Megatron-LM/blob/core_v0.12.0/megatron/training/arguments.py
- Warm-up, stable part and decay: S. Hu et al., MiniCPM, section 4, https://arxiv.org/abs/2404.06395






























































"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.plans.schedules import (
    DECAY,
    STABLE,
    WARM_UP,
    SchedulePart,
    equated_steps,
    schedule_parts,
    steps_of_run,
)
from clusterspec.rules.readers.quantities import (
    SEQUENCE,
    SHARE,
    STEP,
    TOKEN,
    TextQuantity,
    is_own,
    sentence_quantities,
)
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.windows import is_certain
from clusterspec.rules.readers.written_numbers import NUMBER, are_close, large_number_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.standard import pattern
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "error", "likely")
LONG_WARM_UP = 0.5
"""A warm-up of at least this share of the run is implausible."""
SAME = 0.05
"""Relative difference up to which two rounded numbers of steps or tokens are equal."""
_CUES = ("step", "token", "iter", "schritt", "étape", "itérat", "update", "jeton", "paso")
_OTHER_BATCH = pattern(
    r"(?i)\b(?:ramp\w*|rampup|grows?|micro|validat\w*|evaluations? (?:on|over|set)|ablation\w*|reward|proxy|smaller|draft)\b"
)
"""Pattern of words in sentences whose steps may have another batch or belong to another run."""
_PHASE = pattern(r"(?i)\b(?:phases?|stages?|étapes?|fases?)\b")
_PASSES = pattern(
    rf"(?i)(?<![\w.,])(\d{{1,3}}(?:\.\d)?|{'|'.join(NUMBER_WORDS)}) (?:epochs?|passes|full passes|Durchläufe|Epochen|époques|passages|épocas|pasadas) (?:of|over|on|through|à|sur|de|über|von|a)(?: the| our| about| all)?(?: same)? $"
)
_IS_SHARE = pattern(
    r"^,? ?\(?(?:which|that)? ?(?:is|are|=|or|i\.e|makes?|takes?|sind|ist|soit|es decir)?,? ?(?:about |only |just |less than |~|≈ ?)?$"
)
_OF_RUN = pattern(
    r"(?i)^\)? of (?:the |all |our |its )?(?:whole |full |total )?(?:run|training|steps|tokens|budget|pre-?training)\b|^\)? (?:des laufs|du run|del entrenamiento)\b"
)
FAR_OFF = 1.5
"""Ratio of two shares beyond which rounding does not explain the difference."""
_UNIQUE = pattern(r"(?i)\b(?:unique|distinct|deduplicated)\b")
_TIMES = pattern(
    rf"(?i)\b(?P<passes>\d{{1,2}}(?:\.\d)?|{'|'.join(NUMBER_WORDS)}|single) (?:full )?(?:epochs?|passes|pass|times|epochen|époques|épocas)\b|\b(?P<once>once|einmal)\b(?! (?:per|a|every|in|the)\b)"
)
_TO = (" to ", " auf ", " à ", " a ", " bis ")
_RAMP = pattern(
    r"(?i)\b(?:batch|batch size)\b[^.;]{0,60}\b(?:ramp\w*|grows?|growing|increas\w*|raised|rises?|doubl\w*|from)\b|\bramp\w*\b[^.;]{0,40}\bbatch\b"
)
_CONTINUED = pattern(
    r"(?i)\b(?:earlier|previous|before|already|continu\w*|resum\w*|later|next|second run|whole training|this file|part of)\b"
)


_INTERVAL_KEY = pattern(
    r"(?i)\b(?:save|eval|evaluation|checkpoint|ckpt|validation|val|sync)[_-](?:steps?|interval|freq|every(?:_n_steps)?|period)[ =:`'\"]{1,3}(?P<n>\d[\d,]{0,11})\b"
)
_INTERVAL = pattern(r"(?i)\b(?:every|each|all|alle|tous les|toutes les|cada) $")
NEAR = 60
"""Number of characters before an interval in which the text says what is done at each interval."""
_AT_INTERVAL = pattern(
    r"(?i)\b(?:checkpoint\w*|saves?|saved|saving|snapshots?|evaluat\w+|validat\w+|gespeichert|speichert|validier\w+|sauvegard\w+|évalu\w+|guarda\w*|evalú\w*)\b"
)


def check(own_remarks: str, training: Workload, written_workload: WorkloadSpec) -> Iterator[Problem]:
    if not own_remarks:
        return
    folded, steps = own_remarks.casefold(), steps_of_run(training)
    if steps is None or training.tokens is None or not any(cue in folded for cue in _CUES):
        return
    parts = [each for each in schedule_parts(own_remarks) if _CONTINUED.search(each.sentence) is None]
    yield from _warm_up_problem(parts, steps, training.tokens)
    yield from _parts_problem(parts, steps, training.tokens)
    yield from _rest_problem(parts, steps)
    yield from _pair_problem(own_remarks, training)
    yield from _phase_problem(own_remarks, training.tokens)
    yield from _ramp_problem(own_remarks, training)
    yield from _share_problem(own_remarks, training, steps)
    yield from _unique_problem(own_remarks, training.tokens)
    yield from _pass_problem(own_remarks, training.tokens, written_workload)
    yield from _interval_problem(own_remarks, steps)


def _interval_problem(text: str, steps: float) -> Iterator[Problem]:
    """The problem of a checkpoint or evaluation interval that is longer than the run."""
    found = [(float(match["n"].replace(",", "")), match[0]) for match in _INTERVAL_KEY.finditer(text)]
    found += [
        (each.value, each.words)
        for sentence, quantities in sentence_quantities(text)
        for each in quantities
        if each.unit == STEP
        and _INTERVAL.search(sentence[: each.start]) is not None
        and _AT_INTERVAL.search(sentence[max(0, each.start - NEAR) : each.start]) is not None
        and is_own(sentence, each)
    ]
    value, words = max(found, default=(0.0, ""))
    if value > steps:
        message = f"`{words}`: the run has {steps:,.0f} steps, fewer than one interval"
        yield RULE.problem("description", message, "use a shorter interval")


def _warm_up_problem(parts: list[SchedulePart], steps: float, tokens: float) -> Iterator[Problem]:
    for each in parts:
        run = steps if each.quantity.unit == STEP else tokens
        if each.part == WARM_UP and not each.is_last and each.quantity.value >= LONG_WARM_UP * run:
            whole = f"{steps:,.0f} steps" if each.quantity.unit == STEP else f"{display(tokens, '1')} tokens"
            severity = "error" if each.quantity.value >= run else "warning"
            message = (
                f"the warm-up of `{each.quantity.words}` takes {each.quantity.value / run:.0%} of a run of {whole}"
            )
            yield RULE.problem(
                "description", message, "warm up over at most a few percent of the steps", severity=severity
            )
            return


def _parts_problem(parts: list[SchedulePart], steps: float, tokens: float) -> Iterator[Problem]:
    """The problem of a warm-up, stable phase and decay, stated in one sentence, that do not add up to the run."""
    for sentence in dict.fromkeys(each.sentence for each in parts):
        own = [each for each in parts if each.sentence == sentence and not each.is_point]
        named = {each.part: each.quantity for each in own if each.part in (WARM_UP, STABLE, DECAY)}
        units = {each.unit for each in named.values()}
        if not {STABLE, DECAY} <= named.keys() or len(own) != len(named) or len(units) != 1:
            continue
        run, total = (steps if units == {STEP} else tokens), sum(each.value for each in named.values())
        if not are_close(total, run, SAME):
            unit = "steps" if units == {STEP} else "tokens"
            message = (
                f"{_sum_text(named.values())} are {display(total, '1')} {unit}, but the run has {display(run, '1')}"
            )
            yield RULE.problem("description", message, "let the parts of the schedule add up to the run")
            return


def _rest_problem(parts: list[SchedulePart], steps: float) -> Iterator[Problem]:
    """The problem of a stated number of remaining steps that does not follow from the step at which the part begins."""
    for each in parts:
        match = _REST.search(each.sentence) if each.is_point and each.quantity.unit == STEP else None
        if match is None or each.part not in (STABLE, DECAY) or not 0 < each.quantity.value < steps:
            continue
        rest, right = large_number_in_text(match[1]), steps - each.quantity.value
        if rest != each.quantity.value and not are_close(rest, right, ROUNDED):
            message = f"`{match[0]}` after step {each.quantity.value:,.0f} of {steps:,.0f} are {right:,.0f}"
            yield RULE.problem("description", message, "correct the steps, or the step at which the part begins")
            return


_REST = pattern(
    rf"(?i)\b(?:remaining|last|final|restlichen?|verbleibenden?|letzten|derniers|restants|últimos|restantes) {NUMBER} (?:steps|schritte\w*|pas|itérations|pasos)\b"
)
ROUNDED = 0.02
"""Relative difference up to which a rounded number of steps is right."""


def _sum_text(quantities: object) -> str:
    return " + ".join(each.words for each in quantities)  # type: ignore[attr-defined]


def _pair_problem(text: str, work: Workload) -> Iterator[Problem]:
    """The problem of a number of steps that the text equates with a number of tokens, although the plan's batch gives
    another number.
    """
    batch = work.global_batch * work.sequence_length
    for sentence, count, tokens in equated_steps(text):
        if _OTHER_BATCH.search(sentence) is not None or _CONTINUED.search(sentence) is not None:
            continue
        right = count.value * batch
        if are_close(tokens.value, right, SAME) or not (is_certain(sentence, count) and is_certain(sentence, tokens)):
            continue
        message = f"`{count.words}` and `{tokens.words}`: {count.value:,.0f} steps of {batch:,} tokens are {display(right, '1')}"
        help_ = f"{display(tokens.value, '1')} tokens are {tokens.value / batch:,.0f} steps"
        yield RULE.problem("description", message, help_)
        return


def _share_problem(text: str, work: Workload, steps: float) -> Iterator[Problem]:
    """The problem of steps or tokens that a text calls a wrong share of the run."""
    for sentence, quantities in sentence_quantities(text):
        if _CONTINUED.search(sentence) is not None:
            continue
        for one, other in pairwise(quantities):
            between, behind = sentence[one.end : other.start], sentence[other.end :]
            run = {STEP: steps, TOKEN: work.tokens or 0.0}.get(one.unit)
            if other.unit != SHARE or not run or _IS_SHARE.match(between) is None or _OF_RUN.match(behind) is None:
                continue
            right = one.value / run
            if right and not 1 / FAR_OFF <= other.value / right <= FAR_OFF:
                message = f"`{one.words}` are {percent(right, 2)} of the run, not {other.words}"
                yield RULE.problem("description", message, "compute the share again")
                return


def _unique_problem(text: str, tokens: float) -> Iterator[Problem]:
    """The problem of unique tokens that, times the passes in the same sentence, do not give the tokens of the run."""
    for sentence, quantities in sentence_quantities(text):
        unique = [
            each for each in quantities if each.unit == TOKEN and _UNIQUE.search(sentence[each.start : each.end + 12])
        ]
        match = _TIMES.search(sentence) if len(unique) == 1 and is_own(sentence, unique[0]) else None
        if match is None or _CONTINUED.search(sentence) is not None or unique[0].value < 1e8:
            continue
        words = (match["passes"] or "single").lower()
        passes = 1.0 if words == "single" else NUMBER_WORDS.get(words) or float(words.replace(",", "."))
        others = [each.value for each in quantities if each.unit == TOKEN and each is not unique[0]]
        if any(are_close(passes * unique[0].value, each, 2 * SAME) for each in (tokens, *others)):
            continue
        total = passes * unique[0].value
        of_source = any(each.unit == SHARE for each in quantities) or (not others and not 0.5 <= total / tokens <= 2)
        if of_source:
            continue
        message = f"{plain(passes)} times `{unique[0].words}` are {display(total, '1')} tokens, but the run has {display(tokens, '1')}"
        yield RULE.problem("description", message, "correct the passes, the text or `tokens`")
        return


def _phase_problem(text: str, tokens: float) -> Iterator[Problem]:
    """The problem of training phases whose tokens do not add up to the tokens of the run."""
    for sentence, quantities in sentence_quantities(text):
        if _PHASE.search(sentence) is None or _CONTINUED.search(sentence) is not None:
            continue
        found = [each for each in quantities if each.unit == TOKEN and each.value >= 1e9]
        if not 2 <= len(found) <= 5 or any(are_close(each.value, tokens, SAME) for each in found):
            continue
        if max(each.value for each in found) > tokens or not _is_partition(found, tokens):
            continue
        total = sum(each.value for each in found)
        message = (
            f"the phases of {_sum_text(found)} are {display(total, '1')} tokens, but the run has {display(tokens, '1')}"
        )
        yield RULE.problem("description", message, "let the phases add up to `tokens`, or correct the key")
        return


def _is_partition(found: list[TextQuantity], tokens: float) -> bool:
    """Whether the phases of a text are meant to cover the whole run: their total is near the run's tokens, and no
    subset adds up to them.
    """
    sums = [
        sum(each.value for each in chosen) for size in range(1, len(found) + 1) for chosen in combinations(found, size)
    ]
    return not any(are_close(each, tokens, SAME) for each in sums) and 0.5 * tokens <= sums[-1] <= 2 * tokens


def _ramp_problem(text: str, work: Workload) -> Iterator[Problem]:
    """The problem of a batch ramp that ends at another batch than `global_batch`, or after the end of the run."""
    for sentence, quantities in sentence_quantities(text):
        if _RAMP.search(sentence) is None or not is_own(sentence, quantities[-1]):
            continue
        lengths = [each for each in quantities if each.unit == TOKEN and each.value >= 1e9]
        if work.tokens and len(lengths) == 1 and lengths[0].value >= work.tokens * (1 + SAME) and "over" in sentence:
            message = f"the batch grows over `{lengths[0].words}`, but the run has {display(work.tokens, '1')} tokens"
            yield RULE.problem("description", message, "let the ramp end within the run")
            return
        batches = [
            each for each in quantities if each.unit == SEQUENCE or (each.unit == "" and 16 <= each.value <= 1e5)
        ]
        last = next(
            (each for each in reversed(batches) if sentence[: each.start].endswith(_TO)),
            None,
        )
        own = (work.global_batch, work.global_batch * work.sequence_length)
        if last is not None and last.unit == SEQUENCE and last.value not in own and _CONTINUED.search(sentence) is None:
            message = f"the batch grows to `{last.words}`, but `global_batch` is {work.global_batch:,}"
            yield RULE.problem("description", message, "correct the text or the key", severity="warning")
            return


_STUDY = pattern(
    r"(?i)\b(?:papers?|stud(?:y|ies)|authors|published|literature|et al|studien?|veröffentlich\w+|autoren|articles?|études?|auteurs|estudios?|artículos?|autores|articol[oi]|autori|artigos?)\b"
)
"""Words of a sentence about what others found."""


def _pass_problem(text: str, tokens: float, written: WorkloadSpec) -> Iterator[Problem]:
    """The problem of a number of passes over unique tokens that does not give the tokens of the run."""
    for sentence, quantities in sentence_quantities(text):
        for quantity in quantities:
            match = _PASSES.search(sentence[: quantity.start])
            if match is None or quantity.unit != TOKEN:
                continue
            passes = NUMBER_WORDS.get(match[1].lower()) or float(match[1])
            if any(are_close(passes * quantity.value, each, SAME) for each in (tokens, tokens / 2)):
                continue
            others = [each.value for each in quantities if each.unit == TOKEN and each is not quantity]
            if others or _CONTINUED.search(sentence) is not None or _STUDY.search(sentence) is not None:
                continue
            message = f"`{match[0]}{quantity.words}` are {display(passes * quantity.value, '1')} tokens, but `tokens` is {display(tokens, '1')}"
            yield RULE.problem("description", message, "correct the text or the key")
            return
