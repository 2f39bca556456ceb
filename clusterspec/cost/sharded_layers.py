"""Gathers of weights and reductions of gradients that each micro-batch makes layer by layer, and how many of them the
host launches.

Full sharding divides the weights of every layer: each pass gathers them first, and the backward pass reduces their
gradients afterwards. Hooks of the framework do so on the host, while it launches the kernels of the layer.
"""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.catalog.stacks import FULLY, SHARDS_GRADIENTS, Stack
from clusterspec.cluster.model import Layout
from clusterspec.cost.formulas.compute import is_divided
from clusterspec.cost.layers import FeedForward, Layer, Mixer
from clusterspec.records import NamedTuple


def communicates_by_layer(layout: Layout, stack: Stack) -> bool:
    """Whether each micro-batch gathers weights or reduces gradients: not where the framework keeps both whole in
    pipelines, or may do so.
    """
    memory = stack.memory_of(layout.sharding)
    once = is_divided(layout.pp) and (memory.kept_in_pipelines or memory.may_keep_in_pipelines)
    return layout.sharding in SHARDS_GRADIENTS and not once


def gathers_once(layout: Layout, stack: Stack) -> bool:
    """Whether weights whose gradients are reduced layer by layer stay whole from one update to the next, as in stage 2
    of DeepSpeed (runtime/zero/stage_1_and_2.py, all_gather_dp_groups after the update). FSDP frees them after each
    backward pass.
    """
    return layout.sharding == "zero2" and not stack.memory_of(layout.sharding).sharded_master


class ShardedPasses(NamedTuple):
    """How often every micro-batch gathers the weights of a layer, before the forward and before the backward pass, and
    reduces their gradients. Recomputation uses the weights that the backward pass needs.

    With ``by_matrix``, the framework gathers each matrix separately and reduces the gradients of many layers at once.
    """

    gathers: float = 0.0
    gathers_again: float = 0.0
    reductions: float = 0.0
    by_matrix: bool = False

    @classmethod
    def of(cls, layout: Layout, stack: Stack, by_matrix: bool) -> ShardedPasses:
        """The passes of a layout; work that is done once per step does not count."""
        if not communicates_by_layer(layout, stack):
            return cls()
        gathered = 0.0 if gathers_once(layout, stack) else 1.0
        reduced = 0.0 if by_matrix or layout.gradient_sync == "step" else 1.0
        return cls(gathered, float(layout.sharding in FULLY), reduced, by_matrix)

    def launched(self, model: Model, layer: Layer) -> tuple[float, float]:
        """The launches of the host in the forward and in the backward pass of a layer."""
        each = layer_matrices(model, layer) if self.by_matrix else 1.0
        return each * self.gathers, each * self.gathers_again + self.reductions


def layer_matrices(model: Model, layer: Layer) -> float:
    """The modules of a layer with a weight matrix of their own. All routed experts count as one, as DeepSpeed gathers
    the leaf modules of its users (set_z3_leaf_modules); norms are too small to be sharded
    (stage3_param_persistence_threshold).
    """
    network = 3.0 if model.gated_ffn else 2.0
    if layer.network is FeedForward.EXPERTS:
        network = 2.0 + (network if model.shared_experts else 0.0)
    elif layer.network is FeedForward.NONE:
        network = 0.0
    return _mixing_matrices(model, layer.mixer) + network


def _mixing_matrices(model: Model, mixer: Mixer) -> float:
    """The matrices before and after the core; a recurrence has one on each side."""
    if mixer is Mixer.NONE:
        return 0.0
    if mixer is Mixer.LINEAR:
        return 2.0
    before = (4.0 if model.latent_q else 3.0) if model.latent else 2.0 if model.shared_kv else 3.0
    return before + 1.0 + (model.attention_gate != "none")
