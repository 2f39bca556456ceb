"""The compilation of kernels while the first prompts of a run wait."""

from __future__ import annotations

from clusterspec.cost.serving.pools import Pools
from clusterspec.quantity import Figure


def first_compilation(pools: Pools) -> Figure | None:
    """The seconds of the compilation before the first prompts of a run whose requests start together; None for other
    loads, and if the entry of the software states no time for the accelerator.

    Some kernels are compiled for a size when a step first has it. The prompts of that step, and the prompts behind it,
    wait meanwhile, unless a warm-up had prompts of the same sizes.

    Source: TensorRT-LLM pull request 18588 (github.com/NVIDIA/TensorRT-LLM), kernels that "compile on the first real
    request whose context chunk lands in an untouched shape"; SGLang issue 28706 (github.com/sgl-project/sglang),
    kernels "lazily JIT-compiled during inference" on H200; both read 2026-11-25.
    """
    load, engine = pools.load, pools.prompts
    if load.load != "closed" or not load.requests or engine.layout.stack is None:
        return None
    return engine.layout.stack.achievable.get(f"serving.cold.{engine.cluster.accelerator.architecture}")


def compilation_seconds(pools: Pools) -> float:
    """The seconds of `first_compilation`; 0 without one."""
    found = first_compilation(pools)
    return found.value if found is not None else 0.0
