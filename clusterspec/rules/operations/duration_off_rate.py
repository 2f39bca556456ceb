"""The duration of a run in a text is not its work divided by its rate.

## What it finds

- A number of steps and a step time (`950,000 steps of 3.6 s`) whose product is not the stated total, or a step time
  whose product with the steps of the plan is not the stated run time.
- A rate in tokens per second, of the machine or of one accelerator, at which the tokens do not take the stated time.
- A model FLOPs utilization, in the sentence or in `workload.expected_mfu` if the sentence mentions MFU, at which the
  tokens do not take the stated time.
- A start and an end date that are fewer days apart than `operations.targets.run_time` or the stated run time.
- A time between failures of the job that is not that of one accelerator or node over their number.

In a text with more than 15 figures the finding is a note, unless a known mistake explains the difference: a power of ten,
a factor of two, bits for bytes, or one digit.

## Why it matters

Reservations, allocations and delivery dates depend on the duration.

## What to do

Compute the duration again.

## When to ignore it

Ignore it where the time includes more than the run, such as queues, and the text does not say so.

## Fires

```yaml description
clusterspec: 1
description: The run has 240,000 steps of 6 s each and takes 8 days.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

```yaml description
clusterspec: 1
description: The machine trains 1.2 M tokens/s, so that 1 T tokens take 4 days.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

```yaml description
clusterspec: 1
description: One GPU fails every 50,000 h, so 128 GPUs fail every 39 h.
cluster: {platform: dgx-h100, nodes: 16}
```

```yaml description
clusterspec: 1
description: At 40 % MFU the run is done after five and a half days.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

## Silent

```yaml
clusterspec: 1
description: The run has 240,000 steps of 6 s each, 16.7 days, and takes 18 days with restarts. One GPU fails every 50,000 h, 128 of them every 390 h.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

## Sources

- Arithmetic: steps times seconds, and tokens over tokens per second.
- Failures of independent parts add up: Young, CACM 17(9), 1974, https://doi.org/10.1145/361147.361115
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from clusterspec.cluster.model import Cluster, Workload
from clusterspec.cost.parameters import model_weights, workload_flops_per_token
from clusterspec.finding import Problem
from clusterspec.quantity import DAY, HOUR
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.clauses import clause_at, is_hypothetical
from clusterspec.rules.readers.doubt import confidence_in
from clusterspec.rules.readers.plans.schedules import steps_of_run
from clusterspec.rules.readers.quantities import (
    ACCELERATOR,
    BARE,
    NODE,
    SECOND,
    SHARE,
    STEP,
    TOKEN,
    TOKEN_PER_SECOND,
    TextQuantity,
    is_own,
    sentence_quantities,
)
from clusterspec.rules.readers.results.explanations import Claim, is_explained
from clusterspec.rules.readers.windows import Window, is_certain, windows
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, Spec, WorkloadSpec
from clusterspec.standard import pattern
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "error", "likely")
_CUES = (
    "step",
    "tok",
    "iterat",
    "jeton",
    "schritt",
    "étape",
    "paso",
    "fail",
    "starts",
    "mtbf",
    "mfu",
    "utili",
    "ausf",
    "panne",
    "fall",
    " pas ",
    " 202",
    " 203",
)
_EACH = pattern(
    r"(?i)^ ?(?:each\b(?! (?:time|day|week|hour))|(?:per|a|an|for each|for every|/) ?(?:optimizer |training )?(?:step|iteration)\b|pro schritt|je schritt|to run (?:one|a) step|par étape|par pas|por paso|apiece)"
)
_OF_STEP = pattern(
    r"(?i)\b(?:steps?|iterations?|schritte?n?|étapes?|pas|pasos?)(?: time)? (?:of|at|takes?|is|à|de|von|zu|mit|x|×|lasts?|dauert|dure|dura)(?: about| some)? $"
)
_ONE_STEP = pattern(
    r"(?i)\b(?:one|a|each|every|per|single|the|zu je|je|pro|jeder|ein|par|chaque|un|por|cada) (?:optimizer |training )?(?:steps?|iterations?|schritt|étape|itération|pas|paso|\d[\d.,]* ?s)\b|\bje \d|\bstep time\b"
)
_PER = pattern(
    r"(?i)^ ?(?:/(?! ?\d)|(?:a|per|each|every|pro|je|par|por) (?:\w+ )?(?:day|hour|second|step|iteration|gpu|node|sequence|sample|tag|stunde|schritt|jour|heure|pas|día|hora|paso)\b)"
)
_EVERY = pattern(r"(?i)\b(?:every|each|alle|tous les|toutes les|cada|after) $")
_STEP_WORD = pattern(r"(?i)\b(?:steps?|iterations?|updates?|schritte?n?|étapes?|itérations?|pas|pasos?)\b")
_ALL_TOKENS = pattern(r"(?i)\b(?:the|all|our|its|die|alle|les|los) (?:\w+ ){0,2}(?:tokens?|jetons|trillion)\b")
_WHOLE = pattern(
    r"(?i)\b(?:runs?|training|pre-?training|tokens?|jetons|total|whole|altogether|overall|wall|all|done|finish\w*|through|complete\w*|ready|duration|trained|lauf|vortraining|gesamt\w*|fertig|dauer|"
    r"entra[iî]nement|terminée?s?|durée|entrenamiento|total|duración|milliards|milliarden|trillion)\b"
)
_AGAIN = pattern(
    r"(?i)\b(?:every|each \d|interval|saves?|saving|checkpoint\w*|evaluat\w*|fails?|failures?|alle \d|tous les|toutes les|cada)\b"
)
_OTHER_TIME = pattern(
    r"(?i)\b(?:kept|keeps?|retention|stored|interval|between|checkpoint\w*|reserv\w+|delivery|warranty|repair\w*|deadline|notice|until|ago|before|earlier|behind|per day|a day)\b|\b(?:every|each|alle|tous les|cada|first|last|next|ersten|letzten|nächsten|premi(?:er|ère)s?|derni(?:er|ère)s?|primer[ao]s|últim[ao]s) $"
)
_STEP_TIME = pattern(r"(?i)\b(?:step|iteration)[ -]time(?: of| is|:)?(?: about)? $|\bschrittzeit(?: von)? $")
_TAKES = pattern(
    r"(?i)\b(?:so|takes?|lasts?|is|are|in|needs?|for|runs?|total(?:s|ing)?|makes?|=|≈|after|about|within|dauer[nt]|sind|en|dure(?:nt)?|soit|prend|dura[n]?|tarda|son)[ :]?(?: ?about| ?some| ?only| ?roughly| ?~| ?the){0,3} ?$|, $|: $|\($"
)
_WITH_MORE = pattern(
    r"(?i)\b(?:restart\w*|evaluat\w*|interrupt\w*|failures?|reserv\w*|margin|queue\w*|including|incl|book\w*|overhead|slack|attention|contract|recover\w*|between|every|warm\w*|first|last|ago|neustart\w*|per day)\b"
)
"""Pattern of words in a sentence whose time includes more than the steps, or is another time."""
_OTHER_RUN = pattern(
    r"(?i)\b(?:prompt|prefill|decod\w*|generat\w*|rollouts?|serv\w*|users?|requests?|output|input|tokenis\w*|tokeniz\w*|reading|loader|ablation\w*|proxy|pilot|seeds?|each run|checkpoint\w*|phase|stage)\b"
)
_FAILS = pattern(
    r"(?i)\b(?:fail\w*|failure|mtbf|mean time between failures|interrupt\w*|breaks? down|ausf[aä]ll\w*|fällt|pannes?|falla\w*|fallos?)\b"
)
_ONE_PART = pattern(
    r"(?i)\b(?:one|a|an|each|every|per|single|ein|eine|jede[rs]?|pro|un|une|chaque|par|una|cada|por) (?:h\d00|b\d00|a100|mi\d{3}x)? ?(?P<part>gpu|accelerator|chip|node|host|server|machine|instance|knoten|n(?:œ|oe)ud|nodo)\b"
)
_HOSTS = pattern(r"(?i)^ ?(?:hosts|machines|vms)\b")
_UTILIZED = pattern(r"\bMFU\b|\bmfu\b|(?i:\bmodel flops? utili[sz]ation\b)")
_REPAIRS = pattern(r"(?i)\bmttr\b|repair|restart|replaced")
_START = pattern(
    r"(?i)\b(?:starts?|started|begins?|from|beginn\w*|ab|vom|commence|débute|du|empieza|comienza|desde|del)(?: on| at| am| le| el)?(?: the)? (20\d\d-\d\d-\d\d)"
)
_END = pattern(
    r"(?i)\b(?:ends?|ended|until|till|to|finish\w*|complete[ds]?|done|ready|endet|bis|zum|finit|jusqu'au|au|termina|hasta|al)(?: is| on| at| by| am| le| el)?(?: the)? (20\d\d-\d\d-\d\d)"
)
_RUN = pattern(r"(?i)\b(?:runs?|training|pre-?training|job|lauf|vortraining|entra[iî]nement|entrenamiento)\b")
CLOSE, WITH_MORE = 0.15, 1.4
"""Relative difference that rounding explains, and the factor that restarts and evaluation can explain."""


def check(
    own_remarks: str,
    spec: Spec,
    cluster: Cluster,
    workload: Workload | None,
    operations: OperationsSpec | None,
    texts: PurchaseTexts | None,
) -> Iterator[Problem]:
    if not own_remarks or spec.pools or spec.jobs:
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    yield from _failure_problem(own_remarks)
    if workload is None or workload.kind != "train" or workload.rl is not None:
        return
    yield from _step_problem(own_remarks, workload)
    yield from _token_problem(own_remarks, workload, cluster)
    yield from _utilization_problem(own_remarks, workload, cluster, spec.workload)
    if texts is not None and " 20" in own_remarks:
        yield from _day_problem(texts.description, operations)


def _step_problem(text: str, work: Workload) -> Iterator[Problem]:
    """The problem of a time for all steps that is not the number of steps times the time of one step."""
    run = steps_of_run(work)
    for window in windows(text):
        one = _step_time(window)
        if one is None or _OTHER_RUN.search(window.text) is not None:
            continue
        counts = [each.value for each in window.quantities if _counts(window.text, each, STEP, 100, run)]
        if len(counts) > 1 or (not counts and (run is None or _RUN.search(window.text) is None)):
            continue
        steps = counts[0] if counts else run or 0.0
        found = _wrong_time(window, one, steps * one.value)
        if found is not None:
            yield _problem(f"{steps:,.0f} steps of {one.words}", steps * one.value, found)
            return


def _counts(text: str, quantity: TextQuantity, unit: str, least: float, own: float | None) -> bool:
    """Whether a figure is a total count: by its unit, or as a bare number equal to the plan's."""
    if _PER.match(text[quantity.end :]) or _EVERY.search(text[max(0, quantity.start - 10) : quantity.start]):
        return False
    if quantity.unit == unit:
        return quantity.value >= least
    return quantity.unit == BARE and own is not None and own > 1000 and quantity.agrees(own, 0.005)


