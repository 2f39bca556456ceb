"""Shares and totals of a service in a text: of its traffic, its engines and its units."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clusterspec.rules.readers.loads import (
    DIGITS,
    figures_in,
    percentages_in,
)
from clusterspec.rules.readers.services.relations import DerivedFigure
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import has_word, sentences_of
from clusterspec.standard import pattern

_SERVED = r"(?:requests?|users?|streams?|sessions?|answers?|conversations?|sequences?|calls?|anfragen|antworten|requêtes|réponses|peticiones)"
_FLYING = pattern(
    rf"(?i)(?P<count>{DIGITS})(?P<kilo>k)? (?:{_SERVED} )?(?:(?:are|is|sind|sont|being|run|running|always|then) ){{0,2}}"
    r"(?:in[- ]flight|concurrent(?:ly)?(?: requests?| users?| streams?)?|at (?:once|a time|the same time|any (?:time|moment|one time))|simultan\w{0,16}|gleichzeitig\w{0,8}|parallel\w{0,3}|en vol|en vuelo|en cours|en curso|in parallel|in progress|in the system|"
    r"in service|outstanding|active|open(?: at (?:a|any) time)?|offene?|aktive?|served|processed)\b"
    rf"|\b(?:concurrency|concurrent|in[- ]flight|parallelität|nebenläufigkeit|simultanéité|concurrence)(?: \w+)?(?: of| is| are|:| =| von| de| est){{1,2}} ?(?P<behind>{DIGITS})(?P<kilo_behind>k)?\b"
)
_PROVISIONED = pattern(
    r"(?i)\b(?:size[ds]?|sizing|provision\w*|headroom|reserve[ds]?|margin|allow\w*|(?:enough|room) for|capacity|supports?|peaks|bursts?|admits?|ausgelegt|dimensionn\w*)\b"
)
"""Pattern of words for requests within the capacity of a service."""
_ARRIVALS = pattern(
    rf"(?i)(?P<count>{DIGITS}) (?:of them |new ones |davon )?(?:arrive|come in|are sent|start|kommen|treffen|arrivent|llegan)[^.;,\d]{{0,16}} (?:per|each|every|a|pro|je|par|por|chaque|cada) ?(?:second|sekunde|seconde|segundo)\b"
)
"""Pattern of an arrival rate whose noun is elsewhere in the sentence."""
_FOLLOWS = pattern(
    r"(?i)=|→|\b(?:so|hence|thus|therefore|that is|which is|i\.e|are|is|makes?|gives?|means?|means that|also|daher|ergibt|ergeben|sind|donc|soit|font|sont|on a|por tanto|son|little)\b"
)
_ROUGH = pattern(
    r"(?i)[~≈]|\b(?:about|around|roughly|some|nearly|almost|circa|ca|etwa|rund|environ|près|unos|peak|day|night|busiest|burst|bursts|headroom|reserve|sized|limit|batch)\b"
)
"""Pattern of words for figures that are rounded or belong to other hours."""
_SPEED = pattern(
    r"(?i)^ ?(?:a|per|/|each|pro|par|por) ?(?:\w+ )?(?:tokens?|steps?|chunks?)\b|^ ?(?:ttft|tpot|to first|between|of prefill|queue|wait|timeout|peak|apart|interval|window|in advance|ago|later)"
)
_NOT_ANSWERS = pattern(
    r"(?i)\b(?:timeout|interval|every|within|window|after|ttft|tpot|first token|cold|idle|at most|up to|max\w*|limit\w*|of at least|target|p\d\d|percentile)\b"
)
_OF_REQUEST = pattern(
    r"(?i)\b(?:takes?|took|lasts?|stays?|each|apiece|latency|duration|holds?|lives?|residence|spends?|je|brauch\w*|benötig\w*|laufzeit|answers?|(?:per|an?) (?:request|call)|generation|open|dauer\w*|antwort\w*|antwortzeit|latenz|latence|temps|anfrage|réponses?|requête|chacune?|tiempo|dur\w{1,8}|respuestas?|tarda\w?)\b"
)

_PART_OF = pattern(
    r"(?i)\b(?:one|an?|eine?|une?|una?) (?:[\w-]+ )?(?:engine |replica |pod |node )?(?:of|out of|von|sur|de) (?:the |all |our )?(?P<all>\d{1,4})\b|\bone of (?:the |our )?(?P<other>\d{1,4})\b"
)
_EVENLY = pattern(
    r"(?i)\b(?:round[- ]robin|evenly|equal(?:ly)?|at random|alike|gleichmäßig|à parts égales|por igual)\b"
)
_TRAFFIC = pattern(r"(?i)\b(?:traffic|requests?|load|verkehr|anfragen|trafic|tráfico)\b")


_OF_ONE = word_set("of von sur de")
_ONE = word_set("one a an ein eine un une una")
"""Words for one part of a whole; a text about a part has one of them and the name of a unit."""


def shares_of_traffic(text: str) -> Iterator[DerivedFigure]:
    """The share of the traffic that one engine gets where a text spreads the traffic evenly.

    >>> [(each.stated, each.computed) for each in shares_of_traffic("One of 20 engines gets 10 % of the traffic by round robin.")]
    [(10.0, 5.0)]
    """
    for sentence in sentences_of(text):
        shares = percentages_in(sentence)
        if len(shares) != 1 or not (has_word(sentence, _OF_ONE) and has_word(sentence, _ONE)):
            continue
        if _EVENLY.search(sentence) is None or _TRAFFIC.search(sentence) is None:
            continue
        match = _PART_OF.search(sentence)
        if match is None:
            continue
        computed = 100 / max(1, int(match["all"] or match["other"]))
        if not 0.8 <= shares[0].value / computed <= 1.25:
            message = f"according to the text, one of {match['all'] or match['other']} gets {shares[0].value:.10g} % of the traffic; spread evenly it gets {computed:.3g} %"
            yield DerivedFigure(shares[0].value, computed, message, sentence)


_ENGINES = pattern(r"(?i)^ (?:of|with|on|à|mit|von|de) $")


def engines_of_accelerators(text: str) -> Iterator[tuple[str, int, int]]:
    """The engines that a text counts, with the accelerators of each.

    >>> [each[1:] for each in engines_of_accelerators("Nine engines of eight GPUs in one rack.")]
    [(9, 8)]
    """
    for sentence in sentences_of(text):
        figures = figures_in(sentence)
        for one, other in pairwise(figures):
            between = sentence[one.end : other.start]
            if (one.kind, other.kind) == ("engines", "accelerators") and _ENGINES.match(between):
                yield sentence, int(one.value), int(other.value)


_EACH = pattern(
    r"(?i)^ (?:each|apiece|chacun\w?|cada un[ao]|je)\b|^ (?:per|a|je|pro|par|por) (?:node|server|engine|knoten|nœud|nodo)\b"
)
_IN_ALL = pattern(r"(?i)^ (?:in (?:all|total)|altogether|together|overall|insgesamt|zusammen|au total|en total)\b|^$")


def totals_of_units(text: str) -> Iterator[DerivedFigure]:
    """Totals of engines or accelerators that a text derives from a number of nodes or engines and the number in each.

    >>> text = "Six nodes with eight engines each, 40 engines in all."
    >>> [(each.stated, each.computed) for each in totals_of_units(text)]
    [(40.0, 48.0)]
    """
    for sentence in sentences_of(text):
        figures = figures_in(sentence)
        for whole, part, total in zip(figures, figures[1:], figures[2:], strict=False):
            units = whole.kind in ("nodes", "engines") and part.kind == total.kind in ("engines", "accelerators")
            stated = _EACH.match(sentence[part.end :]) and _IN_ALL.match(sentence[total.end :])
            if units and whole.kind != part.kind and stated and total.value != whole.value * part.value:
                computed = whole.value * part.value
                message = f"according to the text, {whole.value:,.10g} {whole.kind} with {part.value:,.10g} {part.kind} each have {total.value:,.10g}; they have {computed:,.10g}"
                yield DerivedFigure(total.value, computed, message, sentence)
