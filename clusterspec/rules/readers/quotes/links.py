"""What quote lines state about modules and cables: rates, forms, optical standards, lengths and order codes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Optics
from clusterspec.catalog.names import ids_of_name
from clusterspec.procurement.offered import Offered
from clusterspec.records import dataclass
from clusterspec.rules.knowledge.ranges import GIGABIT
from clusterspec.rules.readers.quotes.parts import SAME, OtherFigure
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text
from clusterspec.spec.model import AcceptanceSpec, ScaleOutSpec
from clusterspec.standard import pattern

FASTEST = {"SFP28": 25, "SFP56": 50, "SFP112": 100, "QSFP28": 100, "QSFP56": 200, "QSFP112": 400, "QSFP-DD": 800}
"""Gb/s of the fastest module of a form: its lanes (one, four or eight) times 25, 50 or 100 Gb/s, by the SFF and QSFP-DD
specifications."""
_LEAF = r"(?:leaf|leaves|tor|switch)"
_LEVELS = {
    "node_leaf": pattern(
        rf"\b(?:nodes?|servers?|servidor\w*|serveurs?|nodos?|knoten|hosts?|nics?|hcas?|gpus?|dgx|hgx|trays?)[\w ]{{0,8}}(?: to |[-–→ /]+|->){_LEAF}\b|"
        rf"\b{_LEAF}(?: to |[-–→ /]+|->)(?:nodes?|servers?|hosts?|nics?)\b"
    ),
    "leaf_spine": pattern(
        r"\b(?:leaf|leaves)(?: to |[-–→ /]+|->)spines?\b|\bspines?(?: to |[-–→ /]+|->)(?:leaf|leaves)\b"
    ),
}
"""For each level of the fabric, the pattern of words that name both ends of its cables."""
LONGEST_COPPER = ((100, 5.0), (800, 3.0))
"""Longest passive copper cable that is sold, in meters, for rates up to the first number in Gb/s: 5 m with 25 Gb/s
lanes (100GBASE-CR4, IEEE 802.3 clause 92), 3 m with faster lanes (NVIDIA's MCP1650, MCP7H60, MCP7Y00 and MCP7Y10).
"""
_LONGEST_OF_FASTER = 2.0
"""Longest passive copper cable above 800 Gb/s, in meters."""
_CODE = pattern(r"\bm[cmf][asfp]\d[a-z0-9]{2,}(?:-[a-z0-9]+)*")
"""An order code of NVIDIA's modules and cables."""
_LENGTH_IN_CODE = pattern(r"-[a-z]{1,2}(\d{2})([\da])")
"""The length at the end of an order code of a cable: `-N020` is 20 m, `-N01A` 1.5 m."""
_OTHER_LENGTH = pattern(r"/ ?(-[a-z]{1,2}\d{2}[\da])\b")
_CODE_OF_CABLE = pattern(r"mc[ap]|mf[asp]")
_SPLIT_CABLE = pattern(
    r"(?:\b(?:to|into|a|auf|vers|en|naar|till|til)|->|→|[转轉分]) ?(?:[248] ?[x×]|two\b|four\b)|\b(?:break-?outs?|splitters?)\b|\b1 ?[x:] ?[24]\b"
)
"""Pattern of a cable with one end at the switch and several ends at nodes."""
_METERS = pattern(rf"{NUMBER} ?m(?:eters?|etres?)?\b")
_RATE = r"(\d{2,4}) ?g(?:b?e|b/s|bps|bit/s)?"
_FORM = r"(q?sfp-?dd|q?sfp\d{2,3}|osfp)"
_RATE_AND_FORM = (pattern(rf"(?<![\w.×]){_RATE}[- ]{_FORM}\b"), pattern(rf"\b{_FORM}[- ]{_RATE}\b(?![- /]*{_FORM})"))
_FORM_AND_LANES = pattern(rf"\b{_FORM}[- ](\d)x{_RATE}\b")
_ANY_FORM = pattern(rf"\b{_FORM}\b")
_MODULE = pattern(r"\b(?:transceiv\w*|optical modules?|modules?)\b")
_ANY_RATE = pattern(r"(?<![\w.])(?:(\d{2,4}) ?g(?:b?e|b/s|bps|bit/s)?|(1\.6|3\.2) ?t(?:b/s|bps|bit/s)?)(?![\w])")
_LANES = pattern(rf"(?<![\w.])(\d) ?[x×] ?{_RATE}")
_DIVIDED = pattern(
    rf"(?<![\w.×])(?<!\dx)(?<!\dx )(?:{_FORM} )?{_RATE}(?: {_FORM})? ?(?:to|auf|zu|na|naar|vers|en|a|in|till|til|→|->|轉|转|から) "
    rf"?(\d) ?[x×] ?(?:{_FORM} )?{_RATE}(?!\w)"
)
"""Pattern of a split cable: one end with one rate, several ends with another."""
_COUNTED_NICS = pattern(
    rf"(?<![\w.,])(\d{{1,2}}) ?[x×] ?(?P<name>[^,;()+\d]{{0,30}}(?:\d[^,;()+\d]{{0,12}}){{0,2}}?) ?\b(?:{_RATE}|([hnx]dr)([1248]00)?)\b(?!-)"
)
"""Pattern of the NICs of a node: their number, name and rate."""
TWO_PORTS = pattern(r"\b(?:dual|two|2|double|doppel\w*)[- ]?(?:ports?\b|port\w*)|\b2 ?[x×] ?\d{2,3} ?g")
"""Pattern of words for a NIC with two ports."""
GENERATIONS = {"edr": 100, "hdr": 200, "ndr": 400, "xdr": 800}
"""Gb/s of a port of InfiniBand, by the name of its generation."""
SAME_RATE = 0.01
"""Relative difference up to which two rates are the same."""
_PASSIVE = pattern(r"\b(?:dac|direct[- ]attach(?:ed)?|passive copper|twinax)s?\b")
_ACTIVE = pattern(r"\b(?:aec|acc|aoc|lacc|active|re-?timed)s?\b")
_STANDARD = pattern(r"(?<![a-z])(?:\d{1,3}x)?(sr|vr|dr|fr|lr)(?:[1248]\b|-?[1248]\b|\b)")
"""Pattern of an optical standard, with letters before the number of lanes."""
_LIGHT = {"vr": "SR", "sr": "SR", "dr": "DR", "fr": "FR", "lr": "LR"}
"""Optical standard by its letters; VR is compatible with SR, over a shorter reach."""
_DUPLEX = pattern(r"\b(?:lc|cs|sn)(?:[- /](?:duplex|upc|apc|lc))|\bduplex lc\b|\bdual lc\b|\blc\b")
_MULTIMODE = pattern(
    r"\bmulti-?mod(?:e|us|o|ale?|aux|al)?\b|\bwielomod\w*|\bmonimuoto\w*|マルチモード|多模|멀티모드|\bmmf\b|\bom[345]\b|\bmfp7e[12]0|\bmma\d\w*|(?<![a-z])(?:\d{1,3}x)?[sv]r[1248]\b|\b(?:\d{1,4}g)?[ -]?sr\b"
)
_SINGLE_MODE = pattern(
    r"\bsingle-?mode\b|\b(?:mono-?mod(?:e|o|us|ale?|aux|al)|enkelmod(?:e|us)|singel-?mod(?:e|us)?|jednomod\w*|yksimuoto\w*|einmoden\w*)\b|"
    r"シングルモード|单模|單模|싱글모드|\bsmf\b|\bos2\b|\bmfp7e[34]0|\bmms\d\w*|(?<![a-z])(?:\d+x)?(?:dr|fr|lr)[1248]\b|"
    r"\b(?:\d+g)?[ -]?(?:dr|fr|lr|er|zr)[1248]?\b"
)
_CHOICE = pattern(r"\b(?:or|and|und|oder|et|ou|y|e|o|resp|mixed|both)\b|[/&+;:]|\d ?m\b|(?<!\w)\d{1,4} ?x ?")
"""Pattern of words and signs for a choice between two kinds of a part, or for lengths or counts of both kinds."""
_ENDS_OF_MPO = pattern(r"/[au]pc\b")
_PARALLEL = pattern(r"\bm[pt][op]s?\b|\bm[pt][op]-?\d{1,2}\b")
SIDES = {
    "node": pattern(
        r"\b(?:nics?|adapters?|hcas?|connectx\S*|servers?|nodes?|dgx|hgx|host|tray|cards?)[- ]?(?:side|end|ports?|cages?|seite)\b|"
        r"\bknotenseite\b|\b(?:côté|lato|lado) (?:serveur|nœud|carte|server|nodo|scheda|servidor|tarjeta)s?\b|"
        r"\((?:nics?|adapters?|nodes?|servers?)\)|\bper (?:server|node)\b|(?:nics?|servers?|サーバー?|网卡|服务器|서버) ?[側端侧측]|"
        r"\bfor (?:the )?(?:connectx\S*|pollara|thor|bluefield\S*|nics?|adapters?|servers?|nodes?|dgx|hgx)|"
        r"\bports of the (?:servers?|nodes?)\b"
    ),
    "switch": pattern(
        r"\b(?:switch(?:es)?|leaf|leaves|spines?|tor)[- ]?(?:(?:side|end|ports?|cages?|seite)\b|[端側侧측])|(?:交換器|交换机|スイッチ|스위치) ?[側端侧측]|"
        r"\((?:switch(?:es)?|leaf|spine)\)|\b(?:côté|lato|lado) switch\b|\bfor (?:the )?(?:switch(?:es)?|leaf|leaves|spines?)\b|"
        r"\bseite de[rs] (?:\w*switch\w*|qm\d{4}|sn\d{4}|q3\d{3})"
    ),
}
"""For each end of a link, the pattern of words that place a module there."""


@dataclass(frozen=True)
class LinkPart:
    """What one line of a quote states about a module or cable.

    ``rates`` are in B/s per direction, ``standards`` are optical standards (`SR`, `DR`, `FR`, `LR`), ``forms`` are
    module forms (`OSFP`), and ``lengths`` are in meters. ``side`` is `node` or `switch`, empty if the line names
    neither or both. ``code`` is the order code in upper case, empty unless there is exactly one; ``entry`` is its
    catalog entry.
    """

    line: Offered
    text: str
    rates: tuple[float, ...]
    standards: frozenset[str]
    forms: frozenset[str]
    lengths: tuple[float, ...]
    side: str
    code: str
    entry: Optics | None

    @property
    def text_without_code(self) -> str:
        """The text without the order code."""
        return self.text.replace(self.code.lower(), " ") if self.code else self.text


def link_part(line: Offered, text: str, catalog: Catalog) -> LinkPart:
    """What a line of a quote states about a module or cable; ``text`` is its part in lower case."""
    codes = {*_CODE.findall(text)}
    code = codes.pop().upper() if len(codes) == 1 else ""
    found = [catalog.find("optics", id_) for id_ in (ids_of_name("optics", code) if code else ())]
    words = text.replace(code.lower(), " ") if code else text
    sides = [side for side, named in SIDES.items() if named.search(text) is not None]
    return LinkPart(
        line,
        text,
        tuple(rates_in(words)),
        frozenset(_LIGHT[each] for each in _STANDARD.findall(words)),
        frozenset(form_name(each) for each in _ANY_FORM.findall(words)),
        tuple(number_in_text(each) for each in _METERS.findall(words)),
        sides[0] if len(sides) == 1 else "",
        code,
        found[0] if len(found) == 1 and isinstance(found[0], Optics) else None,
    )


def rates_in(text: str) -> Iterator[float]:
    """The rates that a text states, in B/s per direction.

    >>> [rate * 8 / 1e9 for text in ("dac 800g osfp to 2x 400gb/s", "1.6t dr8") for rate in rates_in(text)]
    [800.0, 400.0, 1600.0]
    """
    for gigabits, terabits in _ANY_RATE.findall(text):
        yield (float(gigabits) if gigabits else 1000 * float(terabits)) * GIGABIT


def has_rate(part: LinkPart, *rates: float) -> bool:
    """Whether a line states one of the given rates in B/s per direction, or ports that add up to it."""
    words = part.text.replace(part.code.lower(), " ") if part.code else part.text
    sums = [int(number) * float(rate) * GIGABIT for number, rate in _LANES.findall(words)]
    return any(abs(one / rate - 1) < SAME_RATE for one in (*part.rates, *sums) for rate in rates)


def form_name(written: str) -> str:
    """The usual name of the form of a module.

    >>> form_name("qsfpdd"), form_name("qsfp112"), form_name("osfp")
    ('QSFP-DD', 'QSFP112', 'OSFP')
    """
    return written.upper().replace("QSFPDD", "QSFP-DD")


def overloaded_form(text: str) -> tuple[str, int] | None:
    """The form and stated rate in Gb/s of a module whose form does not exist at that rate; None without one.

    >>> overloaded_form("aoc 400g qsfp-dd to 2x 200g qsfp28"), overloaded_form("osfp 800g to 2x qsfp112 400g")
    (('QSFP28', 200), None)
    >>> overloaded_form("800g 2xdr4 transceiver, qsfp112"), overloaded_form("64 ports 800g, qsfp28 uplinks")
    (('QSFP112', 800), None)
    """
    before, after = _RATE_AND_FORM
    pairs = [(form, str(int(count) * int(rate))) for form, count, rate in _FORM_AND_LANES.findall(text)]
    pairs = pairs or [(form, rate) for rate, form in before.findall(text)]
    pairs = pairs or [(match[1], match[2]) for match in after.finditer(text)]
    forms, rates = {*_ANY_FORM.findall(text)}, {*rates_in(text)}
    if not pairs and len(forms) == len(rates) == 1 and _MODULE.search(text) is not None:
        pairs = [(forms.pop(), f"{rates.pop() / GIGABIT:.0f}")]
    for form, rate in pairs:
        if int(rate) > FASTEST.get(form_name(form), int(rate)):
            return form_name(form), int(rate)
    return None


def unequal_ends(text: str) -> tuple[int, int, int] | None:
    """The rate of a split cable's single end, the number of its other ends and their rate, all in Gb/s, if the rates do
    not add up; else None.

    >>> unequal_ends("dac 400g osfp to 2x 400g qsfp112"), unequal_ends("aoc 800g osfp to 4x 200g")
    ((400, 2, 400), None)
    """
    for match in _DIVIDED.finditer(text):
        whole, number, each = int(match[2]), int(match[4]), int(match[6])
        if whole != number * each:
            return whole, number, each
    return None


def slower_nics(text: str, number: int, rate: float) -> tuple[str, float] | None:
    """The NICs in a node's line and their rate in B/s per direction, if there are as many as in the design but slower
    ones. None otherwise, and for dual-port NICs or several rates.

    >>> slower_nics("server, 8x h200, 8x connectx-7 200g osfp, 2x 25g", 8, 50e9)
    ('8x connectx-7 200g', 25000000000.0)
    >>> slower_nics("server, 8x connectx-7 400g", 8, 50e9), slower_nics("8x thor 2 dual-port 200g", 8, 50e9)
    (None, None)
    """
    found = [match for match in _COUNTED_NICS.finditer(text) if int(match[1]) == number]
    if len(found) != 1 or number < 2 or TWO_PORTS.search(found[0][0]) is not None:
        return None
    (match,) = found
    gigabits = float(match[3] or match[5] or GENERATIONS[match[4]])
    stated = gigabits * GIGABIT
    behind = text[match.end() : match.end() + 12].partition(",")[0]
    if TWO_PORTS.search(behind) is not None or stated >= rate * (1 - SAME_RATE):
        return None
    return match[0], stated


def too_long_copper(part: LinkPart) -> tuple[float, float] | None:
    """The length of a passive copper cable and the longest sold length for its rate, in meters, if it is too long; else
    None.

    For rates from 200 Gb/s the fastest end decides, below that the slowest one.
    """
    if _PASSIVE.search(part.text) is None or _ACTIVE.search(part.text) is not None or not part.lengths:
        return None
    slowest = min((rate / GIGABIT for rate in part.rates), default=0.0)
    fastest = max((rate / GIGABIT for rate in part.rates), default=0.0)
    rate = fastest if fastest >= 200 else slowest
    longest = next((meters for limit, meters in LONGEST_COPPER if rate <= limit), _LONGEST_OF_FASTER)
    shortest = min(part.lengths)
    return (shortest, longest) if rate >= 25 and shortest > longest else None


def length_of_code(code: str) -> float | None:
    """The cable length in meters in an order code; None for modules and for codes without a length.

    >>> [length_of_code(code) for code in ("MFP7E30-N020", "MCP4Y10-N01A", "MCP1650-V002E26", "MMS4X00-NS", "MCP7Y00")]
    [20.0, 1.5, 2.0, None, None]
    """
    found = _LENGTH_IN_CODE.search(code.lower()) if _CODE_OF_CABLE.match(code.lower()) is not None else None
    if found is None:
        return None
    return float(found[1]) + 0.5 if found[2] == "a" else float(found[1] + found[2])


def standard_of(part: LinkPart) -> str:
    """The optical standard of a module: from its catalog entry, else from its text; empty if unknown."""
    if part.entry is not None and part.entry.reach_class:
        return light_of(part.entry)
    return next(iter(part.standards)) if len(part.standards) == 1 else ""


def optics_of_design(written: ScaleOutSpec | None) -> list[str]:
    """The ids of the modules and cables that the design states, without duplicates."""
    return [*dict.fromkeys(id_ for ids in ((written.optics if written else None) or {}).values() for id_ in ids)]


def modules_of_design(written: ScaleOutSpec | None, catalog: Catalog) -> list[Optics]:
    """The modules among the optics that the design states; empty unless all are modules in the catalog."""
    found = [catalog.find("optics", id_) for id_ in optics_of_design(written)]
    modules = [each for each in found if isinstance(each, Optics) and each.type == "module"]
    return modules if len(modules) == len(found) else []


def light_of(entry: Optics) -> str:
    """The optical standard of a catalog module; empty if unknown."""
    return _LIGHT.get(entry.reach_class.lower()[:2], "") if entry.reach_class else ""


def fiber_of(text: str) -> str:
    """The kind of fiber that a text names or that its modules use; empty if it is neither or both.

    >>> [fiber_of(each) for each in ("mfp7e10 cable, om4", "mms4x00-ns", "400g dr4 module", "2x400g sr4", "mpo cable")]
    ['multimode', 'single-mode', 'single-mode', 'multimode', '']
    """
    multi, single = _MULTIMODE.search(text) is not None, _SINGLE_MODE.search(text) is not None
    return "" if multi == single else "multimode" if multi else "single-mode"


def names_both_fibers(text: str) -> bool:
    """Whether the text of one part names both multimode and single-mode fiber, without a choice between them.

    >>> [names_both_fibers(each) for each in ("om4 single-mode cable", "2xdr4 single-mode", "om4 or os2 fiber")]
    [True, False, False]
    >>> names_both_fibers("mpo-12/apc cable, om4, single-mode, 20 m"), names_both_fibers("om4: 30 m, os2: 100 m")
    (True, False)
    """
    multi, single = _MULTIMODE.search(text), _SINGLE_MODE.search(text)
    if multi is None or single is None:
        return False
    first, second = sorted((multi.span(), single.span()))
    between = _ENDS_OF_MPO.sub("", text[first[1] : second[0]])
    grades = "," in between and {multi[0][:2], single[0][:2]} == {"om", "os"}  # a list of both
    return not grades and _CHOICE.search(between) is None


def ends_of_fiber(text: str) -> str:
    """The connectors of a fiber cable: `parallel` (MPO) or `duplex` (LC); empty if the text names neither or both.

    >>> [ends_of_fiber(each) for each in ("mpo-12/apc om4 cable", "lc duplex patch cable", "fiber cable")]
    ['parallel', 'duplex', '']
    """
    duplex, parallel = _DUPLEX.search(text) is not None, _PARALLEL.search(text) is not None
    return "" if duplex == parallel else "duplex" if duplex else "parallel"


def short_cables(lines: Sequence[tuple[Offered, str]], written: ScaleOutSpec | None) -> Iterator[OtherFigure]:
    """The first group of quoted cables that is shorter than the stated run it must span.

    The groups are: all cables, if all state a length, for the longest run; the cables of each level, by the words of
    their lines; and split cables, which lead to nodes, if there are whole cables too.
    """
    runs = (written.distance if written else None) or {}
    cables = [
        (line, text, lengths_in(text))
        for line, text in lines
        if line.kind == "cable" and not (line.is_spare or line.is_piece_of_link)
    ]
    of_level = [(level, [cable for cable in cables if levels_named(cable[1]) == {level}]) for level in runs]
    of_level = [(level, found) for level, found in of_level if found and all(lengths for _, _, lengths in found)]
    divided = [cable for cable in cables if _SPLIT_CABLE.search(cable[1]) is not None]
    if 0 < len(divided) < len(cables) and "node_leaf" in runs:
        of_level.append(("node_leaf", divided))
    if runs and cables and all(lengths for _, _, lengths in cables):
        of_level.insert(0, (max(runs, key=lambda each: runs[each].value), cables))
    for level, found in of_level:
        longest = max((length for _, _, lengths in found for length in lengths), default=math.inf)
        if longest < runs[level].value * (1 - SAME):
            yield OtherFigure(found[0][0], f"{longest:g} m", f"scale_out.distance.{level}", runs[level].written)
            return


def lengths_in(text: str) -> list[float]:
    """The lengths in meters that a text states; without any, the lengths in its order codes, including further ones
    after a slash.

    >>> lengths_in("fibre, 20 m"), lengths_in("mfp7e30-n040/-n050 fiber"), lengths_in("mfp7e10-n007 fiber")
    ([20.0], [40.0, 50.0], [7.0])
    """
    meters = [number_in_text(each) for each in _METERS.findall(text)]
    codes = [code for code in _CODE.findall(text) if length_of_code(code) is not None]
    others = [f"{codes[0].partition('-')[0]}{each}" for each in _OTHER_LENGTH.findall(text)] if codes else []
    return meters or [length for code in (*codes, *others) if (length := length_of_code(code)) is not None]


def levels_named(text: str) -> set[str]:
    """The levels of the fabric whose two ends the line of a cable names.

    >>> levels_named("mpo cable, node to leaf"), levels_named("mpo cable, leaf-spine"), levels_named("mpo cable")
    ({'node_leaf'}, {'leaf_spine'}, set())
    """
    return {level for level, named in _LEVELS.items() if named.search(text) is not None}


_PROMISED = pattern(
    rf"(?i:\b(?:bus ?bandwidth|busbw|bus bw)\b)[^\d;]{{0,24}}?{NUMBER} ?([GTgt])(B|b)(?:it)?(?:/s|ps)(?!\w)"
)
"""Pattern of the bus bandwidth that the line of a test promises: bytes with `B`, bits with `b`."""


def weaker_tests(lines: Sequence[tuple[Offered, str]], acceptance: Sequence[AcceptanceSpec]) -> Iterator[OtherFigure]:
    """The first line that promises less bus bandwidth for a collective than every test of the design for it."""
    tests = [
        ((test.collective or "").replace("-", ""), index, test.busbw)
        for index, test in enumerate(acceptance)
        if test.busbw is not None
    ]
    for line, text in lines if tests else ():
        found, words = _PROMISED.search(line.line.part or ""), text.replace("-", "").replace(" ", "")
        wanted = [(index, busbw) for collective, index, busbw in tests if collective in words]
        if found is None or not wanted:
            continue
        promised = number_in_text(found[1]) * (1e12 if found[2] in "tT" else 1e9) / (1 if found[3] == "B" else 8)
        index, least = min(wanted, key=lambda pair: pair[1].value)
        if promised < least.value * (1 - SAME):
            states = f"{found[1]} {found[2]}{found[3]}/s of bus bandwidth"
            yield OtherFigure(line, states, f"acceptance.{index}.busbw", least.written)
            return
