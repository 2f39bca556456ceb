"""Figures in a quote line that the named part does not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator, Switch
from clusterspec.catalog.names_of_parts import accelerator_family
from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.model import Cluster
from clusterspec.cost.feed_loss import supplies_of
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.product_names import counts_before, named_entries, switches_named
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.written_numbers import NUMBER, are_close, number_in_text, watts_in_text
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display

SAME_MEMORY = 0.07
"""Relative difference up to which two sizes are the same memory: GB or GiB, less the part that the driver reserves."""
C13_WATTS = 3000.0
"""Largest power of a supply on a C13 connector in watts: 15 A, its rating in North America, at 200 V."""
_VARIANT = (
    r"(?:[ -]?(?:\d-gpu|nvidia|tensor|core|sxm\d?|pcie|nvl\d{0,3}|oam|ubb|hbm[23]e?|gpus?|accelerators?|server|edition|max-q|"
    r"blackwell|ultra|cards?|modules?|systems?|with|à|mit|a|\(?hl-\d{3}[a-z]?\)?)){0,4}"
)
_COUNT_BETWEEN = r"(?:\d{1,2}[ -]?(?:gpus?|[x×])[ ,]{0,2})?"
"""Pattern of a number of accelerators between a node's name and their memory: `DGX H200 system, 8 x 141 GB`."""
_MEMORY_BEHIND = (
    rf"s?{_VARIANT},?[ (]{{1,2}}{_COUNT_BETWEEN}(\d{{2,4}}) ?gb\b(?! ?(?:/s|l?p?ddr|r?dimm|ram|of ram|host|system mem))"
)
_PRINTED = pattern(r"(\d{1,4}) ?GB\b")
_LETTER_AND_FIGURE = pattern(r"(?<=[a-z]{3})(?=\d)")
"""The position in a name such as `gaudi3` at which a text may have a space."""
_MOST_TOGETHER = 144
"""Largest number of accelerators whose memory a text adds up: those of the largest rack that is sold as one product."""
_GPUS_OF_DGX = 8
"""Accelerators of a DGX system with a board of SXM modules."""
_WORD_BEFORE = r"(?<![\w-])"
_INFINIBAND = pattern(r"\binfiniband\b")
_ETHERNET = pattern(r"\bethernet\b")
_GATEWAY = pattern(r"\b(?:gateways?|bridge|routers?|attached|replac\w+|instead|gw)\b")
_PORTS = pattern(r"(?<![\w.])(\d{2,3})(?:[- ]?ports?\b| ?[x×] ?(?:osfp|qsfp|[48]00 ?g|1\.6 ?t|xdr|ndr|hdr))")
AIR = {"P2C": "from the supplies to the ports", "C2P": "from the ports to the supplies"}
"""The airflow directions of a switch, by the manufacturers' names."""
_AIR_OF_CODE = pattern(r"\bm(?:sn|qm)\d{4}-[a-z]{2}\d?(f|r)[a-z]{0,2}\b|\b920-9b\w{2,4}-00(f|r)\w-\w{3}\b")
"""Pattern of order codes of NVIDIA switches, older (Mellanox) and newer, that contain a letter for the airflow."""
AIR_WORDS = {
    "P2C": pattern(r"\bp2c\b|\bpower[- ]to[- ](?:connector|port)\b|\bport[- ]side exhaust\b"),
    "C2P": pattern(r"\bc2p\b|\b(?:connector|port)[- ]to[- ]power\b|\bport[- ]side intake\b"),
}
"""For each airflow direction, the pattern of words for it in lower case."""
_C13 = pattern(r"\bc13\b")
_C19 = pattern(r"\bc(?:19|21)\b")
_ABSENT_C19 = pattern(r"\b(?:no|without|ohne|sans|sin|senza|sem|geen) c19\b")
_CORD = pattern(
    r"\b(?:power )?(?:cords?|leads?)\b|\b(?:power|mains) cables?\b|\b\w*(?:netz|strom|ström|virta|nett)kab\w+|\bcord[oõó]\w*|"
    r"\bcavi? (?:di )?alimentazione\b|\bcables? de (?:alimentación|poder)\b|\bcâbles? d'alimentation\b|電源(?:コード|ケーブル|線)"
)
_WATTS_OF_SUPPLY = pattern(
    rf"{NUMBER} ?(k?w)(?: (?:titanium|platinum|redundant|ac|hot[- ]plug|hot[- ]swap)){{0,3}} (?:psus?|power suppl(?:y|ies)|supplies|netzteile?|fontes|fuentes|alimentatori|alimentations)\b"
)
_SHELVES = pattern(
    rf"(?<![\w.])(\d{{1,2}}) ?(?:[x×] ?)?(?:{NUMBER} ?kw )?(?:ac )?power[- ]shel(?:f|ves)(?:[^,;]{{0,20}}?{NUMBER} ?kw)?"
)


