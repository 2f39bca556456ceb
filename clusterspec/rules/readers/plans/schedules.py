"""Training schedules in texts: the part of the schedule that a number of steps or tokens belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clusterspec.cluster.model import Workload
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.quantities import BARE, STEP, TOKEN, TextQuantity, sentence_quantities
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.windows import are_links
from clusterspec.standard import pattern

WARM_UP, STABLE, DECAY, RAMP, OTHER = "warm-up", "stable", "decay", "ramp", ""
_PARTS = (
    (
        WARM_UP,
        pattern(
            r"(?i)(?<![^\W_])warm(?:s|ed|ing)?[-_ ]?up\w*|\baufwärm\w*|\béchauffement\b|\bcalentamiento\b"
            r"|\b(?:rate|lr|lernrate|taux|tasa)(?: is| wird)? (?:linearly |linear )?(?:ramp\w*|rises?|climbs?|grows?|increases?|steigt|monte|croît|sube)\b"
        ),
    ),
    (
        STABLE,
        pattern(r"(?i)\b(?:stable|constant|plateau|hold|held|flat|konstant\w*|stabil\w*)\b"),
    ),
    (
        DECAY,
        pattern(
            r"(?i)(?<![^\W_])(?:cosine|cosinus|kosinus\w*|coseno|decay\w*|anneal\w*|cool(?:s|ed|ing)?-?down|(?:to|at|reach\w*|hits?|touch\w*|atteint|erreicht|alcanza) (?:the |den wert |la valeur )?(?:zero|null|zéro|cero)|minimum|floor|of zero|linear\w*|falls?|drops?|sinkt|fällt|abkling\w*|"
            r"décroi\w+|diminue|decai\w+|decae|desciende|lr[-_]decay[-_]\w+)(?![^\W_])"
        ),
    ),
    (RAMP, pattern(r"(?i)\bbatch\b|(?<!rate )(?<!lr )\bramp\w*")),
)
_KEY = pattern(r"(?i)(?:_steps|_max|_iters|_iterations|-iters|-steps)[ :=]{1,3}$")
_LINEAR = pattern(r"(?i)\blinear\w*")
_NAMED_POINT = pattern(
    r"(?i)(?:\b(?:steps?|iterations?|updates?|schritt|l'étape|étape|itération|paso|iteración|t_max)|(?:max|total|train|training|decay|warmup|warm[_-]up)[_-](?:steps|iters|iterations))(?: of)?[ :#=]{1,3}$"
)
_OF_KEY = pattern(r"(?i)warm[-_]?up[_-](?:steps|iters|iterations)[ :=]{1,3}$")
_UNTIL = pattern(
    r"(?i)\b(?:at|by|until|till|to|after|ends?|ends with|bis|bei|nach|jusqu'(?:à|au)|à|hasta|en|zum)(?: the)?(?: end of)?(?: steps?| iterations?| schritt| l'étape| étape| el paso| paso| la iteración)?[ :#]{1,2}$"
)
_FROM = pattern(r"(?i)\b(?:from|starts?|starting|begins?|beginning|since|ab|von|depuis|desde)\b[^.;,]{0,30}$")
_OVER = pattern(
    r"(?i)\b(?:over|within|during|across|spans?|for|lasts?|in|takes|of|während(?: der)?|pendant|durant|(?:length|horizon|period|duration|span) (?:is|of)|über|sur|durante|en|lr-decay-iters)(?: the| les| about| all)?(?: whole| full| first| entire| ersten| premi[eè]re?s)?[ :]$"
)
_NOT = pattern(r"(?i)\b(?:instead of|not|than|unlike|was|were|ran|old|former|no)(?: [\w-]{1,20}){0,3} ?$")
"""Pattern of words before a number that does not belong to this plan."""
_LAST = pattern(
    r"(?i)\b(?:last|final|remaining|next|another|further|letzten|derni(?:er|ère)s?|últim[oa]s|each|every|per)\b[^.;,]{0,12}$"
)


class SchedulePart(NamedTuple):
    """A number of steps or tokens in a schedule: the part that it belongs to, and whether it is a point of the run or a
    length.
    """

    part: str
    quantity: TextQuantity
    is_point: bool
    is_last: bool
    """Whether the text counts the length backward, from the end of the run or of another part."""
    sentence: str


def schedule_parts(text: str) -> Iterator[SchedulePart]:
    """The numbers of steps and tokens in sentences about a schedule, in order.

    >>> text = "Warm-up over 2,000 steps, then cosine decay to 10 % at step 480,000."
    >>> [(each.part, each.quantity.value, each.is_point) for each in schedule_parts(text)]
    [('warm-up', 2000.0, False), ('decay', 480000.0, True)]
    """
    for sentence, quantities in sentence_quantities(text):
        if not any(cue.search(sentence) is not None for _, cue in _PARTS[:3]):
            continue
        for number, quantity in enumerate(quantities):
            before = sentence[quantities[number - 1].end if number else 0 : quantity.start]
            named = is_named_step(before, quantity)
            if (quantity.unit not in (STEP, TOKEN) and not named) or _NOT.search(before) is not None:
                continue
            if _FROM.search(before) is not None and _UNTIL.search(before) is None:
                continue
            point = (named and _OF_KEY.search(before) is None) or (
                _UNTIL.search(before) is not None and _OVER.search(before) is None
            )
            last = _LAST.search(before) is not None
            part = _nearest_part(sentence, quantity)
            if point or _OVER.search(before) is not None or "warm" in quantity.words.lower() or part == WARM_UP:
                counted = quantity._replace(unit=STEP) if named else quantity
                yield SchedulePart(part, counted, point, last, sentence)


def is_named_step(before: str, quantity: TextQuantity) -> bool:
    """Whether the words around a bare number make it a step: `at step 480,000`, `max_steps=480000`, `until 480k`."""
    thousands = quantity.words[-1] in "kK" and quantity.value >= 1000 and _UNTIL.search(before) is not None
    return quantity.unit == BARE and (thousands or _NAMED_POINT.search(before) is not None)


def _nearest_part(sentence: str, quantity: TextQuantity) -> str:
    """The part of a schedule that is named directly after a quantity, else the part whose name is nearest before it."""
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
    if part == DECAY and sentence[nearest : nearest + 6].lower() == "linear":
        clause = clause_at(sentence[: quantity.start], nearest, nearest + 6)
        others = [each for each, cue in _PARTS[:3] if cue.search(_LINEAR.sub("", clause)) is not None]
        part = WARM_UP if others == [WARM_UP] else part
    return part if nearest >= 0 else _part_behind(sentence, quantity)


def _part_behind(sentence: str, quantity: TextQuantity) -> str:
    """The first part of a schedule that a sentence names after the value of a key: `max_steps=300000 with a cosine`."""
    if _KEY.search(sentence[: quantity.start]) is None:
        return OTHER
    found = [(match.start(), part) for part, cue in _PARTS if (match := cue.search(sentence, quantity.end)) is not None]
    return min(found)[1] if found else OTHER


_LINKS = word_set(
    "at by after in will over take takes need needs werden en until step steps iteration iterations update updates i e that is or are has have seen consumed processed read "
    "trained corresponds correspond corresponding equals equal to on about roughly some done we the model modell modèle modelo been reached marks means makes "
    "make gives which so far into mark point sees it than then ie eq optimizer training "
    "soit nach bei schritt schritte schritten das sind entspricht hat gesehen verarbeitet à l étape itération après correspond vus el paso a la iteración tras es decir"
)
"""Words that may be between a step and the tokens read up to that step."""
_EQUATES = pattern(
    r"(?i)[(=|≈]|\b(?:or|is|are|i\.e|that is|has seen|have seen|seen|sees|correspond\w*|equals?|marks?|means|makes?|gives?|soit|sind|entspricht|gesehen|vus|es decir)\b"
)
_IN = pattern(r"(?i)^ (?:in|over|takes?|needs?|werden in|en)\b")
"""Pattern of the words between a number of tokens and the steps that they take."""
_REACHED = pattern(
    r"(?i)^[ -]?(?:tokens?[ -])?(?:are |is |have been |has been |were )?(?:seen|consumed|processed|trained|done|in\b|mark|point|into|so far|reached|gesehen|verarbeitet|vus)"
)
_PARTIAL = pattern(
    r"(?i)\b(?:remaining|more|another|further|additional|last|final|next|first|each|every|per|validat\w+|evaluat\w+|unique|warm\w*|reward|draft|"
    r"letzten|restlichen|weitere\w*|derniers?|restants?)\b"
)
_CLAUSE_END = pattern(r"^ ?(?:$|[.;:|)]|,(?! (?:and|und|et|y|then|\d)))")


def equated_steps(text: str) -> Iterator[tuple[str, TextQuantity, TextQuantity]]:
    """The sentences that state the same point of a run, or the whole run, both in steps and in tokens, with both
    figures.

    >>> [(one.words, other.words) for _, one, other in equated_steps("After 500 B tokens, at step 60,000, it forks.")]
    [('60,000', '500 B tokens')]
    >>> [*equated_steps("At step 60,000, 500 B tokens of code are added.")]
    []
    """
    for sentence, quantities in sentence_quantities(text):
        for one, other in pairwise(quantities):
            steps, tokens = (other, one) if one.unit == TOKEN else (one, other)
            before = sentence[max(0, steps.start - 24) : steps.start]
            named = is_named_step(before, steps)
            if " Billion " in tokens.words:  # a million millions in German
                continue
            if tokens.unit != TOKEN or not (steps.unit == STEP or named) or steps.value < 10 or tokens.value < 1e9:
                continue
            if _are_of_one_point(sentence, steps, tokens, named or _UNTIL.search(before) is not None):
                yield sentence, steps, tokens


def _are_of_one_point(sentence: str, steps: TextQuantity, tokens: TextQuantity, is_point: bool) -> bool:
    """Whether a text equates steps and tokens, or says that both are reached at the same point."""
    first, last = sorted((steps, tokens), key=lambda each: each.start)
    between = sentence[first.end : last.start]
    around = f"{sentence[max(0, first.start - 20) : first.start]} {between} {steps.words} {tokens.words}"
    if not are_links(between, _LINKS) or _PARTIAL.search(around) is not None:
        return False
    if _EQUATES.search(between) is not None:
        return True
    if first is tokens and _IN.search(between) is not None:
        return True
    behind = sentence[tokens.end :]
    reached = _REACHED.search(behind) is not None or _REACHED.search(between) is not None
    if first is tokens:
        return is_point and (reached or _UNTIL.search(sentence[max(0, tokens.start - 24) : tokens.start]) is not None)
    return is_point and (reached or _CLAUSE_END.search(behind) is not None)


def steps_of_run(work: Workload) -> float | None:
    """Steps of a run at its final batch; None without tokens."""
    if work.kind != "train" or work.rl is not None or not work.tokens:
        return None
    return work.tokens / (work.global_batch * work.sequence_length)


def end_of_schedule(parts: list[SchedulePart], batch: float) -> tuple[float, SchedulePart] | None:
    """The step at which the decay in a sentence ends, and the part of the schedule that ends there.

    The end is stated as a point, or follows from the lengths of successive parts; ``batch`` is the number of tokens of
    a step. None without a decay, and for a decay counted from the end of the run.
    """
    at, found = 0.0, None
    for each in parts:
        steps = each.quantity.value / (1 if each.quantity.unit == STEP else batch)
        restated = found is not None and each.quantity.unit != found[1].quantity.unit and not each.is_point
        if each.part not in (WARM_UP, STABLE, DECAY) or each.is_last or restated:
            continue
        at = steps if each.is_point else at + steps
        found = (at, each) if each.part == DECAY else found
    return found
