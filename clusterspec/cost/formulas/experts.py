"""Expected load of experts, and messages and bytes of an all-to-all. Floats or arrays."""

from __future__ import annotations

from math import exp

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger, power, smaller
from clusterspec.cost.formulas.pipeline import expected_largest

LEAST = 1e-9
"""Lower bound of the fraction of experts that a token does not select, used if tokens select all experts."""
MOST_COUNTED = 50.0
"""From this mean on, a Poisson count is approximated by the normal distribution."""


@formula()
def distinct_ranks(ranks: float, chosen: float) -> float:
    """Expected ranks that hold at least one of a token's experts: r (1 − (1 − 1/r)^k).

    ``chosen`` (k) experts drawn evenly and independently over ``ranks`` (r).

    Range: ranks >= 1.

    >>> round(distinct_ranks(8, 8), 3), distinct_ranks(1, 8)
    (5.251, 1.0)
    """
    return ranks * (1 - power(1 - 1 / ranks, chosen))


@formula()
def fullest_load(ranks: float, experts: float, spread: float) -> float:
    """Load of the fullest rank over the mean: 1 + σ √(2 ln r) / √e.

    Each of r ranks holds e experts. Their loads vary independently, with relative standard deviation ``spread`` (σ);
    the load of a rank varies by σ / √e. All ranks wait for the largest of r loads.

    Range: ranks >= 1, experts > 0.

    >>> fullest_load(1, 8, 0.2)
    1.0
    >>> round(fullest_load(8, 1, 0.1), 3), round(fullest_load(8, 4, 0.1), 3)
    (1.204, 1.102)
    """
    return 1 + spread * expected_largest(ranks) / power(experts, 0.5)


@formula()
def load_with_draw(fullest: float, ranks: float, tokens: float) -> float:
    """Load of the fullest rank over the mean, of few tokens drawn: 1 + √((f − 1)² + 2 ln r / t).

    With many tokens, the fullest of r ``ranks`` has f (``fullest``) times the mean. The ``tokens`` (t) of a rank also
    vary as a Poisson count, independently of f.

    Range: fullest >= 1, ranks >= 1, tokens > 0.

    >>> load_with_draw(1.5, 1, 100), round(load_with_draw(1.0, 36, 1024), 3), round(load_with_draw(2.5, 32, 1024), 3)
    (1.5, 1.084, 2.502)
    """
    drawn = expected_largest(ranks) * expected_largest(ranks) / tokens
    return 1 + power((fullest - 1) * (fullest - 1) + drawn, 0.5)


@formula()
def experts_hit(experts: float, tokens: float, chosen: float, spread: float) -> float:
    """Expected experts that at least one of ``tokens`` selects: e (1 − (1 + t x)^(−1/σ²)), x = (1 − k/e)^(−σ²) − 1.

    A token selects ``chosen`` (k) different experts, whose popularity varies about its mean by the share
    ``spread`` (σ).

    Source: the probability of zero in the negative binomial distribution, the distribution of counts with
    gamma-distributed means (Greenwood and Yule, J. Royal Stat. Soc. 83, 1920); exact for one token.

    Range: experts >= 1, chosen >= 1, chosen <= experts, spread >= 0.1, spread <= 2.

    >>> round(experts_hit(256, 1, 8, 0.7), 6), round(experts_hit(256, 32, 8, 0.7), 1)
    (8.0, 144.3)
    >>> round(experts_hit(8, 40_000, 2, 0.7), 3), round(experts_hit(4, 1, 4, 0.7), 3)
    (8.0, 4.0)
    """
    variance = spread * spread
    each = power(larger(1 - chosen / experts, LEAST), -variance) - 1
    return experts * (1 - power(1 + tokens * each, -1 / variance))


@formula()
def experts_hit_on_fullest(hit: float, experts: float, ranks: float) -> float:
    """The number of experts that receive a token, on the rank where it is largest: min(n, n q + √(2 ln r) √(n q (1 −
    q))).

    Each of r ranks holds n = ``experts`` / r experts; the fraction q = ``hit`` / ``experts`` of them receives a token,
    independently of each other: the largest of r binomial counts.

    Range: experts >= 1, ranks >= 1, ranks <= experts, hit <= experts.

    >>> experts_hit_on_fullest(4, 8, 1)
    4.0
    >>> round(experts_hit_on_fullest(128, 256, 8), 2), experts_hit_on_fullest(256, 256, 8)
    (21.77, 32.0)
    """
    held, share = experts / ranks, hit / experts
    return smaller(held, held * share + expected_largest(ranks) * power(held * share * (1 - share), 0.5))


@formula()
def requests_on_fullest(mean: float, ranks: float) -> float:
    """The number of requests on the rank that has the most, with ``mean`` requests per rank on average: b + √(2 ln r)
    √b.

    Requests end independently on r ranks, so the counts are Poisson distributed.

    Range: ranks >= 1.

    >>> requests_on_fullest(16, 1), round(requests_on_fullest(16, 8), 2)
    (16.0, 24.16)
    """
    return mean + expected_largest(ranks) * power(mean, 0.5)


def prompts_on_fullest(mean: float, ranks: int) -> float:
    """The number of prompts that start in one step on the rank that has the most, with ``mean`` prompts per rank on
    average: Σ (1 − F(k)^r).

    Prompts replace requests that end independently on r ranks, so F is the cumulative Poisson distribution.

    Range: ranks >= 1.

    >>> prompts_on_fullest(0.25, 1), round(prompts_on_fullest(0.25, 8), 3)
    (0.25, 1.076)
    """
    return mean if ranks == 1 else steps_of_fullest(mean, ranks, 1)


