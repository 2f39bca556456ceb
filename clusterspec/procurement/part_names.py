"""The kind of part that a supplier's description names, by its nouns and order codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from clusterspec.procurement.supplier_words import english_text
from clusterspec.records import NamedTuple
from clusterspec.spec.model import QuoteLine
from clusterspec.standard import pattern

SWITCHES = ("leaf_switch", "spine_switch", "core_switch")
CABLING = ("cable", "transceiver")
NETWORKED = (*SWITCHES, *CABLING, "nic")
ANY_SWITCH = frozenset({"switch", *SWITCHES})
"""The kinds of a switch of the fabric, with or without its tier."""
WHOLE_NETWORK = (*NETWORKED, "switch")
"""The kinds of part of the fabric."""
SERVICES = """support warranty care license licence licenses licences subscription software install installation freight
    shipping training service services management months"""
"""Words of lines that offer work, licenses or time."""
_NOUNS = {
    "other": f"""{SERVICES} migration a-care smartnet prosupport prodeploy nbd nvaie uplift fee fees deposit buyback
        trade-in tax vat discount rebate insurance transport commissioning cleaning consumables crate
        colocation rack racks cabinet cabinets pdu pdus ups psu psus power feed feeds busbar busway whip
        whips cdu cdus chiller cooling manifold manifolds fan fans dimm dimms baseboard baseboards bridge
        bridges storage store file filer nas san nfs lustre weka wekapod ceph gpfs beegfs array jbof jbod
        enclosure enclosures exascaler clusterstor flashblade powerscale netapp vast oceanstor dss-g minio
        keep-your-drive exchanger containment frontend front-end out-of-band oob bmc ipmi kvm console login
        bastion head control spares linux socket sockets firewall router routers loadbalancer ufm labels
        velcro trunking panel panels maintenance fileserver versand montaggio alimentazione alimentation
        alimentación servicio servicios toimitus armoire""",
    "transceiver": """transceiver transceivers optic optics xcvr cwdm4 psm4 bidi""",
    "cable": """cable cables cabling dac dacs aoc aocs aec aecs acc accs lacc twinax pigtail fiber fibers fibre fibres
        patch patchcord patchcords jumper jumpers cord cords trunk trunks harness splitter splitters breakout breakouts
        lwl""",
    "switch": "switch switches",
    "nic": """thor nic nics adapter adapters hca hcas connectx supernic supernics bluefield pollara thor2 netzwerkkarte
        netzwerkadapter adaptateur adaptador""",
    "node": """node nodes server servers dgx hgx tray trays machine machines sled sleds blade blades worker workers
        workstation workstations poweredge thinksystem proliant esc hls""",
    "accelerator": "gpu gpus accelerator accelerators oam oams rtx grafikkarte grafikkarten",
}
"""The nouns that name a kind of part, in the languages of suppliers."""
_FORMS = {
    "transceiver": """osfp osfp-rhs qsfp qsfp28 qsfp56 qsfp112 qsfp-dd qsfpdd sfp sfp28 sfp56 optical module modules
        twin-port finned flat-top""",
    "cable": "mpo mpo12 mpo16 mpo-12 mpo-16 mtp copper smf mmf om3 om4 om5 os2",
    "leaf_switch": "leaf leaves feuille",
    "spine_switch": "spine spines",
    "core_switch": "core superspine",
    "node": "system systems chassis",
}
"""Words for the form or the place of a part, which name its kind only where no noun does."""
_COMPOUNDS = ("support", "server", "switch", "adapter")
"""The last nouns of German compounds, which name the kind: `Herstellersupport`, `Parallelspeicher`."""
_KIND_OF_NOUN = {word: kind for kind, words in _NOUNS.items() for word in words.split()}
_KIND_OF_FORM = {word: kind for kind, words in _FORMS.items() for word in words.split()}
_WORD = pattern(r"[^\W_][\w.\-]*")
_CODES = (
    (pattern(r"mm[asf]\d|(?:\d{1,4}[xg]?-?){0,4}x?(?:dr|sr|fr|lr|vr)\d{1,8}(?:\+|$)"), "transceiver"),
    (pattern(r"(?:mcp|mca|mfa|mfp|mfs)\d|cat-?[5678]"), "cable"),
    (
        pattern(r"m?(?:qm|sn)\d{4}|q3[24]\d\d|as9\d{3}|qfx\d{4}|7[0358][0-9]{2}[a-z]*\d|dcs-7\d|z9\d{3}|n9k|s5\d{3}f"),
        "switch",
    ),
    (pattern(r"mcx\d|mbf\d|bcm9?57\d|e810|t6\d{4}-|cx-?[6789]$|aoc-[sma]\d"), "nic"),
    (pattern(r"(?:sys|as|ars|esc)-\d{3,4}|esc\d|xe[79]\d{3}|xd6\d\d|sr6\d\d|r7\d\dxa|dgx[a-z]-"), "node"),
)
"""The first letters of order codes: NVIDIA's modules with the standards of their light, its cables, switches of several
makers, NVIDIA's adapters, and servers of several makers."""
_LABEL = pattern(
    r"\W*(?:(?:opt(?:ion(?:al)?)?|alt(?:ernative)?(?:\.? to (?:item|pos|lot)\.?)?)\b[\].:]?\s*\d*[\]):]*\s+|"
    r"(?:lot|pos|position|item|line|option|art|nr|no)\b\.?\s*(?:[a-z](?:[.-]?\d+)?\b|\d+(?:\.\d+)*[a-z]?\b)\s*[:.)–—-]*\s*"
    r"(?:/ ?\d{1,3}(?:\.\d{1,3}){1,3}\s+)?|"
    r"p/n \S+ |[a-z]\d?[-./]\d{1,3}\b[:.)]?\s+|(?!l4|t4|a2)[a-z]\d[:.)]?\s+|"
    r"\d+(?:\.\d+)*[.):]\s+)"
)
"""Numbers and labels of the lines of an offer: `Lot A:`, `Pos. 3`, `1.2)`."""
_PURPOSE = pattern(
    r"\b(?:for|with|incl|including|includes|excl|excluding|without|each|per|für|mit|pour|avec|para|con|por|pr|je|dla|do|z|till|voor|med|met|com|zum|zur)\b|\bw/"
)
"""Words before a purpose, contents or a unit in a description."""
_COUNTED = pattern(r"(?<=\S )(?<!to )\d+ ?[x×](?=[ \d])(?! ?\d{2,4} ?g\b|\d{1,2}-\w)")
"""A count before contents in a description: `8x H100`."""
_APPOSITION = pattern(r"[,;:(\[+)\]]| [-–—/] ")
_SIDE_OR_EDITION = pattern(
    r"\b(?:switch|node|server|nic|host|leaf|spine|adapter|tray|dgx|hca|gpu)[- ]"
    r"(?:sides?|ends?|ports?|cages?|facing|uplinks?|downlinks?)\b|\binter-?switch\b|"
    r"\b(?:côté|lato|lado) \w+|\b(?:server|workstation) edition\b|"
    r"\b(?:power|port|connector)[- ]to[- ](?:power|port|connector)\b|"
    r"\bgpu (?:net(?:work)?|interconnect|fabric|rail|cluster)s?\b|"
    r"\brack(?= (?:server|mount))|\b(?:server|compute|gpu)(?= (?:racks?|cabinets?)\b)|"
    r"\b(?:in|within|of)(?: the| one)? racks?\b|\brack[- ](?:scale|mount(?:ed|able)?)\b"
)
"""Words for the location or variant of a part; a noun in them does not name the part."""
_ENDS = pattern(
    r"\b(?:nodes?|servers?|hosts?|nics?|gpus?|dgx|hgx|adapters?|trays?|leaf|leaves|spines?|core|switch|switches|tor)\s*(?:-?to-?|->|[-–→/])\s*"
    r"(?:nodes?|servers?|hosts?|nics?|dgx|hgx|adapters?|trays?|leaf|leaves|spines?|core|switch|switches|tor)\b"
)
"""The two ends of a cable, such as `NIC to leaf`."""
_INSIDE_RACKS = pattern(
    r"\bnv(?:link|switch)[- ](?:switch|br\w+|cable|copper|tray)|\bswitch[- ]trays?\b|\bpower[- ]shel(?:f|ves)\b"
)
"""Parts of a rack-scale system, which its price includes."""
_MODEL = r"(?:[abhlv]\d{2,3}s?|gb[23]00|gh200|mi\d{3}[xa]?|gaudi ?\d|rtx pro \d{4}|vr200|tpu)"
_ACCELERATORS = pattern(
    r"\bnvl ?(?:4|8|16)\b|"
    rf"\b(?:[2-9]|1\d)[ -]?[x×]? ?(?:(?:nvidia|amd|intel|instinct|tesla) )*{_MODEL}\b|"
    rf"\b{_MODEL}\b[^,;(]*?(?: [x×] ?[2-9]\b|\b[2-9]-(?:gpu|way)\b)"
)
"""Several accelerators, which a node holds: `8x H200`, `MI325X 8-way`."""
_ACCELERATOR = pattern(rf"\b{_MODEL}\b")
CAPACITY = r"\b\d[\d.]* ?[tp]b (?:usable|raw|effective|nutzbar)\b|\b\d[\d.]* ?pb\b"
"""The pattern of the capacity of a storage system."""
_CAPACITY = pattern(CAPACITY)
_PORTS = pattern(r"(?<![\w.])(?:1[6-9]|[2-9]\d|1\d\d)(?: ?[x×] ?(?:\d{2,3} ?g|osfp|qsfp)|[- ]ports?\b)")
"""The ports of a switch: `64x400G`, `64-port`."""
_INCLUDED = pattern(r"\b(?:with|incl|including|includes|inkl|med|mit|con)\b[^,;(]*|\bw/[^,;(]*")
_OTHER_NETWORK = pattern(
    r"\b(?:front-?end|storage|nas|out[- ]of[- ]band|oob|management|mgmt|bmc|ipmi|in-?band|campus|login|"
    r"cxl|sas|fibre channel|north-south|border|wan|"
    r"cat ?-?[5678]a?|rj-?45|1 ?gb?(?:e|ase-?t)?|per (?:appliance|enclosure|array)|"
    r"lagrings?\w*|speichernetz\w*|stockage|almacenamiento|archiviazione|tallennus\w*|opslag\w*|hallinta\w*|"
    r"käyttäjäverkko\w*|verwaltungs\w*|beheer\w*|förvaltning\w*|zarządzani\w*)\b|存储|前端|带外|管理网|ストレージ|管理用|관리|스토리지"
)
"""Words for the frontend, storage and out-of-band networks, and for links to shelves of memory and drives."""
_COMPUTE = pattern(r"\b(?:compute|back-?end|east-west|scale-out)\b")
_LEASE = pattern(r"\b(?:lease|leasing|rent|rental|location)\b")
_MONTHS = pattern(r"\b(?:\w+-)?months?\b")
_MANAGEMENT_SWITCH = pattern(r"\bsn2201\b")
_TIGHT_COMMA = pattern(r"(?<=[^\W\d_]),(?=\d)")
"""A comma between a word and a figure, as lists of East Asia write it: no decimal mark."""
_GLOSS = pattern(r"([^\x00-\u024f]) ?\(([a-z ]+)\)")
"""An English word in parentheses that translates the word before it from another script: `サポート (support)`."""
_SPARE_PARTS = pattern(
    r"\b(?:field[- ]replaceable|frus?|spare[- ]parts?|spare (?:psus?|power|fans?|boards?|drives?|nvme|dimms?|güç))\b"
)
_SPARE_LINE = pattern(r"spare ?:")
"""A line of a stock of spare parts: the text after it names a part of the machine."""
_MAINS = pattern(r"\bc(?:13|14|15|19|20|21)\b")
"""Connectors of IEC 60320, for power cords and power distribution."""
_LIST_OF_PLACES = pattern(r"\(\d[^)]{0,120}\)")
"""Counts in parentheses in a line, such as `(8 nodes + file server)`: the places of its parts."""
LICENSED_PER_ACCELERATOR = pattern(r"\b(?:nvidia ai enterprise|nvaie|ai enterprise)\b")
"""Software that its vendor licenses by the accelerator."""
_OTHER_HOURS = r"heures?|stunden?|horas?|or[ae]|u(?:ur|ren)"
"""Hours in languages other than English."""
HOURS = pattern(
    r"(?<!\b\d )(?<!\b\d\d )\b(?:hours?|hourly|hrs?)\b|"
    rf"\b(?:gpu|node|server|instance|knoten|instanz|nœud|serveur|servidor|nodo)s?[- ]?(?:{_OTHER_HOURS})\b"
)
_UNIT_OF_HOURS = pattern(
    r"\b(?:(?P<accelerator>gpu|accelerator|card|chip)|"
    r"(?P<node>node|server|system|host|instance|machine|knoten|instanz|nœud|serveur|servidor|nodo))"
    rf"s?[- ]?(?:hours?|{_OTHER_HOURS})\b"
)
_BY_YEARS = pattern(r"[a-z]-years\b|\b(?:racks?|servers?|nodes?|systems?|devices?) years\b")
"""A service for parts and years, as no part is sold."""
_WIDE = str.maketrans({"（": " (", "）": ") ", "：": ": ", "，": ", ", "、": ", ", "；": "; ", "／": "/"})
"""Signs of East Asian texts, and their Latin forms."""
_NETWORK_CARD = pattern(r"\b(?:infiniband|ethernet|network|roce|ib)(?: interface| adapter)? cards?\b")