SAME_HOST = 0.12
"""Relative difference up to which two sizes of host memory are equal: 2048 GiB, written as `2 TB`, is 9 % more."""
LEAST_RACK = 2000.0
"""Watts below which a figure is not the power of a rack."""
SAME = 0.02
"""Relative difference up to which two powers are the same."""
BYTES = {"gb": 1e9, "gib": 2.0**30, "tb": 1e12, "tib": 2.0**40, "pb": 1e15, "pib": 2.0**50}
_HOST = pattern(
    rf"{NUMBER} ?([gt]i?b) (?:of )?(?:host |system |main )?(?:d?ram|rdimms?|l?p?ddr\d\w*|memory|arbeitsspeicher|memoria|mémoire|memória|muistia|minne|geheugen)\b"
)
"""Pattern of a node's host memory, recognized by the word after it."""
_DIMMS = pattern(r"(?<![\w.])(\d{1,2}) ?[x×] ?(16|32|48|64|96|128|256) ?gb\b(?! ?hbm)")
_BARE = pattern(rf"(?:^|[,;+(] ?){NUMBER} ?([gt]i?b)(?= ?(?:$|[,;+)]))")
"""Pattern of a size between commas; in the line of a node, it is the host memory or the memory of all accelerators."""
_DRIVES = pattern(r"\b(?:nvme|ssds?|u\.[23]|e[13]\.s|hdds?|disks?|drives?|storage|scratch)\b")
_DOOR = pattern(
    r"\brear[- ]doors?\b|\bdoor (?:heat )?(?:exchangers?|coolers?)\b|\brdhx\b|\bbakdörr\w*|\brücktür\w*|\bporta? (?:posteriore|traseira)\b|後門|背門|リアドア"
)
_CDU = pattern(r"\bcdus?\b|\b(?:coolant|cooling|liquid) distribution\b")
AMPERES = pattern(rf"{NUMBER} ?a(?:mps?|mperes?)?\b")
_KILOWATTS = pattern(rf"{NUMBER} ?(kw|mw)\b")
PDU = pattern(r"\bpdus?\b|\bpower distribution\b")
UNITS_OF_RACK = pattern(r"(?<![\w.])(\d) ?(?:x )?(?:rack )?pdus?\b")
"""Pattern of the number of power distribution units of one rack, in the line of a rack."""
VOLTS = pattern(rf"(?<!/){NUMBER} ?v(?:ac|olts?)?\b")
_RACK_WATTS = pattern(rf"{NUMBER} ?kw(?![a-z])")
_OTHER_RACK = pattern(r"\b(?:network|switch|storage|management) racks?\b")


class OtherFigure(NamedTuple):
    """A line whose figure differs from the design: the stated figure, the key of the design, and its value."""

    line: Offered
    states: str
    key: str
    design: str


class Memory(NamedTuple):
    """The memory in GB that a text states for an accelerator or a system, its name, and the violated limit."""

    stated: float
    name: str
    has: str


class SwitchWords(NamedTuple):
    """The technology that a text states for a switch, the name of the switch, and its real technology."""

    states: str
    name: str
    technology: str


class SwitchPorts(NamedTuple):
    """The number of ports that a text states for a switch, the name of the switch, and its real number of ports."""

    stated: int
    name: str
    ports: int


class Airflow(NamedTuple):
    """The airflow direction that a text states, the order code in it, and the direction that the code stands for."""

    states: str
    code: str
    direction: str


