"""The common layouts that a starting spec may have, on growing numbers of nodes, and the text of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

from clusterspec.catalog.entries import Accelerator, Platform
from clusterspec.catalog.models import Model
from clusterspec.cost.parameters import model_weights
from clusterspec.records import dataclass
from clusterspec.rules.fabric.roce_without_flow_control import TECHNOLOGIES as LOSSY
from clusterspec.source import Path

DEGREES = (1, 2, 4, 8, 16, 32, 64)
EXPERT_DEGREES = (8, 16, 32, 64)
NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
PRECISIONS = {"train": ("bf16", "fp16", "fp8", "fp32"), "serve": ("bf16", "fp16", "fp8", "fp4", "fp32")}
"""Precisions of GEMMs by kind of work, most usual first. A template uses the first with a published peak."""
LEAST_BYTES = {"train": 16, "serve": 1}
"""Minimum bytes per parameter over all accelerators: Adam with fp32 states in training, fp8 weights in serving."""
LEAST_BYTES_OF_RANK = {"train": 6, "serve": 1}
"""The part of `LEAST_BYTES` that data parallelism does not divide: bf16 weights and fp32 gradients in training, fp8
weights in serving.
"""
OUTPUT_TOKENS = 256
"""Output tokens of a typical request. Prompt and output together fit in the model's context."""
USUAL_CONCURRENCY = 16
"""Requests in flight of a template. With more engines than this, one request per engine."""
COMMENTS = 32
"""The column of comments."""
MOST_OF_NODES = 400
"""Maximum number of layouts tried for one number of nodes."""