def steps_of_fullest(mean: float, ranks: int, most: float) -> float:
    """The number of steps for all prompts of the rank that has the most. A step takes up to ``most`` prompts, the last
    of them in part; a rank has ``mean`` prompts on average.

    They are Σ (1 − F(⌊k m⌋)^r) over k = 0, 1, …, of m prompts in a step on r ranks; F is the cumulative Poisson
    distribution.

    Range: ranks >= 1, most >= 1.

    >>> steps_of_fullest(0.25, 8, 1) == prompts_on_fullest(0.25, 8), round(steps_of_fullest(0.25, 8, 10), 3)
    (True, 0.865)
    >>> round(steps_of_fullest(4.0, 8, 2), 3), round(steps_of_fullest(80.0, 1, 8), 3)
    (3.768, 10.0)
    >>> round(steps_of_fullest(1.0, 1, 1.5), 6)  # P(n > 0) + P(n > 1) + P(n > 3) + P(n > 4) + …
    0.919103
    """
    if mean > MOST_COUNTED:
        return larger(1.0, requests_on_fullest(mean, ranks) / most)
    each = below = exp(-mean)
    on_all = below**ranks
    count, steps, following, found = 0, 1, int(most), 1 - on_all
    while 1 - on_all > LEAST and count < 10 * MOST_COUNTED:
        count += 1
        each *= mean / count
        below = min(1.0, below + each)
        on_all = below**ranks
        if count == following:
            found, steps = found + 1 - on_all, steps + 1
            following = int(steps * most)
    return found


# All-to-all: every rank has a part for every other. Floats or arrays


@formula("ranks - 1")
def direct_messages(ranks: float) -> float:
    """Messages of each rank in a direct exchange: n − 1.

    Range: ranks >= 1.

    >>> direct_messages(8)
    7
    """
    return ranks - 1


@formula("2 * ranks * (ranks - 1)")
def posted_calls(ranks: float) -> float:
    """Sends and receives that all ranks post together: 2 n (n − 1).

    Range: ranks >= 1.

    >>> posted_calls(8)
    112
    """
    return 2 * ranks * (ranks - 1)


@formula("size * (ranks_in_island - 1) / ranks")
def traffic_inside(size: float, ranks: float, ranks_in_island: float) -> float:
    """Bytes that a rank sends to others of its island: (m − 1) / n · S.

    Range: ranks_in_island >= 1, ranks >= ranks_in_island.

    >>> traffic_inside(16e9, 16, 8), traffic_inside(8e9, 8, 8)
    (7000000000.0, 7000000000.0)
    """
    return size * (ranks_in_island - 1) / ranks


@formula("size * (ranks - ranks_in_island) / ranks")
def traffic_between(size: float, ranks: float, ranks_in_island: float) -> float:
    """Bytes that a rank sends to other islands: (n − m) / n · S.

    Range: ranks_in_island >= 1, ranks >= ranks_in_island.

    >>> traffic_between(16e9, 16, 8), traffic_between(8e9, 8, 8)
    (8000000000.0, 0.0)
    """
    return size * (ranks - ranks_in_island) / ranks


@formula("size * (ranks_in_island - 1) / ranks_in_island")
def staged_traffic_inside(size: float, ranks: float, ranks_in_island: float) -> float:
    """Bytes that a rank sends inside its island if data for other islands first moves to its destination rail.

    Every byte that leaves the island crosses the scale-up tier once, except the m-th part that starts on its rail: (m −
    1) / m · S.

    Range: ranks_in_island >= 1, ranks >= ranks_in_island.

    >>> staged_traffic_inside(16e9, 16, 8)
    14000000000.0
    """
    return size * (ranks_in_island - 1) / ranks_in_island


@formula("ranks_in_island - 1 + islands - 1")
def staged_messages(ranks_in_island: float, islands: float) -> float:
    """Messages of a rank in two stages: m − 1 inside, then k − 1 along its rail.

    Range: ranks_in_island >= 1, islands >= 1.

    >>> staged_messages(8, 16)
    22
    """
    return ranks_in_island - 1 + islands - 1


@formula("width * tokens * chosen * (hidden + max(hidden, widest))")
def received_bytes(tokens: float, chosen: float, hidden: float, widest: float, width: float = 2) -> float:
    """Bytes of the expert buffers of a rank for ``tokens`` tokens from all ranks, each copied for its ``chosen``
    experts.

    Two buffers are alive at once. One holds the inputs, later the second GEMM or its input; the other holds the outputs
    of the first GEMM with ``widest`` elements, later those of the second: B = w t k (h + max(h, f)).

    Source: NVIDIA/TensorRT-LLM at ac73e31, cpp/tensorrt_llm/kernels/cutlass_kernels/moe_gemm/moe_kernels.cu
    (getWorkspaceDeviceBufferSizes): rows for all experts of all tokens, because a rank may have to compute any of them.

    >>> received_bytes(57344, 8, 7168, 4096) / 1e9
    13.153337344
    """
    return width * tokens * chosen * (hidden + larger(hidden, widest))


@formula("routed * (hidden * kept + ffn * (width * (matrices - 1) + kept) / ranks)")
def expert_bytes(
    routed: float, hidden: float, ffn: float, matrices: float, ranks: float, *, width: float = 2, kept: float = 2
) -> float:
    """Inputs and intermediate results of experts for ``routed`` tokens: B = n (h k + f (w (m − 1) + k) / r).

    Source: Fedus et al., "Switch Transformers", arXiv 2101.03961, section 2.2.

    Range: matrices >= 1, ranks >= 1.

    >>> expert_bytes(1, 4096, 14336, 3, 1)
    94208.0
    """
    return routed * (hidden * kept + ffn * (width * (matrices - 1) + kept) / ranks)
