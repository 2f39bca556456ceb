"""Bounds that a text sets to keys: what the site, the contract or the users allow at most, or need at least."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.named_keys import NamedKey, named
from clusterspec.rules.knowledge.text_clauses import clause_bounds
from clusterspec.rules.knowledge.text_dimensions import Figure, figures_of
from clusterspec.rules.knowledge.text_doubt import is_of_this_machine
from clusterspec.rules.knowledge.text_passages import with_numerals
from clusterspec.rules.knowledge.written_numbers import has_word, sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES, LONGEST_SENTENCE = 200, 600
MOST, LEAST, EXACTLY = "at most", "at least", "exactly"
SLACK = 0.03
"""Relative difference up to which a value keeps a bound: both may be rounded."""
FARTHEST = 20.0
"""Ratio of a value to a bound from which the bound is probably of something else."""
_AT_MOST = pattern(
    r"(?i)\b(?:at (?:the )?most|(?:no|not|never) (?:more|longer|later|higher) than|(?:may|must|can)(?: not|not) (?:exceed|take more than|be (?:more|longer) than)|limit(?:s|ed)?(?: \w+){0,3}? (?:to|at)|limit (?:of|is)|capped at|(?:a |the )?max(?:imum)?(?: of| is)?|"
    r"allows?(?: us)?(?: an?| only)?(?: \w+){0,3}?(?: of)?(?: at most)?|permits?(?: \w+){0,2}|within|in less than|under|below|"
    r"höchstens|maximal|nicht (?:mehr|länger) als|begrenzt auf|erlaubt(?: sind)?|binnen|innerhalb von|unter|au (?:plus|maximum)|(?:pas|jamais) plus de|limitée?s? à|autorise|en moins de|sous|como (?:máximo|mucho)|no más de|limitad[oa]s? a|permite|en menos de|"
    r"al massimo|non più di|entro|permette|hoogstens|ten hoogste|maximaal|binnen)(?: the| den| die| les| los| etwa| rund)? $"
)
_AT_LEAST = pattern(
    r"(?i)\b(?:at least|(?:no|not|never) (?:less|fewer|shorter) than|(?:a |the )?minimum(?: of| is)?|must (?:\w+ ){0,2}?(?:have|hold|keep|last|cover|deliver|sustain|reach|carry|store|be|serve|take)|ha(?:s|ve) to (?:\w+ ){0,2}?(?:have|hold|keep|last|cover|deliver|sustain|reach|carry|store|serve|take)|"
    r"demands?|requires?|mindestens|wenigstens|nicht weniger als|verlangt|fordert|erfordert|au (?:moins|minimum)|pas moins de|exige|al menos|como mínimo|no menos de|requiere|almeno|non meno di|richiede|minstens|ten minste|vereist)(?: the| a| an| den| die| les| los| etwa| rund)? $"
)
_EXACTLY = pattern(
    r"(?i)\b(?:fix(?:es|ed)(?: \w+){0,3} (?:at|to)|prescrib\w+|exactly|must be|has to be|genau|vorgeschrieben\w*|exactement|impose|exactamente|fija(?:do)?(?: \w+){0,2} en|esattamente)(?: the| a| an)? $"
)
_BEHIND_MOST = pattern(
    r"(?i)^ (?:or (?:less|fewer)|at (?:the )?most|maximum|oder weniger|höchstens|au plus|ou moins|como máximo|al massimo)\b"
)
_BEHIND_LEAST = pattern(
    r"(?i)^ (?:or more|at least|minimum|oder mehr|mindestens|au moins|ou plus|como mínimo|al meno)\b"
)
_PERCENT = pattern(r"(?i)(?<=\d) (?:percent|per cent|prozent|pour cent|por ciento|per cento|procent)\b")
_PAID = r"advance\w*|down payment|prepayment|deposit|anzahlung|vorauszahlung|vorkasse|acompte|avance|anticip\w+|acconto|aanbetaling|zaliczk\w+|with the order|on (?:order|signature)|bei (?:bestellung|auftrag)|à la commande|con el pedido"
BOUNDED = (
    named(
        "procurement.payment.order",
        "share",
        rf"(?:{_PAID})\b",
        "advance* down prepayment deposit anzahlung vorauszahlung vorkasse acompte avance anticip* acconto aanbetaling zaliczk* order signature bestellung auftrag commande pedido",
        "penalt\\w*|damages|discount|tax|interest|late|retention",
    ),
    named(
        "procurement.delivery.weeks",
        "time",
        r"(?:deliver\w*|arriv\w*|lead time|liefer\w*|livr(?:é\w*|aison)|entreg\w*|consegn\w*|lever\w*)\b",
        "deliver* arriv* lead liefer* livr* entreg* consegn* lever*",
        r"spares?|parts?|support|payment|pay|paid|invoice|notice|late|delay\w*|penalt\w*|acceptance|tests?|tokens?|each|after delivery|nach (?:der )?lieferung|response",
        "week",
    ),
    named(
        "procurement.warranty",
        "time",
        r"(?:warrant\w+|garantie|gewährleistung|garantía|garanzia)\b",
        "warrant* garantie gewährleistung garantía garanzia",
        r"battery|ssd|drives?|extended|starts?|after|batterie",
        "s",
    ),
    named(
        "procurement.support.response",
        "time",
        r"(?:respon\w+|on[- ]site|technicians?|engineers?|reaktion\w*|techniker\w*|intervention|intervenir|técnic\w+|respuesta|tecnic\w+|monteur)\b",
        "respon* site technician technicians engineer engineers reaktion* techniker* intervention intervenir técnic* respuesta tecnic* monteur",
        r"tokens?|requests?|users?|latency|p\d\d|percentile|answers?|queue|years?|months?|anfrage\w*|requêtes?",
        "s",
    ),
    named(
        "workload.serving.targets.ttft",
        "time",
        r"(?:ttft|(?:time to )?(?:the )?first (?:token|word)|erste[nsr]? (?:token|wort)|premier (?:jeton|token|mot)|primer (?:token|palabra)|primo token|eerste token)\b",
        "ttft first erste* premier primer primo eerste",
        "queue|prefill takes|measured|cold|cache|mean|average|median|im mittel|moyenne",
        "s",
    ),
    named(
        "workload.serving.targets.tpot",
        "time",
        r"(?:tpot|itl|(?:per|between|for each) (?:output |two )?tokens?|token to token|(?:pro|je|zwischen) tokens?|par (?:jeton|token)|entre (?:deux )?(?:jetons|tokens)|por token|per token)\b",
        "tpot itl per between each pro je zwischen par entre por",
        "queue|measured|step|prefill|mean|average|cache|first",
        "s",
    ),
    named(
        "operations.checkpoint.interval",
        "time",
        r"(?:checkpoints?|saves?|saved|sicherung\w*|sauvegard\w*|puntos? de control|salvatagg\w*)\b",
        "checkpoint checkpoints save saves saved sicherung* sauvegard* punto puntos salvatagg*",
        r"takes?|pause\w*|kept|keep|old|restart\w*|recover\w*|resum\w*|without|read\w*|load\w*|spares?|writ\w+|dauert|notice|days?",
        "s",
    ),
    named(
        "operations.targets.run_time",
        "time",
        r"(?:(?:run|training|pre-?training|campaign) (?:\w+ ){0,3}?(?:done|finish\w*|end\w*|complete\w*|take|last)|(?:der|die) (?:lauf|vortraining|training)|l'entraînement|el entrenamiento|l'addestramento)\b",
        "run training pretraining campaign lauf vortraining entraînement entrenamiento addestramento",
        r"checkpoint\w*|restart\w*|step|warm-?up|evaluat\w*|fails?|failure\w*|notice|each|save\w*",
        "s",
    ),
    named(
        "cluster.power.nodes_per_rack",
        "node/rack node",
        r"(?:racks?|cabinets?|schr[aä]nke?n?|baies?|armari\w+|gabinetes?|kasten|kast)\b",
        "rack racks cabinet cabinets schrank schränke baie baies armari* gabinete gabinetes kasten kast",
        r"spare|draws?|row|kW|cables?|all|together",
    ),
    named(
        "cluster.networks.storage.capacity",
        "size",
        r"(?:stor(?:e|age)|file ?system|archive|corpus|data ?sets?|speicher\w*|ablage|dateisystem|stockage|almacén|almacenamiento|archivio|opslag)\b",
        "store storage file filesystem archive corpus data dataset speicher* ablage dateisystem stockage almacén almacenamiento archivio opslag",
        r"memory|hbm|ram|arbeitsspeicher|mémoire|checkpoint\w*|tape|band|each|per|je|pro|year|month|day|token\w*|cache|drive\w*|node|gpu",
        "B",
    ),
    named(
        "cluster.host_memory",
        "size",
        r"(?:host memory|ram|main memory|dram|arbeitsspeicher|hauptspeicher|mémoire vive|memoria (?:ram|principal)|werkgeheugen)\b",
        "host ram main dram arbeitsspeicher hauptspeicher mémoire memoria werkgeheugen",
        r"hbm|gpu|accelerator\w*|cards?|all|together",
        "B",
    ),
    named(
        "workload.serving.concurrency",
        "request sequence person",
        r"(?:in flight|concurrent(?:ly)?|at once|at the same time|at a time|simultaneous\w*|gleichzeitig\w*|zugleich|simultané\w*|à la fois|en même temps|simultáne\w*|a la vez|contemporane\w*|tegelijk)\b",
        "flight concurrent concurrently once time simultan* gleichzeitig* zugleich fois même vez contemporane* tegelijk",
        r"per engine|each engine|card|pilot|je motor",
    ),
)
"""The keys whose bounds are read, with the units of the bounds and the words that name the key in a clause."""
HIGHER_IS_BETTER = frozenset(
    {"procurement.warranty", "cluster.networks.storage.capacity", "cluster.host_memory", "workload.serving.concurrency"}
)
"""Keys that are bought or planned against a need: an upper bound of them in a text is one of something else, as is a lower bound of the
others.
"""


class Bound(NamedTuple):
    """A bound that a sentence sets to a key, in SI: ``kind`` is at most, at least or exactly."""

    key: str
    unit: str
    kind: str
    value: float
    words: str


def unkept_bounds(text: str, own: Mapping[str, Sequence[float]]) -> Iterator[Bound]:
    """The bounds that a text sets to keys and that no value of ``own`` for the key keeps, one for each key.

    >>> text = "The grant allows an advance of at most 20 percent. The supplier must deliver within 12 weeks."
    >>> own = {"procurement.payment.order": [0.4], "procurement.delivery.weeks": [10 * 604800.0]}
    >>> [(each.key, each.kind, each.value) for each in unkept_bounds(text, own)]
    [('procurement.payment.order', 'at most', 0.2)]
    >>> list(unkept_bounds("The old contract allowed an advance of at most 20 percent.", own))
    []
    """
    found: dict[str, Bound] = {}
    for sentence in islice(sentences_of(with_numerals(_PERCENT.sub(" %", " ".join(text.split())))), MOST_SENTENCES):
        for bound in bounds_in(sentence, own) if len(sentence) <= LONGEST_SENTENCE else ():
            found.setdefault(bound.key, bound)
    yield from (bound for key, bound in found.items() if not any(_is_kept(bound, each) for each in own[key]))


def bounds_in(sentence: str, own: Mapping[str, Sequence[float]]) -> Iterator[Bound]:
    """The bounds that a sentence sets to the keys of ``own``."""
    rows = [each for each in BOUNDED if own.get(each.key) and has_word(sentence, each.cues, each.starts)]
    for figure in figures_of(sentence) if rows else ():
        kind = _kind_of_bound(sentence, figure)
        fitting = [each for each in rows if kind and _names_key(sentence, figure, each, kind)]
        start, end = clause_bounds(sentence, figure.start, figure.end)
        if len(fitting) == 1 and is_of_this_machine(sentence, sentence[start:end]):
            yield Bound(fitting[0].key, fitting[0].unit, kind, figure.value, f"{kind} {figure.words}")


def _kind_of_bound(sentence: str, figure: Figure) -> str:
    """Whether a figure is an upper or a lower bound, or a fixed value; empty for other figures."""
    before, behind = sentence[max(0, figure.start - 60) : figure.start], sentence[figure.end :]
    if _AT_MOST.search(before) is not None or _BEHIND_MOST.match(behind) is not None:
        return MOST
    if _EXACTLY.search(before) is not None:
        return EXACTLY
    return LEAST if _AT_LEAST.search(before) is not None or _BEHIND_LEAST.match(behind) is not None else ""


def _names_key(sentence: str, figure: Figure, row: NamedKey, kind: str) -> bool:
    """Whether the clause of a bound names a key that has such bounds, and nothing else with such figures."""
    if figure.powers not in row.powers or kind == (MOST if row.key in HIGHER_IS_BETTER else LEAST):
        return False
    start, end = clause_bounds(sentence, figure.start, figure.end)
    named = row.words is not None and row.words.search(sentence, start, end) is not None
    return named and (row.unless is None or row.unless.search(sentence, start, end) is None)


def _is_kept(bound: Bound, value: float) -> bool:
    """Whether a value keeps a bound, or is so far from it that the bound is of something else."""
    ratio = value / bound.value if bound.value else 0.0
    if not 1 / FARTHEST < ratio < FARTHEST:
        return True
    above, below = ratio > 1 + SLACK, ratio < 1 - SLACK
    return not {MOST: above, LEAST: below, EXACTLY: above or below}[bound.kind]
