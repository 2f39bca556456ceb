"""Patterns of contract clauses in suppliers' languages: notice, delivery terms, guarantees and ends of support."""

from __future__ import annotations

from clusterspec.rules.knowledge.purchases import DATE
from clusterspec.rules.readers.written_numbers import NUMBER
from clusterspec.standard import pattern

EXTENDED = pattern(
    r"\b(?:renew\w*|exten[ds]\w*|prolong\w*|roll(?:s|ed)? over|verläng\w*|reconduct\w*|reconduc\w*|renouvel\w*|renuev\w*|renov\w*|prorrog\w*|"
    r"rinnov\w*|proroga\w*|verleng\w*|förläng\w*|forleng\w*|forlæng\w*|jatk\w*|przedłuż\w*)\b|更新|延長|自动续"
)
MONTHS_BEFORE = pattern(
    r"(?<![\w.,])(\d{1,2}) ?(?:months?'?|monate?n?|mois|mes(?:es)?|mesi|maand(?:en)?|månad(?:er)?|måned(?:er)?|kuukautta|miesi\w+)"
    r"(?: (?:written )?notice\b| (?:before|prior|vor|avant|antes|prima|voor|före|før|ennen|przed)\b)|(?<!\d)(\d{1,2}) ?[かヶ]?月前"
)
"""Pattern of the number of months before the end of a contract at which it must be terminated."""
NOTICE = pattern(
    r"\b(?:notice|cancell?\w*|terminat\w*|kündig\w*|résili\w*|rescis\w*|rescind\w*|preaviso|préavis|disdett\w*|denúncia|"
    r"opzeg\w*|uppsäg\w*|oppsig\w*|opsig\w*|irtisan\w*|wypowiedz\w*)\b|解約|解约"
)
COMMITTED = pattern(
    r"\btake[- ]?or[- ]?pay\b|\b(?:minimum|committed|contracted|guaranteed)(?: annual| yearly)? (?:take|off-?take|volume|consumption|energy|quantity)\b|"
    r"최소 ?(?:사용량|약정|구매)|最低(?:使用量|利用|購入|用电)|保底电量|\bshortfall (?:is )?billed\b|\bbilled in any case\b|\b(?:mindestabnahme|abnahmeverpflichtung|enlèvement minimum|consumo mínimo|consumo minimo|minimumafname|minimiotto)\b"
)
ENERGY = pattern(
    rf"{NUMBER} ?(k|m|g)wh ?(?:(?:a|per|each|every|pro|par|por|al|per) (?:year|annum|jahr|an|año|ano|anno)|/ ?(?:year|yr|a|jahr)|p\.?a\.?|annual\w*|yearly|im jahr)"
    rf"|(?:연(?:간)?|年(?:間|间)?) ?{NUMBER} ?(k|m|g)wh\b"
)
SCALE = {"k": 1e3, "m": 1e6, "g": 1e9}
INTERRUPTED = pattern(
    r"\b(?:pre-?emptible|interruptible|spot (?:instances?|tariff|prices?|vms?|capacity|market)|low-priority)\b"
)
PERCENT = pattern(r"(?<![\w.,])(9\d(?:[.,]\d{1,3})?) ?%")
AVAILABLE = pattern(r"\b(?:availab\w*|uptime|verfügbar\w*|disponib\w*|beschikbaar\w*|tillgänglig\w*)\b")
MEDIA = (
    r"(?:drives?|disks?|ssds?|nvme|(?:storage )?medi(?:a|um)|laufwerke?n?|festplatten|datenträger|disques?|supports?|"
    r"discos?|unidades|dischi|supporti|schijven|diskar|harddisk\w{0,12})"
)
RETURNED = pattern(
    r"\b(?:(?:is|are|be|must be|est|sont|wird|werden|viene|vengono|es|son|é|são|wordt|worden) (?:returned|sent back|handed back)|returns?|restitué\w*|zurückge\w*|zurückzu\w*|retourn\w*|"
    r"devuel\w*|devolv\w*|devolu\w*|restituit\w*|teruggestuurd|retour|återlämna\w*|(?:go|goes|gaan|gehen|gaat|geht) (?:[\w ]{0,20}?)(?:back|terug|zurück))\b"
)
OF_MEDIA = pattern(
    rf"\b(?!support\b(?! d[e'])){MEDIA}\b|\b(?:parts?|pièces?|pieces?|teile?|piezas|peças|pezzi|onderdelen)\b"
)
"""Pattern of media and parts that a supplier takes back; `support` is a French medium only before `de`."""
KEPT_DRIVES = pattern(
    r"\b(?:keep[- ]your[- ](?:hard )?drives?|drive retention|media retention|kyhd|dmr|retention of (?:drives|media)|"
    r"(?:drives|media|schijven|laufwerke|disques|discos|dischi) (?:stay|remain|are kept|verbleiben|blijven|restent|quedan|ficam|restano))\b"
)
STAYS = pattern(
    rf"\b(?:no|aucun|kein|keine|ningún|ninguna|nenhum\w{{0,4}}|nessun\w{{0,4}}|geen) (?:\w{{1,30}} ){{0,3}}?{MEDIA}\b[^.]{{0,80}}?\b(?:leaves?|sort|verlässt|sale|sai|esce|verlaat)\b|"
    rf"\b{MEDIA}\b[^.]{{0,60}}?\b(?:(?:must|may|do|does|shall|will) (?:not|never) leave|never leaves?|destroyed on site|stay on site|remain on site|"
    r"verlassen[^.]{0,30}? nicht|ne (?:sort|quitt)\w{0,20}|no (?:salen|pueden salir)|non (?:escono|possono uscire))\b|"
    rf"\b(?:defect\w{{0,20}}|failed|faulty|broken|defekte\w{{0,20}}|défaill\w{{0,20}}|dañad\w{{0,20}}|avariad\w{{0,20}}|guast\w{{0,20}}) {MEDIA}\b[^.]{{0,40}}?"
    r"\b(?:keep|kept|retain\w{0,20}|houden|behouden|behalten|gard\w{1,20}|conserv\w{0,20}|quedar\w{0,20}|ficam|tratten\w{0,20}|behåll\w{0,20}|behold\w{0,20})\b"
)

