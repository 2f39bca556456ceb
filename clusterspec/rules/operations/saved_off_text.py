"""Checkpoints or lost time in a text do not follow from the plan.

## What it finds

- Checkpoints that are kept for the whole run, one every so many steps, tokens or days, that exceed the capacity of the
  storage system, or the bytes that the text states for them.
- A number of checkpoints of a stated size with another total.
- A number of steps between checkpoints that at the predicted step time are less than half, or more than twice, of
  `checkpoint.interval`.
- A time that a failure loses at most (`we lose at most 20 minutes`) in a sentence on saved states, if `checkpoint.interval` is longer.
- A share of the time lost to failures, or a goodput, whose loss is less than half of the loss computed from the stated
  failure rate, interval and restart time; or failures per day or week that cost more than the stated share.

These are errors; steps between checkpoints that are not the interval are a warning.

## Why it matters

A full storage system stops the run at the next checkpoint, and a goodput that is too high moves the end of the run.

## What to do

Keep fewer checkpoints, plan more capacity, or correct the share.

## When to ignore it

Ignore it where checkpoints move to another storage system.

## Fires

```yaml description
clusterspec: 1
description: Every 500 steps a checkpoint is kept for good.
cluster: {platform: dgx-h100, nodes: 16, networks: {storage: {bandwidth: 20 GB/s, capacity: 30 TB}}}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
```

```yaml description
clusterspec: 1
description: Failures and restarts cost less than 1 % of the time.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
layout: {framework: megatron-core, tp: 1}
operations: {mean_time_between_failures: 10 h, restart_time: 20 min, checkpoint: {interval: 60 min, pause: 10 s}}
```

```yaml description
clusterspec: 1
description: After a power cut we lose at most 20 minutes of training, since the state is saved that often.
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
operations: {checkpoint: {interval: 4 h, pause: 10 s}}
```

## Silent

```yaml
clusterspec: 1
description: Every 5,000 steps a checkpoint is kept for good. Failures and restarts cost less than 10 % of the time.
cluster: {platform: dgx-h100, nodes: 16, networks: {storage: {bandwidth: 20 GB/s, capacity: 30 TB}}}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 1024, tokens: 1T}
layout: {framework: megatron-core, tp: 1}
operations: {mean_time_between_failures: 10 h, restart_time: 20 min, checkpoint: {interval: 60 min, pause: 10 s}}
```

## Sources

- Bytes of a checkpoint: weights in bf16, master weights and two moments in fp32, 14 bytes per parameter: https://arxiv.org/abs/1910.02054
- Lost work and restarts: Young, CACM 17(9), 1974, https://doi.org/10.1145/361147.361115
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.rules.knowledge.checkpoints import saved_bytes
from clusterspec.rules.readers.amounts import amounts_in
from clusterspec.rules.readers.clauses import clause_at, planned_text
from clusterspec.rules.readers.plans.schedules import steps_of_run
from clusterspec.rules.readers.quantities import (
    BARE,
    BYTE,
    SECOND,
    SHARE,
    STEP,
    TOKEN,
    TextQuantity,
    is_own,
    sentence_quantities,
)
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.standard import pattern
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "error", "likely")
_LOST_AT_MOST = pattern(
    r"(?i)\b(?:los(?:e|es|t|ing)|verlier\w*|verloren|perd(?:ons|ent|u|ue|re)?|on perd|perdemos|pierde\w*|perdiamo|perdono)\b[^.;,\d]{0,24}?"
    r"\b(?:at most|no more than|not more than|never more than|up to|höchstens|maximal|bis zu|au plus|au maximum|jusqu['’]à|como (?:máximo|mucho)|a lo sumo|al massimo|no máximo)(?: the last| about)? (?=\d)"
    r"|\b(?:at most|no more than|höchstens|au plus|como (?:máximo|mucho)|al massimo)(?: the last)? (?=\d[^.;,]{0,30}\b(?:lost|verloren|perdue?s?|perdid[oa]s?|pers[eo])\b)"
)
"""Pattern of the words around the longest time whose work a failure loses."""
_SAVED = pattern(
    r"(?i)\b(?:checkpoint\w*|snapshots?|states?|saved?|saves|saving|training|work|gespeichert|gesichert|sicherung\w*|training\w*|arbeit|rechenzeit|sauvegard\w*|travail|calcul|"
    r"entraînement|guard\w+|trabajo|entrenamiento|salvat\w*|lavoro)\b"
)
_CUES = (
    "checkpoint",
    "snapshot",
    "state",
    "trouble",
    "fail",
    "goodput",
    "effective",
    "restart",
    "crash",
    "lost",
    "neustart",
    "ausf",
    "panne",
    "fallo",
    "interrup",
)
_CHECKPOINT = pattern(r"(?i)\b(?:checkpoint\w*|snapshots?|(?:full|complete|whole|entire) (?:\w+ )?states?)\b")
_KEPT = pattern(
    r"(?i)\b(?:kept|keep(?:s|ing)?|archiv\w*|retain\w*|retention|permanent\w*|for good|never (?:deleted|removed)|(?:none|no (?:\w+ )?(?:one|checkpoint|snapshot)) is (?:\w+ )?(?:deleted|removed|overwritten)|never delete \w+|delete (?:none|nothing)|hold on to|preserv\w*|remain\w*|erhalten|stay(?:s)?"
    r"|behalten|aufbewahrt|aufgehoben|dauerhaft|archiviert|conserv\w+|archivé\w*|définitivement|guard[ae]\w*|se conservan?)\b"
)
_ELSEWHERE = pattern(
    r"(?i)\b(?:tape|object store|bucket|s3|gcs|cold|elsewhere|another|offline|weights only|only (?:the )?(?:weights|most|newest)|bf16 weights|without (?:the )?(?:optimizer|moments)|of each kind|deleted after|last|latest|newest|most recent|rolling|replac\w+|overwrit(?:es|ing)|(?:letzten|neuesten|derniers?|últimos?) \w+)\b"
)
_EVERY = pattern(
    r"(?i)\b(?:every|each|all(?:e|en)?|per|after|intervals? of|tous les|toutes les|cada|one (?:per|a)|je)(?: further| every)? ?$"
)
_OF_SIZE = pattern(r"(?i)^ ?(?:kept |full )?(?:checkpoints?|snapshots?)? ?(?:of|à|zu|x|×|at|de|mit) ?(?:about |~)?$")
_LOSS = pattern(
    r"(?i)\b(?:failures?|restarts?|interruptions?|crash(?:es)?|lost work|lost time|rollbacks?|trouble|hardware faults?|breakdowns?|recover(?:y|ies)|ausfälle?n?|abstürze|neustarts?|pannes?|red[ée]marrages?|fallos|reinicios)\b"
)
_LOSES = pattern(
    r"(?i)\b(?:costs?|overhead|los(?:es?|ing|t)|takes?|eats?|amounts?|consum\w+|less than|no more than|under|below|only|at most|about|kosten|verloren|weniger als|höchstens|co[uû]tent|perd\w+|moins de|au plus|cuestan|menos (?:de|del)|pierd\w+)\b"
)
_OF_TIME = pattern(
    r"(?i)\b(?:(?:wall[- ]clock )?time|run ?time|(?:of|from) (?:the |our )?(?:run|training)|zeit|laufzeit|temps|tiempo|der laufzeit)\b"
)
_A_WEEK = pattern(
    rf"(?i)(?<![\w.,])(?P<count>\d{{1,3}}|{'|'.join(NUMBER_WORDS)}) (?:node |hardware |gpu )?(?:failures?|interruptions?|restarts?|crashes|stops?) (?:a|per|each|every) (?P<period>day|week|month)\b"
)
_GOODPUT = pattern(r"(?i)\b(?:goodput|effective training time|effektive trainingszeit|temps (?:de calcul )?utile)\b")
_PARTLY = pattern(
    r"(?i)\b(?:per|each|a day|daily|of nodes|of the (?:nodes|gpus|parts)|chance|probability|yearly|per year|target|goal|instead|not(?! (?:cost|more|lose|exceed))|wanted|require\w*)\b"
)
FAR = 2.0
"""Factor between a stated figure and the plan's that rounding cannot explain."""
SAME = 0.1


