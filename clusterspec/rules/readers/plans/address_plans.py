"""Address plans in texts: subnets with their purpose and gateway, address ranges, and ASN ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import MOST_MATCHES
from clusterspec.standard import pattern

_OCTET = r"(?:\d{1,3}|[<{\[][\w .,-]{1,16}[>}\]]|[xynr*](?![\w]))"
_SUBNET = pattern(rf"(?<![\w./])({_OCTET}(?:\.{_OCTET}){{3}})/(\d{{1,2}})(?![\w/]|\.\w)")
"""A subnet in lower case; its octets may be letters or in brackets."""
ROLES = {
    "link": r"point-to-point|p2p|(?:leaf[- ](?:to[- ])?spine|inter-?switch|fabric|routed) links?|transit|punkt-zu-punkt",
    "loopback": r"loopbacks?|router ids?",
    "bmc": r"bmcs?|ipmi|idracs?|ilos?|redfish|out[- ]of[- ]band|oob",
    "storage": r"storage|lustre|nfs|weka|vast|speicher\w*|stockage|almacenamiento",
    "rail": r"rails?|schienen?|planes?",
    "fabric": r"back[- ]?ends?|compute (?:fabric|network)|rdma|roce|scale-?out|gpu (?:fabric|network)|east-west",
    "node": r"front[- ]?ends?|in-?band|provisioning|pxe|management|host (?:network|addresses)|nodes?|hosts?|servers?|instances?|workers?|knoten|nœuds?|nodos?",
}
"""For each purpose of a subnet, its words; the first purpose with a match applies."""
_ROLE = pattern("|".join(rf"\b(?P<{name}>(?:{words})\b)" for name, words in ROLES.items()))
_STARTS_FOR = pattern(
    r"^ ?(?:[(:=–-]|for\b|to the\b|serves\b|carries\b|is (?:for|the)\b|für\b|pour\b|para\b|per l|voor\b)"
)
_PART_END = pattern(r"[,;.](?:\s|$)|\band\b|\bund\b|\bet\b|\by\b")
_PARTS = pattern(
    r"\b(?:per|each|every|a|je|pro|jede\w*|chaque|par|cada|por|ogni|elke?)[ -](?:scalable[ -]unit|rack|leaf|pod|su|zone|block|row|hall|tenant|switch|tor|nodes?|hosts?|servers?|schrank|baie|armario)s?\b|"
    r"\b(?:one|a) (?:/\d\d|subnet|network|prefix) (?:per|for (?:each|every))\b(?! rail)"
)
"""Pattern of words that make a subnet one of a part of the machine."""
_ADDRESS_EACH = pattern(
    r"\b(?:an?|one|eine|une|una) (?:ip |ipv4 )?(?:address|adresse|dirección)\b|\bone (?:per|for each|for every) (?:node|server|host|machine)\b"
)
"""Pattern of words in a sentence that gives each node an address, not a subnet."""
_OF_NODES = pattern(
    r"\b(?:per|each|every|a|je|pro|jede\w*|chaque|par|cada|por)[ -](?:nodes?|hosts?|servers?|machines?)\b"
)
_PREFIX = pattern(r"(?<![\w./>\]})*])/(\d{2})(?![\w/]|\.\w)")
_MASK = pattern(r"(?<![\w.])255\.255\.(\d{1,3})\.(\d{1,3})(?![\w/]|\.\w)")
_OF_RAIL = pattern(r"\b(?:rails?|schienen?)\b")
_SEVERAL = pattern(
    rf"\b(?:[2-9]|\d\d|{'|'.join([*NUMBER_WORDS][1:])}|several|further|more|additional) (?:[a-z-]{{2,12}} )?(?:/\d\d|subnets|networks|prefixes|netze|réseaux|subredes)\b|"
    r"/\d\d ?(?:to|through|until|up to|bis|à|-|–|\.\.\.?|…) ?\d|\bsupernet\b|\baggregate\b|\bsummary\b"
)
"""Pattern of words in a sentence about further subnets, or about a block that contains other subnets."""
_GATEWAY = pattern(r"\bgateways?\b|\bpasserelle\b|\bpuerta de enlace\b|\banycast\b|\birb\b|\bsvi\b")
_GATEWAY_OF_ALL = pattern(
    r"\b(?:each|every|all|the)(?: of the)? (?:subnets?|segments?|rails?|networks?)\b[^.;]{0,40}?\bgateways?\b|"
    r"\bgateways?\b[^.;]{0,40}?\b(?:each|every|all)(?: of the)? (?:subnets?|segments?|rails?|networks?)\b"
)
_GATEWAY_ADDRESS = pattern(r"\bgateway\b(?: (?:is|at|address|of|=))*[ :=]{1,3}((?:\d{1,3}\.){3}\d{1,3})(?![\w/]|\.\w)")
_FIRST_FREE = pattern(
    r"\b(?:first|lowest|lower) (\d{1,3}|"
    + "|".join(NUMBER_WORDS)
    + r") (?:host )?(?:addresses|ips|hosts)\b[^.;]{0,40}?\b(?:reserved|kept|free|excluded|switch\w*|infrastructure)\b"
)


class Subnet(NamedTuple):
    """A subnet as written, with its prefix length and its purpose by the names of `ROLES` (empty if unknown).

    ``whole`` is true if the text names no other subnet for this purpose and the subnet is not for a rack or another
    part. ``taken`` is the number of its addresses that are in use, such as by a gateway.
    """

    text: str
    prefix: int
    role: str
    whole: bool
    taken: int

    @property
    def hosts(self) -> int:
        """Number of host addresses: all but the network and broadcast addresses; both addresses of a /31 (RFC 3021)."""
        size: int = 1 << (32 - self.prefix)
        return size - 2 if self.prefix <= 30 else size

    @property
    def plain(self) -> tuple[int, int] | None:
        """The first and the last address as numbers; None if letters replace octets.

        >>> Subnet("10.0.1.0/24", 24, "", True, 0).plain
        (167772416, 167772671)
        """
        octets = self.text.split("/")[0].split(".")
        if not all(each.isdigit() and int(each) < 256 for each in octets):
            return None
        first = int.from_bytes(bytes(map(int, octets)), "big")
        first -= first % (1 << (32 - self.prefix))
        return first, first + (1 << (32 - self.prefix)) - 1


def subnets_in(sentences: Sequence[str]) -> Iterator[Subnet]:
    """The subnets in the given lowercase sentences.

    >>> text = "the front end has 10.80.0.0/22, the bmcs 10.81.0.0/23 and 10.9.0.0/24 is for storage"
    >>> [(each.text, each.role) for each in subnets_in([text])]
    [('10.80.0.0/22', 'node'), ('10.81.0.0/23', 'bmc'), ('10.9.0.0/24', 'storage')]
    >>> [*subnets_in(["every rail has one subnet, 10.64.<rail>.0/24, with .254 as the gateway"])]
    [Subnet(text='10.64.<rail>.0/24', prefix=24, role='rail', whole=True, taken=1)]
    >>> [each.whole for each in subnets_in(["nodes: one subnet per rack, 10.1.<rack>.0/28"])]
    [False]
    """
    always = any(_GATEWAY_OF_ALL.search(each) is not None for each in sentences)
    for sentence in sentences:
        matches = [*islice(_SUBNET.finditer(sentence), MOST_MATCHES)]
        parts = _OF_NODES.sub("", sentence) if _ADDRESS_EACH.search(sentence) is not None else sentence
        several = _SEVERAL.search(sentence) is not None or _PARTS.search(parts) is not None
        taken = int(always or _GATEWAY.search(sentence) is not None) + _reserved_addresses(sentence)
        of_rails = [*_subnets_of_rails(sentence, matches, taken, several=several)]
        yield from of_rails
        for match in () if of_rails else matches:
            if int(match[2]) > 32:
                continue
            role, open_octets = _role_of(match, sentence), not _is_plain(match[1])
            of_rail = role == "rail"
            whole = not several and (
                not open_octets or (of_rail and "rail" in match[1]) or (of_rail and _is_one_letter(match[1]))
            )
            yield Subnet(match[0], int(match[2]), role, whole, taken)


def _subnets_of_rails(
    sentence: str, matches: Sequence[re.Match[str]], taken: int, *, several: bool
) -> Iterator[Subnet]:
    """The subnet of each rail, which the text states by a common prefix or mask, or by the first and the last one."""
    if _OF_RAIL.search(sentence) is None:
        return
    prefixes = {int(each) for each in _PREFIX.findall(sentence)}
    prefixes |= {16 + sum(bin(int(octet)).count("1") for octet in each) for each in _MASK.findall(sentence)}
    if not matches and not several and len(prefixes) == 1 and 16 <= min(prefixes) <= 30:
        prefix = prefixes.pop()
        yield Subnet(f"/{prefix}", prefix, "rail", True, taken)
    alike = len({each[2] for each in matches}) == 1 and len({each[1] for each in matches}) == len(matches) > 1
    if alike and int(matches[0][2]) <= 30 and _EACH_RAIL.search(sentence) is not None:
        yield Subnet(matches[0][0], int(matches[0][2]), "rail", True, taken)


_EACH_RAIL = pattern(r"\b(?:each|every|per|one for each|one (?:of them )?for|je|jede\w*|chaque|cada)\b")
"""Pattern of words for several subnets, one per rail."""


def _reserved_addresses(sentence: str) -> int:
    """Addresses at the start of a subnet that a sentence reserves."""
    found = _FIRST_FREE.search(sentence)
    return (NUMBER_WORDS.get(found[1]) or int(found[1])) if found is not None else 0


def _is_plain(address: str) -> bool:
    return all(each.isdigit() for each in address.split("."))


def _is_one_letter(address: str) -> bool:
    """Whether a single letter or word replaces an octet."""
    return sum(not each.isdigit() for each in address.split(".")) == 1


def _role_of(match: re.Match[str], sentence: str) -> str:
    """The purpose of a subnet: from the words after it that state it, else from the nearest words before it, else after
    it.
    """
    if "rail" in match[1]:
        return "rail"
    behind = _PART_END.split(sentence[match.end() : match.end() + 60])[0]
    named = _ROLE.search(behind)
    if named is not None and _STARTS_FOR.search(behind) is not None:
        return named.lastgroup or ""
    before = [*_ROLE.finditer(sentence[max(0, match.start() - 120) : match.start()])]
    found = before[-1] if before else named
    return (found.lastgroup or "") if found is not None else ""


def gateway_outside(sentences: Sequence[str]) -> tuple[str, str] | None:
    """The subnet and the gateway of a sentence, if the gateway is not in the subnet; only for sentences with one of
    each.

    >>> gateway_outside(["bmcs: 10.81.0.0/23, gateway 10.81.2.1"])
    ('10.81.0.0/23', '10.81.2.1')
    >>> gateway_outside(["bmcs: 10.81.0.0/22, gateway 10.81.2.1"])
    """
    for sentence in sentences:
        gateways = {*_GATEWAY_ADDRESS.findall(sentence)}
        found = [*subnets_in([sentence])]
        if len(gateways) != 1 or len(found) != 1 or (ends := found[0].plain) is None:
            continue
        (gateway,) = gateways
        octets = [int(each) for each in gateway.split(".")]
        if max(octets) < 256 and not ends[0] <= int.from_bytes(bytes(octets), "big") <= ends[1]:
            return found[0].text, gateway
    return None


_RANGE = pattern(
    r"(?<![\w./])((?:\d{1,3}\.){2})(\d{1,3})\.(\d{1,3}) ?(?:-|–|to|through|until|bis|à|al?|\.\.\.?|…) ?(?:((?:\d{1,3}\.){2})(\d{1,3}))?\.?(\d{1,3})(?![\w/]|\.\d)"
)
_OF_POOL = pattern(r"\b(?:dhcp|pool|range|leases?|bereich|plage|rango)\b")


def pools_in(sentences: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """The address ranges in some lowercase sentences: the words, the number of addresses, and their purpose.

    >>> [*pools_in(["the dhcp pool of the bmcs is 10.81.0.100 - 10.81.0.199"])]
    [('10.81.0.100 - 10.81.0.199', 100, 'bmc')]
    >>> [*pools_in(["dhcp range for the nodes: 10.8.0.10-.250"])], [*pools_in(["from 10.8.0.10 to the switch"])]
    ([('10.8.0.10-.250', 241, 'node')], [])
    """
    for sentence in sentences:
        if _OF_POOL.search(sentence) is None or _SEVERAL.search(sentence) is not None or _PARTS.search(sentence):
            continue
        found = [*islice(_RANGE.finditer(sentence), 2)]
        roles = {each.lastgroup or "" for each in _ROLE.finditer(sentence)}
        if len(found) != 1 or len(roles) != 1:
            continue
        low_net, low_third, low, high_net, high_third, high = found[0].groups()
        if high_net and high_net != low_net:
            continue
        third = int(high_third or low_third) - int(low_third)
        count = third * 256 + int(high) - int(low) + 1
        if count > 0:
            yield found[0][0], count, roles.pop()


_ASNS = pattern(r"(?<![\w.])(6[45]\d{3}|42\d{8}) ?(?:-|–|to|through|bis|à|al?) ?(6[45]\d{3}|42\d{8})(?!\w|\.\d)")
_OF_ASN = pattern(r"\b(?:asns?|as numbers?|autonomous systems?|bgp|as-nummern)\b")
_LEAVES = pattern(r"\b(?:leaf|leaves|leafs|tors?|top-of-rack)\b")
_OWN = pattern(r"\b(?:each|every|one|own|unique|private|je|jede\w*|eigene\w*|chaque|cada|propre|propio)\b")


def leaf_numbers_in(sentences: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The ranges of autonomous system numbers that are assigned one per leaf: the words, and how many numbers they
    contain.

    >>> [*leaf_numbers_in(["every leaf has an asn of its own, 65101-65128"])]
    [('65101-65128', 28)]
    >>> [*leaf_numbers_in(["the spines share asn 65000, the leaves 65001"])]
    []
    """
    for sentence in sentences:
        found = [*islice(_ASNS.finditer(sentence), 2)]
        if len(found) == 1 and all(words.search(sentence) for words in (_OF_ASN, _LEAVES, _OWN)):
            yield found[0][0], int(found[0][2]) - int(found[0][1]) + 1


