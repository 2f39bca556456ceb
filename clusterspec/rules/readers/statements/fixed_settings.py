"""Settings that a text fixes: the release of a software, the branch of the driver, the feeds of a rack, the precision of weights,
and the rate at which data are stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.demands.reading import lexicon
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.plans.nightly_windows import copies_to_store
from clusterspec.rules.readers.units import stored_precisions
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, sentences_of
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern

MOST_SENTENCES = 200
SHORTER = 0.97
"""Ratio of two lengths below which rounding does not explain the shorter one."""
_RELEASE = pattern(r"(?i)^(?P<name>[a-z][a-z .-]{1,24}?)[ =]+v?(?P<release>\d{1,4}(?:\.\d{1,4}){1,3})\b")
_NOT_OF_PLAN = pattern(
    r"(?i)\b(?:since|from|before|until|up to|later|newer|older|or higher|or above|above|below|at least|than|instead|not|was|were|bugs?|fixed in|added in|came with|ab|seit|vor|depuis|avant|desde|dal|upgrad\w+|replac\w+|tested)\b|[<>≥≤]"
)
"""Words around a release that the plan does not run, or of which it is a bound."""
_OR_LATER = pattern(
    r"(?i)^,? ?(?:(?:and )?(?:upwards?|onwards?|up)\b|(?:und |oder )?aufwärts|en adelante|in poi|em diante|en hoger|of later|et suivante?s?|minimum|or (?:later|newer|higher|above|better)|and (?:later|newer)|o (?:posterior|superior|más reciente)\w*|oder (?:neuer|höher|später)|ou (?:ultérieure?|supérieure?|plus récente?)|o (?:successiva|superiore)|of (?:nieuwer|hoger)|\+)"
)
_AT_LEAST = pattern(
    r"(?i)\b(?:at least|not older than|no older than|mindestens|wenigstens|au moins|al menos|como mínimo|almeno|minstens) $"
)
_TWO = r"(?:two|2|zwei|deux|dos|due|twee)"
_APART = r"(?:independent|separate|redundant|unabhängige\w*|getrennte\w*|redundante\w*|indépendante?s?|séparée?s?|redondante?s?|independientes?|separadas?|indipendenti|onafhankelijke)"
_FEEDS = r"(?:feeds?|supplies|power supplies|(?:power |supply |electrical )?(?:paths|lines|sides)|stromwege?n?|seiten|voies|vías|ramales|líneas|linee|vie|vias|linhas|einspeisung(?:en)?|zuleitung(?:en)?|arrivées?|alimentations?|acometidas?|alimentazioni|voedingen)"
_TWO_FEEDS = pattern(
    rf"(?i)\b{_TWO} {_APART} (?:\w+ )?{_FEEDS}\b|\b{_TWO} {_FEEDS}(?: \w+)? (?:{_APART}|A (?:and|und|et|y|e|en|&) B)\b"
)
_ONE_CARRIES = pattern(
    r"(?i)\b(?:2N|either|each|one|alone|whole|full|all|fails?|lost|jede|allein|ganze|fällt|ausfällt|chacune?|seule?|toute|défaillance|cada|una sola|toda|falla|ciascuna|sola|tutta|elk|alleen|cut|off|unterbrochen|abgeschaltet|coupée?|cortad[oa]s?|cae|interrott[ao]|uitvalt|desligad[oa])\b"
)


_WEIGHTS = pattern(r"(?i)\b(?:weights|gewichten?|poids|pesos|pesi|gewichte)\b")


class FixedSetting(NamedTuple):
    """A setting that a text fixes, in its words, and the value of the key that differs from it."""

    key: str
    words: str
    value: str


def other_settings(text: str, spec: Spec) -> Iterator[FixedSetting]:
    """The settings that a text fixes and that the keys state otherwise."""
    sentences = [*islice(sentences_of(with_numerals(" ".join(text.split()))), MOST_SENTENCES)]
    yield from _other_releases(sentences, spec)
    yield from _other_branch(sentences, spec)
    power = spec.cluster.power if spec.cluster is not None else None
    feeds = next(filter(None, map(_two_feeds_in, sentences)), "") if power is not None and power.feeds == "N" else ""
    if feeds:
        yield FixedSetting("cluster.power.feeds", feeds, "N")
    for shared, words in shared_networks(sentences, spec):
        yield FixedSetting(shared, words, "scale_out")
    yield from _faster_copies(text, spec)
    yield from _other_precision(sentences, spec)


def _other_releases(sentences: Sequence[str], spec: Spec) -> Iterator[FixedSetting]:
    """The only release of a software that the text names, if the keys state another one."""
    stated = [("layout.software", spec.layout.software)] if spec.layout is not None and spec.layout.software else []
    stated += [(f"cluster.software.{index}", each) for index, each in enumerate(_software(spec))]
    for key, written in stated:
        match = _RELEASE.match(written)
        if match is not None and (least := _minimum_release(match["name"].strip(), sentences, match["release"])):
            yield FixedSetting(key, f"{match['name'].strip()} {least} or later", written)
            continue
        named = {*_releases_of(match["name"].strip(), sentences)} if match is not None else set()
        if match is not None and len(named) == 1 and not _is_one_release(other := named.pop(), match["release"]):
            yield FixedSetting(key, f"{match['name'].strip()} {other}", written)


_BRANCH = pattern(
    r"(?i)\b(?:driver|treiber|pilote|controlador\w*)\w*(?:[- ]\w+){0,2}?[- ]?(?:branch|zweig\w*|branche|rama|ramo|series|reihe|tak) r?(\d{3})\b|\br?(\d{3})(?:er)?[- ]?(?:branch|zweig|series|reihe)\b[^.;]{0,30}\b(?:drivers?|treiber\w*)\b|\b(?:branche|rama|ramo|tak) r?(\d{3}) [^.;]{0,30}\b(?:pilote|controlador\w*|driver)"
    r"|\b(?:driver|treiber|pilote|controlador|sterownik)\w*(?: [^\W\d]+){0,3} r?(\d{3})(?:er)?[- ]?(?:branch|zweig\w*|series|reihe|branche|rama|ramo|tak)\b"
)
"""A branch of the driver."""


_OLDER_REFUSED = pattern(
    r"(?i)\b(?:refuses?|rejects?|(?:does|will|can) ?not (?:start|run|load)|verweigert|startet nicht|refuse|rechaza|no arranca)\b[^.;]{0,60}\b(?:driver|treiber|pilote|controlador)\w*[^.;\d]{0,40}\b(?:older|lower|earlier|before|below|älter|unter|plus ancien|antérieur|inférieur|anterior|inferior)\w*(?: (?:than|als|que|à|al?|de))? r?(\d{3})\b"
)
"""The oldest driver with which something starts."""


def _other_branch(sentences: Sequence[str], spec: Spec) -> Iterator[FixedSetting]:
    """The only branch of the driver that the text allows, or the oldest, if the keys state a release of another one."""
    for index, written in enumerate(_software(spec)):
        match = _RELEASE.match(written)
        if match is None or "driver" not in match["name"].lower():
            continue
        for sentence in sentences:
            oldest = _OLDER_REFUSED.search(sentence)
            if oldest is not None and int(match["release"].partition(".")[0]) < int(oldest[1]):
                yield FixedSetting(f"cluster.software.{index}", f"driver {oldest[1]} or later", written)
                return
            named = {next(filter(None, each)) for each in _BRANCH.findall(sentence)}
            meanings = lexicon().meanings(sentence) if len(named) == 1 else set()
            binds = not meanings.isdisjoint(("must", "duty", "most")) and "former" not in meanings
            if binds and (branch := named.pop()) != match["release"].partition(".")[0]:
                yield FixedSetting(f"cluster.software.{index}", f"branch {branch} of the driver", written)
                return


def _software(spec: Spec) -> Sequence[str]:
    return spec.cluster.software or () if spec.cluster is not None else ()


def _releases_of(name: str, sentences: Sequence[str]) -> Iterator[str]:
    """The releases of a software that the sentences give to the plan."""
    for sentence in sentences:
        for match in islice(_release_pattern(name).finditer(sentence), MOST_MATCHES):
            clause = clause_at(sentence, match.start(), match.end())
            near = sentence[max(0, match.start() - 24) : match.start()] + "|" + sentence[match.end() : match.end() + 16]
            is_other = is_hypothetical(sentence) or is_of_other_plan(clause) or words_of_another(sentence)
            if _NOT_OF_PLAN.search(near) is None and not is_other:
                yield match[1]


def _release_pattern(name: str) -> re.Pattern[str]:
    """The pattern of a release of a software, whose words may be joined in other ways."""
    words = "[ .-]?".join(map(re.escape, name.replace("-", " ").split()))
    return pattern(rf"(?i)(?<![\w-]){words} v?(\d{{1,4}}(?:\.\d{{1,4}}){{1,3}})\b")


def _minimum_release(name: str, sentences: Sequence[str], own: str) -> str:
    """The release of a software that the sentences demand at least, if the plan's ``own`` is older; else empty."""
    for sentence in sentences:
        for match in islice(_release_pattern(name).finditer(sentence), MOST_MATCHES):
            later = _OR_LATER.match(sentence[match.end() :]) or _AT_LEAST.search(sentence[: match.start()])
            clause = clause_at(sentence, match.start(), match.end())
            if later is not None and _numbers(own) < _numbers(match[1]) and not words_of_another(clause):
                return match[1]
    return ""


