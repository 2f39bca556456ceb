"""The share of one rank in one micro-batch: the shapes that kernels are built from."""

from __future__ import annotations

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.elementwise import divided, larger
from clusterspec.cost.layers import Mixer
from clusterspec.precision import NARROW, activation_width
from clusterspec.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Shard:
    """One micro-batch on one rank, in layers that mix tokens by ``mixer``; ``model`` has the widths of those layers.

    ``tokens`` enter the GEMMs of a tensor-parallel group; ``rows`` of them belong to this rank between GEMMs (fewer
    with sequence parallelism). ``heads`` and ``kv_heads`` are those of this rank. ``precision`` is that of the linear
    layers; ``kept`` that of the parts that stay in 16 bits when linear layers are narrower (attention, logits, router).
    ``forwarded`` where the dispatcher sends a token once to each rank of its experts, not once for each of them.
    """

    model: Model
    sequences: float
    length: int
    cp: int
    tp: int
    ep: int
    expert_tp: int
    tokens: float
    rows: float
    heads: float
    kv_heads: float
    precision: str
    kept: str
    flash: bool
    mixer: Mixer = Mixer.FULL
    sequence_parallel: bool = False
    forwarded: bool = False

    @property
    def width(self) -> float:
        """Bytes of one activation between kernels and on the wire: 16 bits, or 32 where GEMMs are wider."""
        return activation_width(self.precision)

    @classmethod
    def of(cls, workload: Workload, layout: Layout, mixer: Mixer = Mixer.FULL) -> Shard:
        """The share of each rank, by the degrees of the layout."""
        model, tp = _of_kind(workload.model, mixer), layout.tp
        tokens = layout.micro_batch * workload.sequence_length / layout.cp
        narrow = workload.precision in NARROW
        sequence_parallel = layout.sequence_parallel and divided(tp)
        return cls(
            model=model,
            sequences=layout.micro_batch,
            length=workload.sequence_length,
            cp=layout.cp,
            tp=tp,
            ep=layout.ep,
            expert_tp=layout.expert_tp,
            tokens=tokens,
            rows=tokens / tp if sequence_parallel else tokens,
            heads=model.heads / tp,
            kv_heads=larger(model.kv_heads / tp, 1.0),
            precision=workload.precision,
            kept="bf16" if narrow else workload.precision,
            flash=workload.attention == "flash",
            mixer=mixer,
            sequence_parallel=sequence_parallel,
            forwarded=layout.dispatcher.kind != "all-to-all",
        )


def _of_kind(model: Model, mixer: Mixer) -> Model:
    """The model; for window attention with the heads of its window layers."""
    window = model.window
    if mixer is not Mixer.WINDOW or window is None:
        return model
    if model.latent or model.compressed:
        return replace(model, sparse=None)
    return replace(
        model,
        heads=window.heads or model.heads,
        kv_heads=window.kv_heads or model.kv_heads,
        head_dim=window.head_dim or model.head_dim,
        value_head_dim=window.value_head_dim or window.head_dim or model.value_width,
        shared_kv=False,
        sparse=None,
    )
