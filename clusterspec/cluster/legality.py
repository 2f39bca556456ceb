"""Legality of a layout: the requirements of a framework, one condition for each rule that reports it.

Rules, their advice and search share these conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import lcm

from clusterspec.catalog.frameworks import Capabilities, Statement
from clusterspec.catalog.models import Model
from clusterspec.catalog.support import Combination, undecided
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.uses import recomputation_uses, settings, sharding_use
from clusterspec.records import dataclass

ENDS = 2
"""The first and the last stage."""


def forbids_pipeline(capabilities: Capabilities, sharding: str) -> bool:
    """Whether a framework does not support this sharding with pipeline parallelism."""
    return capabilities.refuses("pipeline." + sharding)


def forbids_expert_parallel(capabilities: Capabilities, sharding: str) -> bool:
    """Whether a framework does not support this sharding with expert parallelism."""
    return capabilities.refuses("expert_parallel." + sharding)


def forbids_uneven_stages(capabilities: Capabilities, virtual_stages: int, shorter: int) -> bool:
    """Whether a framework does not support stages of which ``shorter`` at the ends have a layer less.

    Only frameworks that are known to place layers on virtual stages run virtual ones that differ.
    """
    return (
        capabilities.refuses("stages.uneven")
        or (virtual_stages > 1 and not capabilities.has("stages.uneven_virtual"))
        or (shorter > ENDS and capabilities.refuses("stages.uneven_inside"))
    )


@dataclass(frozen=True, slots=True)
class Demands:
    """The inputs of the conditions: the ranks of the job, the framework, the model, the global batch in sequences and
    the sequence length in tokens. A part that is None imposes no condition.
    """

    ranks: int
    capabilities: Capabilities
    model: Model | None
    batch: int | None
    sequence: int | None
    fp8_weights: bool = False
    """The engine loads an fp8 checkpoint."""
    refused: tuple[Combination, ...] = ()
    """What the framework does not combine, as far as the layout decides it."""


@dataclass(frozen=True, slots=True)
class LayoutNumbers:
    """The numbers of a layout; dp follows from the ranks."""

    tp: int
    cp: int
    ep: int
    expert_tp: int
    pp: int
    virtual_stages: int
    micro_batch: int
    interleaved: bool
    sequence_parallel: bool
    own_stages: bool
    ring: bool
    """Context parallelism gives each rank two chunks; otherwise one."""
    attention_dp: int = 1
    redundant_experts: int = 0
    sharding: str = ""
    """Of model states; empty where it is not decided."""
    schedule: str = ""
    """Of the pipeline; empty where it is not decided."""
    recompute: str | tuple[str, ...] = ""
    """Of activations; empty where it is not decided."""

    @property
    def replica(self) -> int:
        """Ranks of one replica."""
        return self.tp * self.attention_dp * self.cp * self.pp

    def dp(self, demands: Demands) -> int:
        return max(1, demands.ranks // self.replica)

    def micro_batches(self, demands: Demands) -> int | None:
        """Micro-batches per replica and step; None where that is not an integer, or the batch is not known."""
        if demands.batch is None or demands.batch % (self.dp(demands) * self.micro_batch):
            return None
        return demands.batch // (self.dp(demands) * self.micro_batch)


def demands_of(design: Design) -> Demands:
    """The inputs of the conditions of a design with a cluster and a layout."""
    cluster, layout, workload = design.cluster, design.layout, design.workload
    assert cluster is not None and layout is not None
    training = workload if workload and workload.kind == "train" else None
    ranks = layout.tp * layout.data_ranks * layout.cp * layout.pp
    return Demands(
        ranks if layout.separate_engines else layout.nodes * cluster.ranks_per_node,
        layout.capabilities,
        workload.model if workload else None,
        training.global_batch if training else None,
        training.sequence_length if training else None,
        serves_fp8(workload),
        undecided_refusals(cluster, workload, layout),
    )


def serves_fp8(workload: Workload | None) -> bool:
    """Whether a workload serves from fp8 weights."""
    if workload is None or workload.serving is None:
        return False
    kept = workload.expert_parameter_precision if workload.model.experts else workload.parameter_precision
    return kept == "fp8"


def undecided_refusals(cluster: Cluster, workload: Workload | None, layout: Layout) -> tuple[Combination, ...]:
    """What the framework does not combine, as far as degrees, sharding, schedule and recomputation decide."""
    refused = layout.capabilities.refused
    return undecided((each.combination for each in refused), settings(cluster, workload, layout)) if refused else ()


def numbers_of(design: Design) -> LayoutNumbers:
    """The layout of a design in numbers."""
    layout = design.layout
    assert layout is not None
    return LayoutNumbers(
        layout.tp,
        layout.cp,
        layout.ep,
        layout.expert_tp,
        layout.pp,
        layout.virtual_stages,
        layout.micro_batch,
        layout.schedule == "interleaved",
        layout.sequence_parallel,
        design.spec.layout is not None and design.spec.layout.stage_layers is not None,
        layout.cp_method != "all-to-all",
        layout.attention_dp,
        layout.redundant_experts,
        layout.sharding,
        layout.schedule,
        layout.recompute,
    )


def violations(numbers: LayoutNumbers, demands: Demands) -> frozenset[str]:
    """The names of the conditions that a layout violates."""
    return frozenset(name for name, broken in CONDITIONS.items() if broken(numbers, demands))


def _world_size_differs(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.ranks % numbers.replica != 0


def _heads_indivisible(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.model is not None and any(count % numbers.tp for _, count in cut_heads(demands.model))


def cut_heads(model: Model) -> tuple[tuple[str, int], ...]:
    """Units that tensor parallelism does not split, by name: heads of every kind of layer, and groups of outputs."""
    found = [("heads", model.heads)]
    if model.window and model.window.heads:
        found.append(("heads of layers with a window", model.window.heads))
    if model.linear:
        found.append(("value heads of linear attention", model.linear.value_heads))
    if model.compressed:
        found.append(("groups of outputs", model.compressed.output_groups))
    return tuple(found)


def _kv_heads_indivisible(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.model is not None and kv_heads_refused(demands.model, numbers.tp, demands.capabilities)


def kv_heads_refused(model: Model, tp: int, capabilities: Capabilities) -> bool:
    """Whether the framework does not support these key-value heads over tp ranks.

    Some shard them evenly or not at all; others also replicate whole heads. Latent and compressed attention
    have no key-value heads to shard.
    """
    if model.latent or model.compressed or model.kv_heads in {0, model.heads}:
        return False
    if model.kv_heads % tp == 0:
        return False
    repeats = capabilities.has("requires.kv_heads_divide_or_repeat") and tp % model.kv_heads != 0
    return repeats or capabilities.has("requires.kv_heads_divide")


def _ffn_indivisible(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None:
        return False
    expert = demands.model.expert_ffn_hidden if demands.model.experts else 0
    return bool(demands.model.ffn_hidden % numbers.tp or expert % numbers.expert_tp)


def _layers_indivisible_by_stages(numbers: LayoutNumbers, demands: Demands) -> bool:
    uneven = demands.model is not None and demands.model.layers % numbers.pp != 0
    return uneven and numbers.pp > 1 and not numbers.own_stages


def _layers_indivisible_by_virtual_stages(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None or numbers.virtual_stages == 1 or numbers.own_stages or demands.model.layers % numbers.pp:
        return False
    of_rank = demands.model.layers // numbers.pp
    return demands.capabilities.has("requires.even_virtual_stages") and of_rank % numbers.virtual_stages != 0


def _batch_indivisible(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.batch is not None and demands.batch % (numbers.dp(demands) * numbers.micro_batch) != 0


def _micro_batches_indivisible(numbers: LayoutNumbers, demands: Demands) -> bool:
    micro_batches = numbers.micro_batches(demands)
    held = demands.capabilities
    grouped = held.has("requires.micro_batch_groups") or (
        numbers.interleaved and held.has("requires.interleaved_micro_batch_groups")
    )
    return micro_batches is not None and numbers.pp > 1 and grouped and micro_batches % numbers.pp != 0


def _experts_indivisible(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None or not demands.model.experts:
        return False
    return (demands.model.experts + numbers.redundant_experts) % numbers.ep != 0


def _expert_groups_indivisible(numbers: LayoutNumbers, demands: Demands) -> bool:
    """Whether expert groups cannot be formed: some frameworks form them within dp, others within dp × cp × tp."""
    dp = numbers.dp(demands)
    if demands.capabilities.has("requires.experts_within_dp"):
        return dp % numbers.ep != 0
    return (dp * numbers.replica // numbers.pp) % (numbers.expert_tp * numbers.ep) != 0


def sequence_chunks(cp: int, ring: bool) -> int:
    """The chunks of a sequence over cp ranks: a ring balances causal attention with two for each rank."""
    return (2 if ring else 1) * cp


def _sequence_indivisible_by_chunks(numbers: LayoutNumbers, demands: Demands) -> bool:
    chunks = sequence_chunks(numbers.cp, numbers.ring)
    return demands.sequence is not None and numbers.cp > 1 and demands.sequence % chunks != 0


def _sequence_indivisible_by_shards(numbers: LayoutNumbers, demands: Demands) -> bool:
    if (
        demands.sequence is None
        or not numbers.sequence_parallel
        or numbers.tp == 1
        or _sequence_indivisible_by_chunks(numbers, demands)
    ):
        return False
    return demands.sequence % sequence_step(numbers.tp, numbers.cp, demands.capabilities, ring=numbers.ring) != 0


def sequence_step(tp: int, cp: int, capabilities: Capabilities, *, ring: bool) -> int:
    """The number of which the sequence length must be a multiple, with sequence parallelism over tp and chunks
    over cp.

    >>> from clusterspec.catalog.frameworks import NOTHING_KNOWN
    >>> sequence_step(3, 2, NOTHING_KNOWN, ring=True), sequence_step(3, 2, NOTHING_KNOWN, ring=False)
    (12, 6)
    """
    if capabilities.has("requires.sequence_twice_cp_tp"):
        return 2 * cp * tp
    return lcm(sequence_chunks(cp, ring), cp * tp) if cp > 1 else tp


def combination_refused(numbers: LayoutNumbers, demands: Demands) -> bool:
    """Whether the framework is known not to combine what a layout uses."""
    if not demands.refused:
        return False
    used = layout_uses(numbers, demands)
    return any(each.applies(used) for each in demands.refused)


def layout_uses(numbers: LayoutNumbers, demands: Demands) -> frozenset[str]:
    """What a layout uses, in the words of the support matrix."""
    return frozenset((*_uses_of_degrees(numbers, demands), *recomputation_uses(numbers.recompute))) - {""}


def _uses_of_degrees(numbers: LayoutNumbers, demands: Demands) -> Iterator[str]:
    for axis in ("tp", "cp", "ep", "pp"):
        yield axis if getattr(numbers, axis) > 1 else ""
    yield "sequence-parallel" if numbers.sequence_parallel and numbers.tp > 1 else ""
    yield "attention-dp" if numbers.attention_dp > 1 else ""
    yield "data-parallel" if numbers.dp(demands) > 1 else ""
    if demands.model is not None and demands.model.experts:
        yield "expert-tp" if numbers.expert_tp > 1 else ""
    if numbers.pp > 1:
        stages = numbers.pp * numbers.virtual_stages
        yield "virtual-stages" if numbers.virtual_stages > 1 else numbers.schedule
        yield "uneven-stages" if demands.model is not None and demands.model.layers % stages else ""
    yield sharding_use(numbers.sharding) if numbers.dp(demands) * numbers.cp > 1 else ""


def _fp8_blocks_cut(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None or not demands.fp8_weights:
        return False
    held = demands.capabilities.has("requires.whole_fp8_weight_blocks")
    return held and bool(cut_blocks(demands.model, numbers.tp, numbers.expert_tp))


def cut_blocks(model: Model, tp: int, expert_tp: int) -> tuple[tuple[str, int, int], ...]:
    """Name, width and ranks of the feed-forward weights whose share of a rank is not whole blocks of the published
    fp8 checkpoint. Shares that are no whole numbers have their own rules.
    """
    widths = [("ffn_hidden", model.ffn_hidden, tp)] if model.dense_layers else []
    if model.experts:
        widths.append(("expert_ffn_hidden", model.expert_ffn_hidden, expert_tp))
    found = (each for each in widths if model.fp8_block and each[2] > 1 and each[1] % each[2] == 0)
    return tuple(each for each in found if each[1] // each[2] % model.fp8_block)


CONDITIONS: Mapping[str, Callable[[LayoutNumbers, Demands], bool]] = {
    "world-size-mismatch": _world_size_differs,
    "heads-indivisible-by-tp": _heads_indivisible,
    "kv-heads-indivisible-by-tp": _kv_heads_indivisible,
    "ffn-indivisible-by-tp": _ffn_indivisible,
    "layers-indivisible-by-pp": _layers_indivisible_by_stages,
    "layers-indivisible-by-stages": _layers_indivisible_by_virtual_stages,
    "global-batch-indivisible": _batch_indivisible,
    "microbatches-indivisible-by-pp": _micro_batches_indivisible,
    "experts-indivisible-by-ep": _experts_indivisible,
    "ep-not-dividing-ranks": _expert_groups_indivisible,
    "sequence-indivisible-by-cp": _sequence_indivisible_by_chunks,
    "sequence-indivisible-by-tp": _sequence_indivisible_by_shards,
    "framework-lacks-feature": combination_refused,
    "fp8-blocks-cut-by-tp": _fp8_blocks_cut,
}
"""Functions that return True where the rule of that name is violated."""


def refusals(design: Design) -> frozenset[str]:
    """The names of the rules that find an error in the degrees of a layout, by `CONDITIONS` and by what the framework
    combines; empty without a layout.

    Layers that do not divide over stages are no error, since stages may differ; fewer layers than stages are.
    """
    if design.cluster is None or design.layout is None or design.workload is None:
        return frozenset()
    found = violations(numbers_of(design), demands_of(design)) - {"layers-indivisible-by-pp"}
    return found | {name for name, refused in _OF_DESIGNS.items() if refused(design, design.layout)}


def design_uses(design: Design) -> frozenset[str]:
    """What a design uses, in the words of the support matrix; empty without a cluster."""
    cluster, layout = design.cluster, design.layout
    if cluster is None:
        return frozenset()
    if layout is None:
        return frozenset({cluster.accelerator.architecture}) - {""}
    return settings(cluster, design.workload, layout) | layout_uses(numbers_of(design), demands_of(design))


def refused_statements(design: Design) -> Iterator[tuple[Statement, frozenset[str]]]:
    """The statements of the support matrix that the framework's release contradicts, with what the design uses."""
    refused = design.layout.capabilities.refused if design.layout else ()
    used = design_uses(design) if refused else frozenset()
    yield from ((each, used) for each in refused if each.combination.applies(used))