def check(
    own_remarks: str,
    cluster: Cluster,
    training: Workload,
    layout: Layout | None,
    operations: OperationsSpec | None,
    networks: NetworksSpec | None,
    timed: Plan | None,
) -> Iterator[Problem]:
    if not own_remarks or training.rl is not None:
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    sentences = sentence_quantities(own_remarks)
    for sentence, quantities in sentences:
        context = _with_neighbors(sentence, own_remarks)
        if _CHECKPOINT.search(context) is not None:
            yield from _kept_checkpoints_problem(context, sentence, quantities, training, networks)
        if _CHECKPOINT.search(sentence) is not None:
            yield from _size_problem(sentence, quantities)
            yield from _interval_problem(sentence, quantities, operations, timed)
        yield from _lost_work_problem(sentence, quantities, operations)
    yield from _counted_loss_problem(own_remarks)
    if operations is not None and layout is not None and timed is not None:
        yield from _loss_problem(own_remarks, cluster, layout, operations, networks, timed)


def _with_neighbors(sentence: str, text: str) -> str:
    """A sentence of a text, joined with the adjacent sentences that have no digits."""
    near = sentences_of(" ".join(text.split()))
    at = near.index(sentence) if sentence in near else -1
    if at < 0:
        return sentence
    bare = [each for each in (*near[max(0, at - 1) : at], *near[at + 1 : at + 2]) if not any(map(str.isdigit, each))]
    return ". ".join((sentence, *bare))


