"""Figures of texts with the powers of their units and nouns, such as tokens for each second and engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterspec.quantity import HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_bounds
from clusterspec.rules.readers.tokens import UNITS, Token, is_for_each, tokens_of, unit_of
from clusterspec.rules.readers.units import LETTERS, word_set
from clusterspec.standard import pattern

Powers = frozenset[tuple[str, int]]
"""The units and nouns of a figure with their powers other than zero."""
MOST_FIGURES = 10
"""Largest number of figures of a passage that is read: longer ones have figures of several things."""
FAILURE, AWAY, SHARE, TIME = "failure", "away", "share", "s"
_SYNONYMS = {
    "node": "node nodes server servers box boxes host hosts machine machines knoten servern maschine maschinen hosts nœud nœuds noeud noeuds "
    "serveur serveurs nodo nodos servidor servidores tray trays nodi nós",
    "rack": "rack racks cabinet cabinets schrank schränke schränken baie baies armoire armoires armario armarios armadio armadi kast kasten gabinete gabinetes armário armários bastidor bastidores",
    "accelerator": "gpu gpus accelerator accelerators chip chips tpu tpus",
    "engine": "engine engines replica replicas instance instances replikat replikate replik repliken réplica réplique répliques instanz instanzen",
    "pod": "pod pods su sus island islands block blocks",
    "feed": "feed feeds pdu pdus circuit circuits einspeisung einspeisungen zuleitung zuleitungen alimentation alimentations",
    "hall": "hall halls halle hallen salle salles",
    "row": "row rows reihe reihen rangée rangées",
    "switch": "switch switches switche switchen leaf leaves leafs spine spines commutateur commutateurs",
    "port": "port ports endport endports",
    "nic": "nic nics hca hcas adapter adapters netzwerkkarte netzwerkkarten",
    "cage": "cage cages",
    "module": "module modules modul modulen transceiver transceivers transceivern transceiverów transceptor transceptores transcetores ricetrasmettitori optic optics optik optiken",
    "cable": "cable cables kabel kabeln câble câbles",
    "fiber": "fiber fibers fibre fibres faser fasern",
    "link": "link links downlink downlinks liaison liaisons verbindung verbindungen uplink uplinks",
    "drive": "drive drives ssd ssds disk disks laufwerk laufwerke laufwerken disque disques",
    "address": "address addresses adresse adressen adresses ip ips",
    "token": "token tokens jeton jetons toks tok",
    "request": "request requests anfrage anfragen requête requêtes query queries prompt prompts petición peticiones solicitud solicitudes consulta consultas richiesta richieste verzoek verzoeken aanvraag aanvragen pedido pedidos requisição requisições",
    "sequence": "sequence sequences sequenz sequenzen séquence séquences",
    "sample": "sample samples image images bild bilder beispiel beispiele",
    "step": "step steps iteration iterations schritt schritte schritten pas itération itérations paso pasos iteración iteraciones passi iterazioni passos iterações stappen iteraties kroków kroki",
    "file": "file files datei dateien fichier fichiers",
    "person": "user users seat seats nutzer person persons people utilisateur utilisateurs usuario usuarios utente utenti gebruiker gebruikers usuário usuários utilizador utilizadores",
    "checkpoint": "checkpoint checkpoints save saves sicherung sicherungen sauvegarde sauvegardes",
    "stage": "stage stages stufe stufen étage étages",
    "layer": "layer layers schicht schichten couche couches",
    "expert": "expert experts experten",
    "micro-batch": "micro-batch micro-batches microbatch microbatches mikrobatches mikrobatch micro-lots",
    "rank": "rank ranks",
    "head": "head heads",
    "parameter": "parameter parameters params paramètre paramètres",
    "spare": "spare spares ersatzknoten",
    FAILURE: "failure failures interruption interruptions crash crashes fault faults ausfall ausfälle ausfällen unterbrechung "
    "unterbrechungen panne pannes défaillance défaillances",
}
NOUNS = {word: noun for noun, words in _SYNONYMS.items() for word in words.split()}
"""Nouns of several languages, in lower case, each with the noun that stands for all of its meaning."""
_NO_NOUN = word_set(
    "of and or at with in on to for by from is are was the that which so as than und oder mit von bei in auf zu sind ist et ou de à avec "
    "sur su est sont y con per a an each every je pro par times x would more less other bit bits"
)
"""Words that a number does not count, and that do not stand between a number and its noun."""
_VERBS = word_set(
    "has have had is are takes take needs need draws draw makes make costs cost was were will does do holds serves see sees fail fails get gets "
    "hat haben braucht brauchen nimmt zieht ziehen macht machen sehen prend prennent ont consomme font"
)
MOST_WORDS = 3
"""Words from a number to the noun that it counts."""
_ONE = word_set("a an one eine einer einem einen une un")
_DURING = word_set("over during within for in after über während binnen nach pendant durant après")
_MILLISECONDS = {
    "ms": 1e-3,
    "millisecond": 1e-3,
    "milliseconds": 1e-3,
    "millisekunden": 1e-3,
    "µs": 1e-6,
    "μs": 1e-6,
    "us": 1e-6,
}
_NOUN = r"(?P<noun>[^\W\d][\w-]{1,24})"
_ARTICLE = r"(?:a|an|one|each|every|per|single|eine?[nmrs]?|jede[rsnm]?|pro|je|un|une|chaque|par|cada|por)"
_SUBJECT = pattern(rf"(?i)\b{_ARTICLE} (?P<words>[^\W\d][\w-]{{1,24}}(?: [^\W\d][\w-]{{1,24}}){{0,2}})")
_EACH_BEHIND = pattern(r"(?i)^,?(?: [\w-]{1,14}){0,2}? ?(?:each|apiece|a piece|chacune?s?|jeweils)\b")
_EACH_OF = pattern(r"(?i)\b(?:each|every one|jede[rs]?|chacune?) (?:of (?:the|our|these)|der|des|de nos) $")
LONGEST_LABEL = 48
"""Largest number of characters of a label before its figure."""
_LABEL = pattern(
    rf"(?i)(?:\b(?:per|pro|par|je) (?:[\w-]{{1,14}} )?{_NOUN}|\b(?:tpot|itl|inter-token latency))(?: ?[:=]| is| of| at| ist| von| bei| de| est)? (?:about |rund |environ )?$"
)
"""A label that names the thing to which a figure per unit applies: `time per output token: 35 ms`, `TPOT of 20 ms`."""
_LINKED = pattern(
    r"(?i)^(?: [\w-]{1,14})?,? (?:of|at|with|à|mit|zu|avec|having|mit je|with each|zu je|x|×) (?:about |rund |etwa |environ )?$"
)
"""Words between a count and the amount of each counted thing."""
_VERB_BEHIND = pattern(rf" (?:{'|'.join(sorted(_VERBS))})\b")
_OF_BASE = pattern(
    r"(?i) (?:of|du|de la|des|der|des|vom|von) (?:[^\W\d][\w-]{1,16} ){1,3}?(?:per|a|for each|par|pro|je) (?P<unit>day|week|month|tag|woche|monat|jour|semaine|mois)\b"
)
"""The base of a share per unit of time: `0.5 % of the price per week`."""
_FAILS = (
    r"(?:fails?|failing|crash(?:es)?|breaks?|stops|interrupted|interruptions?|failures?|outages?|restarts?|ausfall|ausfälle|fällt|unterbrechung|unterbrochen|"
    r"pannes?|tombe|interrompue?|défaillances?)"
)
_BETWEEN = pattern(
    rf"(?i)\b(?:(?:mtbf|mtti|mttf|mean time (?:between|to) \w+|time between \w+)\b[^\d]{{0,32}}|{_FAILS}(?: [^\W\d][\w-]*){{0,5}}? (?:every|each|in|within|per|alle|jede|toutes les|par|en)(?: \w+)? )$"
)
_BETWEEN_BEHIND = pattern(
    rf"(?i)^ (?:mtbf|mtti|mttf|between {_FAILS}|(?:zwischen|entre) (?:zwei |deux )?{_FAILS})\b|^,? (?:[^\W\d][\w-]* ){{0,4}}?{_FAILS}\b"
)
_EVERY = pattern(r"(?i)\b(?:every|alle|jede|toutes les|once in|once every) (?:about |rund |etwa |environ )?$")
"""Words of the time between failures."""
_REPAIR = pattern(
    r"(?i)\b(?:rma|repairs?|repaired|replac\w+|swap\w*|vendor|supplier|manufacturer|hersteller|lieferant|fournisseur|exchange[ds]?|turnaround|reparatur\w*|repariert|austausch\w*|ersetzt|répar\w+|remplac\w+|échang\w+)\b"
)
_AWAY = pattern(
    r"(?i)\b(?:away|out|in repair|under repair|for repair|missing|down|at the (?:supplier|vendor)|in reparatur|fehlen|fehlt|unterwegs|ausgefallen|en réparation|absents?|indisponibles?|manquent)\b"
)
_MEAN = pattern(
    r"(?i)\b(?:on average|average|mean|im mittel|durchschnittlich|im schnitt|en moyenne|at any (?:time|moment))\b"
)


_DIGIT = pattern(r"\d")
_FLOP = pattern(r"([kMGTPEZ]?)FLOPs?(S?)")
_FLOP_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21}


class Figure(NamedTuple):
    """A number of a text in SI, the powers of its units and nouns, and half a unit of its last digit, relative to it."""

    value: float
    powers: Powers
    start: int
    end: int
    words: str
    rounding: float
    bare: Powers = frozenset()
    """Its powers without the noun of its subject, which it may be of in all; empty where no subject gave one."""

    @property
    def noun(self) -> str:
        """The noun that the figure counts, in all or in a time; empty for a measure or for a figure per thing."""
        names = [name for name, power in self.powers if (name, power) != (TIME, -1)]
        return names[0] if len(names) == 1 and (names[0], 1) in self.powers and names[0] in _SYNONYMS else ""


def product_of(one: Powers, other: Powers | Mapping[str, int], sign: int = 1) -> Powers:
    """The powers of a product, or of a quotient for a sign of -1.

    >>> sorted(product_of(frozenset({("s", 1), ("token", -1)}), frozenset({("token", 1)})))
    [('s', 1)]
    """
    found = dict(one)
    for name, power in dict(other).items():
        found[name] = found.get(name, 0) + sign * power
    return frozenset((name, power) for name, power in found.items() if power)


def noun_of(word: str) -> str:
    """The noun for a word, or for its last part after a hyphen; empty if none is known.

    >>> noun_of("Twin-Port-Module"), noun_of("Nodes"), noun_of("weather")
    ('module', 'node', '')
    """
    lower = word.lower()
    return NOUNS.get(lower) or NOUNS.get(lower.rpartition("-")[2], "")


def figures_of(passage: str, *, bare: bool = False) -> list[Figure]:
    """The figures of a passage that measure or count something known; with ``bare`` also numbers alone.

    >>> [(each.value, sorted(each.powers)) for each in figures_of("4,096 tokens at 50 ms per output token; 8 racks of 4 nodes")]
    [(4096.0, [('token', 1)]), (0.05, [('s', 1), ('token', -1)]), (8.0, [('rack', 1)]), (4.0, [('node', 1), ('rack', -1)])]
    >>> [each.value for each in figures_of("the 16.8M-token batch")]
    [16800000.0]
    """
    found: list[Figure] = []
    tokens = tokens_of(passage)
    for at, token in enumerate(tokens):
        if token.text.lower() in _ONE or (token.kind == "number" and token.values and token.values[0]):
            figure = _one_time(passage, tokens, at) if token.kind == "word" else _plain_figure(passage, tokens, at)
            if bare and figure is not None and (rate := _line_rate(passage, tokens, at)):
                found.append(rate)
            elif figure is not None and figure.powers:
                owned = _with_owner(passage, _with_sequence(passage, figure), found)
                found.append(_with_role(passage, owned, found[-1].end if found else 0))
            elif figure is not None and bare:
                found.append(figure)
    return found


def _one_time(passage: str, tokens: Sequence[Token], at: int) -> Figure | None:
    """The time of `over an hour`, whose article is at an index."""
    unit = unit_of(tokens[at + 1].text) if 0 < at < len(tokens) - 1 and tokens[at - 1].text.lower() in _DURING else ""
    if not unit or UNITS[unit][1] != (0, 0, 1, 0):
        return None
    start, end = tokens[at].start, tokens[at + 1].end
    return Figure(UNITS[unit][0], frozenset({(TIME, 1)}), start, end, passage[start:end], 0.0)


def _plain_figure(passage: str, tokens: Sequence[Token], at: int) -> Figure | None:
    token, end = tokens[at], at + 1
    powers, scale = _unit_powers(token), token.scale
    if not token.unit and end < len(tokens) and tokens[end].text.lower() in _MILLISECONDS:
        powers, scale, end = frozenset({(TIME, 1)}), _MILLISECONDS[tokens[end].text.lower()], end + 1
    elif not token.unit and (seconds := _hyphenated_time(tokens, at)):
        powers, scale, end = frozenset({(TIME, 1)}), seconds, end + 2
    elif not token.unit:
        letter, hyphen, _ = tokens[end].text.partition("-") if end < len(tokens) else ("", "", "")
        if letter in LETTERS and tokens[end].start == token.end and token.factor == 1.0:
            scale, end = LETTERS[letter], end + (not hyphen)  # `16.8M-token batch`
        elif end < len(tokens) and tokens[end].text == "Ki":
            scale, end = 1024.0, end + 1
        if token.factor > 1.0 and end < len(tokens) - 1 and tokens[end].text.lower() in ("de", "d", "di", "van"):
            end += 1  # `176 milliards de paramètres`
        noun, end = _counted_noun(tokens, end)
        powers = frozenset({(noun, 1)}) if noun else frozenset()
        if not noun and (work := _work_at(tokens, end)) is not None:
            powers, factor = work
            scale, end = scale * factor, end + 1
    ends_at_verb = _VERB_BEHIND.match(passage, token.end) is not None
    for each in token.per:
        if each not in UNITS and not ends_at_verb:
            hours = _part_of_hours(each)
            powers = product_of(powers, {hours: 1, TIME: 1} if hours else {noun_of(each) or each: 1}, -1)
            scale /= HOUR if hours else 1.0
    if token.unit == "%" and (base := _OF_BASE.match(passage, token.end)) is not None and unit_of(base["unit"]):
        factor, end = UNITS[unit_of(base["unit"])][0], at + 1
        powers, scale = frozenset({(SHARE, 1), (TIME, -1)}), scale / factor
    elif not token.per:
        less, factor, end = _periods(tokens, end)
        powers, scale = product_of(powers, less, -1), scale / factor
    last = max(tokens[end - 1].end, token.end)
    is_exact = not token.unit and token.factor == scale == 1.0 and token.values[0] % 1 == 0 and (TIME, 1) not in powers
    return Figure(
        token.values[0] * scale,
        powers,
        token.start,
        last,
        passage[token.start : last],
        0.0 if is_exact else _rounding(token),
    )


def _line_rate(passage: str, tokens: Sequence[Token], at: int) -> Figure | None:
    """The rate of a link of `400G`, whose number is at an index."""
    letter = tokens[at + 1] if at + 1 < len(tokens) else tokens[at]
    if letter.text != "G" or letter.start != tokens[at].end:
        return None
    start, value = tokens[at].start, tokens[at].values[0] / tokens[at].factor
    return Figure(
        value * 1e9 / 8, frozenset({("B", 1), (TIME, -1)}), start, letter.end, passage[start : letter.end], 0.0
    )


def _hyphenated_time(tokens: Sequence[Token], at: int) -> float:
    """The seconds of the unit that a hyphen joins to a number, as in `4-year lease`; 0 without one."""
    joined = [each.text for each in tokens[at + 1 : at + 3]]
    unit = (
        unit_of(joined[1]) if joined[:1] == ["-"] and len(joined) > 1 and tokens[at + 1].start == tokens[at].end else ""
    )
    return UNITS[unit][0] if unit and len(unit) > 1 and UNITS[unit][1] == (0, 0, 1, 0) else 0.0


def _part_of_hours(word: str) -> str:
    """The noun of an hour of one part, as in `GPU-hour`; empty for other words."""
    part, _, hour = word.lower().rpartition("-")
    return noun_of(part) if hour in ("hour", "hours", "stunde", "stunden", "h") else ""


def _work_at(tokens: Sequence[Token], at: int) -> tuple[Powers, float] | None:
    """The powers and the scale of `PFLOP` or `GPU-hours` at an index."""
    word = tokens[at].text if at < len(tokens) else ""
    if noun := _part_of_hours(word):
        return frozenset({(noun, 1), (TIME, 1)}), HOUR
    match = _FLOP.fullmatch(word)
    if match is None:
        return None
    rate = {(TIME, -1)} if match[2] == "S" else set()
    return frozenset({("flop", 1), *rate}), _FLOP_SCALES[match[1]]


def _unit_powers(token: Token) -> Powers:
    if token.unit in ("%", "‰"):
        return product_of(frozenset({(SHARE, 1)}), {TIME: -token.dimensions[2]}, -1)
    names = ("money", "W", TIME, "B")
    return frozenset((name, power) for name, power in zip(names, token.dimensions, strict=True) if power)


def _counted_noun(tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """The last known noun of the words after a number, and the index after it."""
    noun, end = "", at
    at += at < len(tokens) - 1 and tokens[at].text == "-" and tokens[at].start == tokens[at - 1].end
    for index in range(at, min(at + MOST_WORDS, len(tokens))):
        word = tokens[index].text
        if tokens[index].kind != "word" or word.lower() in _NO_NOUN | _VERBS:
            break
        if noun_of(word):
            noun, end = noun_of(word), index + 1
        elif noun:
            break
    return noun, end


def _periods(tokens: Sequence[Token], at: int) -> tuple[dict[str, int], float, int]:
    """What a figure is for each of, behind it: `/s`, `per output token`, `a day`; the seconds of it, and the index after it."""
    less: dict[str, int] = {}
    factor = 1.0
    while at + 1 < len(tokens) and (is_for_each(tokens, at) or _is_in_each(tokens, at)):
        at += _is_in_each(tokens, at)
        unit = unit_of(tokens[at + 1].text)
        noun, end = _counted_noun(tokens, at + 1)
        if unit and UNITS[unit][1] == (0, 0, 1, 0):
            less[TIME], factor, at = less.get(TIME, 0) + 1, factor * UNITS[unit][0], at + 2
        elif noun and not (end < len(tokens) and tokens[end].text.lower() in _VERBS):
            less[noun], at = less.get(noun, 0) + 1, end
        else:
            break
    if TIME in less:
        less.pop("person", None)  # a rate of one user is one of its answer
    return less, factor, at


def _is_in_each(tokens: Sequence[Token], at: int) -> bool:
    """Whether `in each` or `for every` is at an index."""
    words = [each.text.lower() for each in tokens[at : at + 2]]
    return at + 2 < len(tokens) and words[0] in ("in", "for") and words[1] in ("each", "every")


def _rounding(token: Token) -> float:
    written = token.values[0] / token.factor
    digits = f"{written:.12g}"
    decimals = 0 if "e" in digits else len(digits.partition(".")[2])
    zeros = 0 if decimals else len(digits) - len(digits.rstrip("0"))
    return min(0.5 * 10.0 ** (min(zeros, 2) - decimals) / written, 0.1)


LENGTHS_AHEAD = pattern(
    r"(?i)\b(?:sequences|samples|sequenzen|séquences|secuencias|sequenze|sequenties) (?:of|with|von|mit|zu|de|con|di|van|met) ?$"
)
"""Pattern of words before the tokens of a sequence: `a step` behind them is what has these sequences."""


def _with_sequence(passage: str, figure: Figure) -> Figure:
    """A figure, but where it is the tokens of a sequence not those of a step.

    >>> [sorted(each.powers) for each in figures_of("512 sequences of 2,048 tokens a step eat 1,048,576 tokens")][1]
    [('sequence', -1), ('token', 1)]
    """
    if figure.powers == {("token", 1), ("step", -1)} and LENGTHS_AHEAD.search(passage[: figure.start]) is not None:
        return figure._replace(powers=frozenset({("token", 1), ("sequence", -1)}))
    return figure


def _with_owner(passage: str, figure: Figure, before: Sequence[Figure]) -> Figure:
    """A figure with the noun that it applies to, from `each` after it, a count before it, or the subject of its clause."""
    if any(power < 0 and name not in (TIME,) for name, power in figure.powers):
        return figure
    count = next((each for each in reversed(before) if each.noun and (each.noun, 1) not in figure.powers), None)
    start, _ = clause_bounds(passage, figure.start, figure.end)
    linked = count is not None and count is before[-1] and _LINKED.match(passage[count.end : figure.start]) is not None
    of_each = count is not None and count.start >= start and _EACH_OF.search(passage[: count.start]) is not None
    if count is not None and (linked or of_each or _EACH_BEHIND.match(passage[figure.end :]) is not None):
        return figure._replace(powers=product_of(figure.powers, {count.noun: 1}, -1))
    if _EACH_BEHIND.match(passage[figure.end :]) is not None and (owner := _last_noun(passage[start : figure.start])):
        return figure._replace(powers=product_of(figure.powers, {owner: 1}, -1))
    counted_between = [each.end for each in before if each.start >= start]
    subjects = [*_SUBJECT.finditer(passage, max(start, *counted_between, 0), figure.start)]
    noun = next((known for match in reversed(subjects) if (known := _first_noun(match["words"]))), "")
    label = _LABEL.search(passage, max(0, figure.start - LONGEST_LABEL), figure.start)
    if label is not None and (known := noun_of(label["noun"] or "token")):
        return figure._replace(powers=product_of(figure.powers, {known: 1}, -1))
    if noun and (noun, 1) not in figure.powers:
        return figure._replace(powers=product_of(figure.powers, {noun: 1}, -1), bare=figure.powers)
    return figure


def _first_noun(words: str) -> str:
    """The noun behind an article and up to two adjectives; none for a failed part, which is one of the failures.

    >>> _first_noun("new box goes"), _first_noun("run on nodes"), _first_noun("failed node goes")
    ('node', '', '')
    """
    for word in words.split():
        if word.lower() in _NO_NOUN | _VERBS | _FAILED:
            break
        if known := noun_of(word):
            return known
    return ""


_FAILED = word_set(
    "failed failing broken faulty defective defekte defekter defekten ausgefallene ausgefallener défaillant"
)


def _last_noun(text: str) -> str:
    return next((known for word in reversed(text.split()) if (known := noun_of(word.strip(",.")))), "")


def _with_role(passage: str, figure: Figure, begin: int) -> Figure:
    """A figure with the meaning that its clause gives it: the time between failures, the time of a repair, or the nodes
    in repair.
    """
    start, end = clause_bounds(passage, figure.start, figure.end)
    clause, before = passage[start:end], passage[max(start, begin) : figure.start]
    behind = _DIGIT.split(passage[figure.end : end], maxsplit=1)[0]
    powers = dict(figure.powers)
    if powers.get(TIME) == 1 and len(powers) <= 2 and all(abs(each) == 1 for each in powers.values()):
        owner = {name: 1 for name in powers if name in ("node", "accelerator", "drive", "link", "switch", "module")}
        is_between = _BETWEEN.search(before) or (
            _BETWEEN_BEHIND.match(behind) and (_EVERY.search(before) or "mtbf" in behind.lower())
        )
        if len(owner) == len(powers) - 1 and is_between:
            return figure._replace(powers=product_of(frozenset({(TIME, 1), (FAILURE, -1)}), owner))
        if len(powers) == 1 and (_REPAIR.search(before) or _REPAIR.search(behind)):
            return figure._replace(powers=frozenset({(TIME, 1), (AWAY, 1), (FAILURE, -1)}))
    if figure.powers == {("node", 1)} and _AWAY.search(clause) is not None and _MEAN.search(clause) is not None:
        return figure._replace(powers=frozenset({(AWAY, 1)}))
    return figure