class Shelves(NamedTuple):
    """The power in watts of all power shelves of a rack by a text, and the power that the rack draws."""

    watts: float
    rack: float


def memory_off_accelerator(text: str, catalog: Catalog) -> Memory | None:
    """The memory that a lowercase text states for an accelerator, if no variant of the accelerator has that much; else
    None.

    It is less than the smallest variant, or more than the largest variant and no multiple of any. A DGX system has the
    memory of all its modules.
    """
    words = text.replace("_", " ")
    for family in sorted(named_entries(text, catalog, "accelerator")):
        entries = [
            catalog.find("accelerator", id_) for id_ in catalog.ids("accelerator") if accelerator_family(id_) == family
        ]
        parts = [each for each in entries if isinstance(each, Accelerator) and each.memory is not None]
        sizes = [_printed_memory(part) for part in parts]
        named = _LETTER_AND_FIGURE.sub("[- ]?", family.replace("-", "[- ]?"))
        found = [float(each) for each in pattern(_WORD_BEFORE + named + _MEMORY_BEHIND).findall(words)]
        if not sizes or not found:
            continue
        name = parts[0].name if len(parts) == 1 else family.replace("-", " ").upper()
        if max(found) < min(sizes) * (1 - SAME_MEMORY):
            return Memory(max(found), name, f"{min(sizes):g} GB or more")
        if max(found) > max(sizes) * (1 + SAME_MEMORY) and not _is_sum(max(found), sizes):
            return Memory(max(found), name, f"at most {max(sizes):g} GB")
        system = _GPUS_OF_DGX * min(sizes)
        of_system = [
            float(each) for each in pattern(rf"\bdgx {named}(?: systems?)?,? \(?(\d{{3,4}}) ?gb\b").findall(words)
        ]
        if of_system and max(sizes) * (1 + SAME_MEMORY) < of_system[0] < system * (1 - SAME_MEMORY):
            return Memory(of_system[0], f"DGX {name}", f"{system:g} GB or more")
    return None


def _printed_memory(part: Accelerator) -> float:
    """The memory of an accelerator in GB as its manufacturer prints it, else as the device reports it."""
    printed = _PRINTED.match(part.memory_printed)
    reported = part.memory.value / 1e9 if part.memory is not None else 0.0
    return float(printed[1]) if printed is not None else reported


def _is_sum(stated: float, sizes: Sequence[float]) -> bool:
    """Whether a memory size in GB is the total of several accelerators of one size."""
    return any(are_close(stated, size * max(1, round(stated / size)), SAME_MEMORY) for size in sizes) and (
        stated <= max(sizes) * _MOST_TOGETHER
    )


def other_accelerator_of_node(text: str, catalog: Catalog) -> tuple[str, str] | None:
    """The accelerator in the name of a board and the different accelerator that the same text counts, as in `HGX B200
    server with 8x B300`; else None.
    """
    named = sorted(named_entries(text, catalog, "accelerator"))
    boards = [each for each in named if pattern(rf"\b[dh]gx {each}\b").search(text) is not None]
    counted = [each for each in named if each not in boards and counts_before(text, each)]
    return (boards[0], counted[0]) if len(boards) == 1 and len(counted) == 1 else None


def module_and_stated_bytes(text: str) -> tuple[float, float] | None:
    """Bytes of the memory modules that a text counts and bytes of the host memory that it states, where the two differ.

    >>> module_and_stated_bytes("2 tb ddr5 (32x 32gb rdimm)"), module_and_stated_bytes("2 tb ddr5 (32x 64gb rdimm)")
    ((1024000000000.0, 2000000000000.0), None)
    """
    modules = [int(count) * float(size) * 1e9 for count, size in _DIMMS.findall(text)]
    stated = [number_in_text(number) * BYTES[unit] for number, unit in _HOST.findall(_DIMMS.sub("", text))]
    if len(modules) != 1 or len(stated) != 1 or abs(modules[0] / stated[0] - 1) <= SAME_HOST:
        return None
    return modules[0], stated[0]


def named_switch(text: str, catalog: Catalog) -> Switch | None:
    """The catalog switch that a lowercase text names; None unless it names exactly one."""
    ids = switches_named(text, catalog)
    entry = catalog.find("switch", ids[0]) if len(ids) == 1 else None
    return entry if isinstance(entry, Switch) else None


