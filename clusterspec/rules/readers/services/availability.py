"""Availability in texts: downtimes, the availability of parts and of the whole, and shares of requests."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.quantity import DAY, YEAR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.loads import (
    DIGITS,
    LoadFigure,
    figures_in,
    number_of,
    percentages_in,
    times_in,
)
from clusterspec.rules.readers.units import MONTH, NUMBERS, word_set
from clusterspec.rules.readers.written_numbers import has_word, sentences_of
from clusterspec.standard import pattern


class Downtime(NamedTuple):
    """A downtime in seconds that a text states for an availability in percent, over a period of seconds with a name.

    ``at_most`` is true if the text states the downtime as an upper limit: it may be less than the availability allows.
    """

    availability: float
    seconds: float
    period: float
    per: str
    sentence: str
    at_most: bool = False


class CombinedAvailability(NamedTuple):
    """The stated availability, in percent, of the parts and of the whole that they form, with one unit of its last
    digit.

    ``redundant`` is false both for a chain and where the text leaves open how the parts are combined.
    """

    parts: tuple[float, ...]
    stated: float
    rounding: float
    redundant: bool
    sentence: str
    calculated: bool = False
    """Whether the text computes the availability from independent parts; then a figure that is too low is wrong too."""


class Share(NamedTuple):
    """A number of requests or tokens, the total that it belongs to, and the percentage that the text states for it."""

    part: float
    whole: float
    kind: str
    stated: float
    rounding: float
    sentence: str


PERCENT_SIGNS = ("%", "percent", "Prozent", "pour cent", "por ciento")
LEAST = 90.0
"""Smallest percentage at which a share stated with a downtime is an availability."""
_PERIODS = {
    "a month": (r"months?|monat|mois|mes|monthly|30 days|30 tagen?", MONTH),
    "a year": (r"years?|jahr|an|année|año|yearly|annually", YEAR),
    "a week": (r"weeks?|woche|semaine|semana|weekly", 7 * DAY),
    "a day": (r"days?|tag|jour|día|daily", DAY),
    "a quarter": (r"quarters?|quartal|trimestre", YEAR / 4),
}
_PERIOD = "|".join(f"(?P<p{index}>{words})" for index, (words, _) in enumerate(_PERIODS.values()))
_EACH_PERIOD = pattern(
    rf"(?i)^(?: of)?(?: (?!and\b|und\b|et\b|y\b)[^\W\d_][\w-]{{1,12}}){{0,3}}? ?(?:a|an|per|each|every|in a|in|im|pro|je|par|por|al|/) ?(?:{_PERIOD})\b"
)
_WHOLE_PERIOD = pattern(
    rf"(?i)\b(?:a|an|per|each|every|in a|im|pro|je|par|por|al|over a|(?=monthly|yearly|weekly|daily)) ?(?:calendar |full )?(?:{_PERIOD})\b"
)
_EQUALS = pattern(
    r"(?i)[=→]|->|\b(?:allow\w*|in other words|is what|may occur|may be (?:down|out|off)|budget|permit\w*|leaves?|that is|that's|i\.e|which is|means?|equals?|corresponds?|or|erlaub\w*|das sind|entspr\w+|lässt|dürfen|soit|autoris\w+|permet\w*|c'est-à-dire|es decir|equivale\w?|permiten?|o sea)\b|\(|:"
)
_AT_MOST = pattern(r"(?i)\b(?:at most|no more than|max\w*|up to|höchstens|au plus|como máximo)\b")
_OUTAGES = r"down(?:time)?|outages?|unavailab\w*|interruption\w*|standstill|ausf[aä]ll\w*|stillstand\w*|indisponib\w*|caídas?|fermo"
_OUTAGE = pattern(rf"(?i)\b(?:{_OUTAGES})\b")
"""Pattern of words that make a time limit the downtime of an availability."""
_OTHER_TIME = pattern(
    r"(?i)\b(?:maintenance|planned|window|update|repair|restore|recover\w*|rto|mttr|reaction|respon[sd]\w*|business|working|office|wartung|geplant\w*|mantenimiento|each (?:failure|incident|outage))\b"
)


def downtimes_in(text: str) -> Iterator[Downtime]:
    """The downtimes that, according to a text, an availability leaves.

    >>> [(each.availability, each.seconds, each.per) for each in downtimes_in("99.9 % allow 43 min of downtime a month.")]
    [(99.9, 2580.0, 'a month')]
    """
    for sentence in sentences_of(text):
        shares = [each for each in percentages_in(sentence) if LEAST <= each.value < 100]
        if len(shares) != 1 or _OTHER_TIME.search(sentence) is not None:
            continue
        for time in times_in(sentence):
            between = sentence[min(shares[0].end, time.end) : max(shares[0].start, time.start)]
            match = _EACH_PERIOD.match(sentence[time.end :]) or _WHOLE_PERIOD.search(sentence)
            if match is not None and _states_complement(between, sentence) and not _names_a_period(time):
                per = _name_of(match)
                yield Downtime(shares[0].value, time.value, _PERIODS[per][1], per, sentence)


_PROMISED = pattern(
    r"(?i)\b(?:avail\w*|uptime|sl[ao]s?|promis\w+|guarantee\w*|commit\w*|contract\w*|verfügbar\w*|zugesag\w*|zugesichert\w*|disponib\w+|engag\w+|garant\w+)\b"
)
"""Pattern of words for an availability that a service promises."""
_ALLOWS = pattern(
    r"(?i)\b(?:allow(?:s|ed|ance)?|leaves?|leaving|permits?|tolerates?|budget|may be (?:down|out|unavailable)|erlaub\w*|lässt|zulässig\w*|darf|dürfen|autoris\w+|permet\w*|laisse\w*|permiten?|dejan?|toleran?)\b[^.;,\d]{0,40}$"
)
"""Pattern of the end of the text before an allowed downtime."""
_LEAVES = pattern(r"(?i)\b(?:leaves?|leaving|lässt|laisse)\b[^.;,\d]{0,40}$")
"""Pattern of the end of the text before a downtime that an availability leaves, which is no mere limit."""
_OF_PROMISE = pattern(
    rf"(?i)\b(?:{_OUTAGES}|promise[ds]?|contract\w*|sl[ao]|agreed|guarantee[ds]?|(?:this|that|the|its) (?:figure|number|percentage|level|availability)|error budget|fehlerbudget|vertrag\w*|zusage|contrat|arrêts?|contrato|parad[ao]s?)\b"
)
_OF_OTHERS = pattern(
    r"(?i)\b(?:internal\w*|own|old|former|credits?|(?:each|per|a|an|one|every) (?:node|engine|site|region|zone|replica|rack)|unless|not|would|if|instead)\b"
)
"""Pattern of words in a sentence whose downtime does not belong to the availability of the whole service."""


def allowances_in(text: str) -> Iterator[Downtime]:
    """The downtimes that a sentence allows, if the text promises exactly one availability and does so in another
    sentence.

    >>> text = "We promise 99.95 % availability a month. A month of 30 days allows 43 minutes at the promised figure."
    >>> [(each.availability, each.seconds, each.per) for each in allowances_in(text)]
    [(99.95, 2580.0, 'a month')]
    """
    sentences = sentences_of(text)
    promised = {
        (share.value, sentence)
        for sentence in sentences
        for share in percentages_in(sentence)
        if LEAST <= share.value < 100
    }
    values = {value for value, _ in promised}
    if len(values) != 1 or not any(_PROMISED.search(sentence) is not None for _, sentence in promised):
        return
    promises = {sentence for _, sentence in promised}
    for sentence in sentences:
        if sentence in promises or _OF_OTHERS.search(sentence) is not None or _OF_PROMISE.search(sentence) is None:
            continue
        for time in times_in(sentence):
            if _names_a_period(time) or _ALLOWS.search(sentence[: time.start]) is None:
                continue
            clause = f"{sentence[: time.start].rpartition(',')[2]}{sentence[time.end :].partition(',')[0]}"
            per = _EACH_PERIOD.match(sentence[time.end :]) or _WHOLE_PERIOD.search(sentence)
            per = per or next(filter(None, map(_WHOLE_PERIOD.search, promises)), None)
            if per is not None and _OTHER_TIME.search(clause) is None:
                name = _name_of(per)
                bound = _LEAVES.search(sentence[: time.start]) is None
                yield Downtime(min(values), time.value, _PERIODS[name][1], name, sentence, at_most=bound)


def _name_of(match: re.Match[str]) -> str:
    """The name of the period in a match of `_PERIOD`."""
    return next(name for index, name in enumerate(_PERIODS) if match[f"p{index}"])


def _states_complement(between: str, sentence: str) -> bool:
    """Whether the words between an availability and a time make the time the rest of the availability."""
    if _EQUALS.search(between) is not None:
        return True
    return _AT_MOST.search(between) is not None and _OUTAGE.search(sentence) is not None


def _names_a_period(time: LoadFigure) -> bool:
    """Whether a time is itself the period: 24 h, 30 days, 365 days."""
    return time.value / DAY in (1, 7, 28, 30, 31, 365, 366)


_SO = pattern(
    r"(?i)\b(?:so|therefore|thus|hence|together|overall|gives?|makes?|yields?|results?|in total|end[- ]to[- ]end|altogether|combined|total|(?:users?|customers?) (?:see|get)|zusammen|insgesamt|ergibt|ergeben|damit|also|ensemble|donc|donnent|juntos|en total|así)\b|[=→]"
)
_REDUNDANT = pattern(
    r"(?i)\b(?:either|independent|unabhängig\w*|redundan\w*|parallel|any (?:one )?of|one (?:of (?:them|the two) )?is enough|fail-?over|active[-/ ]active|standby|both fail|replicas?|spare|n ?\+ ?1|reicht eine?r?|redundant\w*|l'une? suffit|basta un[ao])\b"
)
_CHAIN = pattern(
    r"(?i)\b(?:depends? on|in series|in a (?:row|chain)|chain of|chained|one (?:behind|after) (?:the other|another)|indispensable|(?:needs|requires) all|all (?:of them )?(?:are )?(?:needed|required)|each (?:is )?(?:needed|required|necessary)|must pass|passes through"
    r"|hängt von|hintereinander|in reihe|en série|en serie)\b"
)
"""Pattern of words for a whole that fails when any part fails; its availability is the product of the parts."""
_CALCULATES = pattern(r"(?i)[=→]|\b(?:makes?|gives?|yields?|results?|ergibt|ergeben|macht|donnent?|dan)\b")
_INDEPENDENT = pattern(r"(?i)\b(?:independent|unabhängig\w*|indépendant\w*|independientes?)\b")
_SO_BEHIND = pattern(
    r"(?i)^ ?(?:in total|overall|altogether|together|for (?:the|both) (?:pair|two|whole)|end[- ]to[- ]end|insgesamt|zusammen|au total|en total)\b"
)
_TWICE = pattern(r"(?i)\b(?:two|three|four|2|3|4|zwei|drei|deux|trois|dos|tres)\b [^.;%]{0,40}$")
_TARGET = pattern(
    r"(?i)\b(?:target|slo|sla|objective|promis\w+|contract|required?|goal|ziel|objectif|objetivo|at least|above|below|instead of|not)\b"
)


def combined_availabilities_in(text: str) -> Iterator[CombinedAvailability]:
    """The availabilities of a whole that a text derives from its parts.

    >>> text = "Two zones of 99.5 % each, one is enough, so the service has 99.999 %."
    >>> [(each.parts, each.stated, each.redundant) for each in combined_availabilities_in(text)]
    [((99.5, 99.5), 99.999, True)]
    """
    for sentence in _sentences_of_wholes(text):
        shares = [each for each in percentages_in(sentence) if LEAST <= each.value < 100]
        if len(shares) < 2:
            continue
        chain, redundant = _CHAIN.search(sentence) is not None, _REDUNDANT.search(sentence) is not None
        parts, tail = tuple(each.value for each in shares[:-1]), sentence[shares[-2].end : shares[-1].start]
        counted = _TWICE.search(sentence[: shares[0].start])
        if len(parts) == 1 and counted is not None:
            count = counted[0].split()[0].lower()
            parts *= NUMBERS.get(count) or int(count)
            redundant |= not chain
        elif len(parts) == 1 or redundant or counted is not None:
            continue  # some in series, some in parallel
        concludes = _SO.search(tail) is not None or _SO_BEHIND.search(sentence[shares[-1].end :]) is not None
        if chain or (concludes and _TARGET.search(tail) is None):
            calculated = (
                redundant and _CALCULATES.search(tail) is not None and _INDEPENDENT.search(sentence) is not None
            )
            rounding = _last_digit(sentence, shares[-1])
            yield CombinedAvailability(parts, shares[-1].value, rounding, redundant, sentence, calculated)


def _sentences_of_wholes(text: str) -> Iterator[str]:
    """The sentences of a text, each joined with the next one if that draws a conclusion with exactly one availability.

    >>> [*_sentences_of_wholes("Two replicas of 99 % each. Together they have 99.99 %")]
    ['Two replicas of 99 % each. Together they have 99.99 %', 'Together they have 99.99 %']
    """
    sentences = sentences_of(text, ".#")
    for index, sentence in enumerate(sentences):
        following = sentences[index + 1] if index + 1 < len(sentences) else ""
        shares = [each for each in percentages_in(following) if LEAST <= each.value < 100] if following else []
        goes_on = len(shares) == 1 and _SO.search(following[: shares[0].start]) is not None
        ends = any(LEAST <= each.value < 100 for each in percentages_in(sentence)) and _SO.search(sentence) is None
        yield f"{sentence}. {following}" if goes_on and ends else sentence


_EACH_NODE = pattern(
    r"(?i)\b(?:each|every|per|a single|one|jede[rs]?|chaque|cada) (?:rented |single )?(?:node|server|instance|machine|knoten|n(?:œ|oe)ud|nodo)\b"
)
_ALL_NODES = pattern(
    r"(?i)\b(?:needs?|requires?|uses?|runs? on|spans?|braucht|benötigt|läuft auf|utilise|nécessite|necesita|usa) (?:all|alle|tous les|todos los) (?:of (?:the|its|them) )?(?:\d{1,5} )?(?:nodes|servers|instances|machines|knoten|n(?:œ|oe)uds|nodos)?"
)
_WHOLE_MACHINE = pattern(
    r"(?i)\b(?:machine|cluster|whole|job|run|system|lauf|maschine|ensemble|calcul|máquina|conjunto|clúster)\b"
)


def series_of_nodes_in(text: str, nodes: int) -> Iterator[CombinedAvailability]:
    """The availability of a job that needs all nodes, where a text derives it from the availability of one node.

    >>> text = "The run needs all 64 nodes. As every node keeps 99.9 %, the machine has 99.9 % as well."
    >>> [(len(each.parts), each.stated) for each in series_of_nodes_in(text, 64)]
    [(64, 99.9)]
    """
    if nodes < 2 or _ALL_NODES.search(text) is None or _REDUNDANT.search(text) is not None:
        return
    for sentence in sentences_of(text, ".#"):
        shares = [each for each in percentages_in(sentence) if LEAST <= each.value < 100]
        if len(shares) != 2 or _EACH_NODE.search(sentence[: shares[0].start]) is None:
            continue
        tail = sentence[shares[0].end : shares[1].start]
        if _WHOLE_MACHINE.search(tail) is not None and _TARGET.search(tail) is None:
            parts = (shares[0].value,) * nodes
            yield CombinedAvailability(parts, shares[1].value, _last_digit(sentence, shares[1]), False, sentence)


class ErrorBudget(NamedTuple):
    """A number of requests that may fail, as stated, with the target in percent and the total (``whole``)."""

    target: float
    whole: float
    stated: float
    sentence: str


_OF_REQUESTS = pattern(
    r"(?i)^ ?(?:of|der|des|de|von) (?:all |the |our )?(?:requests|answers|calls|anfragen|antworten|requêtes|réponses|peticiones|respuestas)\b"
)
_MAY_FAIL = pattern(
    rf"(?i)(?P<stated>{DIGITS})(?: (?:requests|answers|calls|of them|davon|anfragen))? (?:may|can|are allowed to|dürfen|peuvent|pueden)\b"
    rf"|\b(?:budget|allow\w{{0,8}}|erlaubt)[^.;\d]{{0,30}}(?P<budget>{DIGITS}) (?:requests|answers|calls|failures|errors|slow|bad|failed|anfragen|fehler)\b"
)


def error_budgets_in(text: str) -> Iterator[ErrorBudget]:
    """The numbers of requests that, by a text, may miss a target, each with the target and the total.

    >>> [each[:3] for each in error_budgets_in("SLO: 99.5 % of requests below 2 s; of 2 M requests a month, 1,000 may be slower.")]
    [(99.5, 2000000.0, 1000.0)]
    """
    targets = {
        share.value
        for sentence in sentences_of(text)
        for share in percentages_in(sentence)
        if LEAST <= share.value < 100 and _OF_REQUESTS.search(sentence[share.end :]) is not None
    }
    for sentence in sentences_of(text) if len(targets) == 1 else ():
        for match in _MAY_FAIL.finditer(sentence):
            stated = number_of(match["stated"] or match["budget"], whole=True)
            wholes = [
                each
                for each in figures_in(sentence)
                if each.kind == "requests" and not match.start() <= each.start < match.end()
            ]
            if len(wholes) == 1 and stated < wholes[0].value and wholes[0].period not in (1.0, 60.0):
                yield ErrorBudget(min(targets), wholes[0].value, stated, sentence)


_PART_OF = pattern(
    rf"(?i)(?:%|percent|Prozent|pour cent|por ciento) (?:of|von|de|des) (?:the |all |our )?(?P<whole>{DIGITS})(?P<scale> ?(?:k|M|million|Millionen|millions?|millones))? (?P<kind>requests|tokens|answers|calls|prompts|anfragen|requêtes|peticiones)\b"
    rf"[^.;\d]{{0,24}}(?:=|:|\bis|\bare|\bthat is|\bi\.e\.|\bsind|\bsoit|\bson) (?P<part>{DIGITS})(?P<times> ?(?:k|M|million|Millionen|millions?|millones))?(?! ?%)"
)


_OF = word_set("of von sur de des")
"""Words between a part and its total."""


def parts_in(text: str) -> Iterator[Share]:
    """The numbers of requests or tokens that a text states as a percentage of a total.

    >>> [each[:4] for each in parts_in("0.1 % of 40 M requests a month are 4,000 requests.")]
    [(4000.0, 40000000.0, 'requests', 0.1)]
    """
    for sentence in sentences_of(text):
        shares = percentages_in(sentence)
        match = _PART_OF.search(sentence) if shares and has_word(sentence, _OF) else None
        share = next((each for each in shares if match is not None and match.start() < each.end <= match.end()), None)
        if match is None or share is None:
            continue
        whole, part = (
            number_of(match[name], whole=not match[scale])
            * (_THOUSANDS.get((match[scale] or "").strip().lower()[:2], 1.0))
            for name, scale in (("whole", "scale"), ("part", "times"))
        )
        yield Share(part, whole, match["kind"], share.value, 0.1 * share.value, sentence)


_THOUSANDS = {"k": 1e3, "m": 1e6, "mi": 1e6}
_OF_ALL = pattern(
    rf"(?i)(?P<part>{DIGITS})(?: (?:failed |good |bad |slow |cached )?(?:requests|tokens|answers|calls|prompts))? (?:of|out of|von|sur|de) (?:the |all |our )?(?P<whole>{DIGITS}) (?P<kind>requests|tokens|answers|calls|prompts|prompt tokens|input tokens|anfragen|requêtes|peticiones)\b"
)
_IS = pattern(
    r"(?i)^(?:(?! and | of (?:which|them|these)|, (?!an? |i\.e|that is|or )| und | et | y ).){0,50}(?:\(|=|:|\bthat is|\bi\.e\.|\bor|\bare|\bis|\b(?:availability|share|rate|ratio) of|\babout|≈|~|\bdas sind|\bsoit|\bo sea) ?$"
)
"""Pattern of the words between two numbers and the percentage that they give."""
NEAREST = 60
"""Largest distance, in characters, between two numbers and the percentage after them."""


def shares_in(text: str) -> Iterator[Share]:
    """The percentages that a text states, each with the two numbers of requests or tokens that it follows from.

    >>> [(each.part, each.whole, each.stated) for each in shares_in("6,000 of 25,100 tokens are cached (24 %).")]
    [(6000.0, 25100.0, 24.0)]
    """
    for sentence in sentences_of(text):
        shares = percentages_in(sentence)
        matches = list(_OF_ALL.finditer(sentence)) if len(shares) == 1 and has_word(sentence, _OF) else []
        if len(matches) != 1:
            continue
        match, share = matches[0], shares[0]
        part, whole = (number_of(match[name], whole=True) for name in ("part", "whole"))
        between = sentence[match.end() : share.start]
        near = 0 <= share.start - match.end() <= NEAREST and _IS.search(between) is not None
        if near and 0 < part < whole and not any(each.start > match.end() for each in figures_in(sentence)):
            yield Share(
                part,
                whole,
                match["kind"],
                share.value,
                max(_last_digit(sentence, share), 0.02 * min(share.value, 100 - share.value)),
                sentence,
            )


def _last_digit(sentence: str, figure: LoadFigure) -> float:
    """One unit of the last digit of a percentage: texts round or truncate."""
    digits = sentence[figure.start : figure.end].rstrip("% perctnoPzuiaé").replace(",", ".")
    return 1.1 * 10.0 ** -len(digits.partition(".")[2])
