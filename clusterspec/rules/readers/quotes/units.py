"""The units by which quotes sell licenses, support and services, and whether a text demands licenses for spares."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import (
    ANY_SWITCH,
    HOURS,
    LICENSED_PER_ACCELERATOR,
    plain_part,
)
from clusterspec.procurement.quotes import offered_quantity
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.lexicon import Lexicon
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.standard import pattern

_UNIT = pattern(
    r"(?:\b(?:per|each|every)[ -]|/ ?|\b(?:a|by the) )"
    r"(?:(?P<node>(?:gpu[- ])?(?:node|server|system|host|instance|dgx|hgx))|(?P<accelerator>gpu|accelerator|card|chip)|(?P<rack>rack)|(?P<switch>switch))\b"
)

_WITH = pattern(r"\b(?:with|incl|including|includes|inkl|inclus|incluso|inclu[ií]d[oa])\b[^;(]*")
"""Pattern of what a line includes in addition to the part that it sells."""
_COUNT_OF_UNIT = pattern(r"(?:(?<![\w.,])\d{1,3}|\b(?:two|three|four|five|six|seven|eight))\s*$")
"""Pattern of a number directly before a unit: the line sells several parts per unit, as in `8 a system`."""


def units_of(design: Design, cluster: Cluster) -> dict[str, set[int]]:
    """For each unit, the possible numbers of units in the design: without its spare nodes, with them, and for the
    quoted nodes.

    The quoted nodes may be fewer, if they extend existing ones.
    """
    procurement = design.spec.procurement
    lines = [*(offered_lines(procurement.quote or (), cluster) if procurement is not None else ())]
    offered = round(offered_quantity([line for line in lines if line.kind == "node"]))
    nodes = {cluster.nodes, cluster.all_nodes} | ({offered} if 0 < offered < cluster.nodes else set())
    offers = [line for line in lines if line.kind in ANY_SWITCH and not line.is_periodic]
    switches = round(offered_quantity([line for line in offers if not line.is_spare]))
    power = design.spec.cluster.power if design.spec.cluster is not None else None
    per_rack = rack_nodes(cluster, power.nodes_per_rack if power is not None else None)
    return {
        "accelerator": {count * cluster.accelerators_per_node for count in nodes},
        "node": nodes,
        "rack": {parts_needed(count, per_rack) for count in nodes} if per_rack else {0},
        "switch": {switches, round(offered_quantity(offers))} if switches else {0},
    }


def unit_of_line(offered: Offered) -> str:
    """The unit by which a line is sold: accelerator, node, rack or switch. Empty if the text does not state it, and for
    parts of the bill, hours and credits.

    >>> from clusterspec.spec.model import QuoteLine
    >>> parts = ("Support per node", "NVAIE, 3 years", "Freight", "NVMe 3.84 TB, 8 a system")
    >>> [unit_of_line(Offered(0, "other", QuoteLine(part=part))) for part in parts]
    ['node', 'accelerator', '', '']
    """
    text = plain_part(offered.line)
    if offered.kind != "other" or is_credit(offered.line) or HOURS.search(text) is not None:
        return ""
    found = _UNIT.search(text)
    if found is not None and _COUNT_OF_UNIT.search(text[: found.start()]) is not None:
        return ""
    if found is not None and found.lastgroup is not None:
        return found.lastgroup
    own = _WITH.sub("", text)
    return "accelerator" if LICENSED_PER_ACCELERATOR.search(own) is not None else ""


_OF_EACH = pattern(
    r"(?<![\w.,])(?P<each>\d{1,3})(?: [^\W\d][\w-]{1,14}){0,2} (?:per|in each|for each|in every|in jedem|à chaque) (?:machine|server|node|system|box|host)\b"
    r"[^;.\d]{0,24}?\b(?:for|in|of) (?:all |the |these )?(?P<all>\d{1,4})\b(?! ?(?:gb|tb|gib|w|kw|%|years?|months?|slots?|ports?))"
)
"""A number of parts in each machine, and the number of machines."""


def wrong_number_of_each(offered: Offered, rule: Rule) -> Iterator[Problem]:
    """The problem of a line whose quantity is neither the parts in each of its machines, as its text counts them, nor the
    machines: `16 pieces per machine for all eight`, of which the quote has 192.
    """
    match, quantity = _OF_EACH.search(with_numerals(plain_part(offered.line))), offered.line.quantity
    if match is None or quantity is None or quantity <= 1:
        return
    each, machines = int(match["each"]), int(match["all"])
    if quantity not in (each * machines, each, machines):
        message = f"`{match[0]}` are {each * machines:,}, but the quote has {quantity:,.0f}"
        yield rule.problem(
            quote_path(offered.index, "quantity"), message, "ask the supplier which of the numbers is right"
        )


# fmt: off
_WORDS: tuple[tuple[str, str], ...] = (
    ("license", "license* licence* subscription* software_contract software_agreement software_maintenance entitlement* lizenz* softwarevertrag softwarepflege abonnement* subskription* contrat_logiciel licencia* suscripci* contrato_de_software licenz* abbonament* contratto_software licentie* softwarecontract licença* assinatura* contrato_de_software licencj* subskrypcj*"),
    ("unit", "accelerator* gpu gpus card cards node nodes server servers device devices beschleuniger* karte karten knoten server accélérateur* carte cartes nœud* serveur* acelerador* tarjeta* nodo nodos servidor* accelerator* scheda schede nodi kaart kaarten placa placas nó nós akcelerator* kart* węz* serwer*"),
    ("each", "each every all any jede* alle* sämtliche chaque tout tous toute toutes cada tod* ogni tutti tutte elk* ieder* alle cada todos todas każd* wszystki*"),
    ("also", "installed powered powered_on switched_on spare* standby stand-by stand_by reserve* idle waits waiting whether_it_works whether_used in_the_rack physically eingebaut* installiert* eingeschaltet* reserve* ersatz* steht bereit installé* alimenté* allumé* secours rechange réserve instalad* encendid* reserva repuesto installat* acces* riserva scorta geïnstalleerd* ingeschakeld* reserve ligad* sobressalente* zainstalowan* włączon* zapasow* rezerw*"),
    ("binds", "count* need* require* must shall demand* charge* bill* audit* zähl* benötig* braucht muss müssen verlangt berechnet prüf* compte* exige* doit doivent factur* cuenta exige* necesita debe deben factura conta richiede deve devono fattura telt eist vereist moet moeten factureert conta exige deve devem liczy wymaga musi muszą"),
    ("less", "except excluding not_counted without_licen* free_of_charge no_charge free ausgenommen kostenlos ohne_lizenz sauf excepté gratuit* sans_licence excepto salvo gratuit* sin_licencia escluso gratuit* senza_licenza uitgezonderd gratis zonder_licentie exceto gratuit* sem_licença oprócz bezpłatn* darmow*"),
)
# fmt: on
_LEXICON = Lexicon(_WORDS)
_NEEDED = frozenset({"license", "unit", "each", "also", "binds"})


def licenses_spares(text: str) -> bool:
    """Whether a sentence of a text demands licenses for each part that is installed, used or not.

    >>> licenses_spares("The software contract counts every accelerator that is powered on, whether it works or waits.")
    True
    >>> licenses_spares("Every accelerator needs a license. Two nodes stand by."), licenses_spares("Spare nodes are free of charge.")
    (False, False)
    """
    for sentence in sentences_of(text):
        meanings = _LEXICON.meanings(sentence)
        if meanings >= _NEEDED and "less" not in meanings and not words_of_another(sentence):
            return True
    return False
