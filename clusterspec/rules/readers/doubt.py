"""Whether a text speaks of more than the design: another machine, order, offer or site, or what would be."""

from __future__ import annotations

from itertools import pairwise

from clusterspec.finding import Confidence, Problem, Severity
from clusterspec.records import replace
from clusterspec.rules.readers.clauses import is_former, is_hypothetical, is_of_other_plan
from clusterspec.rules.readers.other_parties import words_of_party
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

_WHOLE = r"(?:machines?|systems?|clusters?|fabrics?|offers?|orders?|bids?|quotes?|contracts?|teams?|departments?|universit(?:y|ies)|providers?|vendors?|runs?|plans?|drafts?|designs?)"
_PART = r"(?:pods?|partitions?|networks?|stores?|racks?|nodes?|servers?|boxes|instances?|groups?|institutes?|ones?|gpus?|checkpoints?|engines?)"
_OLD = r"(?:old|older|former|previous|earlier|existing|neighbou?ring|sister|rejected)"
"""Words for what is never a part of the machine that is planned."""
_ENGLISH = (
    rf"{_OLD} (?:\w{{1,24}} )?(?:{_WHOLE}|{_PART})|(?:other|another|second|first) (?:\w{{1,24}} )?{_WHOLE}|(?:other|another|second|third) (?:\w{{1,24}} )?tiers?|offers? (?:of|from|by) an?|bidders?|competitor\w*|consultant\w*|"
    r"(?:smaller|larger|bigger) (?:one|machine|cluster|system)|turned down|struck out|rejected|declined|discarded|ruled out|gave up|withdrawn|pilot\w*|prototype|proof of concept|rehearsals?|slides?|brochures?|press releases?|blog ?posts?|rumou?rs?|"
    r"ablations? (?:on|with|took|ran|had|used)|\w{1,24} ablations (?:took|ran|had|used)|"
    r"had (?:[\w.,-]+ ){1,12}?before\b(?! \w+ing\b)|predecessors?|successors?|replaces? (?:an?|the|our|its|\d+)|replacement of|used to|formerly|the (?:year|round|call|term) before(?! last\b)|until (?:last|the lease)|last (?:year|winter|spring|summer|autumn|fall|month)\w*|"
    r"would(?: not)?(?: \w{1,24})?|wouldn't|could have|might have|had (?:we|they)|were (?:we|they)|drafts? of|(?:first|earlier|'s) draft|plan of (?:last|early|late|spring|summer|autumn|winter|january|february|march|april|may|june|july|august|september|october|november|december)|in rev \w|"
    r"(?-i:[A-Z])\w{1,24}['’]s (?:\w{1,24} )?(?:team|group|lab|people|crew|department|project|engine|endpoint|site|hall)s?\b|(?:sister|twin) \w{1,24}|(?:team|group|colleagues) (?:in|at|of|from) (?-i:[A-Z])\w{1,24}|theirs|elsewhere|next door|(?<!no )(?:second|other|another|backup|sister) (?:\w+ )?(?:sites?|data ?cent(?:er|re)s?|locations?|campus|halls?|buildings?)|since (?:20[01]\d|202[0-4])|"
    rf"of (?:their|his|her) own|(?:their|his|her) own (?:{_WHOLE}|{_PART}|hardware|hall)|an? \w{{1,24}}(?:['’]s|s['’]) (?:{_WHOLE}|{_PART})|"
    r"already (?:has|have|had|owns?|runs?|operates?)|(?:has|have) already|remains? in (?:operation|service|use)|"
    rf"replayed at|(?:load|stress|soak) tests?|(?:was|were) tried|tried (?:out )?on|measured on \d+|(?:half|a third|a quarter|parts?|a subset) of the (?:{_WHOLE}|nodes|gpus)"
)
_GERMAN = (
    r"hätten?|wären?|(?:im|des|vom) vorjahr\w*|im jahr (?:davor|zuvor)|würden?|könnten?|bräuchten?|alte[nrms]?|früher\w*|ehemalig\w*|bisherig\w*|bestehende\w*|vorhandene\w*|vorgänger\w*|nachfolger\w*|ersetz(?:t|en)|vorschlag\w*|entwurf\w*|"
    r"(?:andere|zweite|erste)[nrms]? (?:maschine|cluster|system|anlage|angebot|bestellung|auftrag|vertrag|lauf|abteilung|gruppe)\w*|"
    r"(?<!kein )(?<!keine )(?:andere|zweite)[nrms]? (?:rechenzentrum|standort|halle|gebäude)\w*|ausweich\w*|verworfen|abgelehnt|ausgeschieden|angebot (?:eines|einer|aus)|mitbewerber\w*|konkurren\w{1,24}|bieter\w*|pilot\w*|kollegen|nachbar\w*|seit (?:20[01]\d|202[0-4])|"
    r"in (?-i:[A-Z][a-zäöüß]+) (?:stehen|steht|laufen|läuft)|(?:hat|haben|betreibt|betreiben) (?:bereits|schon|eigene\w*|ihre eigene\w*)|bleib(?:t|en) in betrieb|"
    r"lasttests?|belastungstests?|erprobt\w*|gemessen auf|(?:hälfte|drittel|viertel|teil) (?:der|des) (?:maschine|anlage|systems|clusters?|knoten)"
)
_FRENCH = (
    r"ancien\w*|précédent\w*|existante?s?|prédécesseur\w*|remplac(?:e|ent|er|ement)(?! (?:toute|une|la|les|le) (?:pièce|carte|disque|module|composant))|(?:première|deuxième|seconde) tranche|écart(?:é\w*|ons)|refus(?:é\w*|ons)|rejet(?:é\w*|ons)|offre d(?:'une?|u) |pilote\w*|ébauche|"
    r"(?:autres?|seconde?|deuxième) (?:machine|système|cluster|grappe|offre|commande|contrat|équipe)\w*|un concurrent|la concurrence|(?<!aucun )(?:autre|second|deuxième) (?:site|centre|bâtiment)|"
    r"équipe (?:de|du)|collègues|depuis (?:20[01]\d|202[0-4])|(?:a|ont|possèdent?|disposent?|exploitent?) déjà|rest(?:e|ent) en (?:service|exploitation)|(?:leurs?|ses) propres? \w+|"
    r"(?:tests?|essais?) de charge|(?:moitié|tiers|quart|partie) (?:de la machine|du système|du cluster|de la grappe|des nœuds)|[a-zà-ÿ]{2,24}rai(?:t|ent)(?<!\btrait)(?<!portrait)(?<!extrait)(?<!retrait)(?<!attrait)"
)
_OTHER_LANGUAGES = (
    r"antigu[oa]s?|(?<!días )(?<!horas )(?<!semanas )(?<!meses )anterior(?:es)?(?! a(?:l| la| los| las)? )|existentes?|(?:otr[oa]s?|segund[oa]) (?:máquina|sistema|clúster|oferta|pedido|contrato|equipo)\w*|rechazad\w{1,24}|descartad\w{1,24}|oferta de una?|sustituy\w{1,24}|reemplaz\w{1,24}|piloto|pagaron|pagaram|pagarono|la competencia|(?<!ningún )(?:otro|segundo) (?:centro|emplazamiento|edificio)|habría\w*|sería\w*|podría\w*|tendría\w*|costaría\w*|"
    r"ya (?:tienen?|posee|cuenta|opera)|sigue\w* en (?:servicio|uso)|sus propi[oa]s \w+|pruebas? de carga|(?:mitad|tercio|parte) (?:de la máquina|del clúster|del sistema|de los nodos)|"
    r"(?:ha|hanno|possied\w+) già|rest(?:a|ano) in (?:funzione|servizio|uso)|(?:i|dei) propri \w+|prov[ae] di carico|(?:metà|terzo|parte) (?:della macchina|del cluster|del sistema|dei nodi)|"
    r"já (?:tem|têm|possui|possuem)|continua\w* em (?:serviço|uso)|testes? de carga|(?:heeft|hebben) al|blij(?:ft|ven) in gebruik|belastingtests?|(?:ma|mają) już|testy? obciążeni\w+|"
    r"vecchi[oae]?|precedent[ei]|esistent[ei]|(?:altr[oaie]|second[oa]) (?:macchin|sistem|cluster|offert|ordin|contratt|grupp)\w*|cluster di (?-i:[A-Z])\w{1,24}|rifiutat\w{1,24}|scartat\w{1,24}|offerta di un[oa]?|sostituisc\w{1,24}|pilota|la concorrenza|(?<!nessun )(?:altro|secondo) (?:centro|sito|edificio)|sarebbe\w*|avrebbe\w*|potrebbe\w*|resta fuori|"
    r"oude|vorige|bestaande|(?:andere?|tweede|derde) (?:machine|systeem|cluster|offerte|bestelling|contract|instance)\w*|(?<!geen )(?:ander|tweede) (?:datacenter|datacentrum|gebouw)|(?<!geen )(?:andere|tweede) (?:locatie|zaal)|het jaar (?:ervoor|daarvoor)|afgewezen|aanbod van een|offerte van een|vervang\w*|zouden|zou|geweest"
)
_EASTERN = (
    r"旧(?:システム|系统|机|機|集群|クラスタ|サーバ|服务器)|既存|既設|現行|以前の|昨年|去年|前年|先代|別の(?:機|システム|センター|拠点|モデル|案)|他社|競合|却下|不採用|落選|落札できな|見送|取りやめ|取り止め|中止し|予定(?:でした|であった|だった)|取消|作罢|搁置|취소|계획이었|もう一つの|隣の|現有|现有|原有|否决|放弃|未采纳|未采用|淘汰|"
    r"(?:すでに|既に)(?:保有|所有|持)|已(?:经)?(?:拥有|建成|在用)|压力?测试|压测|回放|負荷(?:試験|テスト)|(?:一半|部分)的?(?:机器|节点|服务器)|(?:机器|节点|集群|服务器)的(?:一半|一部分)|(?:半分|一部)の(?:ノード|サーバ)|부하 ?(?:시험|테스트)|이미 (?:보유|운영)|"
    r"另一(?:家|个|台|座)|(?:上|前)一?(?:期|轮|批)(?:项目|工程|系统|集群|采购|机)|前(?:回|期)の(?:システム|案件|プロジェクト|クラスタ|調達)|(?:지난|이전) (?:사업|프로젝트|단계)|邻近|投标人|落标|试点|試作|기존|이전 (?:시스템|장비|클러스터)|작년|지난해|다른 (?:센터|기관|업체|장비)|시범|기각|탈락|경쟁사"
)
"""Words of Japanese, Chinese and Korean, which have no boundaries of words."""
_WORKS = (
    r"(?:akten|bücher|dokumente|karten|urkunden|texte|briefe|handschriften|schriften|aufnahmen|fotos|bilder|zeitungen|berichte|bänder|"
    r"actes|livres|documents|manuscrits|textes|journaux|registres|archives|dossiers|cartes|photographies|enregistrements|"
    r"escrituras|documentos|libros|textos|manuscritos|registros|archivos|cartas|mapas|planos|fotografías|informes|expedientes|"
    r"documenti|libri|testi|manoscritti|registri|archivi|lettere|mappe|fotografie|documentos|livros|jornais|boeken|documenten|brieven|kaarten|akten)"
)
_OLD_WORKS = pattern(
    rf"(?i)\b(?:alte[nrms]?|ancien\w*|antigu[oa]s?|vecchi[oae]?|oude|velh[oa]s) {_WORKS}\b|\b{_WORKS} (?:ancien\w*|antigu[oa]s?|vecchi[oae]?|velh[oa]s)\b"
)
"""Pattern of old documents, which are data and no machine."""
_OTHERS = (
    *(pattern(rf"(?i)\b(?:{each})\b") for each in (_ENGLISH, _GERMAN, _FRENCH, _OTHER_LANGUAGES)),
    pattern(_EASTERN),
)


