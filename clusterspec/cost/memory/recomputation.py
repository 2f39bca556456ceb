"""Activations that a layer still stores with activation recomputation.

`selective` has the meaning that the entry of the software defines, for time and for memory.
"""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.cost.formulas.elementwise import larger, positive
from clusterspec.cost.formulas.rank_memory import tensor_bytes
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.layer_activations import layer_input, whole
from clusterspec.cost.memory.line import added, line
from clusterspec.cost.memory.rank import MIXING, Layers
from clusterspec.cost.memory.tensor import Tensor
from clusterspec.cost.memory.token_mixing import latents

MODULES = ("norm", "activation", "attention", "latent", "mlp", "shared_experts", "expert")
"""Modules that a layout may list: normalizations, activation functions, the attention core, the expansions of latent
attention, the dense feed-forward network, the shared experts, and the routed experts with their router.
"""
SELECTIVE_MODULES = {"core-attention": frozenset({"attention"}), "light": frozenset({"norm", "activation", "latent"})}
"""The modules that selective recomputation runs again, by its name in the entry of the software: the attention core
(arXiv 2205.05198, section 5), or modules that are cheap to compute and large to store.
"""
TORCHTITAN = "torchtitan, distributed/activation_checkpoint.py"
MAXTEXT = "MaxText, remat_policy"
LAYERS_IN_TRANSIT = 2
"""Layers whose saved tensors are on the device while they are copied to or from host memory."""


def kept(job: Job) -> list[Tensor]:
    """The tensors that a layer stores under the layout's recomputation."""
    chosen = job.layout.recompute
    if isinstance(chosen, tuple):
        return whole(job, frozenset(chosen))
    if chosen == "full":
        return [layer_input(job)]
    return _selective(job) if chosen == "selective" else whole(job)


def recomputed(job: Job, kind: Layers) -> float:
    """Bytes of one layer of ``kind`` that its backward pass recomputes first."""
    if job.layout.recompute == "none":
        return 0.0
    stored = kept(job)
    if job.layout.recompute == "selective" and job.selective == "alternate-layers":
        stored = [layer_input(job)]
    return positive(_bytes(whole(job), kind) - _bytes(stored, kind))


def _bytes(tensors: list[Tensor], kind: Layers) -> float:
    """Bytes of one layer of ``kind``, with the token mixing that stores most."""
    stored = {each: added(tensor.line for tensor in tensors if tensor.layers is each) for each in Layers}
    most = 0.0
    for each in MIXING:
        most = larger(most, stored[each])
    return stored[Layers.ALL] + stored[kind] + most


def _selective(job: Job) -> list[Tensor]:
    if job.vendor in job.framework.offloads_selective:
        return _offloaded(job)
    if job.selective in SELECTIVE_MODULES:
        return whole(job, SELECTIVE_MODULES[job.selective])
    return _KEPT.get(job.selective, whole)(job)


def _projections(job: Job) -> list[Tensor]:
    """The layer's input and its queries, keys and values (``save_qkv_proj``)."""
    if job.model.latent:
        return [layer_input(job), Tensor(latents(job))]
    model = job.model
    elements = (model.heads + 2 * model.kv_heads) * model.head_dim
    sizes = {"tokens": job.tokens, "elements": elements, "ranks": job.layout.tp, "width": job.width}
    return [layer_input(job), Tensor(line("projections", tensor_bytes, MAXTEXT, **sizes))]


def _alternate_products(job: Job) -> list[Tensor]:
    """The layer's input, attention's output, and every second GEMM (queries, values, gate, and down projection):
    selective operator checkpointing. Grouped GEMMs of experts are recomputed.
    """
    model = job.model
    sizes = {"tokens": job.tokens, "ranks": job.layout.tp, "width": job.width}
    width = (2 * model.heads + model.kv_heads) * model.head_dim
    return [
        layer_input(job),
        Tensor(line("attention", tensor_bytes, TORCHTITAN, **sizes, elements=width)),
        Tensor(line("feed-forward", tensor_bytes, TORCHTITAN, **sizes, elements=model.ffn_hidden), Layers.DENSE),
        layer_input(job, "layer outputs", TORCHTITAN),
    ]


def _alternate_layers(job: Job) -> list[Tensor]:
    """Full layers and layer inputs in alternation."""
    every = [*whole(job), layer_input(job)]
    return [tensor._replace(line=tensor.line.times("every_second", 0.5)) for tensor in every]


def _offloaded(job: Job) -> list[Tensor]:
    """The saved tensors of the layers in transit; the others are in host memory."""
    there = min(1.0, LAYERS_IN_TRANSIT / max(1, job.model.layers))
    return [tensor._replace(line=tensor.line.times("on_device", there)) for tensor in _projections(job)]


_KEPT: dict[str, Callable[[Job], list[Tensor]]] = {
    "alternate-products": _alternate_products,
    "alternate-layers": _alternate_layers,
    "all-but-projections": _projections,
}