def schedule_refused(workload: Workload | None, layout: Layout) -> bool:
    """Whether the framework is known not to have the pipeline schedule of a layout with one stage on each rank."""
    trains = workload is not None and workload.serving is None and layout.virtual_stages == 1
    return layout.pp > 1 and trains and layout.capabilities.refuses(f"schedule.{layout.schedule}")


def stages_exceed_layers(design: Design, layout: Layout) -> bool:
    """Whether the pipeline has more stages than the model has layers; stages that the spec states may have none."""
    model = design.workload.model if design.workload else None
    if design.spec.layout is not None and design.spec.layout.stage_layers is not None:
        return False
    return model is not None and layout.pp > 1 and model.layers < layout.pp * layout.virtual_stages


def _ranks_differ_from_nodes(design: Design, layout: Layout) -> bool:
    """Whether the layout has other ranks than its nodes; the engines of serving may leave ranks idle."""
    assert design.cluster is not None and design.workload is not None
    there = layout.nodes * design.cluster.ranks_per_node
    if layout.nodes > design.cluster.nodes:
        return True
    written = design.spec.layout.dp if design.spec.layout else None
    if layout.separate_engines or written is None:
        wanted = layout.ranks
    else:
        wanted = layout.tp * layout.attention_dp * layout.cp * layout.pp * written
    return wanted > there if design.workload.serving is not None else wanted != there