_PACK = pattern(
    r"\b(?:packs?|sets?|kits?|box(?:es)?|bundles?|bags?|pairs?|lots?|cajas?|boîtes?) (?:of|de|da|zu|à) (\d{1,3})\b|"
    r"\b(\d{1,3})[- ]?(?:er[- ]?)?(?:packs?|pks?|packung)\b|"
    r"\b(?:conf\.|confezion\w|ve|vpe|packung) (?:da |zu |von )?(\d{1,3})\b|"
    r"\b(\d{1,3}) (?:pcs|pieces|pezzi|stück|stk|pièces|piezas|unidades)\.? "
    r"(?:per|each|a|pro|je|par|por) (?:pack|box|kit|set)\b"
)
"""The number of pieces in one unit of a line that sells packs."""
_PERIODS = pattern(
    r"(?:\b(?:per|a|each|and)|/) ?(?:months?|mo|days?|weeks?|quarters?|years?|yr|annum)\b|"
    r"[x×] ?\d{1,3} ?months?\b|"
    r"\b(?:monthly|quarterly|yearly|annual|lease|leasing\w*|rental|mensuel\w*|monatlich\w*|maandelijks\w*)\b|"
    r"[a-z]-(?:days|weeks|months|years)\b|"
    r"\b(?:kw|[tg]i?b|racks?|servers?|nodes?|systems?|devices?|licenses?) (?:months|years)\b|"
    r",\s?(?:months|years)\b(?! ?\d| [a-z])|, one (?:day|month|year)$"
)
"""Words of a line whose quantity counts months, or parts times months."""
_OPTION = pattern(
    r"\b(?:opci[oó]n\w*|option\w*|opzion\w*|alternat\w+|excluded|variant[es]?|eventual\w*|bedarfsposition\w*|"
    r"(?:not|non|nicht|no) (?:included|incluse?s?|in|enthalten|inklusive|compres\w+|incluid\w+))\b|オプション|选件"
)
"""Words of a line that is priced for later, or in place of another."""


