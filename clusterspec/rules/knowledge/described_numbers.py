"""Numbers of a design in a text, each with the key that states the same number."""

from __future__ import annotations

import re

from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.records import dataclass
from clusterspec.rules.knowledge.text_units import NUMBER_WORDS
from clusterspec.standard import pattern

SAME, SAME_MODEL, SAME_PRICE = 0.05, 0.3, 0.011
"""Relative differences up to which two numbers are equal: in general, for model sizes in names, and for prices."""
_N = rf"(?<![\w.,/×:-])(?P<n>\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?|(?:{'|'.join(NUMBER_WORDS)})(?=[ -]))"
"""A number, in digits or as a word."""
_FEW = r"(?<![\w.,:/$€£-])(?P<n>\d{1,4}|\d,\d{3})"
"""Pattern of a number below ten thousand; a larger number in flight counts tokens."""
SCALE = {
    "k": 1e3,
    "K": 1e3,
    " Ki": 1024,
    " thousand": 1e3,
    " million": 1e6,
    " billion": 1e9,
    " trillion": 1e12,
    "M": 1e6,
    "B": 1e9,
    "T": 1e12,
    "kW": 1e3,
    "MW": 1e6,
    "%": 0.01,
}


@dataclass(frozen=True)
class Numbers:
    """A number in a text: its pattern, with the groups ``n`` and ``s`` (a suffix), and the key that it belongs to.

    The pattern is compiled only for texts with ``cue``, since compiling all patterns takes longer than most checks. A
    number does not belong to the key if the clause before it matches ``of_one``, if the words after it match
    ``per_one``, or if it is smaller than the key's value and its sentence matches ``part``.
    """

    key: str
    cue: str
    pattern: re.Pattern[str]
    unit: str = "1"
    scale: float = 1.0
    same: float = SAME
    of_one: re.Pattern[str] | None = None
    per_one: re.Pattern[str] | None = None
    part: re.Pattern[str] | None = None