DELIVERED = pattern(
    r"\b(?:deliver\w*|livr\w*|liefer\w*|geliefert|entreg\w*|consegn\w*|lever\w*|toimit\w*|dostaw\w*)\b|納品|交付|납품"
)
SUPPORT_ENDS = pattern(
    rf"\b(?:end of (?:support|service|service life)|support ends|eos|eosl)\b[^\d,;]{{0,40}}{DATE}|\b(?:supported|maintained) until {DATE}"
)
COVER = pattern(r"\b(?:contract|agreement|support|maintenance|cover\w*)\b")
PERIOD = pattern(r"\b(?:new period|new term|cover\w*|copertura|couverture|cobertura|support|maintenance)\b")
TERMS = ["EXW", "FCA", "FAS", "FOB", "CFR", "CIF", "CPT", "CIP", "DAP", "DPU", "DDP"]
"""The terms of delivery of Incoterms 2020, from the least duties of the seller to the most."""
TERM = pattern(rf"\b({'|'.join(TERMS)})\b")
CARRIED = pattern(r"\b(?:freight|transport|shipping|customs|duty|duties|import)\b")
PRESENT = r"(?:current|present|existing|atual|actual|actuel\w*|bestehend\w*|laufend\w*|attuale|huidige?|nuvarande|nåværende|obecn\w*|présent)"
END_OF_PRESENT = pattern(
    rf"\b(?:ends?|expir\w*|until|fim|fin|ende|endet|fine|scadenza|einde|slut|koniec|termina)\b.*\b{PRESENT}\b|\b{PRESENT}\b.*\b(?:ends?|expir\w*|until|endet|läuft|expire|termina|scade)\b"
)
START_OF_NEXT = pattern(
    r"\b(?:starts?|begins?|beginn\w*|start|início|inicio|début|inizio|aanvang|börjar|od)\b.*\b(?:new|next|renew\w*|nova|novo|nuev[oa]|nouve\w+|nuov[oa]|neue\w*|nieuwe|nya|nowe\w*)\b|"
    r"\b(?:new|next|renew\w*|neue\w*|nouve\w+) (?:[\w-]+ ){0,3}?(?:starts?|begins?|from|beginnt|commence)\b"
)
FRAMEWORK = pattern(
    rf"\b(?:framework|rahmen(?:vertrag|vereinbarung)|accord-cadre|acuerdo marco|acordo-quadro|accordo quadro|raam\w+|ramavtal\w*|rammeavtale\w*)\b[^.;]{{0,60}}?"
    rf"\b(?:until|ends?(?: on)?|expires?(?: on)?|through|bis|endet am|jusqu'au|hasta(?: el)?|até|fino al|tot|till)\b (?:zum |the |den )?{DATE}"
)
SIGNED = pattern(
    r"\b(?:call-?offs?|orders?|contracts?|abruf\w*|bestellung|vertrag\w*|commande|pedido|contrato|ordine|contratto|bestelling|avrop\w*)\b.{0,30}?"
    r"\b(?:sign\w*|placed|unterzeichn\w*|unterschrift|firma\w*|signé\w*|signature|assinad\w*|assinatura|ondertekend|tecknas)\b"
)
AMOUNT = pattern(r"(?<![\d.,])\d{1,3}(?:[ .,'’]\d{3})+(?![\d])|(?<![\d.,])\d{5,9}(?![\d.,]\d)")
"""An amount of money of five digits and more."""
RESIDUAL = pattern(
    r"\b(?:residual(?: value)?|buy-?out|purchase option|balloon|restwert\w*|kaufoption|valeur résiduelle|option d'achat|valor residual|valore residuo|"
    r"riscatto|restwaarde|koopoptie|restvärde|restværdi|restverdi|jäännösarvo|wartość końcowa)\b|残価|残存価額|잔존가치"
)
"""Pattern of words for the payment of a lessee at the end."""
IN_ADVANCE = pattern(
    r"\b(?:in advance|à échoir|vorschüssig\w*|por adelantado|anticipad\w+|anticipat\w+|vooraf|(?:i )?förskott|(?:på )?forskud\w*|beginning of each)\b|先払|期首|先付|선납"
)
"""Pattern of words for payments at the beginning of each period."""
IN_ARREARS = pattern(
    r"\b(?:in arrears|échus?|nachschüssig\w*|vencid[oa]s?|posticipat\w+|achteraf|(?:i )?efterskott|end of each)\b|後払|期末|후납"
)
"""Pattern of words for payments at the end of each period."""
