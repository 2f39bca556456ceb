"""Demands of texts on what remains when a part is out: places of a service without a node or an engine, and heat without a coolant unit."""

from __future__ import annotations

from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.demands.figures import MEASURES, demand_figures
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.lexicon import Lexicon
from clusterspec.standard import pattern

MOST_LOST = 8
"""Largest number of parts out at a time that is read."""
NEAR = 2
"""Sentences from one about parts that are out to one that says what has to remain."""
# fmt: off
_WORDS: tuple[tuple[str, str], ...] = (
    ("out", "out out_of_service out_of_operation drained drain draining down fails fail failed failure offline off-line patched patching patches patch maintenance serviced rebooted rebooting reboots missing lost loses lose breaks dies updated updating upgrades upgraded taken_out"),
    ("out", "ausfällt ausfallen fällt fallen ausfall *ausfall ausgefallen gewartet wartung *wartung abgeschaltet außer_betrieb fehlt fehlen stillsteht steht_still neustart* gepatcht entleert"),
    ("out", "panne panne* tombe tombent tombé arrêt arrêté arrêtés hors_service en_maintenance maintenance manque perdu perd vidé redémarre* défaillance* fuera_de_servicio cae caen caiga caigan falla fallan fallo avería averiado mantenimiento parado parados falta vaciado reinici* fuori_servizio guasto guasta guastano manutenzione fermo fermi cade cadono manca riavvi*"),
    ("out", "uitvalt uitval uitgevallen onderhoud buiten_gebruik buiten_dienst stilstaat mist ontbreekt herstart* fora_de_serviço cai caia falh* avaria avariado manutenção parado parados falta reinici* awari* wyłączon* konserwacj* wypadnie uszkodzon* restart*"),
    ("node", "node nodes server servers machine machines box boxes host hosts knoten server servern rechner nœud nœuds noeud noeuds serveur serveurs nodo nodos servidor servidores nodi server knooppunt knooppunten nó nós servidor węzeł węzła węzłów serwer serwera serwerów"),
    ("engine", "engine engines replica replicas instance motor motoren engines instanz moteur moteurs instance réplica motor motores motore motori istanza motor motoren motores silnik silnika replik*"),
    ("refused", "queued queue queues refused refuse refuses rejected reject turned_away wait waits waiting dropped denied interrupted cut_off"),
    ("refused", "warten wartet wartend* abgewiesen abweisen abgelehnt warteschlange eingereiht abgebrochen refusé* refuse* attend* attente file_d'attente rejet* rechaz* espera* cola en_espera rifiutat* attend* attesa coda respint* geweigerd wacht* wachtrij afgewezen recusad* espera* fila rejeitad* odrzuc* czeka* kolejk*"),
    ("none", "forbid* prohibit* verbiet* untersag* interdi* prohíb* vieta* verbied* proíb* zabrania zakaz* no nobody none never not without keine* kein niemand nie niemals nicht ohne aucun* aucune personne jamais ne sans ningun* ningún nadie nunca sin nessun* nessuno mai non senza geen niemand nooit niet zonder nenhum* ninguém nunca não sem żaden żadna żadne nikt nigdy nie bez"),
    ("served", "all every everyone everybody full alle jede* sämtliche tous toutes chaque todos todas cada tutti tutte ogni alle elke todos todas cada wszystkie wszyscy każd*"),
    ("serves", "serve serves served hold holds admit admits carry carries handle handles accept answered bedien* halten aufnehmen trag* servi* tenir acueil* aten* mantener sostener serv* regge* tenere bedien* houden atend* suport* manter obsłuż* utrzym*"),
    ("cdu", "cdu cdus verteiler* coolant_distribution cooling_distribution pump pumps heat_exchanger* coolant_unit* kühlverteiler* kühlmittelverteil* pumpe pumpen wärmetauscher* cooling_unit* unité*_de_distribution pompe pompes échangeur* unidad*_de_distribución bomba bombas intercambiador* unità_di_distribuzione pompa pompe scambiator* koelverdeler* pompen warmtewisselaar* unidade*_de_distribuição permutador* pompa pompy wymiennik*"),
    ("carry", "carry carries take takes remove removes hold holds keep keeps cool cools cover covers suffice suffices trägt tragen übernimmt übernehmen abführen kühlt kühlen genügt genügen reicht reichen porter porte supporte supporter évacue évacuer reprendre reprend suffit asume asumir soporta soportar basta evacuar regge reggere sostenere basta smaltire draagt dragen overneemt overnemen volstaat suporta suportar assume assumir basta przejmuje przejąć wystarcza"),
    ("whole", "whole all entire full alone ganze* alle gesamte* volle* allein tout toute totalité entière seul* toda todo entera plena sol* tutta tutto intero intera sol* hele alle volledige alleen toda todo inteira sozinh* cał* sam sama"),
    ("other", "other others remaining rest another anderen andere* übrige* verbleibende* rest autre* restant* otro otra otras otros restante* altr* restant* resto andere overige resterende outr* restante* pozostał* drug*"),
    ("binds", "forbid* prohibit* verbiet* untersag* interdi* prohíb* vieta* verbied* proíb* zabrania must shall has_to have_to condition agreement contract requires require demands demand promised promises guarantee* may should insist* allowed muss müssen soll darf dürfen bedingung vereinbarung vertrag *vertrag verlangt fordert zugesagt garantier* doit doivent condition accord contrat exige* promis garanti* peut debe deben condición acuerdo contrato exige* garantiza* puede deve devono condizione accordo contratto esige richied* garantit* può moet moeten mag voorwaarde overeenkomst contract eist garandeer* deve devem tem_de têm_de condição acordo contrato exige* garant* pode musi może warunk* umow* wymaga gwarantuj*"),
)
# fmt: on
_LEXICON = Lexicon(_WORDS)
_COUNT = pattern(r"\b(\d)(?= (?:[^\W\d]+ )?(?:of |von |de |di |van )?[^\W\d]+)")


