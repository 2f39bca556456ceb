"""One layer with a dense network, with experts or with none, by part; and the kernels that recomputation runs again."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cost.compute import feedforward
from clusterspec.cost.compute.fixed import ALTERNATE, NORM_PASSES
from clusterspec.cost.compute.kernels import Kernel, Role, Work, accumulation, casts, repeated, scaled, stream
from clusterspec.cost.compute.mixing import mixing
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.cost.layers import FeedForward

Parts = Mapping[str, Work]


def dense_layer(shard: Shard, software: SoftwareBehavior) -> Parts:
    """The parts of a layer whose feed-forward network is dense."""
    return _parts(shard, software, {"feed-forward": feedforward.dense(shard, shard.model.ffn_hidden)})


def expert_layer(shard: Shard, software: SoftwareBehavior) -> Parts:
    """The parts of a layer whose feed-forward network is a mixture of experts."""
    routing = feedforward.Routing.of(shard, software.unevenness)
    loose = software.fusion / software.routing
    network = {
        "router": feedforward.router(shard),
        "dispatch": repeated(feedforward.permutation(shard, routing), loose),
        "experts": feedforward.experts(shard, routing),
    }
    return _parts(shard, software, network)


def bare_layer(shard: Shard, software: SoftwareBehavior) -> Parts:
    """The parts of a layer that mixes tokens and has no feed-forward network."""
    return _parts(shard, software, {})


LAYERS = {FeedForward.DENSE: dense_layer, FeedForward.EXPERTS: expert_layer, FeedForward.NONE: bare_layer}
"""The function that builds the parts of a layer, by its feed-forward network."""


def _parts(shard: Shard, software: SoftwareBehavior, network: Parts) -> Parts:
    """The parts of a layer. The token mixing and the network each have a norm and a residual addition."""
    mixed = mixing(shard)
    share = (bool(mixed) + bool(network)) / 2
    moved = share * NORM_PASSES * shard.width * shard.rows * shard.model.hidden
    parts = {"norms": stream("norms and residuals", (moved, moved), 4 * share, Role.LIGHT), **mixed, **network}
    return {name: _as_built(work, software) for name, work in parts.items()}


def _as_built(work: Work, software: SoftwareBehavior) -> Work:
    """The work with the software's own fusion, its casts to narrow precisions and its gradient accumulation."""
    loose = Work(*(tuple(k for k in part if not k.rate) for part in (work.forward, work.backward)))
    firm = Work(*(tuple(k for k in part if k.rate) for part in (work.forward, work.backward)))
    narrow, sums = casts(work, software.cast), accumulation(work, software.accumulation)
    return firm + repeated(loose, 1 / software.fusion) + narrow + sums


def recomputed(parts: Parts, recompute: str | tuple[str, ...], selective: str) -> tuple[Kernel, ...]:
    """The kernels of the forward pass that run again before the backward pass under ``recompute``: a word, or a list
    of modules. ``selective`` names what the software recomputes under that word.
    """
    if isinstance(recompute, tuple):
        return _modules(parts, recompute)
    if recompute == "none":
        return ()
    everything = tuple(kernel for part in parts.values() for kernel in part.forward)
    return everything if recompute == "full" else _SELECTIVE.get(selective, _core)(parts, everything)


def _modules(parts: Parts, modules: tuple[str, ...]) -> tuple[Kernel, ...]:
    """The kernels of the modules that a layout names, in the order of the forward pass, each once."""
    return tuple(
        kernel
        for part, work in parts.items()
        for kernel in work.forward
        if any(_belongs(module, part, kernel) for module in modules)
    )


def _belongs(module: str, part: str, kernel: Kernel) -> bool:
    """Whether a kernel of a part of the layer runs again with a module."""
    if module == "activation":
        return kernel.name.endswith("activation")
    if module == "latent":
        return kernel.name.endswith("expansion")
    if module == "shared_experts":
        return kernel.name.startswith("shared experts")
    return part in _PARTS[module]


_PARTS = {
    "norm": ("norms",),
    "attention": ("core",),
    "mlp": ("feed-forward",),
    "expert": ("router", "dispatch", "experts"),
}
"""The parts of a layer that a module of ``recompute`` covers as a whole."""


def _core(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """The attention core (Korthikanti et al., arXiv 2205.05198, section 5)."""
    return parts.get("core", Work()).forward


def _alternate_products(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Every second GEMM and all memory-bound kernels; the output of the attention core is saved."""
    others = (part.forward for name, part in parts.items() if name != "core")
    return tuple(scaled(kernel, ALTERNATE if kernel.rate else 1.0) for part in others for kernel in part)


def _alternate_layers(_: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(scaled(kernel, ALTERNATE) for kernel in everything)


def _all_but_projections(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    saved = ("projections", "rotary")
    return tuple(kernel for name, part in parts.items() if name not in saved for kernel in part.forward)


def _light(_: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(kernel for kernel in everything if kernel.role is Role.LIGHT)


_SELECTIVE = {
    "core-attention": _core,
    "alternate-products": _alternate_products,
    "alternate-layers": _alternate_layers,
    "all-but-projections": _all_but_projections,
    "light": _light,
}
