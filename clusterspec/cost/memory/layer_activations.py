"""Activations that one layer stores of one micro-batch for its backward pass, tensor by tensor."""

from __future__ import annotations

from clusterspec.cost.formulas import activations
from clusterspec.cost.formulas.rank_memory import expert_bytes, tensor_bytes
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.line import MemoryLine, line
from clusterspec.cost.memory.rank import Layers
from clusterspec.cost.memory.tensor import KORTHIKANTI, Tensor
from clusterspec.cost.memory.token_mixing import mixing
from clusterspec.precision import width

SWITCH = "Fedus et al., Switch Transformers, arXiv 2101.03961"
ROUTER_COPIES = 2
"""Logits and probabilities of the router, in fp32."""


def whole(job: Job, modules: frozenset[str] = frozenset()) -> list[Tensor]:
    """All stored tensors of a layer, without those that the given modules recompute (`recomputation.MODULES`)."""
    return [*_residual(job, modules), *mixing(job, modules), *_dense(job, modules), *_experts(job, modules)]


def layer_input(job: Job, name: str = "layer inputs", source: str = KORTHIKANTI) -> Tensor:
    """The layer input, from which full recomputation starts."""
    ranks, hidden = job.residual_ranks, job.model.hidden
    return Tensor(line(name, tensor_bytes, source, tokens=job.tokens, elements=hidden, ranks=ranks, width=job.width))


def _residual(job: Job, modules: frozenset[str]) -> list[Tensor]:
    """The input and the output of each normalization; module ``norm`` recomputes the output."""
    kept = 0.0 if "norm" in modules else job.kept
    sizes = {"tokens": job.tokens, "hidden": job.model.hidden, "ranks": job.residual_ranks}
    norms = line("normalizations", activations.residual_bytes, KORTHIKANTI, **sizes, width=job.width, kept=kept).times(
        "norms", _norms(job)
    )
    if job.workload.attention != "plain":
        return [Tensor(norms)]
    masks = line(
        "dropout masks",
        tensor_bytes,
        KORTHIKANTI,
        tokens=job.tokens,
        elements=2 * job.model.hidden,
        ranks=job.residual_ranks,
        width=1.0,
    )
    return [Tensor(norms), Tensor(masks)]


def _norms(job: Job) -> float:
    """Norms of a layer: one before its token mixing and one before its network; the mean over layers that lack one."""
    model = job.model
    return (model.attention_layers + model.linear_layers + model.ffn_layers) / max(1, model.layers)


def _ffn(job: Job, name: str, ffn: float, modules: frozenset[str]) -> MemoryLine:
    return line(
        name,
        activations.ffn_bytes,
        KORTHIKANTI,
        tokens=job.tokens,
        ffn=ffn,
        matrices=job.matrices,
        ranks=job.layout.tp,
        width=job.width,
        kept=0.0 if "activation" in modules else job.kept,
    )


def _dense(job: Job, modules: frozenset[str]) -> list[Tensor]:
    if "mlp" in modules:
        return []
    return [Tensor(_ffn(job, "feed-forward", job.model.ffn_hidden, modules), Layers.DENSE)]


def _experts(job: Job, modules: frozenset[str]) -> list[Tensor]:
    model = job.model
    found: list[Tensor] = []
    if model.moe_layers and "expert" not in modules:
        found = [Tensor(_routed(job, modules), Layers.EXPERT), Tensor(_router(job), Layers.EXPERT)]
    if model.moe_layers and model.shared_experts and "shared_experts" not in modules:
        found.append(Tensor(_ffn(job, "shared experts", model.shared_width, modules), Layers.EXPERT))
    return found


def _router(job: Job) -> MemoryLine:
    elements = ROUTER_COPIES * job.model.experts
    sizes = {"tokens": job.tokens, "elements": elements, "ranks": job.residual_ranks, "width": width("fp32")}
    return line("router", tensor_bytes, SWITCH, **sizes)


def _routed(job: Job, modules: frozenset[str]) -> MemoryLine:
    """Inputs and intermediate results of the experts on the rank."""
    model, ranks = job.model, job.layout.expert_tp
    return line(
        "experts",
        expert_bytes,
        SWITCH,
        routed=activations.routed_tokens(job.tokens, model.experts_per_token, job.residual_ranks, ranks),
        hidden=model.expert_width,
        ffn=model.expert_ffn_hidden,
        matrices=job.matrices,
        ranks=ranks,
        width=job.width,
        kept=0.0 if "activation" in modules else job.kept,
    )