class Description(NamedTuple):
    """The text up to the first comma or purpose, the texts after commas, and the counted contents of a description."""

    head: str
    appositions: tuple[str, ...]
    contents: tuple[str, ...]


def plain_part(line: QuoteLine) -> str:
    """The part of a line in lower case, without the number of the line, and with network cards as NICs."""
    return _plain_text(line.part or "")


@lru_cache(maxsize=1024)  # all lines of a quote: every rule about quotes reads them
def _plain_text(part: str) -> str:
    text = _NETWORK_CARD.sub("nic", part.lower().replace("_", " ").translate(_WIDE))
    text = _GLOSS.sub(r"\1 \2", _TIGHT_COMMA.sub(", ", text))
    label = _LABEL.match(text)
    return english_text(text[label.end() :] if label is not None and label.end() < len(text) else text)


def words_of(line: QuoteLine) -> set[str]:
    """The words of a line's part, in lower case."""
    return words_in((line.part or "").lower())


def words_in(text: str) -> set[str]:
    """The words of a text in lower case; an order code is one word."""
    return {*_WORD.findall(text)}


def parsed_description(text: str) -> Description:
    """The pieces of a description in lower case.

    >>> parsed_description("gpu server 8x h100, cumulus, with rails")
    Description(head='gpu server ', appositions=(' cumulus',), contents=(' h100',))
    """
    pieces: list[str] = []
    contents: list[str] = []
    for piece in _APPOSITION.split(text):
        first, *rest = _COUNTED.split(_PURPOSE.split(piece, maxsplit=1)[0])
        if not pieces or first.strip():
            pieces.append(first)
        contents += rest
    return Description(pieces[0], tuple(pieces[1:]), tuple(contents))


