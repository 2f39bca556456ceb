"""Networks that a text demands to be physically separate from the fabric of the accelerators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern

_NAMES = {
    "storage": pattern(
        r"(?i)\b(?:storage|\w*speicher\w*|stockage|almacenamiento|archiviazione|opslag\w*|armazenamento|pamięci\w* masow\w+)\b|存储|存儲|ストレージ|스토리지"
    ),
    "out_of_band": pattern(
        r"(?i)\b(?:management|out-of-band|bmcs?|verwaltung\w*|administration|gestión|gestione|beheer\w*|gestão|zarządzani\w+)\b|管理|관리"
    ),
}
"""For each network, the pattern of its names."""
_FABRIC = pattern(
    r"(?i)\b(?:compute|fabric|scale-out|back-?end|training|infiniband|roce|rechen\w*|trainings\w*|calcul|entraînement|cálculo|cómputo|entrenamiento|calcolo|addestramento|reken\w*|treino|treinamento|obliczeniow\w+|gpus?)\b|参数面|計算|计算|訓練|训练|学習|연산|학습"
)
"""Pattern of the names of the fabric of the accelerators."""
_PARTS = r"(?:nics?|adapters?|ports?|switch(?:es)?|cables?|fib(?:er|re)s?|links?|hardware|netzwerkkarten?|kabel|fasern?|cartes?|commutateurs?|fibres?|tarjetas?|conmutadores|fibras?|schede|fibre|kaarten|vezels|placas?|comutadores|kart\w*|przełącznik\w*)"
_PARTED = pattern(
    r"(?i)\b(?:physical(?:ly)? (?:separat\w+|isolat\w+)|(?:physisch|physikalisch)\w* (?:getrennt|trenn)\w*|physiquement (?:séparé|isolé|distinct)\w*|(?:físicamente|fisicamente) (?:separ|aislad|isolad|isolat)\w*|fysiek gescheiden|fizycznie (?:oddziel|rozdziel)\w+)\b"
    rf"|\bshares? (?:no|neither|not an?y?) {_PARTS}\b|\bno {_PARTS}\b[^.;]{{0,40}}\b(?:shared|in common)\b|\b(?:must|may|shall|can) ?(?:not|never) share\b"
    rf"|\bkeine (?:gemeinsamen?|geteilten?) {_PARTS}\b|\bkeine? {_PARTS}\b[^.;]{{0,40}}\bteilen\b|\bne (?:doi\w+|peu\w+|partag\w+)(?: pas)? ?(?:partager )?[^.;]{{0,12}}?\b(?:aucune?|ni|pas)\b|\bno (?:deben|pueden|debe|puede) compartir\b|\bnon (?:devono|possono|deve|può) condividere\b"
    rf"|\b(?:mogen|mag) (?:geen|niet)\b[^.;]{{0,60}}\bdelen\b|\bnão (?:devem|podem|deve|pode) (?:com)?partilhar\b|\bnie (?:mogą|może|wolno) współdzielić\b"
    r"|物理(?:上|的に|的)?(?:分开|隔离|分离|分離|分け)|(?:不得|不能|不可|禁止)共[用享]|(?:共用|共有)(?:して)?は?(?:ならない|できない|禁止)|물리적으로 분리|공유(?:해서는 안|할 수 없)"
)
"""Pattern of words that demand separate hardware."""
_NO_DEMAND = pattern(
    r"(?i)\b(?:except|unless|not (?:required|needed|necessary|demanded)|außer|nicht (?:nötig|verlangt|gefordert|vorgeschrieben)|sauf|pas (?:exigé|nécessaire|demandé)\w*|salvo|no (?:es necesario|se exige)|tranne|non (?:è )?(?:richiest|necessari)\w*|behalve|niet (?:nodig|vereist)|exceto|não (?:é )?(?:exigid|necessári)\w*)\b|除外|除了|无需|無需|不要求|不必|必要はない|필요(?:는|가) 없"
)
"""Pattern of exceptions, and of what nobody demands."""


def shared_networks(sentences: Sequence[str], spec: Spec) -> Iterator[tuple[str, str]]:
    """The networks that share the fabric by their keys although a sentence demands separate hardware, with its words."""
    networks = spec.cluster.networks if spec.cluster is not None else None
    for name, names in _NAMES.items():
        part = getattr(networks, name, None)
        if part is None or part.shares != "scale_out":
            continue
        for sentence in sentences:
            words = words_of_separation(sentence)
            if words and names.search(sentence) is not None:
                yield f"cluster.networks.{name}.shares", words
                break


def words_of_separation(sentence: str) -> str:
    """The words of a sentence that demand a network with hardware of its own next to the fabric; empty without them.

    >>> words_of_separation("The compute fabric and the storage network must be physically separate.")
    'physically separate'
    >>> words_of_separation("The storage network need not be separate from the compute fabric.")
    ''
    """
    match = _PARTED.search(sentence)
    if match is None or _FABRIC.search(sentence) is None or _NO_DEMAND.search(sentence) is not None:
        return ""
    return "" if is_hypothetical(sentence) or words_of_another(sentence) else match[0]
