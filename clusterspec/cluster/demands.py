"""The inputs of the conditions of legality: the degrees of a layout, and the features that a design uses
(`catalog.releases`).
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.frameworks import Capabilities
from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.records import dataclass, replace
from clusterspec.standard import recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.releases import Combination, Multiple
    from clusterspec.cluster.requests import Serving

    Conditions = tuple[tuple[Combination, ...], tuple[Multiple, ...]]


@dataclass(frozen=True)
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
    """Combinations that the framework does not support, as far as the layout decides them."""
    required: tuple[Multiple, ...] = ()
    """Numbers that have to be multiples of others."""
    serves: bool = False
    """Whether the replicas are serving engines. Engines do not share experts."""
    domain: int = 1
    """Ranks of a scale-up domain, or of a node without one."""
    in_groups: bool = False
    """The engine loads an AWQ or GPTQ checkpoint, whose layers may be padded to whole groups."""


@dataclass(frozen=True)
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
    """The sharding of model states; empty where undecided."""
    schedule: str = ""
    """The pipeline schedule; empty where undecided."""
    recompute: str | tuple[str, ...] = ""
    """The recomputation of activations; empty where undecided."""

    @property
    def replica(self) -> int:
        """Ranks of one replica."""
        return self.tp * self.attention_dp * self.cp * self.pp

    def dp(self, demands: Demands) -> int:
        return max(1, demands.ranks // self.replica)

    def micro_batches(self, demands: Demands) -> int | None:
        """Micro-batches per replica and step; None if that is not an integer, or the batch is not known."""
        if demands.batch is None or demands.batch % (self.dp(demands) * self.micro_batch):
            return None
        return demands.batch // (self.dp(demands) * self.micro_batch)


@recent(2)  # for the conditions of the degrees, and for what the design uses
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
        *undecided_conditions(cluster, workload, layout),
        serves=workload is not None and workload.kind == "serve",
        domain=cluster.ranks_per_domain,
        in_groups=serves_groups(workload),
    )


def undecided_conditions(cluster: Cluster, workload: Workload | None, layout: Layout) -> Conditions:
    """The framework's conditions that depend on the degrees, sharding, schedule or recomputation of a layout:
    unsupported combinations and required multiples, each reduced to the features that are still undecided.
    """
    held = layout.capabilities
    if not held.refused and not held.required:
        return (), ()
    return _open_conditions(held, fixed_uses(cluster, workload, layout))


@recent(4)  # most layouts of a job settle the same
def _open_conditions(capabilities: Capabilities, settled: frozenset[str]) -> Conditions:
    """The conditions of a framework that the features in ``settled`` leave undecided."""
    from clusterspec.catalog.releases import undecided_combinations  # loaded with any condition

    refused = undecided_combinations([each.combination for each in capabilities.refused], settled)
    required = (
        replace(each.multiple, when=left)
        for each in capabilities.required
        for left in undecided_combinations([each.multiple.when], settled)
    )
    return refused, tuple(required)


def serves_groups(workload: Workload | None) -> bool:
    """Whether a workload serves from a checkpoint that is quantized in groups of its rows: AWQ or GPTQ."""
    return workload is not None and workload.quantization in ("awq", "gptq")


def serves_fp8(workload: Workload | None) -> bool:
    """Whether a workload serves from fp8 weights."""
    if workload is None or workload.serving is None:
        return False
    kept = workload.expert_parameter_precision if workload.model.experts else workload.parameter_precision
    return kept == "fp8"


def layout_numbers(design: Design) -> LayoutNumbers:
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


# What a design uses, in the words of the support matrix

_SHARDED = {"none": "unsharded"}


def fixed_uses(cluster: Cluster, workload: Workload | None, layout: Layout) -> frozenset[str]:
    """The uses that search does not vary, by the machine, the workload and the settings of the layout.

    The method of context parallelism, the dispatcher and the overlap of reductions count only if the spec states them:
    software may use others than the assumed ones.
    """
    fabric = cluster.scale_out
    family = fabric.technology.family if fabric is not None and layout.nodes > 1 else ""
    network = {"tcp": "tcp-fabric", "efa": "efa-fabric"}.get(family, "")
    found = {cluster.accelerator.architecture, network, *_settings_of_layout(layout)}
    if workload is not None:
        found |= {*_settings_of_workload(workload)} | model_uses(workload.model)
        found |= {*_settings_of_serving(workload.serving)} if workload.serving else set()
        if workload.kind == "train":
            found |= {f"master-{layout.master_precision}", f"moments-{layout.moments_precision}"}
    return frozenset(found - {""})


def _settings_of_layout(layout: Layout) -> Iterator[str]:
    yield layout.cp_method if "cp_method" in layout.stated else ""
    stated = layout.dispatcher.kind if "dispatcher" in layout.stated else ""
    yield {"deepep": "deepep", "hybrid": "hybrid-dispatcher"}.get(stated, "")
    yield "optimizer-offload" if layout.offload_optimizer else ""
    yield "activation-offload" if layout.offload_activations else ""
    yield "tp-overlap" if layout.overlap.tp == "full" else ""
    yield "expert-overlap" if layout.overlap.ep else ""
    yield "reduction-overlap" if layout.overlap.dp and "overlap.dp" in layout.stated else ""


def _settings_of_workload(workload: Workload) -> Iterator[str]:
    yield workload.kind
    yield f"precision-{workload.precision}"
    yield f"weights-{workload.parameter_precision}"
    yield f"expert-weights-{workload.expert_parameter_precision}" if workload.model.experts else ""
    yield f"recipe-{workload.recipe}" if workload.recipe else ""
    yield f"quantization-{workload.quantization}" if workload.quantization else ""
    yield "plain-attention" if workload.attention == "plain" else ""
    if workload.kind == "train":
        yield f"optimizer-{workload.optimizer}"
        yield f"gradients-{workload.gradient_precision}"
    else:
        yield f"cache-{workload.kv_precision}"


@recent(4)
def model_uses(model: Model) -> frozenset[str]:
    """The uses that follow from a model: its name and family, its kinds of attention, its experts, its head, and the
    layers of multi-token prediction that are trained.
    """
    return frozenset(_model_uses(model))


def _model_uses(model: Model) -> Iterator[str]:
    from clusterspec.catalog.releases import MODEL

    parts = model.id.split("-")
    yield from (MODEL + "-".join(parts[:count]) for count in range(1, len(parts) + 1))
    yield "experts" if model.experts else ""
    yield "latent-attention" if model.latent else ""
    yield "compressed-attention" if model.compressed else ""
    yield "sparse-attention" if model.sparse else ""
    if model.linear:
        yield "mamba-2" if model.linear.kind == "mamba-2" else "linear-attention"
    yield "sliding-window" if model.window else ""
    yield "tied-embeddings" if model.tied_embeddings else ""
    yield "token-prediction" if model.predicted else ""
    grouped = not model.latent and not model.compressed and 0 < model.kv_heads < model.heads
    yield "grouped-query-attention" if grouped else ""


def _settings_of_serving(serving: Serving) -> Iterator[str]:
    if serving.draft_tokens:
        yield "speculation"
        yield f"speculation-{serving.draft_method}" if serving.draft_method else ""
    yield "prefix-cache" if serving.prefix_hit else ""
    yield "disaggregation" if serving.prefill else ""
    yield "receive-interval" if serving.receive_interval > 1 else ""
    yield "hold-steps" if serving.hold_steps > 1 else ""
    if serving.prefill and serving.decode and serving.prefill.tp > serving.decode.tp:
        yield "narrower-decode"


def sharding_use(sharding: str) -> str:
    """The use that a sharding is; empty if it is not decided."""
    return _SHARDED.get(sharding, sharding)


def recomputation_uses(recompute: str | tuple[str, ...]) -> Iterator[str]:
    """The uses that a recomputation is; none if it is not decided."""
    if recompute and recompute != "none":
        yield "recomputation"
    if recompute == "full":
        yield "full-recomputation"


OF_STAGES = ("interleaved", "1f1b")
"""The schedules among which the number of virtual stages selects the one that runs."""


def layout_uses(numbers: LayoutNumbers, demands: Demands) -> frozenset[str]:
    """The features that a layout uses, named as in the support matrix."""
    return frozenset((*_uses_of_degrees(numbers, demands), *recomputation_uses(numbers.recompute))) - {""}


def _uses_of_degrees(numbers: LayoutNumbers, demands: Demands) -> Iterator[str]:
    for axis in ("tp", "cp", "ep", "pp"):
        yield axis if getattr(numbers, axis) > 1 else ""
    yield "ep-across-domains" if numbers.ep > 1 and numbers.ep * numbers.expert_tp > demands.domain else ""
    yield "sequence-parallel" if numbers.sequence_parallel and numbers.tp > 1 else ""
    yield "attention-dp" if numbers.attention_dp > 1 else ""
    yield "partial-ep" if demands.serves and 1 < numbers.ep < numbers.replica // numbers.pp else ""
    yield "data-parallel" if numbers.dp(demands) > 1 else ""
    if demands.model is not None and demands.model.experts:
        yield "expert-tp" if numbers.expert_tp > 1 else ""
    if numbers.pp > 1:
        stages = numbers.pp * numbers.virtual_stages
        yield "virtual-stages" if numbers.virtual_stages > 1 else ""
        yield numbers.schedule if numbers.virtual_stages == 1 or numbers.schedule not in OF_STAGES else ""
        yield "uneven-stages" if demands.model is not None and demands.model.layers % stages else ""
    yield sharding_use(numbers.sharding) if numbers.dp(demands) * numbers.cp > 1 else ""


def design_uses(design: Design) -> frozenset[str]:
    """The features that a design uses, named as in the support matrix; empty without a cluster."""
    cluster, layout = design.cluster, design.layout
    if cluster is None:
        return frozenset()
    if layout is None:
        return frozenset({cluster.accelerator.architecture, *_stated_reduction(design)}) - {""}
    found = fixed_uses(cluster, design.workload, layout) | layout_uses(layout_numbers(design), demands_of(design))
    return found | _stated_reduction(design)


def _stated_reduction(design: Design) -> frozenset[str]:
    """The use of reduction in the switches of a domain, if the spec requests it."""
    written, tests = design.spec.cluster, design.spec.acceptance or ()
    up = written.scale_up if written is not None else None
    asked = up is not None and up.in_network_reduction is True
    return frozenset({"switch-reduction"} if asked or any(each.algorithm == "nvls" for each in tests) else ())
