"""Legality of a layout: the requirements of a framework, with one condition for each rule that reports it.

Rules, their advice and search share these conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import lcm, prod

from clusterspec.catalog.frameworks import Capabilities, Statement
from clusterspec.catalog.models import Model
from clusterspec.cluster.demands import Demands, LayoutNumbers, demands_of, design_uses, layout_numbers, layout_uses
from clusterspec.cluster.model import Design, Layout
from clusterspec.standard import recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.releases import Multiple

ENDS = 2
"""The first and the last stage."""


def forbids_pipeline(capabilities: Capabilities, sharding: str) -> bool:
    """Whether a framework does not support this sharding with pipeline parallelism."""
    return capabilities.refuses("pipeline." + sharding)


def forbids_expert_parallel(capabilities: Capabilities, sharding: str) -> bool:
    """Whether a framework does not support this sharding with expert parallelism."""
    return capabilities.refuses("expert_parallel." + sharding)


def forbids_uneven_stages(capabilities: Capabilities, virtual_stages: int, shorter: int) -> bool:
    """Whether a framework does not support uneven stages, where ``shorter`` stages at the ends have one layer less.

    Uneven virtual stages run only in frameworks known to place individual layers on virtual stages.
    """
    return (
        capabilities.refuses("stages.uneven")
        or (virtual_stages > 1 and not capabilities.has("stages.uneven_virtual"))
        or (shorter > ENDS and capabilities.refuses("stages.uneven_inside"))
    )


def violated_conditions(
    numbers: LayoutNumbers, demands: Demands, ignored: frozenset[str] = frozenset()
) -> frozenset[str]:
    """The names of the conditions that a layout violates, without ``ignored`` ones."""
    return frozenset(name for name, broken in CONDITIONS.items() if name not in ignored and broken(numbers, demands))


def _has_other_world_size(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.ranks % numbers.replica != 0


def _heads_indivisible(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None or demands.capabilities.refuses("requires.heads_divide"):
        return False  # the library pads heads
    return any(count % numbers.tp for _, count in cut_heads(demands.model))


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


def _has_indivisible_kv_heads(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.model is not None and refuses_kv_heads(demands.model, numbers.tp, demands.capabilities)


def refuses_kv_heads(model: Model, tp: int, capabilities: Capabilities) -> bool:
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


def _has_indivisible_ffn(numbers: LayoutNumbers, demands: Demands) -> bool:
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


def _has_indivisible_batch(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.batch is not None and demands.batch % (numbers.dp(demands) * numbers.micro_batch) != 0


def _has_indivisible_micro_batches(numbers: LayoutNumbers, demands: Demands) -> bool:
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


def _has_indivisible_expert_groups(numbers: LayoutNumbers, demands: Demands) -> bool:
    """Whether expert groups cannot be formed: within dp or dp × cp × tp, by framework; in serving within an engine."""
    if demands.serves:  # what is left of an engine shards the experts
        return numbers.replica // numbers.pp % numbers.ep != 0
    dp = numbers.dp(demands)
    if demands.capabilities.has("requires.experts_within_dp"):
        return dp % numbers.ep != 0
    return (dp * numbers.replica // numbers.pp) % (numbers.expert_tp * numbers.ep) != 0


def sequence_chunks(cp: int, ring: bool) -> int:
    """The chunks of a sequence over cp ranks: a ring balances causal attention with two for each rank."""
    return (2 if ring else 1) * cp


def _has_sequence_indivisible_by_chunks(numbers: LayoutNumbers, demands: Demands) -> bool:
    chunks = sequence_chunks(numbers.cp, numbers.ring)
    return demands.sequence is not None and numbers.cp > 1 and demands.sequence % chunks != 0


def _has_sequence_indivisible_by_shards(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.sequence is None or not numbers.sequence_parallel or numbers.tp == 1:
        return False
    held = demands.capabilities
    return not is_divisible_sequence(demands.sequence, numbers.tp, numbers.cp, held, ring=numbers.ring)


def is_divisible_sequence(length: int, tp: int, cp: int, capabilities: Capabilities, *, ring: bool) -> bool:
    """Whether sequence parallelism over tp can divide a sequence; also True if cp cannot (another rule reports that).

    >>> from clusterspec.catalog.frameworks import NOTHING_KNOWN
    >>> [is_divisible_sequence(length, 4, 2, NOTHING_KNOWN, ring=True) for length in (4096, 4100, 4098)]
    [True, False, True]
    """
    if capabilities.refuses("requires.sequence_divides") or (cp > 1 and length % sequence_chunks(cp, ring)):
        return True
    return length % sequence_step(tp, cp, capabilities, ring=ring) == 0


def sequence_step(tp: int, cp: int, capabilities: Capabilities, *, ring: bool) -> int:
    """The number that must divide the sequence length, with sequence parallelism over tp and chunks over cp.

    >>> from clusterspec.catalog.frameworks import NOTHING_KNOWN
    >>> sequence_step(3, 2, NOTHING_KNOWN, ring=True), sequence_step(3, 2, NOTHING_KNOWN, ring=False)
    (12, 6)
    """
    if capabilities.has("requires.sequence_twice_cp_tp"):
        return 2 * cp * tp
    return lcm(sequence_chunks(cp, ring), cp * tp) if cp > 1 else tp


def refuses_combination(numbers: LayoutNumbers, demands: Demands) -> bool:
    """Whether the framework is known not to support a combination that the layout uses."""
    if not demands.refused:
        return False
    used = layout_uses(numbers, demands)
    return any(each.applies(used) for each in demands.refused)


def _cuts_fp8_blocks(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None or not demands.fp8_weights:
        return False
    held = demands.capabilities.has("requires.whole_fp8_weight_blocks")
    return held and bool(cut_blocks(demands.model, numbers.tp, numbers.expert_tp))


def cut_blocks(model: Model, tp: int, expert_tp: int) -> tuple[tuple[str, int, int], ...]:
    """Feed-forward weights that expert or tensor parallelism cuts inside a block of the published fp8 checkpoint, each
    as name, width and number of ranks. Widths that the ranks do not divide at all have their own rules.
    """
    widths = [("ffn_hidden", model.ffn_hidden, tp)] if model.dense_layers else []
    if model.experts:
        shared = 0 if model.uncut_shared_experts else model.shared_width
        widths += [
            ("expert_ffn_hidden", model.expert_ffn_hidden, expert_tp),
            ("shared experts", shared, tp),
        ]
    found = (each for each in widths if model.fp8_block and each[1] and each[2] > 1 and each[1] % each[2] == 0)
    return tuple(each for each in found if each[1] // each[2] % model.fp8_block)


def _is_indivisible_for_framework(numbers: LayoutNumbers, demands: Demands) -> bool:
    return any(True for _ in broken_multiples(numbers, demands))


def broken_multiples(numbers: LayoutNumbers, demands: Demands) -> Iterator[tuple[Multiple, int, int]]:
    """The numbers that violate a required multiple, with their value and the required divisor."""
    used: frozenset[str] | None = None
    for each in demands.required:
        value = _number_of_design(each.quantity, numbers, demands)
        step = each.number * prod(getattr(numbers, axis) for axis in each.axes)
        if value % step:
            used = layout_uses(numbers, demands) if used is None else used
            if each.when.applies(used):
                yield each, value, step


def _number_of_design(name: str, numbers: LayoutNumbers, demands: Demands) -> int:
    """A number of a design; 0, which every number divides, where the design lacks it."""
    model = demands.model
    if name == "tp":
        return numbers.tp
    if name == "sequence_length":
        return demands.sequence or 0
    if (
        model is None
        or (name == "kv_heads" and (model.latent or model.compressed))
        or (name == "ffn_hidden" and not model.dense_layers)
        or (name == "expert_ffn_hidden" and not model.experts)
    ):
        return 0
    if name == "ffn_hidden" and demands.in_groups:
        return model.quantized_ffn_hidden or model.ffn_hidden
    if name.startswith("linear_"):
        return getattr(model.linear, name.removeprefix("linear_")) if model.linear else 0
    return int(getattr(model, name))


CONDITIONS: Mapping[str, Callable[[LayoutNumbers, Demands], bool]] = {
    "world-size-mismatch": _has_other_world_size,
    "heads-indivisible-by-tp": _heads_indivisible,
    "kv-heads-indivisible-by-tp": _has_indivisible_kv_heads,
    "ffn-indivisible-by-tp": _has_indivisible_ffn,
    "layers-indivisible-by-pp": _layers_indivisible_by_stages,
    "layers-indivisible-by-stages": _layers_indivisible_by_virtual_stages,
    "global-batch-indivisible": _has_indivisible_batch,
    "microbatches-indivisible-by-pp": _has_indivisible_micro_batches,
    "experts-indivisible-by-ep": _experts_indivisible,
    "ep-not-dividing-ranks": _has_indivisible_expert_groups,
    "sequence-indivisible-by-cp": _has_sequence_indivisible_by_chunks,
    "sequence-indivisible-by-tp": _has_sequence_indivisible_by_shards,
    "framework-lacks-feature": refuses_combination,
    "fp8-blocks-cut-by-tp": _cuts_fp8_blocks,
    "indivisible-for-framework": _is_indivisible_for_framework,
}
"""Functions that return True where the rule of that name is violated."""
OF_MICRO_BATCHES = frozenset({"global-batch-indivisible", "microbatches-indivisible-by-pp"})
"""The conditions that depend on the size of a micro-batch."""


def layout_error_rules(design: Design) -> frozenset[str]:
    """The names of the rules that report an error in the degrees of a layout, from `CONDITIONS` and from the
    framework's unsupported combinations; empty without a layout.

    Layers that are not divisible by the stages are no error where stages may differ; fewer layers than stages are.
    Engines for prefill are a second layout.
    """
    found, work = _refusals_of_layout(design), design.workload
    if work is None or work.serving is None or work.serving.prefill is None:
        return found
    from clusterspec.cluster.sites import prefill_design  # few designs have two layouts

    prefill = prefill_design(design)
    return found | (_refusals_of_layout(prefill) if prefill is not None else frozenset())


def _refusals_of_layout(design: Design) -> frozenset[str]:
    if design.cluster is None or design.layout is None or design.workload is None:
        return frozenset()
    found = violated_conditions(layout_numbers(design), demands_of(design), _NO_ERRORS_OF_LAYOUTS)
    found |= {name for name, refused in _OF_DESIGNS.items() if refused(design, design.layout)}
    if design.layout.pp > 1 or design.layout.virtual_stages > 1:
        from clusterspec.cluster.pipelines import pipeline_refusals  # most layouts have no pipeline

        found |= pipeline_refusals(design, design.layout)
    about = _statements_on_layouts(design.layout.capabilities)
    used = design_uses(design) if about else frozenset()
    return found | {LACKS for each in about if each.combination.applies(used)}


LACKS = "framework-lacks-feature"
_NO_ERRORS_OF_LAYOUTS = frozenset({"layers-indivisible-by-pp", LACKS})
"""Conditions without a rule of errors: uneven stages may be legal; the support matrix is evaluated separately."""


@recent(2)
def _statements_on_layouts(capabilities: Capabilities) -> tuple[Statement, ...]:
    """The documented statements that the framework does not support a certain layout, whatever hardware it runs on."""
    if not capabilities.refused:
        return ()
    from clusterspec.catalog.releases import DEGREES

    return tuple(
        each
        for each in capabilities.refused
        if each.feature.is_sourced and any(clause & DEGREES.keys() for clause in each.combination.uses)
    )


def refused_statements(design: Design) -> Iterator[tuple[Statement, frozenset[str]]]:
    """The statements of the support matrix that rule out the design, with the features used."""
    refused = design.layout.capabilities.refused if design.layout else ()
    used = design_uses(design) if refused else frozenset()
    yield from ((each, used) for each in refused if each.combination.applies(used))


def _has_refused_shard_group(design: Design, layout: Layout) -> bool:
    group = design.spec.layout.shard_group if design.spec.layout is not None else None
    return group is not None and cuts_shard_group(layout, group)


def cuts_shard_group(layout: Layout, group: int) -> bool:
    """Whether the ranks of hsdp do not divide into groups of this size."""
    return layout.sharding == "hsdp" and layout.dp * layout.cp % group != 0


def _ranks_differ_from_nodes(design: Design, layout: Layout) -> bool:
    """Whether the layout has other ranks than its nodes; the engines of serving may leave ranks idle."""
    assert design.cluster is not None and design.workload is not None
    there = layout.nodes * design.cluster.ranks_per_node
    if layout.nodes > design.cluster.nodes:
        return True
    written = design.spec.layout.dp if design.spec.layout else None
    wanted = layout.ranks if layout.separate_engines or written is None else layout.replica_ranks * written
    return wanted > there if design.workload.serving is not None else wanted != there


def _has_refused_pipeline(_: Design, layout: Layout) -> bool:
    return layout.pp > 1 and forbids_pipeline(layout.capabilities, layout.sharding)


def _has_refused_expert_parallelism(_: Design, layout: Layout) -> bool:
    return layout.ep > 1 and forbids_expert_parallel(layout.capabilities, layout.sharding)


def _has_refused_pipeline_of_tied_model(design: Design, layout: Layout) -> bool:
    model = design.workload.model if design.workload else None
    return model is not None and refuses_tied_pipeline(model, layout)


def refuses_tied_pipeline(model: Model, layout: Layout) -> bool:
    """Whether the framework does not support a pipeline of a model whose head is its embedding."""
    return layout.pp > 1 and model.tied_embeddings and layout.capabilities.refuses("pipeline.tied_embeddings")


def _lacks_experts(design: Design, layout: Layout) -> bool:
    return layout.ep > 1 and design.workload is not None and not design.workload.model.experts


def _experts_wider_than_engine(design: Design, layout: Layout) -> bool:
    """Whether an engine distributes experts over more ranks than one of its stages has."""
    work = design.workload
    if work is None or work.serving is None or not work.model.experts:
        return False
    return layout.ep * layout.expert_tp > layout.tp * layout.attention_dp


def _has_indivisible_rl(design: Design, _: Layout) -> bool:
    """Whether the roles of reinforcement learning have more nodes than the cluster, or its samples are not a multiple
    of its minibatches.
    """
    rl = design.workload.rl if design.workload is not None else None
    if rl is None or design.cluster is None:
        return False
    return rl.nodes > design.cluster.nodes >= rl.trainer_nodes or rl.samples % rl.minibatches != 0


_OF_DESIGNS: Mapping[str, Callable[[Design, Layout], bool]] = {
    "world-size-mismatch": _ranks_differ_from_nodes,
    "shard-group-not-dividing-dp": _has_refused_shard_group,
    "sharding-forbids-pipeline": _has_refused_pipeline,
    "sharding-forbids-expert-parallel": _has_refused_expert_parallelism,
    "tied-embeddings-with-pipeline": _has_refused_pipeline_of_tied_model,
    "ep-without-experts": _lacks_experts,
    "experts-wider-than-replica": _experts_wider_than_engine,
    "keys-disagree": _has_indivisible_rl,
}
"""Functions that return True where the rule of that name finds an error in a whole design."""