def _kept_checkpoints_problem(
    context: str, sentence: str, quantities: tuple[TextQuantity, ...], work: Workload, networks: NetworksSpec | None
) -> Iterator[Problem]:
    """The problem of a run's checkpoints that exceed the storage system, or the bytes that the sentence states."""
    steps, size = steps_of_run(work), saved_bytes(work.model, work)
    if _KEPT.search(context) is None or _ELSEWHERE.search(context) is not None or not steps or not size:
        return
    every = [each for each in quantities if each.unit in (STEP, TOKEN) and _EVERY.search(sentence[: each.start])]
    if len(every) != 1 or not every[0].value or not is_own(sentence, every[0]):
        return
    run = steps if every[0].unit == STEP else work.tokens or 0.0
    count = int(run / every[0].value)
    stated = [each for each in quantities if each.unit == BYTE and each.value > 1.5 * size]
    store = networks.storage.capacity if networks is not None and networks.storage is not None else None
    text = f"{plural(count, 'checkpoint')} of {display(size, 'B')}, one every {every[0].words}, are {display(count * size, 'B')}"
    if store is not None and count * size > store.value:
        yield RULE.problem(
            "description", f"{text}, more than the {store.written} of the storage system", "keep fewer of them"
        )
    elif len(stated) == 1 and count * size > FAR * stated[0].value:
        yield RULE.problem("description", f"{text}, not `{stated[0].words}`", "compute their size again")


def _size_problem(sentence: str, quantities: tuple[TextQuantity, ...]) -> Iterator[Problem]:
    """The problem of a wrong total for checkpoints, as of `20 checkpoints of 5.7 TB`."""
    for number, (count, size) in enumerate(pairwise(quantities)):
        between = sentence[count.end : size.start]
        if count.unit != BARE or size.unit != BYTE or _OF_SIZE.match(between) is None or "oint" not in between:
            continue
        totals = [each for each in quantities[number + 2 :] if each.unit == BYTE]
        if len(totals) == 1 and totals[0].value > size.value and count.value > 1:
            right = count.value * size.value
            if abs(totals[0].value / right - 1) > SAME + totals[0].step / totals[0].value and totals[0].value < right:
                message = f"{count.words} checkpoints of {size.words} are {display(right, 'B')}, not {totals[0].words}"
                yield RULE.problem("description", message, "compute their size again")


def _lost_work_problem(
    sentence: str, quantities: tuple[TextQuantity, ...], operations: OperationsSpec | None
) -> Iterator[Problem]:
    """The problem of a longest time of lost work that is shorter than the interval between checkpoints."""
    interval = operations.interval if operations is not None else None
    starts = {each.end() for each in islice(_LOST_AT_MOST.finditer(sentence), MOST_MATCHES)}
    if interval is None or not starts or _SAVED.search(sentence) is None:
        return
    bounds = [each for each in quantities if each.unit == SECOND and each.start in starts]
    if len(bounds) == 1 and is_own(sentence, bounds[0]) and interval.value > bounds[0].value * (1 + SAME):
        message = (
            f"a failure loses up to the interval between checkpoints, {interval.written}, and not `{bounds[0].words}`"
        )
        yield RULE.problem("description", message, "save more often, or correct the text")


