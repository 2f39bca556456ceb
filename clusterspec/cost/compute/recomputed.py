"""The kernels of a layer that activation recomputation runs again."""

from __future__ import annotations

from clusterspec.cost.compute import ALTERNATE, Kernel, Role, Work, scaled_kernel
from clusterspec.cost.compute.layer import Parts


def recomputed_kernels(
    parts: Parts, recompute: str | tuple[str, ...], selective: str, share: float = 1.0
) -> tuple[Kernel, ...]:
    """The forward kernels that run again before the backward pass. ``recompute`` is a word or a list of modules;
    ``selective`` names the software's meaning of that word; ``share`` is the share of layers that ``full`` covers.
    """
    if isinstance(recompute, tuple):
        return _module_kernels(parts, recompute)
    if recompute == "none":
        return ()
    everything = tuple(kernel for part in parts.values() for kernel in part.forward)
    if recompute == "full":
        return tuple(scaled_kernel(kernel, share) for kernel in everything)
    return _SELECTIVE.get(selective, _core_kernels)(parts, everything)


def _module_kernels(parts: Parts, modules: tuple[str, ...]) -> tuple[Kernel, ...]:
    """The kernels of the modules that a layout names, in the order of the forward pass, each once."""
    return tuple(
        kernel
        for part, work in parts.items()
        for kernel in work.forward
        if any(_runs_again_with(module, part, kernel) for module in modules)
    )


def _runs_again_with(module: str, part: str, kernel: Kernel) -> bool:
    """Whether recomputing a module reruns a kernel of the given part of the layer."""
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


def _core_kernels(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """The attention core (Korthikanti et al., arXiv 2205.05198, section 5)."""
    return parts.get("core", Work()).forward


def _alternate_product_kernels(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Every second GEMM and all memory-bound kernels; the output of the attention core is saved."""
    others = (part.forward for name, part in parts.items() if name != "core")
    return tuple(scaled_kernel(kernel, ALTERNATE if kernel.rate else 1.0) for part in others for kernel in part)


def _alternate_layer_kernels(_: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(scaled_kernel(kernel, ALTERNATE) for kernel in everything)


def _kernels_but_projections(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    saved = ("projections", "rotary")
    return tuple(kernel for name, part in parts.items() if name not in saved for kernel in part.forward)


def _light_kernels(_: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(kernel for kernel in everything if kernel.role is Role.LIGHT)


_SELECTIVE = {
    "core-attention": _core_kernels,
    "alternate-products": _alternate_product_kernels,
    "alternate-layers": _alternate_layer_kernels,
    "all-but-projections": _kernels_but_projections,
    "light": _light_kernels,
}
