"""Whether a figure of a text is of another subject than the design: another party's money, another contract, the site or a store."""

from __future__ import annotations

import re

from clusterspec.rules.readers.units import word_set
from clusterspec.standard import pattern

_OF = r"(?:^ ?(?:of|de|du|des|d['’]|der|vom|von|del|dei|della|delle|dell['’]|van|av|z|do|da)(?: |(?<=['’]))|^ (?=(?:sein|ihr|unser)e[rsmn]? ))"
_ON = r"^ (?:on|auf|sur|sobre|sul|sulla|sui|op|på|na) "
_OBJECT, _OBJECT_OF_DISCOUNT = (
    pattern(rf"(?i)(?:{each})(?P<noun>(?:[^\s,.;:()]+ ?){{1,4}})") for each in (_OF, rf"{_OF}|{_ON}")
)
"""Pattern of the words after a share that say what it is a share of."""
_PREPOSITION = pattern(
    r"(?i) (?:at|on|upon|by|with|when|after|before|for|and|is|are|bei|beim|mit|nach|vor|zum|zur|und|ist|sind|à|au|après|avec|et|est|al|alla|con|y|e|è|bij|met|en|is|vid|med|och|przy|po)\b.*"
)
_PRICE = pattern(
    r"(?i)\b(?:discounts?|rebates?|remises?|rabais|descuentos?|scont[oi]|desconto|korting|\w*rabatt\w*|\w*nachlass\w*|prices?|sums?|amounts?|totals?|values?|contracts?|orders?|invoices?|purchase|quotes?|offers?|bids?|costs?|gross|net|list|deposit|advance|down|prepayment|hardware|machines?|systems?|nodes?|servers?|everything|all|it|this|that|whole|"
    r"\w*preis\w*|\w*betrag\w*|\w*summe\w*|\w*auftrag\w*|\w*vertrag\w*|rechnung\w*|\w*wert\w*|\w*kosten|\w*zahlung|brutto\w*|netto\w*|alle[sn]?|"
    r"montants?|prix|sommes?|contrat|marché|commande|factures?|ttc|ht|coûts?|acompte|arrhes|valeur|ensemble|tout|"
    r"precio|importe|valor|coste|pedido|contrato|factura|anticipo|señal|prezzo|importo|totale|ordine|contratto|fattura|acconto|"
    r"prijs|bedrag|som|totaal|koop\w*|order\w*|aanbetaling|pris\w*|belopp\w*|summa\w*|cen[ayę]|kwot\w*|wartości|preço|montante|encomenda)\b"
)
"""Pattern of words for the price that is paid, or for what is bought."""
_OTHER_MONEY = (
    r"(?:cabling|electrical|civil|building|chilled[ -]water|cooling) contractors?|the contractors? (?:of|for)|electricians?|elektriker\w*|bauunternehm\w*|électricien\w*|constructeur|electricistas?|constructor\w*|elettricist\w*|costruttor\w*|elektricien\w*|aannemer\w*|elektryk\w*|wykonawc\w*|"
    r"grants?|subsid\w+|funding|funds?|loans?|premiums?|insur\w+|landlord\w*|builders?|building|steel|concrete|transformers?|substation|generators?|chillers?|licen[cs]es?|subscription\w*|lessor\w*|rent|carrier\w*|foundation\w*|sponsor\w*|"
    r"zuwendung\w*|zuschuss\w*|zuschüsse\w*|förder\w+|beihilfe\w*|darlehen\w*|kredit\w*|versicher\w+|vermieter\w*|bauherr\w*|trafo\w*|lizenz\w*|stiftung\w*|"
    r"subvention\w*|aides?|prêts?|fonds|assur\w+|bailleur\w*|licences?|ayudas?|subvenci\w+|préstamos?|seguro\w*|arrendador\w*|licencias?|contribut\w*|sovvenzion\w*|finanziament\w*|prestit\w*|assicur\w*|licenz\w*|"
    r"subsidie\w*|lening\w*|verzeker\w*|verhuurder\w*|bidrag\w*|lån\w*|försäkr\w*|dotacj\w*|dofinansowani\w*|kredyt\w*|ubezpiecz\w*"
)
_OWN_MONEY = (
    r"we pay|pays? (?:the )?(?:vendor|supplier|seller|maker)|vendor|supplier|seller|order value|(?:purchase|contract|net|gross|total) price|contract value|"
    r"wir zahlen|lieferant\w*|verkäufer\w*|auftragnehmer\w*|kaufpreis\w*|auftragswert\w*|auftragssumme\w*|fournisseur|vendeur|titulaire|prix|proveedor|precio|fornitore|prezzo|leverancier|leverantör\w*|dostawc\w*"
)
_PARTY = pattern(rf"(?i)\b(?:(?P<other>{_OTHER_MONEY})|(?P<own>{_OWN_MONEY}))\b")
"""Pattern of the giver of other money, or the thing that other money buys, and of the parties to the purchase."""
_SITE = (
    r"(?:halls?|rooms?|buildings?|site|power|supply|cooling|floor|racks?|network|spines?|cabling|cables|pipes|piping|busbars?|busway|feeds?|transformers?|ups|grid|permits?|approval|licen[cs]es?|address(?:es)?|framework|agreement|data ?cent(?:re|er)|"
    r"\w*halle|\w*saal|\w*raum|gebäude|\w*strom\w*|\w*kühlung|\w*trafo|\w*genehmigung|verkabelung|rohre|\w*netz\w*|rahmenvertrag|"
    r"salle|bâtiment|alimentation|refroidissement|permis|autorisation|câblage|réseau|accord-cadre|sala|edificio|alimentación|refrigeración|permiso|cableado|red|acuerdo|alimentazione|raffreddamento|permesso|autorizzazione|cablaggio|rete|accordo|"
    r"zaal|gebouw|stroom|koeling|vergunning|bekabeling|raamovereenkomst|hallen|kylning|el|tillstånd|hala|zasilanie|chłodzenie|zezwolenie|okablowanie)"
)
_LAID_OUT = r"(?:for|für|auf|pour|para|per|por|voor|för|til|dla|na|à|covers?|permits?|allows?|holds?|fits?|takes?|feeds?|cools?|accommodates?|carr(?:y|ies)|call off|provides?(?: for)?|gilt für|umfasst|fasst|trägt|vaut pour|couvre|accueille|cubre|copre)"
_OF_SITE = pattern(rf"(?i)\b{_SITE}\b[^;:]{{0,80}}?\b{_LAID_OUT} (?:[^\s\d,;:]+ ){{0,2}}$")
"""Pattern of the text before a number that a site, its supply, a permit or a framework contract is laid out for."""
_STAGE = pattern(
    r"(?i)\b(?:(?:second|third|next|later|final|last|full) (?:stages?|phases?|expansions?|tranches?|steps?|build-?out)|build-?out|"
    r"(?:zweite|dritte|nächste|spätere|letzte)[nrms]? (?:\w*stufe|\w*phase|etappe|ausbau\w*)|\w*ausbau(?:stufe)?|"
    r"(?:deuxième|seconde|troisième|prochaine|dernière) (?:phase|tranche|étape)|(?:segunda|tercera|próxima|última) (?:fase|etapa)|(?:seconda|terza|prossima|ultima) (?:fase|tappa)|"
    r"(?:tweede|derde|volgende|laatste) fase|(?:andra|tredje|nästa|sista) etapp\w*|(?:drugi|trzeci|kolejny|ostatni)\w* etap\w*|(?:segunda|terceira) fase)\b"
)
"""Pattern of words for a later stage, which the keys do not describe."""

