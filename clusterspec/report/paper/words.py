"""Text for buyers: keys of the spec and names of formulas as words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clusterspec.cluster.model import Cluster
from clusterspec.records import replace
from clusterspec.report.paper.blocks import Block, Bullets, PaperTable, Section, TableRow, Text

ROOTS = "cluster|networks|workload|layout|pools|jobs|measured|acceptance|operations|procurement|document"
ENTRY = re.compile(
    r"\b(?:accelerator|interconnect|model|network|nic|platform|stack|switch|technology)s?/(?=[a-z][^\s/]* [a-z])"
)
"""The kind of a catalog entry before its identifier and a fact."""
ASIDE = re.compile(rf" \(`?(?:{ROOTS})(?:\.\w+)*`?\)")
"""A key in parentheses, which tells where a value is written."""
KEY = re.compile(rf"`?\b(?:{ROOTS})((?:\.[a-z_]+)+)\b`?")
QUOTED = re.compile(r"`([a-z]\w*)`")
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
    """The name of a platform without the count of its accelerators, which the sentence states itself.

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
HEADS = {"scale_out": "fabric between nodes", "scale_up": "links between accelerators", "kv": "KV cache"}


def plain_words(text: str, names: Mapping[str, str] | None = None) -> str:
    """The text without keys of the spec; ``names`` replaces identifiers of the catalog.

    >>> plain_words("not stated (`procurement.warranty`)"), plain_words("no price for `rack_per_month`")
    ('not stated', 'no price for rack per month')
    >>> plain_words("cluster.spare_nodes, in addition"), plain_words("dgx-h100", {"dgx-h100": "DGX H100"})
    ('spare nodes, in addition', 'DGX H100')
    >>> plain_words("tp all-gather (exposed 7 %)"), plain_words("dp_cp reduce-scatter"), plain_words("the all-reduce")
    ('tensor-parallel all-gather (exposed 7 %)', 'data-parallel reduce-scatter', 'the all-reduce')
    >>> plain_words("accelerator/gb300 peak.fp8; systems/gb300.yaml", {"gb300": "GB300"})
    'GB300 peak.fp8; systems/gb300.yaml'
    """
    if text.startswith("https://"):
        return text
    text = ENTRY.sub("", text)
    text = KEY.sub(lambda match: _key_words(match[1]), ASIDE.sub("", text))
    text = COLLECTIVE.sub(_axis_words, text)
    text = QUOTED.sub(lambda match: match[1].replace("_", " "), text)
    for name, shown in (names or {}).items():
        text = re.sub(rf"(?<![\w/-]){re.escape(name)}(?![\w-]|\.\w)", shown.replace("\\", r"\\"), text)
    return text


def _axis_words(match: re.Match[str]) -> str:
    parts = match[1].split("_")
    if match[1] not in AXES and not {*parts} & {"dp", "shard", "replicate", "ddp", "fsdp", "hsdp"}:
        return match[0]
    return f"{AXES.get(match[1], 'data')}-parallel "


def _key_words(path: str) -> str:
    parts = [HEADS.get(part, part.replace("_", " ")) for part in path.split(".") if part]
    return ": ".join(parts) if len(parts) > 1 else parts[0]


def formula_words(formula: str) -> str:
    """A formula of the cost in words.

    >>> formula_words("node + leaf_switch"), formula_words("watts / 1000 * pue * hours * electricity")
    ('node + leaf switch', 'power in kW × PUE × hours of the term × price of a kWh')
    """
    for name, shown in SYMBOLS:
        whole = name[0].isalpha()
        formula = re.sub(rf"\b{name}\b", shown, formula) if whole else formula.replace(name, shown)
    return formula


def catalog_names(cluster: Cluster | None) -> dict[str, str]:
    """The names of the platform, the switches and the NIC of a cluster by their identifiers in the catalog."""
    if cluster is None:
        return {}
    out = cluster.scale_out
    sold = (out.switch, out.nic, out.technology) if out else ()
    used = (cluster.platform, cluster.accelerator, *sold)
    return {entry.id: entry.name for entry in used if entry is not None and entry.id and entry.id != entry.name}


def worded_section(section: Section, names: Mapping[str, str]) -> Section:
    """The section in words; commands, findings and code are unchanged."""
    lead = plain_words(section.lead, names)
    return replace(section, lead=lead, blocks=tuple(_worded_block(block, names) for block in section.blocks))


def _worded_block(block: Block, names: Mapping[str, str]) -> Block:
    if isinstance(block, PaperTable):
        if block.code:
            return block
        formulas = {number for number, column in enumerate(block.columns) if column.key == "formula"}
        return replace(block, rows=tuple(_worded_row(row, formulas, names) for row in block.rows))
    if isinstance(block, Text):
        return replace(block, text=plain_words(block.text, names))
    if isinstance(block, Bullets):
        return replace(block, items=tuple((plain_words(text, names), field) for text, field in block.items))
    return block


def _worded_row(row: TableRow, formulas: set[int], names: Mapping[str, str]) -> TableRow:
    cells = (
        formula_words(cell) if number in formulas else plain_words(cell, names) for number, cell in enumerate(row.cells)
    )
    return replace(row, cells=tuple(cells))
