"""Purchase texts: parts that exist or come from elsewhere, previous owners, taxes, and contracted power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.part_names import SWITCHES, plain_part
from clusterspec.rules.readers.written_numbers import sentences_of, total_watts_in
from clusterspec.rules.rule import quote_path
from clusterspec.source import Path
from clusterspec.spec.model import QuoteLine
from clusterspec.standard import pattern, sum_of

_FORMER_OWNER = pattern(
    r"\b(?:refurbished|second[- ]hand|used|pre-owned|recertified|ex-lease|remarketed|donat\w*|don(?!['’])|donnée?s?|mécénat|gespendet\w*|donaci[oó]n|donad[oa]s?|doação|doad[oa]s?|schenking|geschonken)\b"
)


def states_previous_owner(*texts: str) -> bool:
    """Whether a text says that machines had a previous owner, because they were bought used or donated."""
    return any(_FORMER_OWNER.search(text.lower()) is not None for text in texts)


_COLOCATION = pattern(r"\b(?:colo(?:cation)?|co-location|housing|hosting|contracted|it[- ]load)\b")
_OF_A_RACK = pattern(
    r"\brack,? (?:of |at |with |up to )?\d|\bracks (?:of |at |with |up to )\d|\b(?:per|each|/) ?racks?\b"
)


def contracted_power(lines: Sequence[QuoteLine]) -> list[tuple[Path, float]]:
    """The key and the watts of each quote line that contracts one amount of power for the whole machine.

    >>> from clusterspec.spec.model import QuoteLine
    >>> [contracted_power([QuoteLine(part=part)]) for part in ("Colocation, 400 kW, per kW", "Colo rack 17 kW, per rack")]
    [[(('procurement', 'quote', 0, 'part'), 400000.0)], []]
    """
    found: list[tuple[Path, float]] = []
    for index, line in enumerate(lines):
        text = plain_part(line)
        watts = total_watts_in(text)
        whole = _COLOCATION.search(text) is not None and _OF_A_RACK.search(text) is None
        if whole and len(watts) == 1 and not is_credit(line):
            found.append((quote_path(index, "part"), watts.pop()))
    return found


_ELSEWHERE = pattern(
    r"(?i)\b(?:re-?us(?:e|ed|es|ing)|used again|no [\w-]{2,20} in it|bought last|stays?|remains?|kept|donat(?:ed|ion)|gave (?:us|away)|given away|gifts?|exist(?:s|ing)?|already|in place|separate(?:ly)?"
    r"|(?:is|are) there|elsewhere|(?:from|on|in) (?:stock|store)|"
    r"(?:not|nor) (?:a )?(?:part of|in|on|included in|covered by) (?:this|the|our)"
    r"|contracts? of (?:its|their) own|(?:other|another|second|own|in the|from|in|under|by|with|see) (?:[\w'’-]+ ){0,3}?(?:contract|contractor|order|lot|quote|tender|agreement"
    r"|reseller|landlord|hall|building|purchase|project)s?|(?:supplied|provided|delivered|owned|bought|done|laid|ordered) (?:by|with)|"
    r"\w*rahmenvertr[aä]g\w*|(?:eigene|getrennte|separate|gesonderte|andere)[mnrs]? (?:\w+ )?\w*(?:vertr[aä]g|auftr[aä]g|bestellung|angebot)\w*|"
    r"(?:contrat|marché|commande|devis) (?:à part|séparée?|distincte?|propre|cadre)|(?:autre|propre) (?:contrat|marché|commande|devis)|"
    r"(?:contrato|pedido|oferta|licitación) (?:aparte|propi[oa]|separad[oa]|distint[oa]|marco)|contratt[oi] (?:quadro|separat[oi]|propri[oi]|a parte)|"
    r"(?:eigen|apart|raam)\w* ?(?:contract|order|bestelling|overeenkomst)|(?:osobn|odrębn)\w+ (?:umow|zamówien)\w+|"
    r"vorhanden\w*|bleib\w*|besteh\w*|bereits|existant\w*|restent|reste|conserv\w*|déjà|existentes?|ya existen?|quedan|se mantienen|"
    r"n?outro lote|otro lote|autre lot|anderen los|altro lotto|ander perceel|ficam|permanecem|reaproveitad\w*|esistent[ei]|restano|rimangono|già|bestaande?|blijven|aanwezig|befintlig\w*|istniej\w*|pozostaj\w*)\b"
    r"|\b(?:still|go on|continue[sd]?|keep) (?:to (?:be used|run|use)|in (?:use|service)|running|using|working)\b|\b(?:weiter(?:hin)? (?:genutzt|verwendet|betrieben|laufen)"
    r"|continu\w* (?:à|de) (?:servir|tourner)|sig(?:ue|uen) en uso|restano in uso|blijven in gebruik|fortsatt i bruk|nadal (?:pracuj|służ)\w*)\b"
    r"|계속 ?(?:쓰|사용|운영)|(?:만|만을) ?포함|引き続き|継続(?:使用|利用)|继续使用|既存|既設|流用|既有|已有|已裝|已装|現有|现有|기존"
)
"""Pattern of words that say that a part exists already or is bought separately."""
_BOUGHT_EARLIER = pattern(
    r"(?i)\b(?:bought|purchased|acquired|installed|gekauft|angeschafft|beschafft|achet\w+|acquise?s?|comprad[oa]s?|adquirid[oa]s?|acquistat[eio]|gekocht|aangeschaft) (?:in|since|im jahr|en|el|nel) (?:20[01]\d|202[0-5])\b"
    r"|\b(?:in|since|seit|depuis|desde|dal|sinds|von) (?:20[01]\d|202[0-5]) (?:bought|purchased|gekauft|angeschafft|beschafft|aangeschaft)\b"
    r"|\b(?:written off|fully depreciated|abgeschrieben\w*|amortie?s|amortizad[oa]s?|ammortizzat[eio]|afgeschreven)\b"
)
"""Pattern of words for a part that was bought years ago."""
_SWITCH_NAMES = pattern(r"(?i)\b(?:switch(?:es)?|fabrics?|networks?)\b")
_NAMES_OF = {
    "cable": pattern(
        r"(?i)\b(?:cables?|cabling|fib(?:er|re|ra)s?|trunks?|(?:patch )?cords?|jumpers?|(?:ver|be)?kabel\w*|okablowani\w*|c[âa]bl(?:es?|ages?)|cavi|cabos?|cabl(?:eado|aggio)|cabeamento|cablatura)\b|光纖|光纤|ケーブル"
    ),
    "transceiver": pattern(
        r"(?i)\b(?:optics|transceivers?|modules|structured cabling|(?:fib(?:er|re)|cabl(?:e|ing)) plant|transceptores|opti(?:k(?:en)?|sch\w*|czn\w*)|"
        r"[oó]pticas?|ottiche|optiques?|m[oó]dulos|moduli)\b|光模块|光收發|トランシーバ"
    ),
    "nic": pattern(r"(?i)\b(?:nics?|adapters?|network cards)\b"),
    "node": pattern(
        r"(?i)\b(?:nodes?|servers?|[dh]gx|machines?|systems?|serv(?:idore|eur)s?|knoten|[abhv][1-3]00|mi\d{3}x?)\b|\b[ABHV][1-3]00 ?\d{0,4}대|서버|サーバ|服务器"
    ),
    "switch": _SWITCH_NAMES,
    **dict.fromkeys(SWITCHES, _SWITCH_NAMES),
}
"""For each kind of part, the pattern of its names in texts."""


def are_elsewhere(missing: Mapping[str, int], remarks: str) -> bool:
    """Whether the description or a comment says for every missing kind of part that it exists or comes from elsewhere.

    >>> are_elsewhere({"cable": 1, "transceiver": 1}, "Fiber and modules are in the contract of the hall")
    True
    >>> are_elsewhere({"transceiver": 1}, "Modules come from the framework contract of the site, not this quote")
    True
    >>> are_elsewhere({"cable": 1, "transceiver": 1}, "the fiber plant runs under a contract of its own")
    True
    >>> are_elsewhere({"cable": 1, "transceiver": 1}, "Kabel und Optik kommen aus einem eigenen Rahmenvertrag")
    True
    >>> are_elsewhere({"cable": 1}, "Les câbles font l'objet d'un marché séparé.")
    True
    >>> texts = "Le câblage optique fait l'objet d'un marché séparé.", "Die optische Verkabelung ist ein eigener Auftrag."
    >>> [are_elsewhere({"cable": 1, "transceiver": 1}, text) for text in texts]
    [True, True]
    >>> are_elsewhere({"cable": 1, "spine_switch": 1}, "fiber stays from the old pod")
    False
    >>> are_elsewhere({"cable": 1}, "800 cables of 30 m, with a spare in each rack")
    False
    """
    sentences = [each for each in sentences_of(remarks) if _ELSEWHERE.search(each) or _BOUGHT_EARLIER.search(each)]
    if any(_SWITCH_NAMES.search(each) and _NAMES_OF["cable"].search(each) for each in sentences):
        missing = {kind: count for kind, count in missing.items() if kind != "transceiver"}  # both ends of its cables
    return all(any(_NAMES_OF[kind].search(each) is not None for each in sentences) for kind in missing)


MOST_POOLS = 8
"""Largest number of pools for which every subset is compared with the quoted nodes."""


def bought_pools(nodes: Mapping[str, int], lines: Sequence[Offered], remarks: str) -> set[str]:
    """The pools whose nodes are in the quote; all pools, unless the text says that some nodes come from elsewhere and
    exactly one subset fits.

    ``nodes`` is the number of nodes that each pool needs.
    """
    if len(nodes) > MOST_POOLS or not are_elsewhere({"node": 1}, remarks):
        return set(nodes)
    quoted = sum_of(line.quantity or 0.0 for line in lines if line.kind == "node")
    parts = [set(chosen) for number in range(1, len(nodes)) for chosen in combinations(nodes, number)]
    fitting = [chosen for chosen in parts if sum_of(nodes[name] for name in chosen) == quoted]
    return fitting[0] if len(fitting) == 1 else set(nodes)


TAX_NAMES = r"(?:vat|gst|sales tax|mwst|mehrwertsteuer|umsatzsteuer|tva|iva|btw|moms|mva|alv)"
"""Pattern of the names of sales taxes."""
_TAX = rf"(?:the )?{TAX_NAMES}\b"
_GROSS = pattern(rf"(?i)\b(?:includ(?:es?|ing)|incl\.?|inclusive of|with|gross of)\s+{_TAX}")
_NET = pattern(
    rf"(?i)\b(?:stated|quoted|given|offered|lists?|totals?|prices?|sums?|offer|quote) (?:(?:is|are|all|stated|quoted|given) ){{0,2}}net\b|\b(?:netto|hors taxes?|zzgl\.? (?:mwst|ust)|sin iva|iva esclusa|plus vat)\b|"
    rf"\b(?:exclud(?:es?|ing)|excl\.?|exclusive of|without|net of|before|plus|no|\+)\s+(?:\d+ ?% )?{_TAX}"
)
_ALL_TAXES = pattern(
    r"(?i)\b(?:all|every|any) (?:tax(?:es)?|duties)(?: and (?:taxes|duties|levies|charges))*\b(?! (?:extra|excluded))|\btax(?:es)? included\b"
    r"|\b(?:alle steuern|inklusive steuern|brutto|toutes taxes comprises|ttc|impuestos incluidos|iva (?:incluido|inclusa|compresa)|tasse incluse|btw inbegrepen)\b"
)
_EXTRA = pattern(
    rf"(?i){_TAX}[^.;]{{0,20}}?\b(?:extra|not included|excluded|in addition|on top|zzgl|(?:to|for) (?:the )?(?:purchaser|buyer|customer))\b"
)
_LIMIT = pattern(
    r"(?i)\b(?:pays? (?:no more than|at most)|no more than|höchstens|au plus|como máximo|budgets?|approved|approves|ceiling|grant(?:ed)?|limit|cap|funds|appropriation)\b"
)
_PERCENT = pattern(r"(\d{1,2}(?:\.\d)?) ?%")
_RATE_OF_TAX = pattern(
    rf"(?i)\b(?:standard|full|normal) (?:rate of )?\d{{1,2}} ?%|\d ?% {TAX_NAMES}\b|\b{TAX_NAMES} (?:of|at|is|von|de) \d"
)


def tax_of_budget(text: str) -> float:
    """The tax rate if a text says that the budget includes the tax and the prices do not; else 0.

    >>> tax_of_budget("Approved: 7.4 million including VAT at 21 %. Prices of the offer are excluding VAT.")
    0.21
    >>> tax_of_budget("The grant is for everything, all taxes and duties included. GST @ 18 % extra")
    0.18
    >>> tax_of_budget("We pay no more than 4.2 million, every tax in it. The standard 20 % falls on it. The total is stated net.")
    0.2
    >>> tax_of_budget("The budget of 7.4 million is without VAT at 21 %, as are the prices.")
    0.0
    """
    sentences = sentences_of(text)
    net = [each for each in sentences if _NET.search(each) is not None or _EXTRA.search(each) is not None]
    gross = [each for each in sentences if _GROSS.search(each) is not None or _ALL_TAXES.search(each) is not None]
    gross = [each for each in gross if _LIMIT.search(each) is not None]
    taxed = [each for each in sentences if _RATE_OF_TAX.search(each) is not None]
    stated = [{float(rate) / 100 for each in group for rate in _PERCENT.findall(each)} for group in (gross, net, taxed)]
    rates = stated[0] or stated[2] or stated[1]
    return rates.pop() if gross and net and len(rates) == 1 else 0.0
