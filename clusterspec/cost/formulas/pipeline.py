"""Idle time of pipeline schedules and exposed time of overlapped communication. Floats or arrays, seconds."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger, positive_part, power, smaller


@formula("(total - slowest) / virtual_stages")
def fill_and_drain_idle(total: float, slowest: float, virtual_stages: float = 1) -> float:
    """Idle seconds of the slowest stage: b = (Σᵢ wᵢ − max wᵢ) / v.

    ``total`` sums the work of one micro-batch over the stages. With equal stages this is the
    well-known (p − 1) w / v. GPipe and 1F1B idle alike (v = 1).

    Source: Narayanan et al., "Efficient large-scale language model training on GPU clusters
    using Megatron-LM", SC21, arXiv 2104.04473, sections 2.2.1 and 2.2.2.

    Range: total >= slowest, virtual_stages >= 1.

    >>> fill_and_drain_idle(8.0, 2.0), fill_and_drain_idle(8.0, 2.0, 2)
    (6.0, 3.0)
    """
    return (total - slowest) / virtual_stages


@formula("(stages - 1) / (micro_batches * virtual_stages + stages - 1)")
def idle_share(stages: float, micro_batches: float, virtual_stages: float = 1) -> float:
    """The share of a step that equal stages of GPipe, 1F1B or interleaved 1F1B idle: (p − 1) / (m v + p − 1).

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2 (there over the time without the bubble).

    Range: stages >= 1, micro_batches >= 1, virtual_stages >= 1.

    >>> round(idle_share(8, 16), 3), round(idle_share(8, 16, 2), 3), idle_share(1, 16)
    (0.304, 0.179, 0.0)
    """
    return (stages - 1) / (micro_batches * virtual_stages + stages - 1)


@formula("(stages - 1) * (1 - share) / (share * virtual_stages)")
def micro_batches_for(share: float, stages: float, virtual_stages: float = 1) -> float:
    """The micro-batches for an idle share s of the step: m = (p − 1) (1 − s) / (s v).

    Source: `idle_share`, solved for m.

    Range: share > 0, share <= 1, stages >= 1, virtual_stages >= 1.

    >>> round(micro_batches_for(0.1, 8), 6)
    63.0
    """
    return (stages - 1) * (1 - share) / (share * virtual_stages)


@formula("(stages - 1) * max(0, forward + backward_input - backward_weight)")
def zero_bubble_idle(stages: float, forward: float, backward_input: float, backward_weight: float) -> float:
    """Idle seconds of the ZB-H1 schedule: b = (p − 1)(f + b − w), in the memory of 1F1B.

    Source: Qi et al., "Zero bubble pipeline parallelism", ICLR 2024, arXiv 2401.10241, table 2.

    Range: stages >= 1.

    >>> zero_bubble_idle(4, 1.0, 1.0, 1.0)
    3.0
    """
    return (stages - 1) * positive_part(forward + backward_input - backward_weight)


@formula("max(0, stages / 2 - 1) * max(0, both + backward - 3 * backward_weight)")
def dualpipe_idle(stages: float, both: float, backward: float, backward_weight: float) -> float:
    """Idle seconds of DualPipe: b = (p / 2 − 1)(fb + B − 3 W).

    ``both`` (fb) is a forward and a backward chunk run together, ``backward`` (B) a whole
    backward chunk, ``backward_weight`` (W) its weight part.

    Source: DeepSeek-AI, "DeepSeek-V3 technical report", arXiv 2412.19437, table 2.

    >>> dualpipe_idle(8, 3.0, 2.0, 1.0)
    6.0
    """
    return positive_part(stages / 2 - 1) * positive_part(both + backward - 3 * backward_weight)


@formula("neighbors * micro_batches * virtual_stages * send")
def sends_time(micro_batches: float, virtual_stages: float, send: float, neighbors: float = 2.0) -> float:
    """Seconds per step that one stage spends on sends: s = n m v t. With each of its n neighbors, a stage exchanges the
    activations of one micro-batch and the gradients of another in both directions at the same time.

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2.2.

    >>> sends_time(8, 2, 1.0), sends_time(8, 2, 1.0, neighbors=1.0)
    (32.0, 16.0)
    """
    return neighbors * micro_batches * virtual_stages * send


@formula("2 * (stages - 1) * send")
def fill_sends_time(stages: float, send: float) -> float:
    """Seconds that the sends of the first and the last micro-batch add to filling and draining: 2 (p − 1) t.

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2.

    Range: stages >= 1.

    >>> fill_sends_time(4, 1.0)
    6.0
    """
    return 2 * (stages - 1) * send


# Exposed time of communication that overlaps with computation. Floats or arrays, seconds


@formula("max(0, communication - overlap_window) + interference * min(communication, overlap_window)")
def exposed_time(communication: float, overlap_window: float, interference: float = 0.0) -> float:
    """Seconds that communication adds to ``overlap_window`` seconds of computation that it overlaps.

    e = max(0, c − w) + i min(c, w): communication beyond the window is exposed. Communication inside the window slows
    computation by ``interference`` (i), the share of the device that communication kernels and their memory traffic
    take.

    >>> exposed_time(3.0, 2.0), exposed_time(1.0, 2.0, 0.1)
    (1.0, 0.1)
    """
    return positive_part(communication - overlap_window) + interference * smaller(communication, overlap_window)


@formula(
    "max(bucket * communication, max(0, communication - overlap_window)"
    " + interference * min(communication, overlap_window))"
)
def exposed_time_with_bucket(communication: float, overlap_window: float, interference: float, bucket: float) -> float:
    """Exposed time of communication that cannot hide its share ``bucket``: max(b c, e).

    Frameworks send gradients in buckets as the backward pass fills them; the last one starts when there is no
    computation left (Li et al., "PyTorch distributed", VLDB 2020, arXiv 2006.15704, section 3.2.3).

    >>> exposed_time_with_bucket(4.0, 2.0, 0.0, 0.25), exposed_time_with_bucket(4.0, 8.0, 0.0, 0.25)
    (2.0, 1.0)
    """
    return larger(bucket * communication, exposed_time(communication, overlap_window, interference))


@formula(
    "max(0, calls * seconds * (1 - pipelined) - calls * overlap_window)"
    " + interference * min(calls * seconds * (1 - pipelined), calls * overlap_window)"
    " + interference * calls * seconds * pipelined"
)
def exposed_time_of_calls(
    calls: float, seconds: float, overlap_window: float, interference: float = 0.0, pipelined: float = 0.0
) -> float:
    """The exposed time of several calls if the share ``pipelined`` of them runs inside the adjacent GEMMs.

    ``overlap_window`` applies to each call. Traffic inside products slows them by the share ``interference``.

    >>> exposed_time_of_calls(2, 3.0, 2.0), exposed_time_of_calls(2, 3.0, 0.0, 0.1, 0.5)
    (2.0, 3.3)
    """
    inside = pipelined * (calls * seconds)
    return exposed_time(calls * seconds - inside, calls * overlap_window, interference) + interference * inside


@formula("jitter * longest * rest")
def straggler_wait(jitter: float, longest: float, rest: float) -> float:
    """Seconds that a synchronous step waits for its slowest node: t = σ ln n r.

    ``longest`` is `expected_longest` of the nodes, ``jitter`` (σ) the mean delay of one node relative to its step,
    ``rest`` (r) the seconds of the step without this. Rare interruptions (garbage collection, retransmissions, clocks,
    other jobs on the fabric) give a node a delay that is exponential rather than normal.

    Source: Rényi, "On the theory of order statistics", Acta Mathematica Hungarica 4, 1953 (the maximum of exponential
    samples).

    >>> straggler_wait(0.01, 3.0, 2.0)
    0.06
    """
    return jitter * longest * rest


@formula()
def expected_longest(count: float) -> float:
    """The excess of the longest of n exponential delays over the mean of one, in units of that mean: ln n.

    Source: Rényi, "On the theory of order statistics", Acta Mathematica Hungarica 4, 1953.

    Range: count >= 1.

    >>> expected_longest(1), round(expected_longest(100), 3)
    (0.0, 4.605)
    """
    # NOTE: math.log does not work here: it takes no columns, and formulas import no array library.
    return _STEPS * (power(count, 1 / _STEPS) - 1)


@formula()
def expected_largest(count: float) -> float:
    """The standard deviations by which the largest of n normal samples lies above their mean: √(2 ln n).

    Source: Embrechts, Klüppelberg, Mikosch, "Modelling extremal events", 1997, section 3.3.

    Range: count >= 1.

    >>> expected_largest(1), round(expected_largest(100), 3)
    (0.0, 3.035)
    """
    return power(2 * expected_longest(count), 0.5)


_STEPS = 1 << 20
"""ln n is computed as N (n^(1/N) − 1), exact to six digits, so that arrays need no library."""


# Time of the optimizer's step. Floats or arrays, seconds


@formula("(1 - offloaded) * bytes_each * weights / bandwidth")
def update_time(weights: float, bytes_each: float, bandwidth: float, offloaded: float = 0.0) -> float:
    """Seconds of updating ``weights`` at memory speed: t = (1 − o) P w / β.

    ``bytes_each`` (w) are read and written for each weight, ``offloaded`` (o) is the share in host memory.

    Source: Rajbhandari et al., "ZeRO-Infinity", SC21, arXiv 2104.07857, section 4.

    Range: bandwidth > 0, offloaded <= 1.

    >>> update_time(1e9, 34.0, 3.4e12), update_time(1e9, 34.0, 3.4e12, 0.5)
    (0.01, 0.005)
    """
    return (1 - offloaded) * bytes_each * weights / bandwidth


@formula("(1 - offloaded) * flops_each * weights / rate")
def orthogonal_update_time(weights: float, flops_each: float, rate: float, offloaded: float = 0.0) -> float:
    """Seconds of the matrix products of an orthogonal update of ``weights``: t = (1 − o) P f / R.

    ``flops_each`` (f) operations for each weight run at ``rate`` (R) in FLOP/s; ``offloaded`` (o) is the share in host
    memory. One iteration on a matrix of m × n takes 4 m² n + 2 m³ operations, m ≤ n.

    Source: Jordan, "Muon: An optimizer for hidden layers in neural networks", 2024.

    Range: rate > 0, offloaded <= 1.

    >>> orthogonal_update_time(1e9, 3e4, 3e14), orthogonal_update_time(1e9, 3e4, 3e14, 0.5)
    (0.1, 0.05)
    """
    return (1 - offloaded) * flops_each * weights / rate


@formula("copies * max(0, offloaded * bytes_each * weights / host_bandwidth - hidden)")
def host_copy_time(
    weights: float,
    bytes_each: float,
    host_bandwidth: float,
    offloaded: float,
    *,
    hidden: float = 0.0,
    copies: float = 1.0,
) -> float:
    """Seconds on the host bus that a step waits for copies of the offloaded share: t = n max(0, o P w / B - h).

    ``bytes_each`` (w) of each weight (P) cross the bus: gradients to the host, or weights back; Computation hides
    ``hidden`` (h) seconds of each of ``copies`` (n).

    Source: Ren et al., "ZeRO-Offload", ATC 2021, arXiv 2101.06840, section 4.

    Range: host_bandwidth > 0, offloaded <= 1.

    >>> host_copy_time(1e9, 4.0, 4e10, 0.5), round(host_copy_time(1e9, 4.0, 4e10, 0.5, hidden=0.03, copies=4), 6)
    (0.05, 0.08)
    """
    return copies * positive_part(offloaded * bytes_each * weights / host_bandwidth - hidden)


@formula("offloaded * bytes_each * weights / (host_memory * share)")
def host_update_time(weights: float, bytes_each: float, host_memory: float, share: float, offloaded: float) -> float:
    """Seconds of the update of the offloaded share by processors: t = o P w / (β s).

    ``bytes_each`` (w) are read and written for each weight (P); ``host_memory`` (β) is one rank's part of the host
    memory bandwidth; the update reaches a ``share`` (s) of it.

    Source: Ren et al., "ZeRO-Offload", ATC 2021, arXiv 2101.06840, section 5.

    Range: host_memory > 0, share > 0, offloaded <= 1.

    >>> host_update_time(1e9, 34.0, 68e9, 0.25, 0.5)
    1.0
    """
    return offloaded * bytes_each * weights / (host_memory * share)


@formula("min(stages - stage, micro_batches)")
def stored_micro_batches(stages: float, stage: float, micro_batches: float) -> float:
    """Micro-batches whose activations a stage of 1F1B holds: n = min(p − i, m), i from 0.

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2.1.

    Range: stages > stage.

    >>> stored_micro_batches(8, 0, 64), stored_micro_batches(8, 7, 64), stored_micro_batches(8, 0, 4)
    (8.0, 1.0, 4.0)
    """
    return smaller(stages - stage, micro_batches)


@formula("min(2 * (stages - stage - 1) + (virtual_stages - 1) * stages + 1, micro_batches * virtual_stages)")
def stored_interleaved_passes(stages: float, stage: float, virtual_stages: float, micro_batches: float) -> float:
    """Passes through one chunk whose activations a stage holds with v interleaved chunks.

    ``n = min(2 (p − i − 1) + (v − 1) p + 1, m v)``; on the first stage this is 1F1B's memory
    times 1 + (p − 1) / (p v).

    Source: Narayanan et al., SC21, arXiv 2104.04473, section 2.2.2; Korthikanti et al., section 4.2.3.

    Range: stages > stage, virtual_stages >= 1, micro_batches >= 1.

    >>> stored_interleaved_passes(4, 0, 5, 64), stored_interleaved_passes(4, 3, 5, 64)
    (23.0, 17.0)
    """
    return smaller(2 * (stages - stage - 1) + (virtual_stages - 1) * stages + 1, micro_batches * virtual_stages)