def words_of_another(text: str) -> str:
    """The first words of a text that speak of another machine, order, offer, site or party, or of what would be; empty without any.

    >>> words_of_another("24 nodes. A bidder asked 3 million."), words_of_another("24 nodes in six racks.")
    ('bidder', '')
    >>> words_of_another("Fünf Knoten hätten 51 kW gebraucht."), words_of_another("Un serveur ne les contiendrait pas.")
    ('hätten', 'contiendrait')
    >>> words_of_another("旧システムは A100 を40台持つ。"), words_of_another("機械室は 160 kW まで。")
    ('旧システム', '')
    >>> words_of_another("上一期项目用8台 A800。"), words_of_another("本期项目用16台。")
    ('上一期项目', '')
    >>> words_of_another("El modelo lee escrituras antiguas."), words_of_another("El sistema antiguo lee escrituras.")
    ('', 'antiguo')
    """
    found = [match for each in _OTHERS if (match := each.search(text)) is not None]
    if found and _OLD_WORKS.search(text) is not None:
        return words_of_another(_OLD_WORKS.sub(" ", text))
    return min(found, key=lambda match: match.start())[0] if found else words_of_party(text)


def is_of_this_machine(sentence: str, clause: str) -> bool:
    """Whether a sentence and one of its clauses are about this machine as it is planned."""
    other = is_hypothetical(sentence) or is_former(clause) or is_of_other_plan(clause)
    return not other and not words_of_another(sentence)