_SPLIT = pattern(
    r"(?<![\w./])(?:\d{1,3}(?:\.\d{1,3}){3})/(\d{1,2})\b[^.;]{0,60}?/(\d\d) (?:per|for (?:each|every)|to (?:each|every)|each|je|pro|par|por|cada|für jede\w*|pour chaque) ?([a-z][\w -]{2,20})"
)
_SPLIT_TURNED = pattern(
    r"(?<![\w./])/(\d\d) (?:per|for (?:each|every)|to (?:each|every)|je|pro|par|por|für jede\w*|pour chaque) ([a-z][\w -]{2,20}?)\b[^.;]{0,40}?\b(?:of|from|out of|within|aus|von|de|dans|in) (?:\d{1,3}(?:\.\d{1,3}){3})/(\d{1,2})(?![\w/]|\.\w)"
)


def splits_in(sentences: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """The blocks in the given sentences that are split into subnets: the words, the number of subnets, and the purpose
    of each.

    >>> [*splits_in(["pods get 10.244.0.0/16, a /24 per node"])]
    [('10.244.0.0/16, a /24 per node', 256, 'node')]
    >>> [*splits_in(["a /31 for each link out of 10.1.0.0/24"])]
    [('/31 for each link out of 10.1.0.0/24', 128, 'link')]
    """
    for index, sentence in enumerate(sentences):
        for match in islice(_SPLIT.finditer(sentence), MOST_MATCHES):
            if int(match[1]) <= int(match[2]) <= 32:
                yield match[0], 1 << (int(match[2]) - int(match[1])), _subnet_purpose(match[3])
        for match in islice(_SPLIT_TURNED.finditer(sentence), MOST_MATCHES):
            if int(match[3]) <= int(match[1]) <= 32:
                yield match[0], 1 << (int(match[1]) - int(match[3])), _subnet_purpose(match[2])
        following = sentences[index + 1] if index + 1 < len(sentences) else ""
        joined = f"{sentence}; {following}" if "mask" in following else sentence
        split = _split_of(joined) if not _SPLIT.search(sentence) and not _SPLIT_TURNED.search(sentence) else None
        if split is not None:
            yield split


_SIZE_OF_EACH = pattern(
    r"\b(?:node[- ]?)?(?:cidr[- ]?)?mask(?:[- ]?size)?(?: is| of)?[ =:]{1,2}/?(\d{2})\b|(?<![\w./])/(\d{2})(?![\w/]|\.\w)"
)
_THING = pattern(
    r"\b(?:per|each|every|je|jede[nrsm]?|pro|par|chaque|cada|por)(?: of the)? (nodes?|servers?|hosts?|racks?|links?|knoten|n(?:œ|oe)uds?|nodos?)\b|(?<!\w)(?:--)?(node)(?:-?cidr)?[- ]?mask"
)


def _split_of(sentence: str) -> tuple[str, int, str] | None:
    """The only block of a sentence, its number of subnets, and the purpose of each; None if any is missing.

    >>> _split_of("each node is assigned a /24 from the pod range 172.16.0.0/16")
    ('172.16.0.0/16 in subnets of /24', 256, 'node')
    """
    blocks = [each for each in islice(_SUBNET.finditer(sentence), 3) if _is_plain(each[1])]
    sizes = {int(one or other) for one, other in _SIZE_OF_EACH.findall(sentence)}
    thing = _THING.search(sentence)
    block = int(blocks[0][2]) if len(blocks) == 1 else 32
    sizes -= {block}
    if len(blocks) != 1 or len(sizes) != 1 or thing is None:
        return None
    size = sizes.pop()
    if not block < size <= 32:
        return None
    return f"{blocks[0][0]} in subnets of /{size}", 1 << (size - block), _subnet_purpose(thing[1] or thing[2])


def _subnet_purpose(words: str) -> str:
    """What a subnet is assigned to: a node, a link, a rack, or something else (empty)."""
    if "link" in words and any(each in words for each in ("nic", "host", "node", "server")):
        return ""
    for name, cue in (("link", "link"), ("rack", "rack"), ("node", "node"), ("node", "server"), ("node", "host")):
        if cue in words:
            return name
    return "node" if words.startswith(("knoten", "nœud", "nodo")) else ""


_VLAN = pattern(r"\bvlans?(?: ids?)? (\d{1,6})(?:(?: ?(?:-|–|to|bis|à|and|,) ?)(\d{1,6}))?(?!\w|\.\w)")
HIGHEST_VLAN = 4094
"""The largest identifier of a VLAN (IEEE 802.1Q): 12 bits, and 4,095 is reserved."""


def impossible_vlan(sentences: Sequence[str]) -> int | None:
    """An identifier of a VLAN beyond 4,094.

    >>> impossible_vlan(["storage in vlan 4200"]), impossible_vlan(["vlans 100-107 and vni 10100"])
    (4200, None)
    """
    for sentence in sentences:
        for match in islice(_VLAN.finditer(sentence), MOST_MATCHES):
            for each in match.groups():
                if each and HIGHEST_VLAN < int(each) < 100_000:
                    return int(each)
    return None