def technology_off_switch(text: str, catalog: Catalog) -> SwitchWords | None:
    """A switch that a text gives the wrong technology: InfiniBand for an Ethernet switch, or the reverse; else None."""
    infiniband, ethernet = _INFINIBAND.search(text) is not None, _ETHERNET.search(text) is not None
    if infiniband == ethernet or "switch" not in text or _GATEWAY.search(text) is not None:
        return None
    switch = named_switch(text, catalog)
    if switch is None or not switch.families or "nvlink" in switch.families:
        return None
    if infiniband and "infiniband" not in switch.families:
        return SwitchWords("InfiniBand", switch.name, "Ethernet")
    if ethernet and {*switch.families} == {"infiniband"}:
        return SwitchWords("Ethernet", switch.name, "InfiniBand")
    return None


def ports_off_switch(text: str, catalog: Catalog) -> SwitchPorts | None:
    """A switch for which a text states fewer ports than it has cages; else None."""
    found = [int(each) for each in _PORTS.findall(text)]
    switch = named_switch(text, catalog) if found else None
    if switch is None or not switch.ports:
        return None
    least = min(switch.ports, switch.cages or switch.ports)
    return SwitchPorts(max(found), switch.name, switch.ports) if max(found) < least else None


def airflow_off_code(text: str) -> Airflow | None:
    """An airflow direction in words that contradicts the order code in the same text; else None.

    >>> airflow_off_code("mqm9700-ns2f, managed, c2p").code, airflow_off_code("mqm9700-ns2f, p2c, managed")
    ('MQM9700-NS2F', None)
    """
    codes = [*_AIR_OF_CODE.finditer(text)]
    words = [name for name, named in AIR_WORDS.items() if named.search(text) is not None]
    names = {"P2C" if "f" in code.groups() else "C2P" for code in codes}
    if len(names) != 1 or len(words) != 1 or words[0] in names:
        return None
    (stated,), (own,) = words, names
    return Airflow(f"air {AIR[stated]} ({stated})", codes[0][0].upper(), f"{AIR[own]} ({own})")


def supply_with_c13(line: Offered, text: str, cluster: Cluster, power: PowerSpec | None) -> float | None:
    """The watts of a node's power supply that is too large for the C13 cords or outlets in a line of a quote; else
    None.

    The line states the watts, else the design does. A separate line of cords counts if it has at least one per node,
    and a line of power distribution units if it has at least one per rack.
    """
    if _C13.search(text) is None or _C19.search(_ABSENT_C19.sub("", text)) is not None:
        return None
    quantity = line.line.quantity or 0
    cords = _CORD.search(text) is not None and quantity >= cluster.all_nodes
    racks = cluster.all_nodes / (rack_nodes(cluster, power.nodes_per_rack if power is not None else None) or 1)
    outlets = PDU.search(text) is not None and quantity >= racks
    if line.kind != "node" and not (line.kind == "other" and (cords or outlets)):
        return None
    written = [
        number_in_text(number) * (1e3 if unit == "kw" else 1.0) for number, unit in _WATTS_OF_SUPPLY.findall(text)
    ]
    supplies = supplies_of(cluster, power)
    watts = max(written) if written else supplies.each if supplies is not None and supplies.what == "node" else 0.0
    return watts if watts > C13_WATTS else None


def short_shelves(text: str, cluster: Cluster) -> Shelves | None:
    """The power shelves of a rack that supply less than the platform's rack draws; else None."""
    platform = cluster.platform
    rack = platform.rack_power.value if platform is not None and platform.rack_power is not None else 0.0
    given = [*_shelf_watts(text)]
    return Shelves(max(given), rack) if given and max(given) < rack else None


def _shelf_watts(text: str) -> Iterator[float]:
    """The total watts of each group of power shelves that a text counts.

    >>> [*_shelf_watts("nvl72 rack, 8 power shelves 33 kw, l12")], [*_shelf_watts("8x 33 kw power shelf")]
    ([264000.0], [264000.0])
    """
    for count, before, behind in _SHELVES.findall(text):
        if before or behind:
            yield int(count) * number_in_text(before or behind) * 1e3