OF_SENTENCES = frozenset({"description-off-layout"})
"""Rules of the same kind whose words are rarely about another machine than that of their sentence."""
OF_THIS_MACHINE = OF_SENTENCES | {"description-off-choices", "description-off-keys", "description-off-settings"}
"""Rules that compare a text with the keys: what it says of another machine is right. Arithmetic and facts hold for any. Of the first
results of the two older ones of them in blind rounds, ten were right and 28 wrong, most in texts that also speak of another machine, a former
plan or a neighbor, in words that no reader of single sentences knew.
"""
OF_FIGURES = frozenset({"arithmetic-does-not-close", "duration-off-rate", "result-off-figures", "total-off-parts"})
"""Rules that compare the figures of a text with each other."""
MOST_FIGURES = 15
"""Largest number of figures of a text that are rarely taken for each other. Of the first results of these rules in blind
rounds, two in three were right in texts of up to 15 figures, and one in five in longer ones.
"""
MOST_FIGURES_OF_SETTINGS = 10
"""The same for `description-off-settings`: of its first results, one in two was right in texts of up to 10 figures, and three in
thirteen in longer ones.
"""
_QUOTED = pattern(r"`([^`]{1,200})`")
_NUMBER = pattern(r"(?<![\w.,])\d[\d.,]*")