def _interval_problem(
    sentence: str, quantities: tuple[TextQuantity, ...], operations: OperationsSpec | None, timed: Plan | None
) -> Iterator[Problem]:
    """The problem of a number of steps between checkpoints that differs from the interval in the keys."""
    interval = operations.interval if operations is not None else None
    if interval is None or timed is None or timed.step_time_range is None or _KEPT.search(sentence) is not None:
        return
    every = [each for each in quantities if each.unit == STEP and _EVERY.search(sentence[: each.start])]
    others = [each for each in quantities if each.unit == SECOND and each.value < DAY]
    if len(every) != 1 or others or not is_own(sentence, every[0]) or "evalu" in sentence.casefold():
        return
    low, high = (every[0].value * each for each in timed.step_time_range)
    if not interval.value / FAR <= high or not low <= interval.value * FAR:
        message = f"a checkpoint every `{every[0].words}` is one every {display(low, 's')} to {display(high, 's')}, but the interval is {interval.written}"
        yield RULE.problem("description", message, "correct the text or the key", severity="warning")


def _counted_loss_problem(text: str) -> Iterator[Problem]:
    """The problem of a wrong share of the time for counted failures, as of `three failures a week of 45 min each`."""
    for sentence, quantities in sentence_quantities(text):
        match = _A_WEEK.search(sentence)
        shares = [each for each in quantities if each.unit == SHARE]
        times = [each for each in quantities if each.unit == SECOND and 60 <= each.value <= DAY]
        if match is None or len(shares) != 1 or len(times) != 1 or _OF_TIME.search(sentence[shares[0].end :]) is None:
            continue
        count = NUMBER_WORDS.get(match["count"].lower()) or float(match["count"])
        period = {"day": DAY, "week": 7 * DAY, "month": 30 * DAY}[match["period"].lower()]
        lost = count * times[0].value / period
        if lost > FAR * shares[0].value + 0.002 and lost < 1:
            message = f"`{match[0]}` that cost {times[0].words} each take {percent(lost, 2)} of the time, not {shares[0].words}"
            yield RULE.problem("description", message, "compute the share again")
            return


def _loss_problem(
    text: str, cluster: Cluster, layout: Layout, operations: OperationsSpec, networks: NetworksSpec | None, timed: Plan
) -> Iterator[Problem]:
    """The problem of a share of the time lost to failures, or of a goodput, that contradicts the failure rates."""
    if timed.step is None or (operations.mean_time_between_failures is None and operations.node_mtbf is None):
        return
    stated = next(filter(None, map(_stated_loss, sentences_of(" ".join(text.split())))), None)
    if stated is None:
        return
    from clusterspec.cost.interruptions import plan_interruptions  # few texts state a share

    lost, words = stated
    kept = plan_interruptions(timed)
    if kept is not None and 1 - kept.share > FAR * lost + 0.002:
        message = f"`{words}`: failures every {display(kept.between.value, 's')}, restarts and checkpoints cost {percent(1 - kept.share, 2)} of the time"
        yield RULE.problem("description", message, "correct the share, or save more often and restart faster")


def _stated_loss(sentence: str) -> tuple[float, str] | None:
    """The share of the time that a sentence attributes to failures, directly or as the rest of a goodput, with its
    words; None without one.

    >>> _stated_loss("Crashes eat about 2 % of our time")
    (0.02, '2 %')
    """
    planned = planned_text(sentence)
    if _PARTLY.search(planned) is not None or planned != sentence:
        return None
    shares = [each for each in amounts_in(sentence) if each.kind == SHARE]
    for each in shares:
        own = sentence if len(shares) == 1 else clause_at(sentence, each.start, each.end)
        if _GOODPUT.search(own) is not None and 0.5 < each.value < 1:
            return 1 - each.value, sentence[max(0, each.start - 12) : each.end].strip()
        named = _LOSS.search(sentence) is not None and _OF_TIME.search(sentence) is not None
        if named and len(shares) == 1 and _LOSES.search(sentence) is not None and 0 < each.value < 0.3:
            return each.value, each.written
    return None
