"""Schedules in the sentences of a training plan: which part of it a number of steps or tokens is."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_quantities import BARE, SECOND, STEP, TOKEN, TextQuantity, sentence_quantities
from clusterspec.standard import pattern

WARM_UP, STABLE, DECAY, RAMP, OTHER = "warm-up", "stable", "decay", "ramp", ""
_PARTS = (
    (
        WARM_UP,
        pattern(r"(?i)\bwarm(?:s|ed|ing)?[- ]?up\w*|\bwarmup\w*|\baufwärm\w*|\béchauffement\b|\bcalentamiento\b"),
    ),
    (
        STABLE,
        pattern(r"(?i)\b(?:stable|constant|plateau|hold|held|flat|konstant\w*|stabil\w*)\b"),
    ),
    (
        DECAY,
        pattern(
            r"(?i)\b(?:cosine|cosinus|kosinus\w*|coseno|decay\w*|anneal\w*|cool(?:s|ed|ing)?-?down|(?:to|reach\w*) zero|minimum|linear\w*|falls?|sinkt|fällt|abkling\w*|"
            r"décroi\w+|diminue|decai\w+|decae|desciende|lr[-_]decay[-_]\w+)\b"
        ),
    ),
    (RAMP, pattern(r"(?i)\b(?:batch|ramp\w*|rampup)\b")),
)
_NAMED_POINT = pattern(
    r"(?i)(?:\b(?:steps?|iterations?|schritt|l'étape|étape|itération|paso|iteración|t_max)|(?:max|total|train|training|decay)[_-](?:steps|iters|iterations))(?: of)?[ :#=]{1,2}$"
)
_UNTIL = pattern(
    r"(?i)\b(?:at|by|until|till|to|after|ends?|ends with|bis|bei|nach|jusqu'(?:à|au)|à|hasta|en|zum)(?: the)?(?: end of)?(?: steps?| iterations?| schritt| l'étape| étape| el paso| paso| la iteración)?[ :#]{1,2}$"
)
_FROM = pattern(r"(?i)\b(?:from|starts?|starting|begins?|beginning|since|ab|von|depuis|desde)\b[^.;,]{0,30}$")
_OVER = pattern(
    r"(?i)\b(?:over|across|spans?|for|lasts?|in|takes|of|(?:length|horizon|period|duration|span) (?:is|of)|über|sur|durante|en|lr-decay-iters)(?: the| about| all)?(?: whole| full| first| entire)?[ :]$"
)
_NOT = pattern(r"(?i)\b(?:instead of|not|than|unlike|was|were|ran|old|former|no)(?: [\w-]{1,20}){0,3} ?$")
"""Words before a number that is not one of this plan."""
_LAST = pattern(
    r"(?i)\b(?:last|final|remaining|next|another|further|letzten|derni(?:er|ère)s?|últim[oa]s|each|every|per)\b[^.;,]{0,12}$"
)


_RUN_TAKES = pattern(
    r"(?i)\b(?:run|training|pre-?training|job|lauf|vortraining|(?:pré-?)?entra[iî]nement|(?:pre)?entrenamiento|tokens)\b[^.;:]{0,60}?"
    r"\b(?:takes?|lasts?|needs?|finish\w*|(?:is|are) (?:done|finished|complete)|completes?|dauer[nt]|dure(?:nt)?|prend|dura[n]?|tarda[n]?)"
    r"(?: (?:after|in|within|for))?(?: (?:about|some|only|roughly|just|around|nearly|etwa|rund|environ|unos|unas))? ?[~≈]? ?$"
)
_NOT_THE_RUN = pattern(
    r"(?i)\b(?:each|every|per|first|last|one of|restart\w*|checkpoint\w*|evaluat\w*|burn-in|acceptance|test|phase|stage|step|epoch|pilot|ablation\w*|proxy|"
    r"mfu|would|could|instead|previous\w*|old|former\w*|was|were|if|without)\b"
)


class SchedulePart(NamedTuple):
    """A number of steps or tokens of a schedule: whose part it is, and whether it is a point of the run or a length."""

    part: str
    quantity: TextQuantity
    is_point: bool
    is_last: bool
    """Whether the text counts the length from the end of the run, or of something before."""
    sentence: str


def schedule_parts(text: str) -> Iterator[SchedulePart]:
    """The numbers of steps and tokens of the sentences about a schedule, in order.

    >>> text = "Warm-up over 2,000 steps, then cosine decay to 10 % at step 480,000."
    >>> [(each.part, each.quantity.value, each.is_point) for each in schedule_parts(text)]
    [('warm-up', 2000.0, False), ('decay', 480000.0, True)]
    """
    for sentence, quantities in sentence_quantities(text):
        if not any(cue.search(sentence) is not None for _, cue in _PARTS[:3]):
            continue
        for number, quantity in enumerate(quantities):
            before = sentence[quantities[number - 1].end if number else 0 : quantity.start]
            thousands = quantity.words[-1] in "kK" and quantity.value >= 1000 and _UNTIL.search(before) is not None
            named = quantity.unit == BARE and (thousands or _NAMED_POINT.search(before) is not None)
            if (quantity.unit not in (STEP, TOKEN) and not named) or _NOT.search(before) is not None:
                continue
            if _FROM.search(before) is not None and _UNTIL.search(before) is None:
                continue
            point = named or (_UNTIL.search(before) is not None and _OVER.search(before) is None)
            last = _LAST.search(before) is not None
            part = _nearest_part(sentence, quantity)
            if point or _OVER.search(before) is not None or "warm" in quantity.words.lower() or part == WARM_UP:
                counted = quantity._replace(unit=STEP) if named else quantity
                yield SchedulePart(part, counted, point, last, sentence)


def _nearest_part(sentence: str, quantity: TextQuantity) -> str:
    """The part of a schedule whose name is nearest before a quantity, or directly after it."""
    behind = sentence[quantity.end : quantity.end + 24]
    for part, cue in _PARTS:
        if cue.search(quantity.words) is not None or (
            (found := cue.search(behind)) is not None
            and behind[: found.start()].strip()
            in ("", "of", "for", "of linear", "linear", "de", "d'", "zum", "constant")
        ):
            return part
    starts = [
        (max((each.start() for each in cue.finditer(sentence[: quantity.start])), default=-1), part)
        for part, cue in _PARTS
    ]
    nearest, part = max(starts)
    return part if nearest >= 0 else OTHER


def run_time_of_text(text: str) -> TextQuantity | None:
    """The time of half a day or more that a text says the run takes; None where it says none, or several.

    >>> run_time_of_text("Each restart takes 2 days. The run takes about three weeks.").words
    'three weeks'
    """
    found = [
        each
        for sentence, quantities in sentence_quantities(text)
        for each in quantities
        if each.unit == SECOND and each.value >= DAY / 2 and _is_of_run(sentence[: each.start])
    ]
    return found[0] if len({each.value for each in found}) == 1 else None


def _is_of_run(before: str) -> bool:
    """Whether a time after some words is how long the run takes, and no product of its rate that other rules compare."""
    return _RUN_TAKES.search(before) is not None and _NOT_THE_RUN.search(before) is None


def steps_of_run(work: Workload) -> float | None:
    """Steps of a run at its final batch; None without tokens."""
    if work.kind != "train" or work.rl is not None or not work.tokens:
        return None
    return work.tokens / (work.global_batch * work.sequence_length)


def end_of_schedule(parts: list[SchedulePart], batch: float) -> tuple[float, SchedulePart] | None:
    """The step at which the decay of one sentence ends, and the part that ends there: a point, or the lengths of its parts
    one after the other; ``batch`` is the tokens of a step. None without a decay, or with one counted from the end.
    """
    at, found = 0.0, None
    for each in parts:
        steps = each.quantity.value / (1 if each.quantity.unit == STEP else batch)
        if each.part not in (WARM_UP, STABLE, DECAY) or each.is_last:
            continue
        at = steps if each.is_point else at + steps
        found = (at, each) if each.part == DECAY else found
    return found
