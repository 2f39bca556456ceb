"""One transformer layer, dense or with experts, as its parts; and what of it is computed again."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cost.compute import attention, feedforward
from clusterspec.cost.compute.kernels import Kernel, Work, accumulation, casts, portioned, repeated, stream
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.compute.software import SCORE_PASSES, Software

Parts = Mapping[str, Work]


def dense_layer(portion: Portion, software: Software) -> Parts:
    """The parts of a layer whose feed-forward network is dense."""
    return _parts(portion, software, {"feed-forward": feedforward.dense(portion, portion.model.ffn_hidden)})


def expert_layer(portion: Portion, software: Software) -> Parts:
    """The parts of a layer whose feed-forward network is a mixture of experts."""
    routing = feedforward.Routing.of(portion, software.imbalance)
    return _parts(
        portion,
        software,
        {
            "router": feedforward.router(portion),
            "dispatch": repeated(feedforward.permutation(portion, routing), software.fusion / software.routing),
            "experts": feedforward.experts(portion, routing),
        },
    )


def _parts(portion: Portion, software: Software, network: Parts) -> Parts:
    parts = {
        "norms": _norms(portion),
        "projections": attention.projections(portion),
        "rotary": attention.rotary(portion),
        "core": attention.core(portion, SCORE_PASSES),
        "output": attention.output(portion),
        **network,
    }
    return {name: _as_built(work, software) for name, work in parts.items()}


def _norms(portion: Portion) -> Work:
    """Two norms and two residual additions with dropout, in 16 bits.

    Forward a norm reads and writes, an addition reads two and writes one; backward a norm reads
    its input and the gradient and writes one, an addition reads and writes.
    """
    elements = attention.ACTIVATION * portion.rows * portion.model.hidden
    return stream("norms and residuals", 10 * elements, 10 * elements, 4)


def _as_built(work: Work, software: Software) -> Work:
    """The work with the software's own fusion and its casts to narrow precisions."""
    loose = Work(*(tuple(k for k in part if not k.rate) for part in (work.forward, work.backward)))
    firm = Work(*(tuple(k for k in part if k.rate) for part in (work.forward, work.backward)))
    narrow, sums = casts(work, software.cast), accumulation(work, software.accumulation)
    return firm + repeated(loose, 1 / software.fusion) + narrow + sums


def whole(parts: Parts, recompute: str, selective: str) -> Work:
    """All parts as one, with the kernels that run again under ``recompute``."""
    total = sum(parts.values(), Work())
    return Work(total.forward, total.backward, _again(parts, recompute, selective))


def _again(parts: Parts, recompute: str, selective: str) -> tuple[Kernel, ...]:
    if recompute == "none":
        return ()
    everything = tuple(kernel for part in parts.values() for kernel in part.forward)
    if recompute == "full":
        return everything
    return _SELECTIVE[selective](parts, everything)


def _core(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return parts["core"].forward


def _alternate_products(parts: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Every second matrix product and all memory-bound kernels; the attention core is saved."""
    core = set(parts["core"].forward)
    return tuple(portioned(k, 0.5 if k.rate else 1.0) for k in everything if k not in core)


def _alternate_layers(_: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(portioned(kernel, 0.5) for kernel in everything)


def _all_but_projections(parts: Parts, _: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    saved = ("projections", "rotary")
    return tuple(kernel for name, part in parts.items() if name not in saved for kernel in part.forward)


def _light(parts: Parts, everything: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """Norms, activations and the expansions of latent attention: cheap to compute, large to keep."""
    return tuple(k for k in everything if k.name.startswith("norms") or k.name.endswith(("activation", "expansion")))


_SELECTIVE = {
    "core-attention": _core,
    "alternate-products": _alternate_products,
    "alternate-layers": _alternate_layers,
    "all-but-projections": _all_but_projections,
    "light": _light,
}