_OWN_THINGS = r"(?:machines?|clusters?|nodes?|gpus?|systems?|hardware|servers?|accelerators?|contract|offer|quote|knoten|rechner\w*|maschine\w*|systems?|anlage|cluster\w*|beschleuniger|nœuds?|serveurs?|accélérateurs?|marché|nodos?|máquina|servidores|equipos?|nodi|macchina|machine|noder|węzłów)\b"
_SELLERS = (
    r"vendors?|suppliers?|sellers?|makers?|manufacturers?|bidders?|contractors?|integrators?|resellers?|dealers?|lieferant\w*|verkäufer\w*|\w*hersteller\w*|anbieter\w*|auftragnehmer\w*|bieter\w*|händler\w*|systemhaus\w*|contract|agreement|price|offer|quote|\w*vertrag\w*|\w*preis\w*|angebot\w*|contrat|prix|devis|contrato|precio|oferta|contratto|prezzo|offerta|contract|prijs|offerte|"
    r"fournisseurs?|vendeurs?|constructeurs?|titulaire|prestataires?|intégrateurs?|proveedor\w*|fabricantes?|vendedor\w*|contratista|adjudicatario|fornitor\w*|venditor\w*|produttor\w*|leverancier\w*|verkoper\w*|leverantör\w*|säljare\w*|dostawc\w*|sprzedawc\w*"
)
_RECIPIENT = pattern(
    r"(?i)(?:^|[.;:,] |\b(?:whereas|while|but|and|während|und|alors que|tandis que|et|mientras|y|mentre|terwijl|medan|och) )(?P<who>(?:the|a|an|its|our|der|die|das|den|ein|eine|le|la|les|un|une|el|los|las|lo|il|i|gli|de|het|een)(?: [^\W\d][\w'’-]*){1,5}?|(?:l|un)['’][^\W\d]\w*)(?:,[^,.;]{1,40},)? "
    r"(?:gets?|receives?|demands?|asks?|wants?|is paid|are paid|erhält|erhalten|bekommt|bekommen|verlangt|verlangen|reçoit|reçoivent|touche|touchent|exige|exigent|demande|riceve|ricevono|chiede|chiedono|cobra|cobran|recibe|reciben|krijgt|krijgen|eist|får|kräver|otrzymuje|otrzymują|żąda)\b"
)
"""Pattern of who is paid, with an article and before its verb."""
_OWN_RECIPIENT = pattern(
    rf"(?i)\b(?:{_SELLERS})(?! (?:of|for|des|der|du|de la|de l['’]|del|della|van|av) (?!(?:the |le |la |los |las |i |gli |de )?(?:{_OWN_THINGS}))\w)"
)
"""Pattern of the seller of the machine, and not of another thing."""
_COMPANY = pattern(r"(?i)^\w+ (?:compan(?:y|ies)|firm|firma|société|empresa|società|bedrijf)$")
"""Pattern of a company that no word describes, which may be the seller."""
_ORDER_OF = pattern(
    rf"(?i)^[^.;,]{{0,24}}\b(?:orders?|bestellung|auftrag|commande|pedido|ordine|bestelling) (?:of|for|des|der|du|de|del|della|van) (?!(?:(?:its|the|this|all|sa|ses|son|su|sus|suo|suoi|zijn|haar|la|le|les|los|las|l['’]) ?)?{_OWN_THINGS})\w"
)
"""Pattern of an order of another thing behind a share."""
_DETERMINERS = word_set(
    "the a an our this that its their whole full entire planned minimum initial signed new rental lease cloud purchase supply compute gpu machine hardware "
    "capacity reserved der die das den dem ein einen unser unseren dieser le la un une notre ce cet cette de l el los il lo het een onze"
)
"""Words before `contract` that leave it the contract about the machine."""
_CONTRACT = pattern(r"(?i)\b(?:contract|lease|vertrag\w*|bail|contrat|miet\w*|location)\b")
_OF_CONTRACT = pattern(
    r"(?i)^ (?:of|for|on|with|de|du|des|d['’]|für|über|mit|per|para|por|del|della|van|voor)(?: |(?<=['’]))(?:(?:the|our|its|all|le|la|les|l['’]|nos|der|die|das|den|dem|unsere\w*) ?){0,2}(?P<noun>\w+)"
)
_OF_MACHINE = pattern(
    r"(?i)(?:\d\w*|machines?|clusters?|nodes?|gpus?|systems?|hardware|servers?|instances?|capacity|accelerators?|vendor|supplier|location|crédit-bail|achat|fourniture|calcul|maschine\w*|knoten|rechner\w*|server\w*|nœuds?|serveurs?|beschleuniger|accélérateurs?|instanz\w*|"
    r"one|two|three|four|five|six|ein|zwei|drei|vier|fünf|un|deux|trois|quatre|cinq)"
)
_CAPACITY = pattern(
    r"(?i)\b(?:stor(?:e|age)|file ?system|array|lustre|weka|vast|gpfs|\w*speicher|dateisystem|stockage|système de fichiers|almacenamiento|sistema de archivos|sistema di file|archiviazione|opslag|lagring\w*|pamięć)"
    r"(?: (?:system|system|itself))? (?:has|have|with|of|offers?|provides?|hat|mit|von|bietet|fasst|a|offre|de|avec|tiene|ofrece|con|ha|heeft|met|har|med|ma) (?:[^\W\d]+ )?$"
)
_CAPACITY_BEHIND = pattern(
    r"(?i)^ ?(?:of )?(?:usable |raw |free )?(?:capacity|space|usable|nutzbar\w*|kapazität|utiles?|de capacité|útiles|de capacidad|utili|di capacità)\b"
)
MOST_BEFORE = 80
"""Characters before and behind a size that are read."""