def _pipeline_refused(_: Design, layout: Layout) -> bool:
    return layout.pp > 1 and forbids_pipeline(layout.capabilities, layout.sharding)


def _expert_parallel_refused(_: Design, layout: Layout) -> bool:
    return layout.ep > 1 and forbids_expert_parallel(layout.capabilities, layout.sharding)


def _pipeline_of_tied_model_refused(design: Design, layout: Layout) -> bool:
    model = design.workload.model if design.workload else None
    return model is not None and tied_pipeline_refused(model, layout)


def tied_pipeline_refused(model: Model, layout: Layout) -> bool:
    """Whether the framework does not support a pipeline of a model whose head is its embedding."""
    return layout.pp > 1 and model.tied_embeddings and layout.capabilities.refuses("pipeline.tied_embeddings")


def _lacks_experts(design: Design, layout: Layout) -> bool:
    return layout.ep > 1 and design.workload is not None and not design.workload.model.experts


_OF_DESIGNS: Mapping[str, Callable[[Design, Layout], bool]] = {
    "world-size-mismatch": _ranks_differ_from_nodes,
    "layers-indivisible-by-pp": stages_exceed_layers,
    "sharding-forbids-pipeline": _pipeline_refused,
    "sharding-forbids-expert-parallel": _expert_parallel_refused,
    "tied-embeddings-with-pipeline": _pipeline_of_tied_model_refused,
    "ep-without-experts": _lacks_experts,
    "framework-lacks-feature": lambda design, layout: schedule_refused(design.workload, layout),
}
"""Functions that return True where the rule of that name finds an error in a whole design."""