def _step_time(window: Window) -> TextQuantity | None:
    """The time of one step: the only time that a window calls so, or its only short one if a step is named."""
    short = [each for each in window.quantities if each.unit == SECOND and each.value <= HOUR]
    named = [each for each in short if _is_of_step(window.text, each)]
    if not named and len(short) == 1 and _ONE_STEP.search(window.text) is not None:
        named = short
    found = named[0] if len(named) == 1 else None
    return found if found is not None and found.value and is_certain(window.text, found) else None


def _is_of_step(sentence: str, time: TextQuantity) -> bool:
    if _STEP_TIME.search(sentence[: time.start]) is not None:
        return True
    if _STEP_WORD.search(sentence) is None:
        return False
    return _EACH.match(sentence[time.end :]) is not None or _OF_STEP.search(sentence[: time.start]) is not None


def _wrong_time(window: Window, other: TextQuantity | None, seconds: float) -> TextQuantity | None:
    """The time that a text gives for work that takes ``seconds``, if no time in the text is near it; else None."""
    text = window.text
    times = [each for each in window.quantities if each.unit == SECOND and each is not other]
    own = [each for each in times if is_certain(text, each) and not _is_of_something_else(text, each)]
    if window.sentences > 1:  # a time of the next sentence is one of the run where it says so
        own = [each for each in own if _is_of_whole(window.sentence_of(each))]
    stated = [each for each in own if _TAKES.search(text[: each.start]) is not None]
    if not stated and len([each for each in times if each.value >= HOUR]) == 1:
        stated = [each for each in own if each.value >= HOUR]
    more = WITH_MORE if _WITH_MORE.search(text) is not None else 1 + CLOSE
    if not stated or any((1 - CLOSE) * seconds <= each.value <= more * seconds for each in times):
        return None
    return stated[0] if stated[0].value >= 60 else None


