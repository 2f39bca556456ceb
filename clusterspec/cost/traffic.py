"""Communication of one rank: the collectives of each axis and their sizes."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import ALTERNATE, Shard
from clusterspec.cost.formulas.compute import is_divided, is_zero, larger, value_where
from clusterspec.cost.layers import FeedForward, Mixer
from clusterspec.cost.parameters import Share
from clusterspec.quantity import precision_width
from clusterspec.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.stacks import Stack

# One kind of collective of an axis, and the computation that it may overlap with


@dataclass(frozen=True)
class Transfer:
    """``calls`` collectives of ``size`` bytes each (as nccl-tests counts bytes) on the groups of one axis.

    ``overlap_window`` is the seconds of computation that each call may overlap with, 0 for none; ``hidden_by_default``
    says that a framework overlaps the call without any setting. ``purpose`` names the transferred data if the axis has
    several such collectives; Kernels of a dispatcher send ``copies`` of tokens individually, and forward ``forwarded``
    bytes inside scale-up domains after these crossed the fabric.
    """

    axis: str
    collective: str
    size: float
    calls: float = 1.0
    overlap_window: float = 0.0
    hidden_by_default: bool = False
    purpose: str = ""
    copies: float = 0.0
    forwarded: float = 0.0


COPY_RATE = assumed_figure(
    "exchange",
    "copies",
    85e6,
    "token copies per second that the kernels of a dispatcher send or sum inside a scale-up domain, at any width: "
    "the fitted runs have their lowest errors from 70 to 100 million. By count it is 71 million: DeepEP sends"
    " 14,900 of 4 kB in 0.28 ms on 24 units of B200 (4,096 tokens, 8 of 128 experts on 4 ranks; a tuning report), and"
    " Megatron Bridge 0.5 runs HybridEP on 32 (scripts/performance/utils/overrides.py)",
    "1/s",
)


FORWARD_RATE = assumed_figure(
    "exchange",
    "forwarded",
    140e9,
    "bytes per second that each rank receives inside its scale-up domain from a dispatcher that crosses domains: on "
    "two nodes 134 to 145 GB/s on H200 with NICs of 400 Gb/s (DeepEP, issue 493) and 136 to 149 GB/s on"
    " B300 with 800 Gb/s (issue 590), in 16 bits, dispatch and combine; faster links do not help the kernels",
    "B/s",
)


def call_seconds(transfer: Transfer, wire: float) -> float:
    """Seconds of one call: ``wire`` seconds for its links, or the time in which kernels send its copies or forward its
    bytes if that is longer.

    >>> call_seconds(Transfer("ep", "all-to-all", 1e8, copies=170_000), 1e-3)
    0.002
    >>> call_seconds(Transfer("ep", "all-to-all", 1e8, forwarded=280e6), 1e-3)
    0.002
    """
    return larger(wire, larger(transfer.copies / COPY_RATE.value, transfer.forwarded / FORWARD_RATE.value))


# Tensor parallelism: the exchange of activations around each block


def tensor_forward_transfers(shard: Shard, windows: Mapping[str, float]) -> tuple[Transfer, ...]:
    """Each block of a layer gathers its input and scatters its output, or all-reduces its output.

    Korthikanti et al., arXiv 2205.05198, section 4: with sequence parallelism an all-gather and a reduce-scatter
    replace each all-reduce. ``windows`` has the sharded blocks, each with the seconds of its GEMMs in the pass. A
    framework may overlap the gather with the first half of the GEMMs, the scatter with the second.
    """
    if not is_divided(shard.tp):
        return ()
    size = activation_bytes(shard)
    kinds = {"all-gather": 0.5, "reduce-scatter": 0.5} if shard.sequence_parallel else {"all-reduce": 1.0}
    return tuple(
        Transfer("tp", name, size, 1, share * window, purpose=block)
        for block, window in windows.items()
        for name, share in kinds.items()
    )


def tensor_backward_transfers(shard: Shard, windows: Mapping[str, float]) -> tuple[Transfer, ...]:
    """The transfers of the backward pass.

    With sequence parallelism the inputs are gathered once more for the weight gradients, overlapped with the GEMMs of
    the input gradients (Megatron-LM, core/tensor_parallel/layers.py), where the framework does not keep them. Each of
    the three transfers of a block has a quarter of its GEMMs: the input gradients of the second matrix and of the
    first, and the weight gradients of the first (Transformer Engine, pytorch/module/layernorm_linear.py,
    ``ub_bulk_dgrad`` and ``ub_bulk_wgrad``).
    """
    if not is_divided(shard.tp) or not shard.sequence_parallel:
        return tensor_forward_transfers(shard, windows)
    size = activation_bytes(shard)
    gathers = (
        Transfer(
            "tp", "all-gather", size, 1, window / 4, hidden_by_default=True, purpose=f"inputs of {block} gradients"
        )
        for block, window in windows.items()
        if shard.gathers_again
    )
    return *tensor_forward_transfers(shard, {block: window / 2 for block, window in windows.items()}), *gathers


def activation_bytes(shard: Shard) -> float:
    """Bytes of one block's input for all the tokens of a tensor-parallel group."""
    return shard.width * shard.tokens * shard.model.hidden


