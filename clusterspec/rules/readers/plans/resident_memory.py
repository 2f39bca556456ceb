"""The memory of each accelerator that processes other than the engine hold, as a text states it."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.demands.figures import demand_figures
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.standard import pattern

_DEVICE = r"(?:gpus?|cards?|accelerators?|chips?|karten?|beschleuniger\w*|cartes?|accélérateurs?|tarjetas?|aceleradores?|scheda|schede|acceleratori?|kaart|kaarten|placas?|kart\w*)"
_EACH = pattern(
    rf"(?i)\b(?:each|every|all|per|jede[rsmn]?|alle[nr]?|je|pro|chaque|toutes les|par|cada|todas las|ogni|ciascuna|elke?|iedere|todas as|każd\w+)(?: [^\W\d]+)? {_DEVICE}\b|全 ?GPU"
)
"""Words of each accelerator."""
_PROCESS = pattern(
    r"(?i)\b(?:(?:safety|guard|embedding|reranking|reranker|moderation|draft|speech|vision|second|small|other) (?:model|process)\w*|(?:another|other|second) (?:process|service|program)\w*|reranker|guardrails?|moderator|"
    r"\w*(?:sicherheits|einbettungs|wächter|prüf)modell\w*|(?:weitere[rsn]?|andere[rsn]?|zweite[rsn]?) (?:prozess|dienst|modell)\w*|modèle (?:de garde|de sécurité|d['’]\w+|de modération)|(?:autre|second|deuxième) (?:processus|service|modèle)|"
    r"modelo (?:de seguridad|de guardia|guardián|de \w+ción|incrustad\w*)|(?:otro|segundo) (?:proceso|servicio|modelo)|modello (?:di sicurezza|di guardia|di \w+)|(?:altro|secondo) (?:processo|servizio|modello)|"
    r"(?:veiligheids|bewakings|inbeddings)model\w*|(?:ander|tweede) (?:proces|model)|(?:outro|segundo) (?:processo|serviço|modelo))\b|安全 ?(?:model|モデル|模型)|監査モデル|ガードモデル|审核模型|护栏模型|안전 ?(?:model|모델)"
)
"""Names of another process than the engine."""
_HOLDS = pattern(
    r"(?i)\b(?:takes?|holds?|keeps?|occup\w+|reserv\w+|uses?|needs?|claims?|belegt|belegen|hält|braucht|benötigt|reserviert|nutzt|prend|réserve|utilise|retient|ocupa|reserva|usa|toma|necesita|occupa|riserva|tiene|gebruikt|bezet|houdt|reserveert)\b|確保|占用|예약|점유"
)
_ELSEWHERE = pattern(
    r"(?i)\b(?:another|other|ander\w+|autres?|otr[oa]s?|altr[oaie]|outr[oa]s?|inn\w+) (?:servers?|nodes?|machines?|hosts?|knoten|maschine\w*|rechner\w*|serveurs?|nœuds?|servidor\w*|nodos?|server|nodi|węz\w+|serwer\w*)\b"
)
_OF_ENGINE = pattern(r"(?i)\b(?:weights|cache|gewichte|poids|pesos|pesi|gewichten|kv)\b")


_BYTES, _PER_DEVICE = frozenset({("B", 1)}), frozenset({("accelerator", -1)})
"""The dimensions of a size, and of what there is of each accelerator."""


class Resident(NamedTuple):
    """The bytes of an accelerator that another process holds, and the words that state them."""

    bytes: float
    words: str


def resident_memory(text: str) -> Resident | None:
    """The memory of each accelerator that other processes hold; None unless a text states one such size.

    >>> resident_memory("A safety model stays resident on every GPU and takes 24 GB of its memory.")
    Resident(bytes=24000000000.0, words='24 GB')
    >>> resident_memory("The weights take 35 GB on each GPU."), resident_memory("A safety model would take 24 GB on each GPU.")
    (None, None)
    """
    found = {each.bytes: each for each in _residents(text)}
    return found.popitem()[1] if len(found) == 1 else None


def _residents(text: str) -> Iterator[Resident]:
    before = ""
    for sentence in plain_sentences(text):
        both, before = f"{before} {sentence}", sentence
        if _HOLDS.search(sentence) is None or _OF_ENGINE.search(sentence) is not None:
            continue
        if _EACH.search(both) is None or _PROCESS.search(both) is None:
            continue
        if is_hypothetical(sentence) or _ELSEWHERE.search(sentence) is not None or words_of_another(sentence):
            continue
        sizes = [
            each for each in demand_figures(sentence) if each.powers - _PER_DEVICE == _BYTES and not each.is_computed
        ]
        if sizes:
            least = min(sizes, key=lambda each: each.value)  # the other is the memory of the accelerator
            yield Resident(least.value, least.words)