_OTHER_ROOMS = (
    r"(?:depots?|offices?|archives?|vaults?|laborator(?:y|ies)|labs?|clinics?|surger(?:y|ies)|surgery|operating|stables?|studios?|librar(?:y|ies)|reading|kitchens?|canteens?|workshops?|museums?|wards?|theatres?|theaters?|schools?|shops?|"
    r"magazin\w*|\w*depots?|büro\w*|\w*labor\w*|tresor\w*|klinik\w*|operations\w*|op-s[aä]l\w*|st[aä]lle\w*|bibliothek\w*|lese\w*|küche\w*|werkst\w*|museum\w*|"
    r"réserves|bureaux|dépôts?|coffres?|cliniques?|laboratoires?|bloc opératoire|écuries|bibliothèques?|lecture|cuisine|ateliers?|musées?|"
    r"oficinas|depósitos?|clínicas?|laboratorios?|quirófanos?|establos|bibliotecas?|lectura|cocina|talleres|depositi|uffici|cliniche|clinica|laboratori\w?|operatorie|stalle|biblioteca|lettura|cucina|officine|musei|museo|"
    r"kantoren|magazijn\w*|kluis|klinieken?|operatiekamers?|stallen|bibliotheek|leeszaal|keuken|werkplaats\w*|kontor\w*|magasin\w*|klinik\w*|operationssal\w*|stall\w*|bibliotek\w*|läsesal\w*|biur\w*|magazyn\w*|klinik\w*|bibliotek\w*)"
)
_OTHER_ROOM = pattern(rf"(?i)\b{_OTHER_ROOMS}\b")


