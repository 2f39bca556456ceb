"""Times of reinforcement learning: its step, the transfer of weights, and lengths of samples. Floats, seconds."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger


@formula("rollout + training + sync + switch")
def serial_step_time(rollout: float, training: float, sync: float, switch: float) -> float:
    """Seconds of a step whose roles take turns: t = r + u + w + s.

    Rollout r waits for new weights, training u for the last sample; w sends the weights, s switches the accelerators
    between the engines and the trainer.

    Source: Sheng et al., *HybridFlow*, 2024 (arXiv 2409.19256), section 2.

    >>> serial_step_time(60.0, 30.0, 5.0, 5.0)
    100.0
    """
    return rollout + training + sync + switch


@formula("max(training + sync, busy + sync, batch / staleness)")
def overlapped_step_time(training: float, busy: float, batch: float, sync: float, staleness: float) -> float:
    """Seconds of a step if rollout may run up to σ steps ahead of the weights: t = max(u + w, b + w, r / σ).

    u is the training time, b the time in which rollout slots are busy, w the weight transfer, for which both wait, and
    r the time from the start of a batch to its last sample. σ batches are generated at once, so the tail of one
    overlaps with the next.

    Source: Fu et al., *AReaL*, 2025 (arXiv 2505.24298), section 4; Zhong et al., *StreamRL*, 2025 (arXiv 2504.15930).

    Range: staleness >= 1.

    >>> overlapped_step_time(30.0, 40.0, 60.0, 5.0, 1.0), overlapped_step_time(30.0, 40.0, 60.0, 5.0, 2.0)
    (60.0, 45.0)
    """
    return larger(larger(training + sync, busy + sync), batch / staleness)


@formula("started + switch + max(tail, training * (1 - last)) + training * last + sync")
def partial_step_time(
    started: float, tail: float, training: float, last: float, *, sync: float, switch: float
) -> float:
    """Seconds of a step in which training starts on finished samples while other nodes generate the longest samples.

    All nodes generate for ``started`` seconds. The trainer's nodes then train while the tail runs on the others; the
    share ``last`` of training needs the samples of the tail.

    Source: Gao et al., *RollPacker*, 2025 (arXiv 2509.21009), section 3.

    >>> partial_step_time(40.0, 20.0, 30.0, 0.25, sync=5.0, switch=5.0)
    80.0
    """
    return started + switch + larger(tail, training * (1 - last)) + training * last + sync


@formula("sent / bandwidth + tensors * overhead + messages * each")
def weight_sync_time(
    sent: float, bandwidth: float, tensors: float, overhead: float, *, messages: float, each: float
) -> float:
    """Seconds to send new weights to the engines: t = S / B + n o + m c.

    S bytes pass the slowest link at B bytes per second and direction, and an engine loads n tensors with o seconds of
    overhead each. Where tensors are not packed, m collectives and handles of single tensors cost c seconds each.

    Source: Hockney's model of a message, Parallel Computing 20(3), 1994.

    Range: bandwidth > 0.

    >>> weight_sync_time(140e9, 50e9, 1000, 1e-3, messages=500, each=2e-3)
    4.8
    """
    return sent / bandwidth + tensors * overhead + messages * each


@formula("moved / bandwidth + fixed")
def switch_time(moved: float, bandwidth: float, fixed: float) -> float:
    """Seconds to give the accelerators to another role: bytes to and from host memory, and fixed work.

    Source: Sheng et al., *HybridFlow*, 2024 (arXiv 2409.19256), section 5.

    Range: bandwidth > 0.

    >>> switch_time(60e9, 30e9, 2.0)
    4.0
    """
    return moved / bandwidth + fixed


@formula("samples * mean * step / slots + prompts")
def rollout_busy_time(samples: float, mean: float, slots: float, step: float, prompts: float) -> float:
    """Seconds that one engine needs for its samples while all its slots are busy: t = n L s / b + p.

    It generates n samples of L tokens, b at a time, in steps of s seconds, and computes their prompts in p seconds.

    Source: Little, "A proof for the queuing formula L = λW", Operations Research 9(3), 1961.

    Range: slots >= 1.

    >>> rollout_busy_time(128, 1000, 64, 0.02, 1.0)
    41.0
    """
    return samples * mean * step / slots + prompts