def kind_of_part(text: str) -> str:
    """The kind of part that a description in lower case names. Nouns and order codes before the purpose or contents
    decide; without any, the words for the form of the part do.

    >>> kind_of_part("node to leaf cable"), kind_of_part("dgx h100 system with 8 gpus"), kind_of_part("osfp dac cable")
    ('cable', 'node', 'cable')
    >>> kind_of_part("transceiver for leaf switch"), kind_of_part("leaf switch"), kind_of_part("support per node")
    ('transceiver', 'leaf_switch', 'other')
    >>> kind_of_part("sn5600 leaf switch 64x 800g osfp"), kind_of_part("qsfp112 400g, nic side")
    ('leaf_switch', 'transceiver')
    >>> kind_of_part("mpo cable nic to leaf"), kind_of_part("leaf to spine optics")
    ('cable', 'transceiver')
    >>> kind_of_part("gpu-server, 2 tb"), kind_of_part("mms4x00-ns400 400g dr4"), kind_of_part("optical modules leaf")
    ('node', 'transceiver', 'transceiver')
    >>> kind_of_part("out of band cable"), kind_of_part("node hour"), kind_of_part("lwl-cable, 20 m")
    ('other', 'other', 'cable')
    >>> kind_of_part("nvidia ai enterprise, per gpu"), kind_of_part("nvlink switch tray")
    ('other', 'other')
    >>> kind_of_part("dgx h200 system, nvidia ai enterprise included"), kind_of_part("spare parts kit (gpu trays)")
    ('node', 'other')
    """
    text = text.replace("out of band", "oob").replace("flat top", "flat-top")
    text = text.replace("super spine", "superspine").replace("super-spine", "superspine")
    head = parsed_description(text).head
    if _is_no_part(text, head):
        return "other"
    if not head.strip():
        text = _PURPOSE.sub(" ", text, count=1)
    if _LEASE.search(text) is not None:
        text = _MONTHS.sub(" ", text)
    text = _SIDE_OR_EDITION.sub(" ", text)
    if _MAINS.search(text) is not None and "node" not in kinds_of_words(head):
        return "other"
    for found in _named_kinds(parsed_description(_ENDS.sub(" ", text)), text):
        if found:
            kind = _kind_of_words(found, text)
            kind = "node" if kind == "accelerator" and _ACCELERATORS.search(text) is not None else kind
            return "other" if kind in WHOLE_NETWORK and _names_other_network(text) else kind
    return "other"