@dataclass(frozen=True)
class Attempt:
    """A candidate layout: number of nodes, degrees of parallelism and precision."""

    nodes: int
    tp: int
    pp: int
    ep: int
    recompute: str
    precision: str
    ranks: int

    @property
    def global_batch(self) -> int:
        """A global batch in sequences that is divisible by the data-parallel ranks: at least 256, at least eight per
        node, and large enough that the pipeline bubble, (pp - 1) / (micro-batches + pp - 1), is at most a tenth of the
        step.
        """
        copies = max(self.ranks // (self.tp * self.pp), 1)
        least = max(256, self.nodes * 8, 9 * (self.pp - 1) * copies)
        return -(-least // copies) * copies

    def text(
        self, platform: Platform, model: Model, kind: str, framework: str, advised: Mapping[Path, str] | None = None
    ) -> str:
        """The commented spec; ``advised`` are the values of `ADVISED` keys."""
        advised = advised or {}
        length = min(model.max_sequence_length or 8192, 8192)
        training = f"""\
  sequence_length: {length}  # tokens
  global_batch: {self.global_batch}  # sequences per optimizer step
  precision: {self.precision}
"""
        published = _checkpoint_text(model) if kind == "serve" and self.precision == PRECISIONS[kind][0] else ""
        stated = "" if published else f"  precision: {self.precision}\n"
        prompt = min(2048, max(length - OUTPUT_TOKENS, 1))
        serving = f"""\
  kind: serve
{stated}  serving:
    input_tokens: {prompt}  # of a usual request
    output_tokens: {OUTPUT_TOKENS}
    concurrency: {max(USUAL_CONCURRENCY, self.ranks // (self.tp * self.pp))}  # requests in flight
"""
        layout = f"  framework: {framework}\n  tp: {self.tp}  # ranks that divide each layer (tensor parallelism)\n"
        if kind == "train" or self.pp > 1:
            layout += f"  pp: {self.pp}  # pipeline stages\n"
        if self.ep > 1:
            layout += f"  ep: {self.ep}  # ranks that the experts of a layer lie on\n"
            layout += "  expert_tp: 1  # ranks that divide each expert\n" if self.tp > 1 else ""
        if (stages := advised.get(("layout", "stage_layers"))) is not None:
            layout += f"  stage_layers: {stages}\n"
        if kind == "train":
            layout += "  micro_batch: 1  # sequences\n"
            layout += f"  recompute: {self.recompute}  # none, selective or full\n"
        return aligned_spec(f"""\
# yaml-language-server: $schema=https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json
# {platform.name}, for {"training" if kind == "train" else "serving"} {model.name}. `clusterspec check FILE` checks it,
# `clusterspec estimate FILE` predicts memory and time.
clusterspec: 1
name: {platform.id}-{model.id}

cluster:
  platform: {platform.id}  # fills every key of the cluster that is not given here
  nodes: {self.nodes}  # nodes that do work; `spare_nodes` come on top
{_scale_out_text(platform, advised)}
workload:
  model: {model.id}  # {published or "a catalog entry, or a mapping that describes the model"}
{training if kind == "train" else serving}
layout:
{layout}""")


def _scale_out_text(platform: Platform, advised: Mapping[Path, str]) -> str:
    """The `scale_out` keys of a template: advised values, and flow control of a RoCE fabric unless the platform's
    provider states it.
    """
    lines = [f"    {path[-1]}: {value}\n" for path, value in advised.items() if path[:2] == ("cluster", "scale_out")]
    stated = platform.cloud or platform.pfc is not None or platform.ecn is not None
    if not stated and LOSSY.intersection(platform.technologies[:1]):
        lines.append("    flow_control: {pfc: true, ecn: true}  # RoCE drops packets without it\n")
    return "  scale_out:\n" + "".join(lines) if lines else ""


def _checkpoint_text(model: Model) -> str:
    """A comment on the weight precision that comes from the model's published checkpoint; empty for plain bf16."""
    weights, experts = model.checkpoint_precision, model.checkpoint_expert_precision
    if weights is None or {weights, experts} <= {"bf16", None}:
        return ""
    return f"weights as in the published checkpoint: {weights}" + (f", experts {experts}" if experts else "")


def aligned_spec(text: str) -> str:
    """A spec with its comments in one column.

    >>> print(aligned_spec("nodes: 4  # that work\\nplatform: dgx-h100  # an entry"))
    nodes: 4                        # that work
    platform: dgx-h100              # an entry
    """
    split = (line.partition("  # ") for line in text.split("\n"))
    return "\n".join(f"{left.ljust(COMMENTS - 2)}{mark}{right}" if mark else left for left, mark, right in split)


def candidate_layouts(
    platform: Platform, chip: Accelerator | None, model: Model, kind: str, nodes: int | None
) -> Iterator[Attempt]:
    """Candidate layouts on ``nodes`` nodes. If no number is given, on increasing numbers of nodes, or of the units in
    which the platform is sold, that have enough memory for the parameters.
    """
    units = NODES[_fewest_nodes(platform, chip, model, kind) :]
    for number in (nodes,) if nodes else (platform.sold_nodes * each for each in units):
        yield from islice(_layouts_on_nodes(number, platform, chip, model, kind), MOST_OF_NODES)


def _layouts_on_nodes(
    nodes: int, platform: Platform, chip: Accelerator | None, model: Model, kind: str
) -> Iterator[Attempt]:
    """Candidate layouts on ``nodes`` nodes whose ranks hold their share of the model, lowest degrees first.

    Pipeline stages are added once tp fills a node, or the largest power of two that divides it (`node & -node`). On
    accelerators joined by PCIe, over which tp is slow, they are added from the start.
    """
    each = chip.ranks_per_accelerator if chip else 1
    node = (platform.accelerators_per_node or 1) * each
    reach, ranks = (platform.domain or platform.accelerators_per_node or 1) * each, nodes * node
    precision = _usual_precision(chip, kind)
    cut = model_weights(model).total * LEAST_BYTES_OF_RANK[kind] / chip.memory.value if chip and chip.memory else 1
    stages = sorted({*DEGREES, *(pp for pp in range(1, DEGREES[-1] + 1) if nodes % pp == 0)})
    usual = 1 if _is_joined_by_pcie(platform, chip) else min(node & -node, 4)
    for recompute in ("none", "selective", "full") if kind == "train" else ("none",):
        for ep in _expert_degrees(model, ranks, kind):
            for pp, tp in product(stages, DEGREES):
                split = pp * max(tp, ep)  # whole experts on each rank of ep: tp divides only the other weights
                whole = tp <= reach and split <= ranks and ranks % split == 0 and split >= cut
                if whole and pp <= (model.layers or pp) and (pp == 1 or ep > 1 or tp >= usual):
                    yield Attempt(nodes, tp, pp, ep, recompute, precision, ranks)


def _is_joined_by_pcie(platform: Platform, chip: Accelerator | None) -> bool:
    """Whether the accelerators of a node have no scale-up interconnect of their own."""
    joined = (platform.interconnect,) if platform.interconnect else chip.interconnects[:1] if chip else ()
    return any(name.startswith("pcie") for name in joined)


def _usual_precision(chip: Accelerator | None, kind: str) -> str:
    """The most usual precision with a published peak, else one that the accelerator supports."""
    supported = (chip.peaks, chip.unpublished_peaks) if chip else ()
    return next((one for known in supported for one in PRECISIONS[kind] if one in known), "bf16")


def _fewest_nodes(platform: Platform, chip: Accelerator | None, model: Model, kind: str) -> int:
    """The index in `NODES` of the smallest number of nodes, or of units of sale, with enough memory for the
    parameters.
    """
    if chip is None or not chip.memory:
        return 0
    needed = model_weights(model).total * LEAST_BYTES[kind]
    each = platform.sold_nodes * (platform.accelerators_per_node or 1) * chip.memory.value
    return next((number for number, nodes in enumerate(NODES) if nodes * each >= needed), len(NODES) - 1)


def _expert_degrees(model: Model, ranks: int, kind: str) -> tuple[int, ...]:
    """The degrees of expert parallelism to try."""
    if kind != "train" or not model.experts:
        return (1,)
    return (*(ep for ep in EXPERT_DEGREES if model.experts % ep == 0 and ep <= ranks), 1)