# Recomputation: the transfers of the forward pass that run again before the backward pass


def repeated_share(transfer: Transfer, layout: Layout, network: FeedForward, shared_experts: bool) -> float:
    """The share of a layer's forward transfer that recomputation repeats, because it belongs to recomputed modules.

    ``network`` is the feed-forward network of the layer, ``shared_experts`` whether the model has shared experts.
    """
    recompute, stack = layout.recompute, layout.stack
    if recompute == "full":
        return layout.recomputed_share
    if isinstance(recompute, tuple):
        return float(_runs_in(transfer, recompute, network))
    return _selectively_repeated(transfer, stack, shared_experts) if recompute == "selective" and stack else 0.0


def _selectively_repeated(transfer: Transfer, stack: Stack, shared_experts: bool) -> float:
    """The share of a transfer that is repeated by the software's selective recomputation."""
    if stack.selective == "alternate-layers":
        return ALTERNATE
    if stack.selective == "core-attention":
        return float(transfer.axis == "cp")
    if stack.selective == "alternate-products":
        return float(_runs_again_with_saved_products(transfer, stack.saves_exchange(shared_experts)))
    first = transfer.axis == "tp" and transfer.purpose == MIXING and transfer.collective == "all-gather"
    return float(stack.selective == "all-but-projections" and not first)


MIXING, NETWORK = "token mixing", "feed-forward"
"""The blocks of a layer that tensor parallelism shards, as named in the purposes of transfers."""


def _runs_in(transfer: Transfer, modules: tuple[str, ...], network: FeedForward) -> bool:
    """Whether a transfer belongs to one of the given modules, and is therefore repeated when they are recomputed.

    A recomputed attention core exchanges keys and values again, experts their tokens (Megatron-LM at d98e8a6,
    core/transformer/attention.py and moe/moe_layer.py: the checkpoint wraps the exchange, too).
    """
    if transfer.axis == "tp":
        module = "mlp" if network is FeedForward.DENSE else "shared_experts"
        return transfer.purpose == NETWORK and module in modules
    return {"cp": "attention", "ep": "expert", "expert_tp": "expert"}[transfer.axis] in modules


def _runs_again_with_saved_products(transfer: Transfer, exchange_saved: bool) -> bool:
    """Whether a transfer runs again if recomputation saves every second product, the attention output and the scattered
    sums of blocks.

    Gathers run again, as nothing saves their results (torchtitan at b5bcd76, distributed/activation_checkpoint.py).
    """
    if transfer.axis == "ep":
        return not exchange_saved
    return transfer.axis in ("tp", "expert_tp") and transfer.collective != "reduce-scatter"


# Context parallelism: the exchange of keys and values, or of heads, between its ranks


def context_forward_transfers(shard: Shard, method: str, core: float) -> tuple[Transfer, ...]:
    """The context-parallel exchange around an attention core that takes ``core`` seconds.

    ring: each of cp − 1 steps sends keys and values while the core processes the previous ones (Liu et al., arXiv
    2310.01889); all-gather: all keys and values first (Llama 3, arXiv 2407.21783, section 3.3.2); all-to-all: heads for
    tokens and back (DeepSpeed-Ulysses, arXiv 2309.14509). Sparse attention gathers by any method, as its index ranks
    the keys of all tokens.
    """
    return _context_transfers(shard, method, core, gradient=False)


def context_backward_transfers(shard: Shard, method: str, core: float) -> tuple[Transfer, ...]:
    """The exchange in the backward pass, with the gradients of keys and values."""
    return _context_transfers(shard, method, core, gradient=True)


def _context_transfers(shard: Shard, method: str, core: float, gradient: bool) -> tuple[Transfer, ...]:
    ranks = shard.cp
    if not is_divided(ranks) or shard.mixer is Mixer.NONE:
        return ()
    if shard.mixer is Mixer.LINEAR:
        return _state_transfers(shard, method, gradient)
    keys_values = shard.width * shard.tokens * _key_value_width(shard)
    if method == "all-to-all" and not shard.model.sparse:
        model = shard.model
        queries = shard.width * shard.tokens * shard.heads * model.head_dim
        return (
            Transfer("cp", "all-to-all", queries, 2, purpose="queries and outputs"),
            Transfer("cp", "all-to-all", keys_values, 1, purpose="keys and values"),
        )
    if method == "all-gather" or shard.model.sparse:
        gather = Transfer("cp", "all-gather", keys_values * ranks)
        return (gather, Transfer("cp", "reduce-scatter", keys_values * ranks)) if gradient else (gather,)
    sent = keys_values * (2 if gradient else 1)
    return (Transfer("cp", "send-recv", sent, ranks - 1, core / ranks),)


