"""Whether a sentence gives a figure of another party: a partner, a subsidiary, a tenant, or a university that shares the site.

What a party demands or grants is about this machine; what it has or does is about its own. A sentence is of another party where
its name stands before a verb of having or doing, or where something is called that of the party.
"""

from __future__ import annotations

from functools import lru_cache

from clusterspec.rules.readers.clauses import is_eastern
from clusterspec.rules.readers.lexicon import Lexicon, Mention
from clusterspec.standard import pattern

# fmt: off
_PARTIES = (
    ("en", "partner subsidiary affiliate parent_company group_company sister_company sister_institute sister_institution sister_university sister_lab spin-off spinoff neighbour neighbours neighbor neighbors competitor competitors rival rivals colleagues"),
    ("de", "partner partnerin kooperationspartner* projektpartner* partneruniversität partnerinstitut partnerfirma tochter tochtergesellschaft* tochterfirma schwestergesellschaft* schwesterfirma schwesterinstitut muttergesellschaft mutterkonzern ausgründung* nachbar nachbarn nachbarin nachbarinstitut wettbewerber mitbewerber kollegen kolleginnen"),
    ("fr", "partenaire filiale filiales société_sœur société_mère voisin voisine voisins concurrent concurrente concurrents collègues"),
    ("es", "socio socia filial filiales empresa_hermana empresa_matriz sociedad_hermana vecino vecina vecinos competidor competidora colegas"),
    ("it", "partner consociata consociate controllata società_sorella società_madre vicino concorrente concorrenti colleghi"),
    ("nl", "partner dochter dochteronderneming dochterbedrijf zusterbedrijf zusteronderneming zusterinstituut moederbedrijf buurman buren concurrent concurrenten collega's"),
    ("pt", "parceiro parceira filial subsidiária empresa_irmã empresa-mãe vizinho vizinha concorrente concorrentes colegas"),
    ("pl", "partner partnerka spółka_zależna spółka_siostrzana spółka-matka spółka-córka sąsiad sąsiedzi konkurent konkurencja koledzy"),
)
"""Parties whose machine is another one."""
_USERS = (
    ("en", "tenant tenants co-tenant publisher publishers"),
    ("de", "mieter mitmieter untermieter verlag verlage"),
    ("fr", "locataire locataires éditeur éditeurs éditrice"),
    ("es", "inquilino inquilina inquilinos editorial editoriales"),
    ("it", "inquilino inquilini conduttore editore editori casa_editrice"),
    ("nl", "huurder huurders medehuurder uitgever uitgevers uitgeverij"),
    ("pt", "inquilino inquilina editora editoras editor"),
    ("pl", "najemca najemcy wydawca wydawnictwo"),
)
"""Parties that may also own this machine: `a publisher trains a model`."""
_INSTITUTIONS = (
    ("en", "university institute college faculty department hospital clinic museum library company firm bank school lab laboratory operator start-up startup agency bureau team"),
    ("de", "universität hochschule institut fakultät fachbereich klinik krankenhaus museum bibliothek firma unternehmen bank schule labor betreiber behörde"),
    ("fr", "université institut école faculté hôpital musée bibliothèque société entreprise banque laboratoire opérateur agence"),
    ("es", "universidad instituto escuela facultad hospital museo biblioteca empresa banco laboratorio operador agencia"),
    ("it", "università istituto scuola facoltà ospedale museo biblioteca azienda impresa banca"),
    ("nl", "universiteit hogeschool instituut faculteit ziekenhuis museum bibliotheek bedrijf bank laboratorium"),
    ("pt", "universidade instituto escola faculdade hospital museu biblioteca empresa banco laboratório"),
    ("pl", "uczelnia uniwersytet instytut szpital muzeum biblioteka firma"),
)
"""Institutions, which are another party where they share something or are next door."""
_SHARING = (
    ("en", "shares_the shares_this shares_our share_the share_our sharing_the sharing_our next_door on_the_same_campus in_the_same_building across_the_yard across_the_street neighbouring neighboring"),
    ("de", "teilt mitnutzt nebenan benachbarte* im_selben_haus im_selben_gebäude"),
    ("fr", "partage partagent voisin voisine d'à_côté"),
    ("es", "comparte comparten vecina vecino de_al_lado"),
    ("it", "condivide condividono vicina accanto"),
    ("nl", "deelt delen naastgelegen naburige hiernaast"),
    ("pt", "partilha partilham vizinha vizinho do_lado ao_lado"),
    ("pl", "dzieli sąsiedni sąsiednia obok"),
)
_ACTS = (
    ("en", "has have had keeps kept runs ran owns owned uses used trains trained rents rented leases leased operates operated bought buys ordered hosts hosted draws drew consumes consumed got paid tested measured serves served finished needed took takes holds held stores stored planned plans deployed deploys installed installs was_granted was_awarded was_given was_allotted were_granted received receives"),
    ("de", "hat haben hatte hatten betreibt betreiben betrieb besitzt besitzen nutzt nutzen nutzte verwendet trainiert trainieren trainierte mietet mieten mietete kaufte kauft bestellte zieht ziehen zog verbraucht verbrauchen brauchte bekam bekommt erhielt erhält zahlte zahlt bedient speichert plant"),
    ("fr", "a ont avait reçoit a_reçu a_obtenu possède possèdent exploite exploitent utilise utilisent utilisait entraîne entraînent loue louent louait a_utilisé a_nécessité nécessita a_consommé a_lu consomme consomment tire achète acheta détient dispose_de disposent_de"),
    ("es", "tiene tienen tenía necesitó usó utilizó leyó recibe recibió posee poseen opera explota usa usan utiliza utilizan entrena entrenan entrenó entrenaron alquila alquilan alquiló compró consume consumen dispone_de pagó obtuvo"),
    ("it", "ha hanno aveva usò utilizzò richiese riceve ha_ricevuto possiede possiedono gestisce gestiscono usa usano utilizza addestra addestrano addestrò affitta affittano noleggia comprò consuma consumano dispone_di assorbe"),
    ("nl", "heeft hebben had krijgt ontving bezit bezitten draait draaien gebruikt gebruiken traint trainde huurt huren huurde kocht verbruikt verbruiken trekt betaalde kreeg"),
    ("pt", "tem têm tinha recebe recebeu possui possuem opera usa usam utiliza treina treinam treinou aluga alugam alugou comprou consome consomem dispõe_de pagou"),
    ("pl", "ma mają miał miała dostał dostała otrzymał otrzymała posiada używa wykorzystuje trenuje trenował trenowała wynajmuje wynajęła wynajął kupił kupiła pobiera zużywa zapłacił zapłaciła"),
)
"""Verbs of having and doing."""
_ASKS = (
    ("en", "demand demands demanded require requires required insist insists allow allows allowed agree agrees agreed permit permits permitted want wants wanted expect expects expected limit limits limited accept accepts accepted gives gave us our ours we has_to have_to had_to has_given have_given must"),
    ("de", "fordert fordern verlangt verlangen erlaubt erlauben gestattet stimmt will wollen erwartet begrenzt uns unser unsere unserem unseren wir hat_zu muss müssen"),
    ("fr", "exige exigent demande permet autorise accepte veut nous nos doit doivent"),
    ("es", "exige exigen pide piden permite autoriza acepta quiere nos nosotros tiene_que tienen_que debe"),
    ("it", "chiede richiede pretende consente accetta vuole ci deve"),
    ("nl", "eist eisen verlangt staat_toe aanvaardt wil ons moet"),
    ("pt", "exige exigem pede permite autoriza aceita quer nos tem_de tem_que deve"),
    ("pl", "żąda wymaga zgadza nam nas musi"),
)
"""Verbs of demands and grants, and words for this party, by which a figure is one of this machine."""
# fmt: on
_ROWS = {
    "party": _PARTIES,
    "user": _USERS,
    "institution": _INSTITUTIONS,
    "shares": _SHARING,
    "does": _ACTS,
    "asks": _ASKS,
}
_LEXICON = Lexicon(tuple((f"{meaning} {each}", words) for meaning, rows in _ROWS.items() for each, words in rows))
_KINDS_OF_PARTIES = frozenset({"party", "user", "institution"})
AHEAD = 16
"""Characters ahead of an institution in which an adjective says that it is next door."""
FARTHEST = 60
"""Largest number of characters between a party and its verb."""
_INDEFINITE = pattern(r"(?i)(?:^|\W)(?:(?P<english>an?)|eine?|une?|una?|uno|een|uma?)(?: [^\W\d]+)? $")
_BREAK = pattern(r"(?i)[,:;()|]|\b(?:and|und|et|y|e|when|while|if|because|wenn|weil)\b")
_EASTERN = pattern(
    r"(?:提携先|協力会社|子会社|親会社|関連会社|グループ会社|姉妹(?:会社|校|機関)|隣(?:の|接する)?(?:会社|大学|テナント|研究所)?|他大学|同業者|同僚)(?:の[^はがも。、]{1,8})?(?:は|が|も)[^。]{0,60}?(?:持|保有|所有|運用|運営|使|学習|借り|買|購入|導入|訓練)|"
    r"(?:合作伙伴|合作方|合作单位|子公司|分公司|母公司|兄弟单位|姊妹公司|邻居|隔壁(?:公司|单位)?|租户|同行|同(?:园区|楼|院)的[^,,。]{1,8}?)[^,,。]{0,12}?(?:拥有|有|使用|用了|用|训练了?|运行|租了?|租用|购买|采购了?|部署)|"
    r"(?:협력사|파트너사?|자회사|모회사|계열사|자매사|이웃 (?:회사|대학)|입주사|임차인|경쟁사)(?:는|은|가|이|도) [^.]{0,60}?(?:보유|운영|사용|학습|임차|구매|가지|훈련)"
)
"""Pattern of another party with a verb of having or doing, in Japanese, Chinese and Korean."""
_OF_PARTY = pattern(
    r"(?i)\b(?:partner|subsidiary|affiliate|tenant|neighbou?r|competitor)(?:['’]s|s['’]) (?:own \w+|(?:\w+ )?(?:machine|cluster|slice|nodes|racks|servers|system|hall|jobs|runs|users))\b|"
    r"\b(?:machine|cluster|slice|nodes|racks|servers|system|jobs|runs|users) of (?:the|our|a) (?:partner|subsidiary|affiliate|tenant|neighbou?r|competitor)s?\b|"
    r"\b(?:maschine|cluster|knoten|racks|server|anlage|jobs|läufe|nutzer|eigenen? \w+) (?:des|der|unseres|unserer|eines) (?:partners?|tochtergesellschaft|nachbarn?|mieters|schwester\w+)\b|"
    r"\b(?:machine|grappe|nœuds|baies|serveurs|calculs|travaux|utilisateurs) (?:propres )?(?:du|de notre|de la) (?:partenaire|filiale|voisin|locataire)\b|"
    r"\b(?:máquina|clúster|nodos|servidores|trabajos|cálculos|usuarios) (?:propi[oa]s )?(?:del|de nuestro|de la) (?:socio|filial|vecino|inquilino)\b"
)
"""Pattern of a machine that is called that of another party."""