def _is_of_whole(sentence: str) -> bool:
    """Whether a sentence is about the duration of the whole run, and not about a recurring part of it."""
    return _WHOLE.search(sentence) is not None and _AGAIN.search(sentence) is None


def _is_of_something_else(text: str, time: TextQuantity) -> bool:
    """Whether the clause of a time, or the words before it, show that it is not the duration of the run."""
    before = text[max(0, time.start - 10) : time.start]
    return (_OTHER_TIME.search(clause_at(text, time.start, time.end)) or _OTHER_TIME.search(before)) is not None


def _token_problem(text: str, work: Workload, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a time that does not follow from the tokens and the token rate in the text."""
    for window in windows(text):
        rates = [each for each in window.quantities if each.unit == TOKEN_PER_SECOND and is_certain(window.text, each)]
        rates.sort(key=lambda each: -each.value)  # of the machine before that of one accelerator
        if not rates or len(rates) > 2 or _OTHER_RUN.search(window.text) is not None or not rates[0].value:
            continue
        tokens = [each.value for each in window.quantities if _counts(window.text, each, TOKEN, 1e8, work.tokens)]
        if len(tokens) > 1 or (not tokens and (not work.tokens or not _names_run(window.text))):
            continue
        total = tokens[0] if tokens else work.tokens or 0.0
        options = [total / rates[0].value / factor for factor in (1, cluster.accelerators, cluster.nodes)]
        wrong = [_wrong_time(window, None, seconds) for seconds in options]
        if all(each is not None for each in wrong) and wrong[0] is not None:
            whole = options[0] if options[0] < 400 * DAY else options[1]
            work_at_rate = f"{display(total, '1')} tokens at {rates[0].words}"
            claim = Claim(wrong[0].words, display(whole, "s"), work_at_rate)
            if is_explained(claim, text, (cluster.nodes, cluster.accelerators)):
                continue
            yield _problem(work_at_rate, whole, wrong[0])
            return


def _names_run(text: str) -> bool:
    return _RUN.search(text) is not None or _ALL_TOKENS.search(text) is not None


def _utilization_problem(
    text: str, work: Workload, cluster: Cluster, written: WorkloadSpec | None
) -> Iterator[Problem]:
    """The problem of a stated time that is too short, or too long, for the tokens at the utilization in the sentence or
    the spec.
    """
    if not work.tokens or work.peak is None or work.trainable is not None:
        return
    expected = written.expected_mfu if written is not None else None
    flops = (6 * model_weights(work.model).active_weights, workload_flops_per_token(work))
    for sentence, quantities in sentence_quantities(text):
        shares = [each.value for each in quantities if each.unit == SHARE and 0.05 <= each.value <= 0.9]
        if _UTILIZED.search(sentence) is None or len(shares) > 1 or _OTHER_RUN.search(sentence) is not None:
            continue
        if is_hypothetical(sentence):
            continue
        mfu = shares[0] if shares else expected
        if not mfu or _is_of_other_size(sentence, quantities, work, cluster):
            continue
        rate = cluster.accelerators * work.peak.value * mfu
        options = [work.tokens * each / rate for each in flops]
        wrong = [_wrong_time(Window(sentence, quantities, 1), None, seconds) for seconds in options]
        if all(each is not None and each.value >= DAY / 2 for each in wrong) and wrong[0] is not None:
            run = f"{display(work.tokens, '1')} tokens on {cluster.accelerators:,} accelerators"
            yield _problem(run, options[1], wrong[0], f" at an MFU of {percent(mfu)}")
            return


def _problem(run: str, seconds: float, stated: TextQuantity, condition: str = "") -> Problem:
    """The problem of a run for which a text states another time than its seconds under a condition."""
    right = display(seconds, "s")
    message = f"{run} take {right}{condition}, not {stated.words}"
    confidence = confidence_in(stated.words, right)
    return RULE.problem("description", message, "compute the duration again", confidence=confidence)


def _is_of_other_size(sentence: str, quantities: Iterable[TextQuantity], work: Workload, cluster: Cluster) -> bool:
    """Whether a sentence states other tokens or accelerators than the plan, or a rate that determines the time."""
    sizes = {TOKEN: work.tokens or 0.0, ACCELERATOR: cluster.accelerators, NODE: cluster.nodes}
    return any(
        each.unit in (TOKEN_PER_SECOND, STEP)
        or (each.unit in sizes and each.value > 1 and not each.agrees(sizes[each.unit]))
        for each in quantities
        if is_own(sentence, each)
    )


def _day_problem(text: str, operations: OperationsSpec | None) -> Iterator[Problem]:
    """The problem of a first and a last day with fewer days between them than the run takes."""
    target = operations.targets.run_time if operations is not None and operations.targets is not None else None
    for sentence in sentences_of(" ".join(text.split())):
        starts, ends = _START.findall(sentence), _END.findall(sentence)
        if len(set(starts)) != 1 or len(set(ends)) != 1 or _RUN.search(sentence) is None:
            continue
        first, last = _day(starts[0]), _day(ends[0])
        quantities = [each for _, found in sentence_quantities(sentence) for each in found]
        times = [each.value for each in quantities if each.unit == SECOND and each.value >= 2 * DAY]
        needed = times[0] if len(times) == 1 else target.value if target is not None else None
        if first is None or last is None or needed is None:
            continue
        days = (last - first).days
        if days + 1 < needed / DAY * 0.97:
            message = f"from {first} to {last} are {days + 1} days, but the run takes {plain(needed / DAY, 3)}"
            yield RULE.problem("description", message, "start earlier, or move the end")
            return


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _part_unit(sentence: str, quantity: TextQuantity) -> str:
    """The unit of a number of accelerators or nodes (hosts included); empty for other quantities."""
    if quantity.unit == BARE and _HOSTS.match(sentence[quantity.end :]) is not None:
        return NODE
    return quantity.unit if quantity.unit in (ACCELERATOR, NODE) else ""


def _failure_problem(text: str) -> Iterator[Problem]:
    """The problem of a time between failures of all parts that is not the time of one part divided by their number."""
    for sentence, quantities in sentence_quantities(text):
        times = [each for each in quantities if each.unit == SECOND and each.value >= 60]
        counts = [each for each in quantities if each.value > 1 and _part_unit(sentence, each)]
        if len(times) != 2 or len(counts) != 1 or _FAILS.search(sentence) is None:
            continue
        part = _ONE_PART.search(sentence)
        if part is None:
            continue
        of_nodes = part["part"].lower() not in ("gpu", "accelerator", "chip")
        one, whole = max(times, key=lambda each: each.value), min(times, key=lambda each: each.value)
        if of_nodes != (_part_unit(sentence, counts[0]) == NODE) or one.value < 100 * HOUR:
            continue
        right = one.value / counts[0].value
        if not 0.7 <= whole.value / right <= 1.4 and not _REPAIRS.search(sentence) is not None:
            named = counts[0].words if counts[0].unit else f"{counts[0].words} nodes"
            message = f"{named} that each fail every {one.words} fail every {display(right, 's')} together, not every {whole.words}"
            yield RULE.problem("description", message, "divide the time of one part by their number")
            return
