"""Cost of failures and checkpoints in a long run. Floats or arrays, times in seconds."""

from __future__ import annotations

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import exponential_less_one, larger, power, smaller


@formula("sqrt(2 * between * cost)")
def best_interval(between: float, cost: float) -> float:
    """The checkpoint interval with the least lost time: τ = √(2 M C).

    ``between`` (M) is the mean time between failures, ``cost`` (C) the time that training is paused for one checkpoint.

    Source: Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.

    >>> best_interval(7200.0, 100.0)
    1200.0
    """
    return power(2 * between * cost, 0.5)


@formula("cost / interval + interval / (2 * between)")
def lost_share(interval: float, between: float, cost: float) -> float:
    """The share of time spent on checkpoints, and on repeating half an interval per failure: C / τ + τ / (2 M).

    Source: Young, CACM 17(9), 1974.

    Range: interval > 0, between > 0.

    >>> round(lost_share(1200.0, 7200.0, 100.0), 4)
    0.1667
    """
    return cost / interval + interval / (2 * between)


@formula("between / (between + restart)")
def availability(between: float, restart: float) -> float:
    """The share of time in which a job runs: M / (M + R).

    ``between`` (M) is the mean running time between failures of the whole job, ``restart`` (R) the mean time from a
    failure until training runs again. A stopped job is not stopped again.

    Source: the renewal theorem for alternating up and down times (Barlow and Proschan, 1975).

    Range: between > 0.

    >>> availability(7200.0, 800.0)
    0.9
    """
    return between / (between + restart)


@formula("max(0, interval - checkpoint) / (between + restart) / expm1(min(700, interval / between))")
def goodput(interval: float, between: float, checkpoint: float, restart: float) -> float:
    """The share of time spent on training steps that are kept: (τ - C) / ((M + R) (exp(τ / M) - 1)).

    ``interval`` (τ) between checkpoints, ``between`` (M) the running time between failures of the whole job,
    ``checkpoint`` (C) that training waits for one checkpoint, ``restart`` (R) from a failure until training runs again.

    A failure comes after an exponentially distributed running time, and the steps since the last checkpoint are then
    repeated. An interval of τ - C of steps passes with the probability p = exp(-τ / M); with the failed attempts, it
    takes M (1 / p - 1) of running time, and R for each of the 1 / p - 1 failures. For τ and R far below M, the share is
    1 - C / τ - τ / (2 M) - R / M.

    Source: Daly, FGCS 22(3), 2006, section 3, without failures during restarts: a stopped job is not stopped again.

    Range: interval > 0, between > 0.

    >>> round(goodput(1200.0, 7200.0, 100.0, 360.0), 4)
    0.8023
    """
    return larger(0.0, interval - checkpoint) / (between + restart) / exponential_less_one(interval / between)


@formula("failures_between / accelerators")
def job_time_between_failures(failures_between: float, accelerators: float) -> float:
    """The mean time between failures of a job in seconds, if each accelerator stops it once per ``failures_between`` s.

    Source: failures of independent parts add (exponential lifetimes).

    Range: accelerators > 0.

    >>> job_time_between_failures(16_384 * 3600.0, 16_384)
    3600.0
    """
    return failures_between / accelerators


@formula("min(bandwidth, clients * per_client)")
def client_rate(bandwidth: float, clients: float, per_client: float) -> float:
    """The rate at which clients move data to or from a storage system, in B/s: the lower of the rates of store and
    clients.

    >>> client_rate(400e9, 64, 5e9), client_rate(400e9, 128, 5e9)
    (320000000000.0, 400000000000.0)
    """
    return smaller(bandwidth, clients * per_client)


@formula("size / rate + files / metadata_rate")
def transfer_time(size: float, rate: float, files: float, metadata_rate: float) -> float:
    """Seconds to create or open ``files`` files and then move ``size`` bytes at ``rate``.

    Range: rate > 0, metadata_rate > 0.

    >>> transfer_time(1e12, 100e9, 4096, 2048)
    12.0
    """
    return size / rate + files / metadata_rate


@formula("weights * width")
def checkpoint_bytes(weights: float, width: float = 14) -> float:
    """Bytes of a checkpoint: B = P w, with weights in bf16 and, for Adam, weights and two moments in fp32.

    Source: Rajbhandari et al., "ZeRO", SC20, arXiv 1910.02054, section 3.1, without the gradients.

    >>> checkpoint_bytes(70.6e9) / 1e9
    988.4
    """
    return weights * width


@formula("weights * copies + states * shared")
def restore_bytes(weights: float, copies: float, states: float, shared: float) -> float:
    """The bytes that all ranks of a job read from a checkpoint: each copy of the weights and of the states once.

    >>> restore_bytes(140e9, 64, 840e9, 1)
    9800000000000.0
    """
    return weights * copies + states * shared