def small_host_memory(line: Offered, text: str, cluster: Cluster) -> Iterator[OtherFigure]:
    """A node whose line states less host memory than the design."""
    stated = cluster.host_memory
    if line.kind != "node" or stated is None:
        return
    memory = cluster.accelerator.memory
    of_accelerators = memory.value * cluster.accelerators_per_node if memory is not None else 0.0
    bare = [size for size in _bare_sizes(text) if abs(size - of_accelerators) > SAME_MEMORY * of_accelerators]
    sizes = [*_host_sizes(text), *bare]
    if sizes and max(sizes) < stated.value * (1 - SAME_HOST):
        yield OtherFigure(line, f"{display(max(sizes), 'B')} of host memory", "host_memory", display(stated.value, "B"))


def _host_sizes(text: str) -> Iterator[float]:
    """The sizes of host memory in bytes that the line of a node states, by name or by memory modules.

    >>> [size / 1e9 for size in _host_sizes("server, 24x 96gb ddr5, 8x 3.84 tb nvme")]
    [2304.0, 96.0]
    """
    yield from (int(count) * float(size) * 1e9 for count, size in _DIMMS.findall(text))
    yield from (number_in_text(number) * BYTES[unit] for number, unit in _HOST.findall(text))


def _bare_sizes(text: str) -> Iterator[float]:
    """The sizes in bytes between commas; empty for a text that names drives.

    >>> [size / 1e9 for size in _bare_sizes("hgx h200, 2x xeon, 2 tb, 8x h200 141 gb")]
    [2000.0]
    """
    if _DRIVES.search(text) is None:
        yield from (number_in_text(number) * BYTES[unit] for number, unit in _BARE.findall(text))


def weak_rack(line: Offered, text: str, cluster: Cluster, power: PowerSpec) -> Iterator[OtherFigure]:
    """A rack, or a rear-door cooler, rated for less power than a rack of the design needs. A door must remove only the
    heat that the liquid cooling leaves.
    """
    node, per_rack = cluster.node_power, rack_nodes(cluster, power.nodes_per_rack)
    watts = max((number_in_text(each) * 1e3 for each in _RACK_WATTS.findall(text)), default=0.0)
    if node is None or not per_rack or watts < LEAST_RACK:
        return
    drawn = per_rack * node.value
    if _DOOR.search(text) is not None:
        liquid = power.liquid_share if power.cooling == "liquid" else 0.0
        if liquid is not None and watts < drawn * (1 - liquid) * (1 - SAME):
            to_air = f"{per_rack}, whose heat to air is {display(drawn * (1 - liquid), 'W')}"
            yield OtherFigure(line, f"{display(watts, 'W')} in the door of a rack", "power.nodes_per_rack", to_air)
    elif line.site_kind == "rack" and watts < drawn * (1 - SAME) and _OTHER_RACK.search(text) is None:
        draw = f"{per_rack}, which draw {display(drawn, 'W')}"
        yield OtherFigure(line, f"{display(watts, 'W')} for a rack", "power.nodes_per_rack", draw)


def power_figures(line: Offered, text: str, power: PowerSpec) -> Iterator[OtherFigure]:
    """Power distribution units with another current or voltage than the design, and coolant distribution units with
    less capacity.
    """
    if power.pdus is not None and PDU.search(text) is not None:
        pairs = (("current", AMPERES, power.pdus.current, "A"), ("voltage", VOLTS, power.pdus.voltage, "V"))
        for key, figures, stated, unit in pairs:
            found = [number_in_text(each) for each in figures.findall(text)]
            if stated is not None and found and not any(are_close(each, stated.value, SAME) for each in found):
                yield OtherFigure(line, f"{found[0]:g} {unit}", f"power.pdus.{key}", display(stated.value, unit))
                return
    capacity = power.cdus.capacity if power.cdus is not None else None
    if capacity is not None and _CDU.search(text) is not None:
        watts = [watts_in_text(number, unit) for number, unit in _KILOWATTS.findall(text)]
        if watts and max(watts) < capacity.value * (1 - SAME):
            yield OtherFigure(line, display(max(watts), "W"), "power.cdus.capacity", display(capacity.value, "W"))