def _is_no_part(text: str, head: str) -> bool:
    """Whether a description names a license, a service by hours or years, a part in racks, or a spare of a machine."""
    licensed = LICENSED_PER_ACCELERATOR.search(_INCLUDED.sub("", text)) and not names_only_machines(head)
    spare = _SPARE_LINE.match(text) is not None and {*kinds_of_words(text)}.isdisjoint({*CABLING, *ANY_SWITCH})
    of_head = _INSIDE_RACKS.search(head) or _SPARE_PARTS.search(head)
    return bool(spare or licensed or HOURS.search(text) or of_head or _BY_YEARS.search(text))


def _names_other_network(text: str) -> bool:
    """Whether a description names the frontend, storage or out-of-band network, and not the fabric too."""
    if _COMPUTE.search(text) is not None:
        return False
    others = _MANAGEMENT_SWITCH.sub("", text)
    if others != text and ANY_SWITCH.isdisjoint(kinds_of_words(others.replace("switch", ""))):
        return True
    return _OTHER_NETWORK.search(_LIST_OF_PLACES.sub("", _INCLUDED.sub("", text))) is not None


def _named_kinds(named: Description, text: str) -> Iterator[list[str]]:
    """The kinds that a description names, most reliable first: nouns, accelerators of a machine, forms, contents."""
    whole = parsed_description(text)
    yield ["other"] if _CAPACITY.search(text) is not None and not names_accelerator(text) else []
    yield kinds_of_words(named.head)
    yield ["node"] if _ACCELERATORS.search(text) is not None else []
    yield ["accelerator"] if names_accelerator(named.head) else []
    yield from map(kinds_of_words, named.appositions)
    yield ["switch"] if _PORTS.search(text) is not None else []
    yield from map(kinds_of_forms, (named.head, *named.appositions))
    for kinds in (kinds_of_words, kinds_of_forms):
        yield from map(kinds, (whole.head, *whole.appositions, *whole.contents))