def is_of_another_room(sentence: str) -> bool:
    """Whether a sentence about cooling or power names a room of another use than the machine.

    >>> is_of_another_room("the air conditioning of the vault takes 28 kW"), is_of_another_room("that of the hall takes 28 kW")
    (True, False)
    """
    return _OTHER_ROOM.search(sentence) is not None


def is_of_another_contract(sentence: str, start: int, end: int) -> bool:
    """Whether the contract or lease that the words from ``start`` to ``end`` name is about another thing than the machine.

    >>> texts = ("The lease of the rooms runs", "The lease of the machine runs", "The cleaning contract runs", "The contract runs")
    >>> [is_of_another_contract(each, each.find(" ") + 1, len(each)) for each in texts]
    [True, False, True, False]
    """
    named = _CONTRACT.search(sentence, start, end)
    if named is None:
        return False
    ahead = sentence[: named.start()].rsplit(maxsplit=1)[-1:]
    if ahead and ahead[0].endswith(("'s", "’s")):
        return _OF_MACHINE.match(ahead[0]) is None
    if ahead and ahead[0].isalpha() and ahead[0].lower() not in _DETERMINERS:
        return True
    of_what = _OF_CONTRACT.match(sentence[named.end() :])
    return of_what is not None and _OF_MACHINE.match(of_what["noun"]) is None


def is_capacity_of_store(sentence: str, start: int, end: int) -> bool:
    """Whether the size from ``start`` to ``end`` is the capacity of a storage system, and no amount of data.

    >>> is_capacity_of_store("The file system has 19 TiB", 20, 26), is_capacity_of_store("The weights have 141 GB", 17, 23)
    (True, False)
    """
    before, behind = sentence[max(0, start - MOST_BEFORE) : start], sentence[end : end + MOST_BEFORE]
    return _CAPACITY.search(before) is not None or _CAPACITY_BEHIND.search(behind) is not None


def is_share_of_another(sentence: str, start: int, end: int, *, discount: bool = False) -> bool:
    """Whether a share, or a ``discount``, is of something else than the price, or of money that another party pays.

    ``start`` and ``end`` bound the figure.

    >>> texts = ("It pays | 40 %| of its subsidy at signature", "We pay | 40 %| of the price at signature")
    >>> [is_share_of_another(each.replace("|", ""), each.find("|"), each.rfind("|") - 1) for each in texts]
    [True, False]
    >>> is_share_of_another("The grant is paid in parts, 60 % at signature", 28, 32)
    True
    """
    named = (_OBJECT_OF_DISCOUNT if discount else _OBJECT).match(sentence[end:])
    if named is not None and _PRICE.search(_PREPOSITION.sub("", f" {named['noun']}")) is None:
        return True
    who = next(reversed([*_RECIPIENT.finditer(sentence, 0, start)]), None)
    if _ORDER_OF.match(sentence[end:]) is not None or _is_other_party(who):
        return True
    parties = list(_PARTY.finditer(sentence, 0, start))
    return bool(parties) and parties[-1]["other"] is not None


def _is_other_party(who: re.Match[str] | None) -> bool:
    """Whether the recipient of a payment is not the seller of the machine."""
    if who is None or _COMPANY.match(who["who"]) is not None:
        return False
    return _OWN_RECIPIENT.search(who["who"]) is None


def is_size_of_site(sentence: str, start: int) -> bool:
    """Whether the number at ``start`` is what a site, a permit or a later stage is laid out for, and not the size of the machine.

    >>> is_size_of_site("The hall and its power are laid out for 64 nodes", 40), is_size_of_site("We buy 64 nodes", 7)
    (True, False)
    >>> is_size_of_site("With the second stage the machine has 64 nodes", 38)
    True
    """
    return _OF_SITE.search(sentence[max(0, start - 160) : start]) is not None or _STAGE.search(sentence) is not None