class LostPlaces(NamedTuple):
    """The places for requests that a demand asks for, those that are left, and how they follow."""

    asked: float
    left: float
    how: str
    words: str


class Engines(NamedTuple):
    """The engines of a service: their number, those of a node (below one where an engine has several nodes), and the sequences of one."""

    number: int
    of_node: float
    sequences: int


def short_places(text: str, engines: Engines, concurrency: float) -> LostPlaces | None:
    """The demand of a text that nobody waits while a node or an engine is out, where too few places are left; None without one.

    >>> text = "One node is patched each day at noon. No session may be refused while that happens."
    >>> short_places(text, Engines(6, 1.0, 120), 640.0)
    LostPlaces(asked=640.0, left=600.0, how='5 engines of 120 sequences without one node', words='No session may be refused while that happens.')
    >>> short_places(text, Engines(6, 1.0, 128), 640.0) is None
    True
    """
    sentences = [*plain_sentences(text)]
    found = [_LEXICON.meanings(each) for each in sentences]
    for at, sentence in enumerate(sentences):
        event = next((before for before in range(at, max(-1, at - NEAR - 1), -1) if _is_loss(found[before])), None)
        if (
            event is None
            or not _asks_for_places(sentence, found[at])
            or any(_is_of_another(each) for each in sentences[event : at + 1])
        ):
            continue
        of_node = "node" in found[event]
        number = _number_lost(sentences[event])
        lost = number * (engines.of_node if of_node and engines.of_node >= 1 else 1)
        left = max(0.0, engines.number - lost) * engines.sequences
        asked = _sessions(sentence) or concurrency
        if 0 < left < asked:
            what = ("node" if of_node else "engine") + ("s" if number > 1 else "")
            count = "one" if number == 1 else str(number)
            how = f"{engines.number - lost:g} engines of {engines.sequences} sequences without {count} {what}"
            return LostPlaces(asked, left, how, sentence)
    return None


def _is_loss(meanings: set[str]) -> bool:
    return "out" in meanings and bool({"node", "engine"} & meanings)


def _asks_for_places(sentence: str, meanings: set[str]) -> bool:
    """Whether a sentence demands that nobody is refused, or that all or a number of requests are served."""
    if {"refused", "none", "binds"} <= meanings:
        return True
    return {"serves", "binds"} <= meanings and ("served" in meanings or _sessions(sentence) > 0)


def _is_of_another(sentence: str) -> bool:
    return bool(words_of_another(_REJECTED.sub(" ", sentence))) or (
        is_hypothetical(sentence) and "out" not in _LEXICON.meanings(sentence)
    )


_REJECTED = pattern(
    r"(?i)\b(?:rejected|declined|turned down|refus\w+|rejet\w+|rechazad\w+|rifiutat\w+|afgewezen|abgelehnt)\b"
)
"""Words for refused requests, which elsewhere are about another offer."""


def _number_lost(sentence: str) -> int:
    """The number of parts that are out: that before the words for them, else one."""
    counts = [
        int(match[1])
        for match in islice(_COUNT.finditer(sentence), 4)
        if "node" in _LEXICON.meanings(sentence[match.end() :][:24])
    ]
    return next((each for each in counts if 0 < each <= MOST_LOST), 1)


def _sessions(sentence: str) -> float:
    """The requests that a sentence wants served at once; 0 without a number of them."""
    counts = [
        each.value
        for each in demand_figures(sentence)
        if each.powers in MEASURES["requests"]
        and not each.is_computed
        and _SESSIONS.match(sentence, each.end) is not None
    ]
    return max(counts, default=0.0)


_SESSIONS = pattern(
    r"(?i) (?:[^\W\d]+ ){0,2}?(?:sessions?|requests?|users?|conversations?|chats?|calls?|sitzungen|anfragen|nutzer|gespräche|requêtes?|utilisateurs?|sesiones|peticiones|usuarios|conversaciones|sessioni|richieste|utenti|conversazioni|sessies|verzoeken|gebruikers|gesprekken|sessões|pedidos|utilizadores|usuários|conversas|sesji|sesje|zapytań|użytkowników)\b"
)


def demands_whole_heat(text: str) -> str:
    """The sentence of a text that demands that the other coolant units carry all heat when one is out; empty without one.

    >>> demands_whole_heat("If one CDU fails, the other must carry the whole load. Two CDUs stand there.")
    'If one CDU fails, the other must carry the whole load'
    >>> demands_whole_heat("Two CDUs carry the whole load.")
    ''
    """
    for sentence in plain_sentences(text):
        if {"cdu", "out", "carry", "whole", "binds"} <= _LEXICON.meanings(sentence) and not words_of_another(sentence):
            return sentence
    return ""