def _kind_of_words(nouns: Sequence[str], text: str) -> str:
    """The kind that the nouns of one piece name together. The tier of a switch may be anywhere in the text."""
    if "other" in nouns:
        return "other"
    if "node" in nouns and "accelerator" in nouns:
        return "node"  # such as a GPU server
    cabling = [kind for kind in nouns if kind in CABLING]
    if cabling and nouns[-1] not in {"node", "nic", "accelerator"}:
        return "cable" if "cable" in cabling else "transceiver"
    if not ANY_SWITCH.isdisjoint(nouns):
        tiers = {kind for kind in kinds_of_forms(text) if kind in SWITCHES}
        return tiers.pop() if len(tiers) == 1 else "switch"
    return nouns[-1]


def unit_of_hours(text: str) -> str:
    """`accelerator` or `node` if a text in lower case names hours of one of them; empty if it names neither or both.

    >>> unit_of_hours("h200, prix par gpu-heure"), unit_of_hours("knotenstunden"), unit_of_hours("48 hours of burn-in")
    ('accelerator', 'node', '')
    """
    units = {found.lastgroup for found in _UNIT_OF_HOURS.finditer(text)}
    return (units.pop() or "") if len(units) == 1 else ""


def pieces_of_pack(text: str) -> int:
    """The pieces in one unit of a line, by its text in lower case; 1 where it sells no packs.

    >>> [pieces_of_pack(each) for each in ("module (8er-pack)", "pack de 8", "4-pack", "conf. da 4 pezzi")]
    [8, 8, 4, 4]
    >>> pieces_of_pack("set of cables"), pieces_of_pack("kit 32x 64 gb")
    (1, 1)
    """
    found = _PACK.search(text)
    return max(1, int(next(filter(None, found.groups())))) if found is not None else 1


def names_option(text: str) -> bool:
    """Whether a text in lower case names an option or an alternative, which a quote prices and does not offer."""
    return _OPTION.search(text) is not None


@lru_cache(maxsize=1024)  # other readings of a quote try each line with every other
def names_period(text: str) -> bool:
    """Whether a text in lower case says that a quantity counts months, or parts times months."""
    return _PERIODS.search(text) is not None


def names_only_machines(text: str) -> bool:
    """Whether the nouns and order codes of a text name nodes or accelerators, and nothing else."""
    found = {*kinds_of_words(text)}
    return bool(found) and found <= {"node", "accelerator"}


def names_accelerator(text: str) -> bool:
    """Whether a text in lower case holds the model of an accelerator."""
    return _ACCELERATOR.search(text) is not None


def kinds_of_words(text: str) -> list[str]:
    """The kinds of part that the nouns and the order codes of a text name, in their order."""
    return [kind for word in _WORD.findall(text) for kind in _kinds_of_word(word)]


def kinds_of_forms(text: str) -> list[str]:
    """The kinds of part that the words for forms in a text denote, in order."""
    words = (part for word in _WORD.findall(text) for part in ((word,) if word in _KIND_OF_FORM else word.split("-")))
    return [_KIND_OF_FORM[word] for word in words if word in _KIND_OF_FORM]


@lru_cache(maxsize=2048)  # rules ask for the same words of a quote again and again
def _kinds_of_word(word: str) -> tuple[str, ...]:
    """The kinds that a word names: by itself, by its parts as in `leaf-switch`, or as an order code; empty for other
    words.
    """
    if word in _KIND_OF_NOUN:
        return (_KIND_OF_NOUN[word],)
    if word.isalpha() and (last := next((noun for noun in _COMPOUNDS if word.endswith(noun)), "")):
        return (_KIND_OF_NOUN[last],)
    pieces = word.split("-")
    coded = tuple(
        kind
        for code, kind in _CODES
        if code.match(word) or (kind == "transceiver" and any(map(code.fullmatch, pieces)))
    )
    if coded or len(pieces) == 1 or pieces[0].isdecimal():
        return coded
    if pieces[0] not in _KIND_OF_NOUN and pieces[-1] not in _KIND_OF_NOUN:
        return ()
    return tuple(_KIND_OF_NOUN[piece] for piece in pieces if piece in _KIND_OF_NOUN)