def doubted_problem(problem: Problem, text: str) -> Problem:
    """A problem found in a text, lowered to a note where the text raises a doubt: its sentence, or the one before it,
    also speaks of another machine, order, offer or case; or no known mistake explains one of many figures.
    """
    if problem.severity is Severity.NOTE:
        return problem
    doubt = _doubt_about(problem, text)
    return replace(problem, message=f"{problem.message}; {doubt}", severity=Severity.NOTE) if doubt else problem


def _doubt_about(problem: Problem, text: str) -> str:
    """Why a problem found in a text may be none; empty without a reason."""
    if problem.rule in OF_THIS_MACHINE:
        another = words_of_another(_place_of(problem, text) if problem.rule in OF_SENTENCES else text)
        if another and f"`{another}`" not in problem.message:
            return f"the text also says `{another}`, and may mean another machine, order or case"
    if problem.rule in OF_THIS_MACHINE | OF_FIGURES and problem.confidence is not Confidence.CERTAIN:
        figures = sum(1 for _ in _NUMBER.finditer(text))
        if figures > (MOST_FIGURES_OF_SETTINGS if problem.rule == "description-off-settings" else MOST_FIGURES):
            return f"the text has {figures} figures, and may mean something else by this one"
    return ""


def confidence_in(stated: str, right: str, *, of_key: bool = False) -> Confidence:
    """How certain it is that a stated figure is wrong: certain where a known mistake leads from the right one to it. Between
    a figure and one ``of_key`` that have one digit, a factor is no sign of a mistake: one pair in eight has it by chance.

    >>> confidence_in("35,800 steps", "357,628 steps").value, confidence_in("30 days", "357 days").value
    ('certain', 'likely')
    >>> confidence_in("1T tokens", "2T", of_key=True).value, confidence_in("1.2T tokens", "2.4T", of_key=True).value
    ('likely', 'certain')
    """
    from clusterspec.rules.readers.figure_slips import has_one_digit, slip_of_words  # most texts have no wrong figure
    from clusterspec.rules.readers.stated_figures import stated_figures

    is_short = of_key and all(has_one_digit(each) for text in (stated, right) for each in stated_figures(text)[:1])
    return Confidence.CERTAIN if slip_of_words(stated, right) and not is_short else Confidence.LIKELY


def _place_of(problem: Problem, text: str) -> str:
    """The sentence with the words that a message quotes, and the one before it; the whole text if none has them."""
    quoted = _QUOTED.search(problem.message)
    words = quoted[1].lower() if quoted is not None else ""
    for before, sentence in pairwise(["", *sentences_of(text, ".#")]):
        if words and words in sentence.lower():
            return f"{before}. {sentence}"
    return text