def _state_transfers(shard: Shard, method: str, gradient: bool) -> tuple[Transfer, ...]:
    """The context-parallel exchange around a recurrence. An all-to-all exchanges heads for tokens and back; other
    methods gather the final states of each rank's tokens.

    Each rank computes its part from a zero state, gathers the states of all ranks and corrects its own (as
    flash-linear-attention, ops/cp). The traffic is one state per rank, for any sequence length.
    """
    part = shard.model.linear
    assert part is not None
    if method == "all-to-all":
        from clusterspec.cost.compute.recurrence import recurrence_widths

        held = recurrence_widths(shard, part)
        inputs, outputs = 2 * held.keys + held.values + 2 * held.heads, held.values
        sent = {"inputs": inputs, "outputs": outputs}
        return tuple(
            Transfer("cp", "all-to-all", shard.width * shard.tokens * each, 1, purpose=name)
            for name, each in sent.items()
        )
    from clusterspec.cost.compute.recurrence import state_bytes

    return (Transfer("cp", "all-gather", state_bytes(shard, part) * shard.cp * (2 if gradient else 1)),)


def _key_value_width(shard: Shard) -> float:
    """Elements of keys and values for one token on one rank.

    With an index, each head reads the latents directly, and the index keys are sent with them (Megatron-LM,
    core/transformer/experimental_attention_variant). Compressed attention has one entry for several tokens.
    """
    model = shard.model
    index = model.sparse.index_dim if model.sparse else 0
    if part := model.compressed:
        return part.mean_over_layers((model.head_dim + index) / part.light_ratio, model.head_dim / part.heavy_ratio)
    if model.latent and index:
        return model.latent_kv + model.latent_rope + index
    if model.latent:
        return shard.heads * (model.head_dim + model.value_width + model.latent_rope)
    return shard.kv_heads * (model.head_dim + model.value_width)


# Data parallelism: gradients reduced over replicas, and weights gathered where they are sharded

DENSE, EXPERT = "dp_cp", "expert_dp"
"""The groups over which gradients are reduced: for ordinary weights, and for expert weights."""
SHARD, REPLICATE = "shard", "replicate"
"""The two levels of hsdp."""


@dataclass(frozen=True)
class Weights:
    """Weights of one rank before sharding: those replicated on every data-parallel rank, and experts'."""

    dense: float
    expert: float = 0.0

    @classmethod
    def of(cls, held: Share, layout: Layout) -> Weights:
        """The weights of a rank's layers. Experts that are sharded like the other weights count as dense."""
        dense = held.dense + held.replicated
        alike = (layout.ep == 1) & (layout.expert_tp == layout.tp)
        return cls(dense + value_where(alike, held.expert, 0.0), value_where(alike, 0.0, held.expert))

    def __add__(self, other: Weights) -> Weights:
        return Weights(self.dense + other.dense, self.expert + other.expert)

    def __mul__(self, share: float) -> Weights:
        return Weights(self.dense * share, self.expert * share)


def gradient_bytes(workload: Workload, layout: Layout) -> float:
    """Bytes of one gradient on the wire: in the precision of the stored gradient, or in a narrower one that the
    software reduces in, such as FSDP's mixed-precision policy.
    """
    kept = precision_width(workload.gradient_precision)
    sent = layout.stack.reduces if layout.stack else None
    return (min(kept, precision_width(sent)) if sent else kept) / layout.gradient_compression


def parameter_bytes(workload: Workload) -> float:
    """Bytes of one weight on the wire."""
    return precision_width(workload.parameter_precision)


def _nonempty_transfers(*transfers: Transfer) -> tuple[Transfer, ...]:
    return tuple(transfer for transfer in transfers if not is_zero(transfer.size))


def gradient_reductions(weights: Weights, workload: Workload, layout: Layout) -> tuple[Transfer, ...]:
    """The transfers that reduce the gradients of these weights: reduce-scatter for sharded states, all-reduce otherwise
    or if the software always reduces whole gradients.

    hsdp scatters over its shard group; `across` returns the reduction that follows.
    """
    each = gradient_bytes(workload, layout)
    whole = {"none", *(layout.stack.all_reduces if layout.stack else ())}
    name = "all-reduce" if layout.sharding in whole else "reduce-scatter"
    dense = SHARD if layout.sharding == "hsdp" else DENSE
    return _nonempty_transfers(
        Transfer(dense, name, each * weights.dense), Transfer(EXPERT, name, each * weights.expert)
    )


def shard_group_reductions(weights: Weights, workload: Workload, layout: Layout) -> tuple[Transfer, ...]:
    """With hsdp, the all-reduces of gradient shards between the shard groups."""
    if layout.sharding != "hsdp":
        return ()
    shard = gradient_bytes(workload, layout) * weights.dense / layout.shard_group
    return _nonempty_transfers(Transfer(REPLICATE, "all-reduce", shard))


def weight_gathers(weights: Weights, workload: Workload, layout: Layout) -> tuple[Transfer, ...]:
    """The transfers that gather ``weights`` on every rank; none if the weights are not sharded."""
    if layout.sharding == "none":
        return ()
    each = parameter_bytes(workload)
    dense = SHARD if layout.sharding == "hsdp" else DENSE
    return _nonempty_transfers(
        Transfer(dense, "all-gather", each * weights.dense), Transfer(EXPERT, "all-gather", each * weights.expert)
    )
