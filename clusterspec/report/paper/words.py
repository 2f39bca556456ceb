"""Text for buyers: keys of the spec and names of formulas as words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.records import replace
from clusterspec.report.paper.blocks import (
    Block,
    Bullets,
    Findings,
    LocatedFinding,
    PaperTable,
    Section,
    TableRow,
    Text,
)
from clusterspec.units import plural

ROOTS = "cluster|networks|workload|layout|pools|jobs|measured|acceptance|operations|procurement|document"
ENTRY = re.compile(
    r"\b(?:accelerator|interconnect|model|network|nic|platform|stack|switch|technology)s?/(?=[a-z][^\s/]* [a-z])"
)
"""The kind of a catalog entry before its identifier and a fact."""
ASIDE = re.compile(rf" \(`?(?:{ROOTS})(?:\.\w+)*`?\)")
"""A key in parentheses that states where a value is written."""
KEY = re.compile(rf"`?\b(?:{ROOTS})((?:\.[a-z_]+(?:\[\d{{1,6}}\])?)+)(?!\w)`?")
WRITTEN = re.compile(r"^(?:cluster\.nodes|cluster\.networks\.storage)(?=$|[,;])")
"""A key without further text, as the derivation of a number that the spec states."""
UNPRICED = re.compile(r": no price for `\w+`")
QUOTED = re.compile(r"`([^`]+)`")
NAME = re.compile(r"(?:[a-z]\w*\.)*(?P<last>[a-z]\w*)")
PAIRS = re.compile(r"\b(?P<key>[a-z]\w*): (?P<value>\{[^{}]*\}|\[[^\[\]]*\]|[^,{}\[\]]+)(?:, )?")
"""A key with its value, as in remedies: `tp: 8`, `overlap: {ep: true}`."""
GROUPS = re.compile(r"\b(?P<axis>tp|cp|ep|pp|dp)(?= groups?\b)")
ANSWERS = {"true": "yes", "false": "no"}
SYMBOLS = (
    ("watts / 1000", "power in kW"),
    ("pue", "PUE"),
    ("hours", "hours of the term"),
    ("electricity", "price of a kWh"),
    ("*", "×"),
    ("_", " "),
)
"""Names and symbols of the cost formulas, with their meaning."""


def name_in_sentence(name: str) -> str:
    """The name of a platform without its number of accelerators, which the sentence states separately.

    >>> name_in_sentence("HGX H200, eight GPUs"), name_in_sentence("HGX H20, eight GPUs of 96 GB")
    ('HGX H200', 'HGX H20, eight GPUs of 96 GB')
    >>> name_in_sentence("Azure, Vera Rubin NVL72")
    'Azure, Vera Rubin NVL72'
    """
    kind, _, rest = name.partition(", ")
    return kind if rest.startswith("eight ") and " of " not in rest else name


AXES = {"tp": "tensor", "expert_tp": "tensor", "cp": "context", "ep": "expert", "pp": "pipeline"}
COLLECTIVE = re.compile(r"\b([a-z]+(?:_[a-z]+)?) (?=(?:all-gather|reduce-scatter|all-reduce|all-to-all|send-recv)\b)")
"""An axis of a layout before its collective; axes that are not listed are data parallel."""
_DEGREES = r"(?:tp|adp|ep|pp) \d+(?: (?:tp|adp|ep|pp) \d+)*"
ENGINES = re.compile(rf"\b(?P<number>[\d,]+) × (?P<degrees>{_DEGREES})(?: (?P<side>prefill|decode)\b)?")
HEADS = {
    "scale_out": "fabric between nodes",
    "scale_up": "links between accelerators",
    "kv": "KV cache",
    "software_year": "year of the software",
    "micro_batch": "micro-batch size",
    "tp": "tensor parallelism",
    "expert_tp": "tensor parallelism of experts",
    "cp": "context parallelism",
    "cp_method": "method of context parallelism",
    "ep": "expert parallelism",
    "pp": "pipeline parallelism",
    "dp": "data parallelism",
    "sequence_parallel": "sequence parallelism",
    "kv_precision": "precision of the KV cache",
    "gpudirect_rdma": "GPUDirect RDMA",
    "nic": "NIC",
    "nic_bandwidth": "NIC bandwidth",
    "nics_per_node": "NICs per node",
    "cdu": "CDU",
    "as_of": "date",
    "burn_in": "burn-in",
    "recompute": "recomputation",
    "shares": "shared network",
    "pue": "PUE",
}
UNCOUNTED = frozenset({"storage", "support_per_year"})
"""Keys of `procurement.prices` for things that are not counted, so that they have no article."""
FACT = re.compile(r"(?P<entry>.*\S) (?P<fact>[a-z]\w*(?:\.\w+)*)|(?P<alone>[a-z]\w*(?:\.\w+)+)")
"""The name of an entry followed by one of its facts, or a dotted fact without an entry."""
PRECISION = re.compile(r"(?P<rate>sustained|peak|matmul)\.(?P<of>\w+)")
RATES = {"sustained": "sustained GEMM rate", "peak": "peak rate", "matmul": "measured GEMM rate"}
FACTS = {
    "power.max": "maximum power",
    "products": "GEMM rate kept in a step",
    "products.grouped": "rate of grouped GEMMs",
    "attention.backward": "backward pass of attention",
    "memory.context": "memory of the driver and kernels",
    "memory.communicator": "buffers of a communicator",
    "memory.fragmentation": "reserved over allocated memory",
    "memory.logits": "memory per logit",
    "fusion": "fused share of the traffic",
    "interference": "slowdown by overlapped communication",
    "unevenness": "imbalance of experts",
    "hidden.tensor": "overlapped tensor-parallel traffic",
    "tensor.copies": "copies at each tensor-parallel collective",
    "launch.gap": "time between kernel launches",
    "nic_bandwidth": "NIC bandwidth",
    "scale_out.nic_bandwidth": "NIC bandwidth",
    "scale_up_bandwidth": "scale-up bandwidth",
    "scale_up.bandwidth": "scale-up bandwidth",
    "scale_up.peer_bandwidth": "scale-up bandwidth of a pair",
    "latent_rope": "rotary part of the latent",
    "vocab": "vocabulary",
    "heads": "attention heads",
    "hidden": "hidden size",
    "ring": "share of the line rate in a ring",
}
"""Facts of catalog entries whose identifiers differ from their usual names."""


def plain_words(text: str, names: Mapping[str, str] | None = None) -> str:
    """The text without keys of the spec; ``names`` replaces identifiers of the catalog.

    >>> plain_words("not stated (`procurement.warranty`)"), plain_words("no price for `rack_per_month`")
    ('not stated', 'no price for rack per month')
    >>> plain_words("cluster.nodes"), plain_words("out-of-band cable: no price for `out_of_band_cable`")
    ('as the spec states', 'out-of-band cable: no price')
    >>> plain_words("cluster.spare_nodes, in addition"), plain_words("dgx-h100", {"dgx-h100": "DGX H100"})
    ('spare nodes, in addition', 'DGX H100')
    >>> plain_words("tp all-gather (exposed 7 %)"), plain_words("dp_cp reduce-scatter"), plain_words("the all-reduce")
    ('tensor-parallel all-gather (exposed 7 %)', 'data-parallel reduce-scatter', 'the all-reduce')
    >>> plain_words("use `ep: 8, recompute: full` or `overlap: {ep: true}`; `clusterspec faults`")
    'use expert parallelism 8, recomputation: full or overlap: expert parallelism: yes; `clusterspec faults`'
    >>> plain_words("`item` is not a key of `procurement.quote[0]`; `sku` is not a key of `procurement.quote[1]`")
    'item is not a key of quote, entry 1; sku is not a key of quote, entry 2'
    >>> plain_words("`prices.node` is 420,000 EUR"), plain_words("write `shares: scale_out`")
    ("the spec's price of a node is 420,000 EUR", 'write shared network: fabric between nodes')
    >>> plain_words("accelerator/gb300 peak.fp8; systems/gb300.yaml", {"gb300": "GB300"})
    'GB300 peak.fp8; systems/gb300.yaml'
    >>> plain_words("4 × tp 4 prefill + 1 × adp 8 ep 8 decode, or 2 × tp 8 (in all)")
    '4 prefill engines of 4 ranks + 1 decode engine of 8 ranks, or 2 engines of 8 ranks (in all)'
    """
    if text.startswith("https://"):
        return text
    text = UNPRICED.sub(": no price", WRITTEN.sub("as the spec states", ENTRY.sub("", text)))
    text = KEY.sub(lambda match: _key_words(match[1]), ASIDE.sub("", text))
    text = ENGINES.sub(_engine_words, collective_words(text))
    text = GROUPS.sub(lambda match: f"{AXES.get(match['axis'], 'data')}-parallel", text)
    text = QUOTED.sub(lambda match: _written_words(match[1]) or match[0], text)
    for name, shown in (names or {}).items():
        text = re.sub(rf"(?<![\w/-]){re.escape(name)}(?![\w-]|\.\w)", shown.replace("\\", r"\\"), text)
    return text


def _written_words(code: str) -> str:
    """The words for a key, or for keys with values; empty for commands and other code."""
    if (name := NAME.fullmatch(code)) is not None:
        last = HEADS.get(name["last"], name["last"].replace("_", " "))
        if not code.startswith(("prices.", "procurement.prices.")):
            return last
        return f"the spec's price of {'' if name['last'] in UNCOUNTED else 'a '}{last}"
    pairs = list(PAIRS.finditer(code))
    if "".join(pair[0] for pair in pairs) != code:
        return ""
    return ", ".join(_pair_words(pair["key"], pair["value"].strip()) for pair in pairs)


def _pair_words(key: str, value: str) -> str:
    head = HEADS.get(key, key.replace("_", " "))
    if value.startswith("{"):
        return f"{head}: {_written_words(value[1:-1]) or value}"
    between = " " if value[0].isdigit() else ": "
    return f"{head}{between}{ANSWERS.get(value, HEADS.get(value, value))}"


def collective_words(text: str) -> str:
    """The text with the axis of each collective in words.

    >>> collective_words("dp_cp reduce-scatter and other traffic"), collective_words("one all-reduce")
    ('data-parallel reduce-scatter and other traffic', 'one all-reduce')
    """
    return COLLECTIVE.sub(_axis_words, text)


def _engine_words(match: re.Match[str]) -> str:
    """The number of engines and their ranks; expert parallelism takes the ranks of the other axes."""
    ranks = prod(int(size) for axis, size in re.findall(r"\b(\w+) (\d+)", match["degrees"]) if axis != "ep")
    kind = f"{match['side']} engine" if match["side"] else "engine"
    return f"{plural(int(match['number'].replace(',', '')), kind)} of {plural(ranks, 'rank')}"


def _axis_words(match: re.Match[str]) -> str:
    parts = match[1].split("_")
    if match[1] not in AXES and not {*parts} & {"dp", "shard", "replicate", "ddp", "fsdp", "hsdp"}:
        return match[0]
    return f"{AXES.get(match[1], 'data')}-parallel "


def _key_words(path: str) -> str:
    return ": ".join(_step_words(part) for part in path.split(".") if part)


def _step_words(part: str) -> str:
    """The words for one part of a key path, with its place in a list: ``quote[0]`` is entry 1."""
    name, _, index = part.partition("[")
    return HEADS.get(name, name.replace("_", " ")) + (f", entry {int(index[:-1]) + 1}" if index else "")


def fact_words(text: str) -> str:
    """The name of an entry with one of its facts in words; other texts are unchanged.

    >>> fact_words("H100 SXM5 80 GB sustained.bf16"), fact_words("B200 SXM 180 GB attention.y2025")
    ('H100 SXM5 80 GB: sustained GEMM rate, bf16', 'B200 SXM 180 GB: attention kernels of 2025')
    >>> fact_words("HGX H200 scale_up_bandwidth"), fact_words("memory.communicator"), fact_words("attention")
    ('HGX H200: scale-up bandwidth', 'buffers of a communicator', 'attention')
    """
    match = FACT.fullmatch(text)
    if match is None:
        return text
    entry, said = match["entry"], _fact_text(match["fact"] or match["alone"])
    return f"{entry}: {said}" if entry else said


def _fact_text(fact: str) -> str:
    rate = PRECISION.fullmatch(fact)
    if rate is not None:
        return f"{RATES[rate['rate']]}, {rate['of']}"
    if fact.startswith("attention.y"):
        return f"attention kernels of {fact.removeprefix('attention.y')}"
    return FACTS.get(fact) or fact.replace(".", ", ").replace("_", " ")


def formula_words(formula: str) -> str:
    """A formula of the cost in words.

    >>> formula_words("node + leaf_switch"), formula_words("watts / 1000 * pue * hours * electricity")
    ('node + leaf switch', 'power in kW × PUE × hours of the term × price of a kWh')
    """
    for name, shown in SYMBOLS:
        whole = name[0].isalpha()
        formula = re.sub(rf"\b{name}\b", shown, formula) if whole else formula.replace(name, shown)
    return formula


def catalog_names(
    cluster: Cluster | None, layout: Layout | None = None, workload: Workload | None = None
) -> dict[str, str]:
    """The names of the platform, the switches, the NIC, the software and the model of a design by their identifiers."""
    stack, model = layout.stack if layout is not None else None, workload.model if workload is not None else None
    software = {stack.id: stack.name.partition(", from ")[0]} if stack is not None else {}
    software |= (
        {model.id: model.name.partition(", changed")[0]}
        if model is not None and "-" in model.id and model.id != model.name
        else {}
    )
    if cluster is None:
        return software
    out = cluster.scale_out
    sold = (out.switch, out.nic, out.technology) if out else ()
    used = (cluster.platform, cluster.accelerator, cluster.scale_up.interconnect, *sold)
    sold_names = {entry.id: entry.name for entry in used if entry is not None and entry.id and entry.id != entry.name}
    return sold_names | software


def worded_section(section: Section, names: Mapping[str, str]) -> Section:
    """The section in words; commands and code are unchanged."""
    lead = plain_words(section.lead, names)
    return replace(section, lead=lead, blocks=tuple(_worded_block(block, names) for block in section.blocks))


def _worded_block(block: Block, names: Mapping[str, str]) -> Block:
    if isinstance(block, PaperTable):
        if block.code:
            return block
        kinds = tuple("formula" if column.key == "formula" else column.label for column in block.columns)
        return replace(block, rows=tuple(_worded_row(row, kinds, names) for row in block.rows))
    if isinstance(block, Text):
        return replace(block, text=plain_words(block.text, names))
    if isinstance(block, Bullets):
        return replace(block, items=tuple((plain_words(text, names), field) for text, field in block.items))
    if isinstance(block, Findings):
        return replace(block, shown=tuple(_worded_finding(one, names) for one in block.shown), named=False)
    return block


def _worded_finding(finding: LocatedFinding, names: Mapping[str, str]) -> LocatedFinding:
    """A finding without the line of the spec."""
    found = finding.finding
    message, remedy = plain_words(found.message, names), plain_words(found.help, names) if found.help else found.help
    return replace(finding, finding=replace(found, message=message, help=remedy), line="")


def _worded_row(row: TableRow, kinds: tuple[str, ...], names: Mapping[str, str]) -> TableRow:
    cells = (_worded_cell(cell, kind, names) for cell, kind in zip(row.cells, kinds, strict=True))
    return replace(row, cells=tuple(cells))


def _worded_cell(cell: str, kind: str, names: Mapping[str, str]) -> str:
    """A cell of a column of formulas, of assumptions, of the facts that a source states, or of another kind."""
    if kind == "formula":
        return formula_words(cell)
    if kind == "Key":
        return KEY.sub(lambda match: _key_words(match[1]), cell)
    if kind == "For":
        return "; ".join(fact_words(plain_words(each, names)) for each in cell.split("; "))
    shown = plain_words(cell, names)
    if kind != "Assumed" or KEY.fullmatch(cell):
        return shown
    return fact_words(f"{shown}_bandwidth" if shown.endswith(" memory") else shown)