@lru_cache(256)
def words_of_party(text: str) -> str:
    """The words by which a sentence gives a figure of another party; empty where it gives none.

    >>> words_of_party("Our partner in Singapore keeps its own slice of 128 chips.")
    'partner in Singapore keeps'
    >>> words_of_party("The university trains 8B."), words_of_party("The university next door trains 8B.")
    ('', 'university next door trains')
    >>> words_of_party("A publisher trains 8B."), words_of_party("The publisher trained 8B.")
    ('', 'publisher trained')
    >>> words_of_party("The partner demands 24 nodes."), words_of_party("子会社は 40 台を借りた。")
    ('', '子会社は 40 台を借り')
    """
    found = _EASTERN.search(text) if is_eastern(text) else _OF_PARTY.search(text)
    if found is not None:
        return found[0]
    mentions = _LEXICON.mentions(text)
    for party in mentions:
        kind, _, language = party.meaning.partition(" ")
        verb = _verb_of(text, party, language, mentions) if kind in _KINDS_OF_PARTIES else None
        if verb is not None and _is_another(text, party, verb, mentions):
            return text[party.start : verb.end]
    return ""


def _verb_of(text: str, party: Mention, language: str, mentions: list[Mention]) -> Mention | None:
    """The verb of having or doing behind a party, where no verb of a demand is nearer and no sign stands between; a relative
    clause may.
    """
    behind = [
        each
        for each in mentions
        if each.meaning in {f"does {language}", f"asks {language}"} and 0 < each.start - party.end <= FARTHEST
    ]
    first = min(behind, key=lambda each: (each.start, each.meaning), default=None)
    if first is None or first.meaning.startswith("asks"):
        return None
    is_parted = _BREAK.search(text, party.end, first.start) is not None
    return None if is_parted and not party.meaning.startswith("institution") else first


def _is_another(text: str, party: Mention, verb: Mention, mentions: list[Mention]) -> bool:
    """Whether a party that has or does something is not the one that plans this machine."""
    kind, _, language = party.meaning.partition(" ")
    if kind == "institution":
        return any(
            each.meaning == f"shares {language}" and party.start - AHEAD <= each.start <= verb.end for each in mentions
        )
    article = _INDEFINITE.search(text[: party.start])
    return kind == "party" or article is None or (article["english"] is not None and language != "en")