_UNIT = r"(?:node|engine|GPU|accelerator|replica|instance|server|card|chip|rank|worker|host)"
_OF_UNIT = pattern(
    rf"(?i)\b(?:one|each|every|an?|any|a single|per) (?:[\w.-]{{1,16}} ){{0,2}}?{_UNIT}\b(?! (?:for|with|to|that|which)\b)"
)
_PER_UNIT = pattern(rf"(?i) ?(?:/ ?|(?:per|an?|each|every|(?:on|for|from) (?:each|every)) ){_UNIT}\b")
_PART_OF_RUN = pattern(
    r"(?i)^(?!.*\b(?:whole|entire|total|altogether|full (?:run|training))\b)(?:.*\d steps\b|"
    r".*\b(?:first|initial|last|final|others?|remaining|remainder|rest|next|warm-?up|annealing|decays?|cool-?down|phases?|stages?)\b)"
)
"""A sentence that divides a run into parts, or that counts steps."""
_STEP, _M = "tokens of a step", r"(?P<s>k|K|M|B| million)"
NUMBERS = (
    Numbers(
        "workload.sequence_length",
        "sequence",
        pattern(_N + r"(?P<s>k|K|M| Ki| thousand| million)?(?: tokens (?:a|per)|-token) sequences?\b"),
    ),
    Numbers(
        "workload.sequence_length",
        "equence",
        pattern(
            r"\b[Ss]equences? (?:of|length(?: of)?) " + _N + r"(?P<s>k|K|M| Ki| thousand| million)?\b(?! sequences)"
        ),
    ),
    Numbers(
        _STEP,
        " tokens ",
        pattern(
            f"{_N}{_M}? tokens (?:an?|per|in (?:each|every|one)|for (?:each|every))"
            r"(?: optimizer| training)? (?:step|batch)\b"
        ),
    ),
    Numbers(_STEP, " tokens", pattern(rf"\b[Ss]teps? (?:has|have|takes?|reads?) {_N}{_M} tokens\b")),
    Numbers(_STEP, " tokens", pattern(rf"\b(?i:batch(?:es)?|steps?) of {_N}{_M} tokens\b")),
    Numbers(
        "workload.tokens",
        " tokens",
        pattern(_N + r"(?P<s>B|T| billion| trillion) tokens\b(?! (?:an?|per|in|for) )"),
        part=_PART_OF_RUN,
    ),
    Numbers("workload.global_batch", " sequences ", pattern(_N + r" sequences (?:a|per) (?:step|batch)\b")),
    Numbers("workload.global_batch", " samples ", pattern(_N + r" samples (?:a|per) (?:step|batch)\b")),
    Numbers(
        "workload.global_batch",
        " sequences",
        pattern(r"\b(?i:global )?(?i:batch) (?:size )?of " + _N + r" sequences\b"),
    ),
    Numbers("workload.model", "B", pattern(_N + r"(?P<s>B)\b(?<!910B)(?! tokens)(?!-A)"), same=SAME_MODEL),
    Numbers("workload.serving.concurrency", "in flight", pattern(_N + r" (?:requests|sequences|users) in flight\b")),
    Numbers("workload.serving.concurrency", "in flight", pattern(_FEW + r" in flight\b")),
    Numbers("workload.serving.concurrency", " concurrent", pattern(_N + r" concurrent (?:requests|users|sessions)\b")),
    Numbers(
        "workload.serving.request_rate",
        " requests",
        pattern(_N + r" requests(?: (?:a|per) second|/s)\b"),
        of_one=_OF_UNIT,
        per_one=_PER_UNIT,
    ),
    Numbers("workload.serving.input_tokens", " in", pattern(_N + r"(?P<s>k)?(?: tokens)? in(?=,| and)")),
    Numbers("workload.serving.output_tokens", " out", pattern(_N + r"(?P<s>k)?(?: tokens)? out\b")),
    Numbers("procurement.warranty", "warranty", pattern(_N + r"[ -]years?(?: of)? warranty\b"), "s", YEAR),
    Numbers("procurement.warranty", "arranty", pattern(r"\b[Ww]arranty (?:of|for) " + _N + r" years?\b"), "s", YEAR),
    Numbers("procurement.term", "year", pattern(_N + r"[ -]years? (?:term|lease|reservation|commitment)\b"), "s", YEAR),
    Numbers(
        "procurement.delivery.weeks",
        " weeks",
        pattern(r"\b[Dd]eliver(?:y|ed) (?:in|within|after) " + _N + r" weeks\b"),
    ),
    Numbers("procurement.tax", "%", pattern(_N + r" ?(?P<s>%) (?:VAT|sales tax|tax)\b")),
    Numbers("procurement.discount", "%", pattern(_N + r" ?(?P<s>%) (?:discount|off)\b")),
    Numbers("procurement.discount", "iscount", pattern(r"\b[Dd]iscount of " + _N + r" ?(?P<s>%)")),
    Numbers(
        "procurement.pue", "PUE", pattern(rf"\bPUE (?:of |is |= ?|von |de |at )?{_N}(?! ?%|,?\d)"), same=SAME_PRICE
    ),
    Numbers(
        "procurement.electricity",
        "kWh",
        pattern(r"(?!\d{1,2},)" + _N + r" ?(?:[A-Z]{3}|€|\$|£) ?(?:/|per |a |pro )kWh\b"),
        same=SAME_PRICE,
    ),
    *(
        Numbers(
            "procurement.support.response",
            "upport",
            pattern(
                rf"\b[Ss]upport (?:contract )?(?:that )?(?:responds|reacts|answers|comes) (?:within|in|after) {_N} {unit}\b"
            ),
            "s",
            seconds,
        )
        for unit, seconds in (("(?:h|hours?)", HOUR), ("days?", DAY))
    ),
    Numbers("cluster.power.budget", " IT", pattern(_N + r" ?(?P<s>kW|MW)(?: of)? IT\b"), "W"),
    *(
        Numbers(f"layout.{axis}", cue, pattern(rf"\b{cue}(?:[ -]parallel(?:ism)?)?[ =]{_N}\b"))
        for axis, word in (("tp", "tensor"), ("pp", "pipeline"), ("cp", "context"), ("ep", "expert"))
        for cue in (axis.upper(), word, word.capitalize())
    ),
)
