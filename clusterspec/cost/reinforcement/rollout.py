"""The generation of one batch of samples of unequal length: the time to the last sample, and the busy time.

An event simulation follows one attention rank: samples in flight occupy its slots, and the end of a sample lets the
next one start. Sample lengths are quantiles of their distribution in an evenly spread, deterministic order.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from heapq import heapify, heapreplace
from itertools import accumulate
from math import ceil, exp, floor, log
from statistics import NormalDist

from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.reinforcement import rollout_weights
from clusterspec.cluster.requests import Lengths
from clusterspec.cluster.samples import Rl
from clusterspec.cluster.sites import design_on_pool
from clusterspec.cluster.variation import design_with_keys
from clusterspec.cost import cited_figure
from clusterspec.cost.formulas.pipeline import expected_largest
from clusterspec.cost.formulas.reinforcement import rollout_busy_time
from clusterspec.cost.serving.constants import HOST_LAUNCH
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.cost.serving.times import serving_pools
from clusterspec.quantity import PRECISIONS, ROUNDED
from clusterspec.records import NamedTuple, dataclass
from clusterspec.source import Cited
from clusterspec.spec.model import LayoutSpec, RolloutSpec, ServingSpec, WorkloadSpec
from clusterspec.standard import sum_of

GROUP = "reinforcement"
GOLDEN = 0.6180339887498949
"""Multiples of the golden ratio, modulo one, spread evenly for any number of them."""
LONGEST = 0.5614594835668851
"""The expected largest of n samples is about the quantile 1 − 0.561 / n (exp(−γ), by Gumbel's law)."""
RATIO = 1.25
"""Steps are timed for numbers of sequences that grow by this ratio, and linear between them."""
NEAR, FAR = 512.0, 8192.0
"""Context lengths in tokens at which steps are timed; between and beyond them the time is linear."""
MOST_SAMPLES = 4096
"""Maximum number of samples of one engine that are simulated singly; a larger batch is scaled from this number."""
RETURNED = cited_figure(
    GROUP,
    "rollout.token",
    78e-6,
    Cited(
        "stack/vllm",
        "benchmark of log-probabilities",
        "vLLM V1 takes 13.83 s for 107,372 tokens, and 23.54 s for 113 thousand with log-probabilities",
        "https://github.com/vllm-project/vllm/pull/9880",
        "2026-12-01",
        "the machine is not stated; a trainer needs the log-probability of each token. Not used is a later test on one"
        " L20, 20 us (18,645 to 13,583 tokens a second, pull request 57442): published steps then are too short",
    ),
    "s",
)
"""Seconds of the host for each token that an engine returns with its log-probability."""


@dataclass(frozen=True)
class Rollout:
    """The generation of the samples of one step, in seconds and tokens.

    ``batch`` is the time to the last sample, ``drained`` the time until slots first stay empty, ``busy`` the time that
    the samples would take with all slots full. Each of ``ranks`` attention ranks has ``slots`` and generates
    ``samples``, of ``mean`` and at most ``longest`` tokens. ``step`` is the time of a step with full slots, ``prompts``
    the time of the prompts of one rank, both inside the training loop; ``waiting`` the time that one sample waits for
    its environment.
    """

    batch: float
    drained: float
    busy: float
    ranks: int
    slots: float
    samples: float
    mean: float
    longest: float
    step: float
    prompts: float
    waiting: float
    engine: Engine
    design: Design

    @property
    def accelerators(self) -> float:
        """Accelerators of all engines."""
        layout = self.engine.layout
        ranks = self.engine.replicas * self.engine.ranks * layout.pp
        return ranks / self.engine.cluster.ranks_per_accelerator

    @property
    def idle_share(self) -> float:
        """The share of a batch's time in which slots are idle while the longest samples finish."""
        return max(0.0, 1 - self.busy / self.batch) if self.batch else 0.0


def rollout_design(design: Design, rl: Rl, nodes: int) -> Design:
    """The engines of rollout on some nodes as an ordinary serving design."""
    work, section = design.spec.workload or WorkloadSpec(), design.spec.workload and design.spec.workload.rl
    rollout = (section.rollout if section else None) or RolloutSpec()
    kept = rollout_weights(rollout, work)
    machine, written = design.cluster, design.spec.layout or LayoutSpec()
    if rl.rollout_pool is not None:
        machine = design_on_pool(design, rl.rollout_pool, {("workload",): None, ("layout",): None}).cluster
    executed = machine.accelerator.peaks if machine else {}
    products = PRECISIONS[kept].rates[0] if kept in {*ROUNDED, "mxfp4"} else None
    widened = products not in executed and (kept != "nvfp4" or _has_kernels_of_nvfp4(machine))
    serving = ServingSpec(
        input_tokens=rl.inputs.mean,
        output_tokens=rl.outputs.mean,
        load="offline",
        max_sequences=rollout.max_sequences,
        memory_fraction=rollout.memory_fraction,
        captured_graphs=rollout.captured_graphs,
    )
    served = WorkloadSpec(
        kind="serve",
        model=work.model,
        precision=work.precision if products is None or widened else products,
        parameter_precision=kept,
        kv_precision=rollout.kv_precision,
        serving=serving,
    )
    layout = LayoutSpec(
        framework=rollout.framework,
        software=rollout.software,
        nodes=nodes,
        nodes_per_domain=written.nodes_per_domain if rl.placement == "colocated" else None,
        tp=rollout.tp,
        attention_dp=rollout.attention_dp,
        ep=rollout.ep,
        pp=rollout.pp,
    )
    if rl.rollout_pool is not None:
        return design_on_pool(design, rl.rollout_pool, {("workload",): served, ("layout",): layout})
    return design_with_keys(design, {("workload",): served, ("layout",): layout})


def _has_kernels_of_nvfp4(machine: Cluster | None) -> bool:
    """Whether engines have kernels that compute nvfp4 weights in 16 bits on this accelerator. They exist for CUDA only
    (Marlin).
    """
    accelerator = machine.accelerator if machine else None
    return accelerator is not None and (accelerator.architecture or "").startswith("sm_")


def rollout_of(design: Design, rl: Rl, nodes: int) -> Rollout | None:
    """The generation of one batch on some nodes; None if the engines cannot be timed."""
    engines = rollout_design(design, rl, nodes)
    pools = serving_pools(engines)
    return None if pools is None else batch_rollout(pools, rl, engines)


def batch_rollout(pools: Pools, rl: Rl, engines: Design) -> Rollout:
    """The generation of one batch by the engines of a serving design."""
    engine, ranks = pools.decode, pools.decode.attention_ranks
    each = rl.samples / ranks
    slots = float(min(ceil(each), int(pools.limit)))
    outputs = sample_lengths(rl.outputs, min(MOST_SAMPLES, ceil(each)), rl.samples)
    uneven = 1 + (rl.outputs.variation / max(1.0, each)) ** 0.5 * expected_largest(float(ranks)) if ranks > 1 else 1.0
    most = rl.outputs.most or max(outputs)
    lengths = [min(float(most), length * uneven) for length in outputs[:-1]] + outputs[-1:]
    run = _EngineRun(pools, rl.inputs.mean, slots)
    batch, drained = run.batch(_evenly_mixed(lengths))
    repeated = each / len(lengths) if len(lengths) == MOST_SAMPLES else 1.0
    mean = float(rl.outputs.mean)
    if rl.max_staleness:
        flying = min(pools.limit, each * rl.batches_in_flight)
        slots = max(slots if rl.batches_in_flight >= 1 else 1.0, flying)
    step = run.step(slots, rl.inputs.mean + mean / 2)
    prompts = run.prompts(each)
    busy = rollout_busy_time(each, mean, slots, step, prompts)
    waiting = rl.turns * rl.environment_time
    return Rollout(
        batch=max(batch * repeated, busy) + waiting,
        drained=drained * repeated,
        busy=busy,
        ranks=ranks,
        slots=slots,
        samples=each,
        mean=mean,
        longest=lengths[-1],
        step=step,
        prompts=prompts,
        waiting=waiting,
        engine=engine,
        design=engines,
    )


def sample_lengths(lengths: Lengths, count: int, of_all: int) -> list[float]:
    """``count`` ascending sample lengths: quantiles of a truncated log-normal distribution, with the stated mean.

    The last is the expected longest of ``of_all`` samples.
    """
    if lengths.p99 <= lengths.mean:
        return [float(lengths.mean)] * count
    quantiles, scale, cut = list(_middle_quantiles(lengths, count)), *_median_and_cut(lengths, count)
    rank = NormalDist().inv_cdf(max(0.5, 1 - LONGEST / max(2, of_all)))
    longest = min(cut, scale * exp(lengths.log_deviation * rank))
    return [*quantiles[:-1], max(longest, quantiles[-1])]


@lru_cache(64)
def _middle_quantiles(lengths: Lengths, count: int) -> tuple[float, ...]:
    """The midpoints, in ascending order, of ``count`` equally likely parts of a truncated log-normal distribution."""
    scale, cut = _median_and_cut(lengths, count)
    return tuple(min(cut, scale * one) for one in _normal_quantiles(lengths.log_deviation, count))


@lru_cache(64)
def _median_and_cut(lengths: Lengths, count: int) -> tuple[float, float]:
    """The median of the untruncated distribution for which the truncated quantiles have the stated mean, and the cut;
    both in tokens.
    """
    cut, uncut = float(lengths.most or 64 * lengths.mean), _normal_quantiles(lengths.log_deviation, count)
    sums = list(accumulate(uncut, initial=0.0))
    low, high = 0.0, 64.0
    for _ in range(40):
        scale = lengths.mean * (middle := (low + high) / 2)
        below = bisect_right(uncut, cut / scale)
        found = (scale * sums[below] + cut * (count - below)) / count
        low, high = (middle, high) if found < lengths.mean else (low, middle)
    return lengths.mean * high, cut


@lru_cache(64)
def _normal_quantiles(sigma: float, count: int) -> tuple[float, ...]:
    """``count`` quantiles of a log-normal distribution with median 1, ascending."""
    normal = NormalDist()
    return tuple(exp(sigma * normal.inv_cdf((index + 0.5) / count)) for index in range(count))


def _evenly_mixed(values: list[float]) -> list[float]:
    """The ascending ``values``, reordered so that every stretch has about the same mean."""
    return [values[index] for index in _spread_order(len(values))]


@lru_cache(64)
def _spread_order(count: int) -> tuple[int, ...]:
    return tuple(sorted(range(count), key=lambda index: (index + 1) * GOLDEN % 1.0))


class _StepLine(NamedTuple):
    """The seconds of a decode step inside the training loop as a function of the mean context: ``launch`` for launches,
    and ``start`` + ``slope`` × tokens for kernels. Without captured graphs, the host takes ``host`` to launch a step.
    Then it takes ``returned`` to return the tokens.
    """

    launch: float
    start: float
    slope: float
    host: float = 0.0
    returned: float = 0.0

    def seconds(self, context: float) -> float:
        """The longer of two times, the host's launches and kernels with their launches in succession; and the tokens'
        return.
        """
        return max(self.host, self.launch + self.start + self.slope * context) + self.returned


class _EngineRun:
    """One attention rank that decodes samples in at most ``slots`` slots; ``prompt`` is the tokens of a prompt."""

    def __init__(self, pools: Pools, prompt: int, slots: float) -> None:
        self.pools, self.prompt, self.slots = pools, float(prompt), int(slots)
        self._lines: dict[int, _StepLine] = {}
        self._between: dict[float, _StepLine] = {}

    def step(self, sequences: float, context: float) -> float:
        """Seconds of a step that decodes ``sequences`` sequences of ``context`` tokens on a rank."""
        line = self._between.get(sequences)
        if line is None:
            line = self._between[sequences] = self._interpolated_step_line(sequences)
        return line.seconds(context)

    def _interpolated_step_line(self, sequences: float) -> _StepLine:
        """The step time as a function of context for ``sequences`` sequences, interpolated between adjacent powers of
        `RATIO`.
        """
        low = floor(log(max(1.0, sequences)) / log(RATIO))
        before, after = self._step_line(low), self._step_line(low + 1)
        part = max(0.0, (sequences - RATIO**low) / (RATIO ** (low + 1) - RATIO**low))
        return _StepLine(*(near + part * (far - near) for near, far in zip(before, after, strict=True)))

    def _step_line(self, place: int) -> _StepLine:
        """The step time as a function of context for `RATIO` ** ``place`` sequences."""
        found = self._lines.get(place)
        if found is None:
            engine = self.pools.decode
            each = max(1.0 / engine.layout.attention_dp, RATIO**place / engine.layout.pp)
            near, far = (decode_step(engine, each, tokens) for tokens in (NEAR, FAR))
            slope = (far.device - near.device) / (FAR - NEAR)
            waiting = sum_of(part.seconds for part in near.parts if part.name == HOST_LAUNCH)
            launch, host = near.total - near.device - waiting, near.total if waiting else 0.0
            returned = RATIO**place * RETURNED.value
            found = self._lines[place] = _StepLine(launch, near.device - NEAR * slope, slope, host, returned)
        return found

    def prompts(self, count: float) -> float:
        """Seconds of the prompts of a number of samples on one rank."""
        engine = self.pools.prompts
        together = max(1.0, min(count, 8.0))
        found = prompt_step(engine, together * self.prompt, self.prompt, float(engine.layout.attention_dp)).total
        return found * count / together

    def batch(self, lengths: list[float]) -> tuple[float, float]:
        """Seconds until the last sample ends, and seconds until the last sample starts."""
        ends = [(length, 0.0) for length in lengths[: self.slots]]
        heapify(ends)
        now = self.prompts(float(len(lengths)))
        done, starts, count = 0.0, 0.0, len(ends)
        line = self._interpolated_step_line(float(count))
        for length in lengths[count:]:
            end = ends[0][0]
            context = self.prompt + (done + end) / 2 - starts / count
            now += (end - done) * line.seconds(context)
            done = end
            _, start = heapreplace(ends, (done + length, done))
            starts += done - start
        drained = now
        for count, (end, start) in zip(range(len(ends), 0, -1), sorted(ends), strict=True):
            now += (end - done) * self.step(float(count), self.prompt + (done + end) / 2 - starts / count)
            done, starts = end, starts - start
        return now, drained
