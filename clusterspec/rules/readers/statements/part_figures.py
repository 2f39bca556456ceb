"""Figures that texts state of parts and models, with the values of their catalog entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clusterspec.catalog.entries import Accelerator, Nic, Platform, Switch
from clusterspec.catalog.models import Model
from clusterspec.catalog.reader import Entry
from clusterspec.quantity import Figure
from clusterspec.rules.readers.named_keys import named_keys_row

SAME, SAME_MEMORY, SAME_COUNT, SAME_PARAMETERS = 0.03, 0.09, 0.001, 0.08
"""Relative differences up to which a figure equals the catalog's: a memory may be in GB or GiB, and parameters are
rounded.
"""
_HAS = r"(?:has|have|had|offers?|provides?|brings?|comes? with|features?|contains?|with|hat|enthält|contient|haben|bietet|bringt|mit|(?<=_ )a|ont|offre|possède|avec|dispose de)\b"
_HAS_CUES = "has have had offers offer provides provide brings bring comes come features feature with hat haben bietet bringt mit a ont offre possède avec dispose"
_USED = (
    r"down\w*|up(?:links?|wards?)?|used|free|spare|idle|left|to(?:wards?)?|for|occupied|busy|connected|spines?|leaf|leaves|servers?|nodes?|rails?|each|per|twin|breakout|split|"
    r"frei|belegt|je|pro|nach|für|libres?|vers|pour|par"
)
_MEMORIES = r"(?:hbm\d?e?|memory|vram|gddr\w*|speicher|mémoire)\b"
_NOT_MEMORY = r"host|system|cpu|grace|dram|ram|lpddr\w*|ddr\d|free|left|usable|used|uses|needs?|takes?|weights?|cache|activations?|states?|per (?:token|layer)|allocated|reserved|budget|l2|sram|of (?:it|which|these)|together|all|storage|ssds?|nvme|disks?|files?|data|checkpoints?|node|box|rack|total|frei|davon"
ROWS = (
    named_keys_row("memory", "size size/accelerator", rf"(?:{_MEMORIES}|{_HAS}|_+(?= \())", f"hbm* memory vram gddr* speicher mémoire {_HAS_CUES} _*", _NOT_MEMORY, "B", SAME_MEMORY, reach=24),
    named_keys_row(
        "memory bandwidth",
        "rate",
        r"(?:memory bandwidth|hbm\d?e?(?: bandwidth)?|bandwidth of its memory|speicherbandbreite|bande passante mémoire)\b",
        "memory hbm* speicherbandbreite mémoire",
        r"achiev\w+|effective|measured|per (?:stack|link)|nvlink|copy|stream|host|read|written|write|reach\w*|of peak|sustain\w*",
        "B/s",
        SAME,
    ),
    named_keys_row(
        "largest power",
        "watts watts/accelerator watts/node",
        r"(?:tdp|tgp|tbp|(?:at (?:its |the |most|full)?)?(?:max(?:imum|imal)?\w*|peak)|at most|nameplate|rated|höchst\w*|au (?:plus|maximum))\b",
        "tdp tgp tbp max maximum maximal peak most nameplate rated höchst* plus",
        r"capped|cap|limit\w*|average|typical\w*|measured|idle|together|all|rack|budget|cooling|cdu|configur\w*|set|reduced|feeds?|pdu|supply|supplies|psu|without|switch\w*",
        "W",
        0.06,
    ),
    named_keys_row(
        "accelerators",
        "accelerator accelerator/rack accelerator/node",
        _HAS,
        _HAS_CUES,
        r"used|use|only|job|work\w*|tp|spare|of which|replica|engine|grace|nodes|racks|pod|superpod|cluster|domain|of|for|job|train\w*|serv\w*",
        same=SAME_COUNT,
    ),
    named_keys_row("cages", "cage cage/switch", _HAS, _HAS_CUES, r"used|free|spare|left|idle|needs?|of which|total|together|frei|belegt", same=SAME_COUNT),
    named_keys_row("ports", "port port/switch", _HAS, _HAS_CUES, _USED, same=SAME_COUNT),
    named_keys_row("layers", "layer", cues="layer layers schichten couches", unless=r"per|each|stage|first|last|of (?:these|them|which|the)|dense|moe|sliding|window\w*|local|global|linear|full|sparse|draft|mtp|recomput\w*|embedding|je|pro", same=SAME_COUNT),
    named_keys_row("hidden size", "count", r"(?:hidden (?:size|dimension|width)|d_model|model dimension|embedding dimension)(?: (?:of|is))?", "hidden d_model dimension", r"ffn|feed|mlp|expert|intermediate", same=SAME_COUNT, reach=40),
    named_keys_row("KV heads", "head", r"(?:kv|key-value)[- ]heads?\b", "kv key", "per|rank|gpu|replicat\\w*|each", same=SAME_COUNT, reach=0),
    named_keys_row("query heads", "head", r"(?:query|q|attention)[- ]heads?\b", "query attention q", "per|rank|gpu|each", same=SAME_COUNT, reach=0),
    named_keys_row("active parameters", "parameter count", r"(?:(?:of which|davon|dont)\b(?=[^.;]{0,30}\b(?:activ|aktiv|actif))|activ\w+|aktiv\w*|actifs?)\b", "activ* aktiv* actif actifs", r"experts?|layers?|ranks?|users?|links?|tokens", same=SAME_PARAMETERS, least=1e8),
    named_keys_row("parameters", "parameter", cues="parameter parameters params param paramètres", unless=r"active|activat\w*|aktiv\w*|actifs?|activés?|trainable|adapter|lora|embedding|per|each|encoder|draft|expert|non-?embedding|shard", same=SAME_PARAMETERS, least=1e8),
    named_keys_row("experts", "expert", cues="expert experts experten", unless=r"per (?!token)\w+|rank|gpu|each|every|routes?|routed to|active|activat\w*|chosen|chooses?|picks?|top|shared|redundant|replica\w*|token|select\w*|aktiv\w*|je", same=SAME_COUNT, least=3),
    named_keys_row("experts of a token", "expert count expert/token", r"(?:routes?|routed|activates?|active|chooses?|chosen|picks?|top-?k?|per token|selects?|each token|for each token|per token)\b", "route* activ* choose* chosen pick* top token select*", r"shared|parameters?|billion|milliarden|rank|gpu|layers?", same=SAME_COUNT, most=64, reach=30),
    named_keys_row("context", "token count", r"(?:context(?: (?:window|length))?|kontext(?:fenster|länge)?|fenêtre de contexte)(?: (?:of|is|von|de))?\b", "context kontext* contexte", r"users?|we|our|run|extend\w*|train\w*|limit\w*|serv\w*|prompt\w*|set|use[sd]?|need\w*|up to|cut|request\w*|pack\w*|sequence\w*|stage|phase|yarn|rope|original\w*|native\w*", same=0.05, least=1000),
)  # fmt: skip
"""The facts that texts state of parts, by the names that messages use."""


def values_of_parts(entries: Iterable[Entry]) -> dict[str, Sequence[float]]:
    """The values that the entries which a name may mean have for each row."""
    found: dict[str, list[float]] = {}
    for entry in entries:
        for name, values in _values_of_entry(entry).items():
            found.setdefault(name, []).extend(each for each in values if each)
    return {name: values for name, values in found.items() if values}


def _values_of_entry(entry: Entry) -> Mapping[str, Sequence[float]]:
    if isinstance(entry, Accelerator):
        return _values_of_accelerator(entry)
    if isinstance(entry, Platform):
        count = entry.accelerators_per_node or 0
        sizes = (count, entry.domain or 0, *entry.node_sizes, count * entry.sold_nodes)
        return {"accelerators": sizes, "largest power": _si_values(entry.power, entry.power_typical, entry.rack_power)}
    if isinstance(entry, Switch):
        ports, most = entry.ports or 0, max(entry.splits or 0, entry.ports or 0)
        split = [ports * ways for ways in (1, 2, 4, 8) if ports * ways <= most]
        ports_of = (*split, most, ports + (entry.management_ports or 0), entry.cages or 0, entry.access_ports or 0)
        return {
            "cages": (entry.cages or 0,),
            "ports": ports_of,
            "largest power": _si_values(entry.power, entry.power_typical),
        }
    if isinstance(entry, Nic):
        return {
            "ports": (entry.ports or 0, entry.ethernet_ports or 0, 1, 2),
            "largest power": _si_values(entry.power, entry.power_typical),
        }
    return _values_of_model(entry) if isinstance(entry, Model) else {}


def _si_values(*figures: Figure | None) -> tuple[float, ...]:
    return tuple(each.value for each in figures if each is not None)


def _values_of_accelerator(entry: Accelerator) -> Mapping[str, Sequence[float]]:
    printed = [float(each) * 1e9 for each in entry.memory_printed.split() if each.isdecimal()]
    return {
        "memory": (*_si_values(entry.memory), *printed),
        "memory bandwidth": _si_values(entry.memory_bandwidth),
        "largest power": _si_values(entry.power, entry.power_typical, entry.power_lowest),
    }


def _values_of_model(entry: Model) -> Mapping[str, Sequence[float]]:
    predicted = entry.prediction.layers if entry.prediction is not None else 0
    return {
        "layers": (*_counts_of_layers(entry), entry.layers + predicted),
        "hidden size": (entry.hidden,),
        "KV heads": (entry.kv_heads, *((entry.window.kv_heads,) if entry.window is not None else ())),
        "query heads": (entry.heads, *((entry.window.heads,) if entry.window is not None else ())),
        "parameters": _with_whole_billions(_si_values(entry.parameters)),
        "active parameters": _with_whole_billions(_si_values(entry.active_parameters)),
        "experts": (entry.experts, entry.experts + entry.shared_experts),
        "experts of a token": (entry.experts_per_token, entry.experts_per_token + entry.shared_experts),
        "context": (entry.max_sequence_length or 0,),
    }


def _with_whole_billions(values: Sequence[float]) -> tuple[float, ...]:
    """Numbers of parameters, with the whole billions that names use: 3.3B active parameters are `A3B`.

    >>> _with_whole_billions((3.3e9,))
    (3300000000.0, 3000000000.0)
    """
    return (*values, *(each // 1e9 * 1e9 for each in values))


def _counts_of_layers(entry: Model) -> Iterator[int]:
    yield from (entry.layers, entry.moe_layers, entry.attention_layers, entry.ffn_layers, entry.dense_layers)
    yield from (entry.window_layers, entry.full_layers, entry.linear_layers)