def _numbers(release: str) -> list[int]:
    return [int(each) for each in release.split(".")]


def _is_one_release(one: str, other: str) -> bool:
    """Whether one of two releases is the other or contains it: `0.9` and `0.9.2`."""
    first, second = one.split("."), other.split(".")
    length = min(len(first), len(second))
    return first[:length] == second[:length]


def _two_feeds_in(sentence: str) -> str:
    """The words of a sentence that demand two feeds of which one is enough; empty without them.

    >>> _two_feeds_in("Each rack has two independent feeds, either of which carries it alone.")
    'two independent feeds'
    """
    match = _TWO_FEEDS.search(sentence)
    carried = match is not None and _ONE_CARRIES.search(_TWO_FEEDS.sub(" ", sentence)) is not None
    return match[0] if match is not None and carried else ""


def _other_precision(sentences: Sequence[str], spec: Spec) -> Iterator[FixedSetting]:
    """The only precision of weights that the text demands, if the key states another one."""
    own = spec.workload.parameter_precision if spec.workload is not None else None
    for sentence in sentences if own is not None else ():
        named = stored_precisions(sentence)
        if len(named) != 1 or own in named or _WEIGHTS.search(sentence) is None or words_of_another(sentence):
            continue
        meanings = lexicon().meanings(sentence)
        if meanings.isdisjoint(("other", "former", "mean")) and not meanings.isdisjoint(("must", "duty")):
            yield FixedSetting("workload.parameter_precision", f"weights in {named.pop()}", f"{own}")
            return


def _faster_copies(text: str, spec: Spec) -> Iterator[FixedSetting]:
    """The data of a daily window that the storage system cannot write in it."""
    networks = spec.cluster.networks if spec.cluster is not None else None
    own = networks.storage.bandwidth if networks is not None and networks.storage is not None else None
    for copy in copies_to_store(text) if own is not None else ():
        if own is not None and own.value < SHORTER * copy.rate:
            yield FixedSetting("cluster.networks.storage.bandwidth", copy.words, own.written)
            return


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
