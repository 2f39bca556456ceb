"""Idle time of pipeline schedules. All functions take floats or arrays, times in seconds.

``work`` is the time of one micro-batch on one rank, forward and backward, in all its virtual stages.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import positive


@formula("(total - slowest) / virtual_stages")
def fill_and_drain(total: float, slowest: float, virtual_stages: float = 1) -> float:
    """Idle seconds of the slowest stage: b = (Σᵢ wᵢ − max wᵢ) / v.

    ``total`` sums the work of one micro-batch over the stages. With equal stages this is the
    well-known (p − 1) w / v. GPipe and 1F1B idle alike (v = 1).

    Source: Narayanan et al., "Efficient large-scale language model training on GPU clusters
    using Megatron-LM", SC21, arXiv 2104.04473, sections 2.2.1 and 2.2.2.

    >>> fill_and_drain(8.0, 2.0), fill_and_drain(8.0, 2.0, 2)
    (6.0, 3.0)
    """
    return (total - slowest) / virtual_stages


@formula("(stages - 1) / (micro_batches * virtual_stages + stages - 1)")
def idle_share(stages: float, micro_batches: float, virtual_stages: float = 1) -> float:
    """The share of a step that equal stages of GPipe, 1F1B or interleaved 1F1B idle: (p − 1) / (m v + p − 1).

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2 (there over the time without the bubble).

    >>> round(idle_share(8, 16), 3), round(idle_share(8, 16, 2), 3), idle_share(1, 16)
    (0.304, 0.179, 0.0)
    """
    return (stages - 1) / (micro_batches * virtual_stages + stages - 1)


@formula("(stages - 1) * (1 - share) / (share * virtual_stages)")
def micro_batches_for(share: float, stages: float, virtual_stages: float = 1) -> float:
    """The micro-batches for an idle share s of the step: m = (p − 1) (1 − s) / (s v).

    Source: `idle_share`, solved for m.

    >>> round(micro_batches_for(0.1, 8), 6)
    63.0
    """
    return (stages - 1) * (1 - share) / (share * virtual_stages)


@formula("(stages - 1) * max(0, forward + backward_input - backward_weight)")
def zero_bubble(stages: float, forward: float, backward_input: float, backward_weight: float) -> float:
    """Idle seconds of the ZB-H1 schedule: b = (p − 1)(f + b − w), in the memory of 1F1B.

    Source: Qi et al., "Zero bubble pipeline parallelism", ICLR 2024, arXiv 2401.10241, table 2.

    >>> zero_bubble(4, 1.0, 1.0, 1.0)
    3.0
    """
    return (stages - 1) * positive(forward + backward_input - backward_weight)


@formula("max(0, stages / 2 - 1) * max(0, both + backward - 3 * backward_weight)")
def dualpipe(stages: float, both: float, backward: float, backward_weight: float) -> float:
    """Idle seconds of DualPipe: b = (p / 2 − 1)(fb + B − 3 W).

    ``both`` (fb) is a forward and a backward chunk run together, ``backward`` (B) a whole
    backward chunk, ``backward_weight`` (W) its weight part.

    Source: DeepSeek-AI, "DeepSeek-V3 technical report", arXiv 2412.19437, table 2.

    >>> dualpipe(8, 3.0, 2.0, 1.0)
    6.0
    """
    return positive(stages / 2 - 1) * positive(both + backward - 3 * backward_weight)


@formula("2 * micro_batches * virtual_stages * send")
def sends(micro_batches: float, virtual_stages: float, send: float) -> float:
    """Seconds on the wire of one stage in a step: s = 2 m v t, activations forward and their gradients back.

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2.2.

    >>> sends(8, 2, 1.0)
    32.0
    """
    return 2 * micro_batches * virtual_stages * send


@formula("2 * (stages - 1) * send")
def fill_sends(stages: float, send: float) -> float:
    """Seconds that the sends of the first and the last micro-batch add to filling and draining: 2 (p − 1) t.

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2.

    >>> fill_sends(4, 1.0)
    6.0
    """
    return 2 * (stages - 1) * send
