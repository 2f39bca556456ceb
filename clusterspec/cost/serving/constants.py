"""Constants of serving, the parts of a step, the links of an engine, and the host overhead of serving software."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost import assumed_figure
from clusterspec.cost.collectives import CollectiveUnavailableError
from clusterspec.cost.collectives.paths import busbw_ceiling, crosses_host_memory, group_paths
from clusterspec.cost.collectives.predict import CollectiveTiming, MeasuredLinks, paths_timing
from clusterspec.cost.serving.parts.launches import FUSED_EXPERTS, SMALL_KERNEL
from clusterspec.records import NamedTuple
from clusterspec.standard import recent


@lru_cache(maxsize=256)
def table_origins(kernels: str, **figures: str) -> dict[str, str]:
    """Origins of numbers: names of figures in a table of kernels."""
    return {name: f"kernels/{kernels} {figure}" for name, figure in figures.items()}


# Constants of serving times other than the tables of measured kernels in the catalog

GROUP = "serving"

FLOOR = assumed_figure(
    GROUP, "floor", 4e-6, "time of the smallest GEMM where none was measured: as on Hopper and Blackwell", "s"
)
STREAMING = assumed_figure(
    GROUP, "streaming", 0.8, "share of the memory bandwidth of kernels that read and write activations"
)
NETWORK = assumed_figure(GROUP, "network", 0.9, "share of the line rate of NICs in a large dispatch or combine")
NETWORK_LATENCY = assumed_figure(
    GROUP, "network_latency", 20e-6, "time of the smallest collective between domains", "s"
)
EXCHANGE = assumed_figure(
    GROUP, "exchange", 25e-6, "time of the smallest dispatch and combine, where none was measured", "s"
)
EXCHANGE_LINE = assumed_figure(
    GROUP, "exchange_line", 0.55, "share of the scale-up bandwidth in dispatch and combine, where none was measured"
)
MEASURED_WEIGHTS = 2.0**25
"""Weights of the median GEMM in the tables of kernels: n and k from 2,048 to 16,384, in the geometric middle."""
EXCHANGE_BYTES = 3.0
"""Bytes of an element sent to an expert in 8 bits and back in 16 (DeepSeek-V3, arXiv 2412.19437, section 3.2)."""
LOW_LATENCY_TOKENS = 256
"""Tokens per rank above which an exchange sends one copy per rank instead of one per expert (the two modes of
DeepEP).
"""
SCORE_BYTES = assumed_figure(
    GROUP,
    "score_bytes",
    320.0,
    "bytes moved for one attention score and its masked counterpart if scores pass through memory; fitted to first "
    "tokens "
    "that AWS publishes of Trn1 (Transformers NeuronX, prompts of 128 to 8,192 tokens)",
    "B",
)
INDEX_SCORE_BYTES = 38.0
"""Traffic of one score of a sparse index in a prompt, in bytes: written, masked and read in passes that select the
highest. 36 B on H200 and 41 on B200: what remains of the time of a score, with 64 and with 32 heads, without heads
(vLLM 0.24.0, DeepSeek-V3.2 and GLM-5; ai-dynamo/aiconfigurator, commit 095f58a5, dsa_context_module).
"""
FEW_HEADS = 32
"""Heads of a rank below which prompts use the kernel of decoding where the cache is narrow (vLLM,
vllm/v1/attention/backends/mla/flashmla_sparse.py: MIN_HEADS_FOR_BF16_PREFILL).
"""
EXCHANGE_UNITS = 20
"""Compute units that the kernels of an exchange of many tokens occupy: the default of DeepEP (deep_ep/buffer.py at
1300811, line 30), as DeepSeek-V3 states for its training (arXiv 2412.19437, section 3.2.2).
"""
ROUTED_PASSES = assumed_figure(
    GROUP,
    "routed_passes",
    4.0,
    "reads and writes of a hidden state for each copy to an expert: sorting, conversion, sum",
)
HABITS = {
    "serving.host": assumed_figure(
        GROUP,
        "host",
        0.7e-3,
        "exposed time of scheduling and sampling in one step; fitted to published plans",
        "s",
    ),
    "serving.sequence": assumed_figure(GROUP, "sequence", 3e-6, "time to sample and detokenize one sequence", "s"),
    "serving.eager": assumed_figure(
        GROUP,
        "eager",
        0.16e-3,
        "time to launch one counted kernel from the host without captured graphs, with the uncounted kernels around "
        "it; fitted to"
        " the first tokens of published plans. 0.6 ms for a dense layer, where NVIDIA's AIConfigurator has 0.8 ms;"
        " 1.3 ms for one with experts, and 2.1 ms for one with experts and latent attention, where 1.2 to 1.8 ms"
        " fit InferenceX",
        "s",
    ),
    "serving.request": assumed_figure(
        GROUP,
        "request",
        8e-3,
        "time of one request outside the engine: transport, scheduling; fitted to published plans",
        "s",
    ),
    "serving.prompt_token": assumed_figure(
        GROUP,
        "prompt_token",
        2e-6,
        "time to split the text of a prompt into tokens, per token: 1.1 us for text and 3.4 us for text of tokens"
        " drawn at random, as benchmarks send, by Hugging Face tokenizers 0.23.3 on one core of an EPYC server",
        "s",
    ),
}
"""Defaults of serving software whose entry states none."""
COMPILED = assumed_figure(
    GROUP,
    "compiled",
    88e-6,
    "time to launch one counted kernel of compiled code, with the uncounted kernels around it, for recent software "
    "without an entry: the value of vLLM, since engines of 2026 compile prompts by default (vLLM; SGLang from "
    "0.5.10; README of"
    " XiaobingSuper/ATOM)",
    "s",
)
WEIGHT_ONLY = assumed_figure(
    GROUP,
    "weight_only",
    0.3,
    "rate of expert GEMMs that convert weights to a wider precision on load, over other GEMMs, if warp-level "
    "instructions do not reach the peak and the kernels of the software were not measured; fitted to published plans",
)
WARP_PRODUCTS = 0.629
"""Rate of warp-level matrix products relative to the peak on Hopper, which reaches its peak only with warp-group
products (Luo et al., arXiv 2501.12084, section 6.2). Kernels that convert weights use warp-level products (Marlin,
mma.sync). These reach the peak on Ampere, Ada and workstation Blackwell, which has no other kind (triton-lang/triton,
pull request 6680 of 2025-05-02).
"""
WARP_LEVEL = frozenset({"sm_80", "sm_86", "sm_87", "sm_89", "sm_120", "sm_121"})
"""Architectures that reach their peak with warp-level products."""
CONVERTED_WEIGHTS = 46e9
"""Weights per second that one compute unit converts in kernels of experts: 43e9 on H200 and 49e9 on B200, where 4-bit
weights are read at 0.61 and 0.47 of the memory bandwidth (at most 4 tokens of an expert; the tables of the next
constant).
"""
WIDENED_ON_HOPPER = ((256.0, 512.0, 1024.0, 2048.0), (0.68, 0.76, 0.89, 1.0))
"""Tokens, and the rate of dense GEMMs that convert 4-bit or 8-bit integer weights on load, relative to 16-bit GEMMs on
Hopper, by products of warp groups: medians of 180 shapes of TensorRT-LLM 1.2.0rc5 on H200 (ai-dynamo/aiconfigurator,
commit 095f58a5, int4_wo and int8_wo). vLLM's kernels are as fast: 0.66 PFLOP/s at 4,096 tokens (Machete, 7,168 × 1,536;
PaddlePaddle/FastDeploy, pull request 3561).
"""
WIDENED_BY_WARPS = 0.95
"""The rate of such GEMMs on accelerators that reach their peak with warp-level products: median 0.88 to 0.98 over 153
shapes on A100, and 0.97 to 1.13 on L40S from 512 tokens (TensorRT-LLM 1.0.0, the same commit).
"""
MARLIN_ALONE = frozenset({"sm_100", "sm_103"})
"""Architectures on which engines convert dense weights only with warp-level products, far below the peak: Machete needs
Hopper (vLLM, `MacheteLinearKernel`). Elsewhere long inputs are multiplied after a pass that converts the weights (vLLM,
`AWQLinearMethod` from 256 tokens on).
"""
TILE_ROWS = {"sm_90": 64.0}
"""Rows of the smallest product of a warp group by architecture (PTX ISA, wgmma.mma_async: m64). A GEMM of fewer rows
computes this number of rows, which takes longer than reading its weights on slow compute (H20). Kernels that swap the
tiles of weights and of tokens, as expert kernels do, pad less.
"""
REDUCED_TILE = (128.0, 256.0)
"""Rows and columns of the outputs that one compute unit multiplies and then reduces over all ranks, in kernels that do
both (NVIDIA/TensorRT-LLM at 1a71cc69, cpp/tensorrt_llm/kernels/cutlass_kernels/allreduce_gemm,
allreduce_gemm_impl_sm100.h: TileShape_MNK).
"""
HEAD_WIDTH = 128.0
"""Elements of the heads with which attention was measured."""
ATTENTION_TILE = 128.0
"""Queries per tile of prompt attention: a windowed kernel computes every key that is visible to any query of the tile
for all of them. The medians of aiconfigurator (commit 095f58a5) for windows of 128 and 1,024 tokens are 0.12 of the
peak on H100 (vLLM 0.24) and 0.1 and 0.4 on B200 (SGLang 0.5.10), with heads of 128.
"""
REREAD = assumed_figure(
    GROUP,
    "reread",
    1.3,
    "bandwidth of the L2 cache divided by the memory bandwidth, for kernels in which each query head reads the keys "
    "itself: about the ratio of A100 in microbenchmarks (only a summary was read)",
)
HANDOFF = assumed_figure(
    GROUP,
    "handoff",
    60e-3,
    "time to transfer a request to another engine without its cache: routing, polling; fitted to published plans",
    "s",
)
DESCRIPTOR = assumed_figure(
    GROUP,
    "descriptor",
    1.4e-6,
    "time of one descriptor of a transfer between engines, the geometric mean of 1.14 µs (4,563 in 5.2 ms) and"
    " 1.82 µs (of 16 kB at 9 GB/s), Mooncake on NICs of 400 Gb/s (github.com/vllm-project/vllm pull request 53825)",
    "s",
)
WAVE = assumed_figure(
    GROUP,
    "wave",
    0.25,
    "share of the idle prefill time over which requests that start together spread out; fitted to published plans",
)
MOST_LOAD = 0.98
"""Utilization of a stated request rate above which its wait grows without limit."""
RESERVED = assumed_figure(
    GROUP, "reserved", 2.5e9, "memory of buffers, graphs and activations of an engine: 2 to 3 GB per rank", "B"
)
CONTEXT = assumed_figure(
    GROUP,
    "context",
    0.7e9,
    "memory of the driver context and libraries of a rank: 0.6 GiB (a vLLM log on H100,"
    " github.com/vllm-project/vllm pull request 48601)",
    "B",
)
HIGHEST_FRACTION = 0.95
"""Share of memory to which operators raise the default where weights leave little: published plans use 0.95 to 0.98."""
UNEVEN = assumed_figure(
    GROUP,
    "uneven",
    0.7,
    "standard deviation of the popularity of experts over its mean. Balancing gained 1.49 times on 32 ranks and 2.54 "
    "times on 72 ranks of DeepSeek-V3. With 0.53 and 0.99 the fullest rank has these multiples of the mean load; "
    "this is their geometric mean (SGLang, lmsys.org/blog/2025-05-05-large-scale-ep)",
)
RANGES = {
    "tpot": (0.81, 1.35),
    "tpot open": (0.92, 1.24),
    "tpot experts": (0.82, 1.70),
    "tpot experts recent": (0.76, 1.43),
    "tpot unmeasured": (0.82, 2.1),
    "tpot early": (0.84, 2.4),
    "ttft": (0.73, 2.44),
    "ttft alone": (0.74, 1.65),
    "ttft experts": (0.75, 2.2),
    "ttft experts recent": (0.80, 3.74),
    "ttft apart": (0.55, 4.0),
    "ttft static": (0.78, 1.87),
    "output_tokens_per_second": (0.74, 1.27),
    "output_tokens_per_second experts": (0.55, 1.23),
    "output_tokens_per_second experts recent": (0.68, 1.36),
    "output_tokens_per_second early": (0.30, 1.20),
    "output_tokens_per_second offline": (0.90, 1.15),
    "output_tokens_per_second offline experts": (0.72, 1.18),
    "output_tokens_per_second offline early": (0.72, 1.20),
}
"""Ends of the uncertainty ranges relative to the prediction: ``alone`` with one request in flight, ``experts`` of
models with experts, ``static`` of batches that start together, ``apart`` with separate prefill engines, ``early`` of
software of `EARLY` and before, ``recent`` of software of `RECENT` and after, ``offline`` of engines that are always
full, or of batches with early software, on accelerators with measured kernels; ``unmeasured`` of software between the
two on accelerators without measured kernels, or of engines over more than one scale-up domain, whose collectives were
not measured. Those of the time per output token apply to all times of a plan of an ``open`` load, and the waits follow
from these.

They were set by percentiles of the fitted sources as predicted up to 25 November 2026, and by judgment after figures of
the held-out sources had been seen. Seven follow a rule that docs/accuracy.md states: those of open loads, of dense
models in loops, and of throughput in loops and times per output token with experts, recent ones of these excluded. It
lists, for each range, the result of the rule and how many fitted and held-out figures are inside. The rule does not set
the other ranges: few sources set most of them, and with it they would contain fewer figures of the sources that set
none.
"""
EARLY = 2024
"""The last year of serving software with ``early`` ranges. Its default settings are further from the best ones."""
RECENT = 2026
"""The first year of serving software with ``recent`` ranges. Its default settings are closer to the best ones."""
LOSSES = {"": (0.75, 1.20), "experts": (0.62, 1.30)}
"""Ends of the difference in throughput between two plans of one engine, by judgment: such plans err alike. In 28 fitted
and 18 held-out pairs of published rows of one engine at two loads, the median error of the second row is 9 % and 6 %
once the first is known.
"""
TAILS = {"tpot": (0.84, 1.34), "ttft": (0.70, 7.3), "ttft apart": (0.36, 4.2)}
"""Ends of the ranges of 99th percentiles relative to the prediction, which contain four in five of 298 published 99th
percentiles (270 of InferenceX, 26 of AWS Neuron, 2 of Google's TPU recipes), with ``ttft apart`` as in `RANGES`.
"""
ASSUMED = (
    FLOOR,
    STREAMING,
    NETWORK,
    NETWORK_LATENCY,
    EXCHANGE,
    EXCHANGE_LINE,
    ROUTED_PASSES,
    FUSED_EXPERTS,
    SMALL_KERNEL,
    SCORE_BYTES,
    WEIGHT_ONLY,
    REREAD,
    HANDOFF,
    WAVE,
    RESERVED,
    CONTEXT,
)
"""The constants that no source states, other than `HABITS`; an estimate lists them."""


# One step of a serving engine, part by part

LAUNCH, HOST_LAUNCH = "launch", "host_launch"
RECURRENT_STATE = "recurrent_state"
"""The part of a step that reads and writes the state of recurrences."""


class Part(NamedTuple):
    """One part of a step: a formula of `cost.formulas.serving`, its inputs and their origins."""

    name: str
    formula: Callable[..., float]
    numbers: dict[str, float]
    origins: dict[str, str]

    @property
    def seconds(self) -> float:
        return self.formula(**self.numbers)

    def with_numbers(self, **changes: float) -> Part:
        """The part with some other inputs."""
        name, formula, numbers, origins = self
        return Part(name, formula, numbers | changes, origins)


class StepTime(NamedTuple):
    """Equal steps of an engine: the parts of one step, the number of steps, and their seconds.

    ``device`` excludes launches. ``floor`` is the minimum time that the host needs to launch the steps; 0 if graphs
    capture whole steps. ``longest`` is the longest step over the mean one: the last chunk of a prompt may be short.
    """

    parts: tuple[Part, ...]
    steps: float
    total: float
    device: float
    floor: float = 0.0
    longest: float = 1.0

    @classmethod
    def of(cls, parts: tuple[Part, ...], steps: float = 1.0, floor: float = 0.0, longest: float = 1.0) -> StepTime:
        """The steps of these parts."""
        launch = device = 0.0
        for part in parts:
            if part.name in (LAUNCH, HOST_LAUNCH):
                launch += part.seconds
            else:
                device += part.seconds
        return cls(parts, steps, steps * (launch + device), steps * device, steps * floor, longest)

    @property
    def lasting_seconds(self) -> float:
        """Seconds of the steps: ``total``, at least those for which the host launches them."""
        return max(self.total, self.floor)

    def lasting_after(self, ahead: float) -> float:
        """`lasting_seconds`, where the host began to launch the steps ``ahead`` seconds before the device was free."""
        return max(self.total, self.floor - ahead)


# The links between the ranks of one engine

DIRECT = frozenset({"switched", "full-mesh", "partial-mesh", "bridge"})
"""Topologies on which engines run small all-reduces with their own kernels."""
PEERS_OVER_HOST = 2
"""Number of ranks over PCIe up to which they do; larger groups use the collective library (vLLM, custom_all_reduce.py:
"not supported on more than two PCIe-only GPUs"), as do cards without peer access.
"""


class RankLinks(NamedTuple):
    """The links of a group of adjacent ranks: B/s per rank and direction, bus bandwidth at line rate.

    ``inside`` the domain, ``between`` domains (infinite if the group is in one), over ``domains`` domains.
    ``direct`` says whether every rank reaches every other in one hop, ``library`` the time of its all-reduce.
    """

    inside: float
    between: float
    domains: int
    direct: bool
    library: CollectiveTiming

    def library_all_reduce_seconds(self, size: float) -> float:
        """Seconds of an all-reduce of ``size`` bytes by the collective library in a separate launch."""
        return self.library.candidates[0].launch + self.library.device_seconds(size)


@recent(16)
def rank_links(cluster: Cluster, ranks: int) -> RankLinks | None:
    """The links of the first ``ranks`` ranks; None if no fabric connects their domains."""
    paths = group_paths(cluster, contiguous_placement(cluster, ranks))
    return None if paths is None else _links_of_paths(MeasuredLinks.of(cluster, paths), crosses_host_memory(cluster))


@recent(16)
def _links_of_paths(links: MeasuredLinks, through_host: bool) -> RankLinks | None:
    """The links of a group by its paths, which may go ``through_host`` memory; None if no algorithm sums over them.

    Machines that differ in a fabric that the group does not use have equal paths.
    """
    paths = links.paths
    try:
        library = paths_timing(links, "all-reduce")
    except CollectiveUnavailableError:
        return None
    inside = paths.inside.line.value if paths.inside.ranks > 1 else float("inf")
    if paths.between is None:
        peers = paths.ranks <= PEERS_OVER_HOST and not through_host
        direct = peers or paths.inside.topology in DIRECT
        return RankLinks(inside, float("inf"), 1, direct, library)
    return RankLinks(inside, busbw_ceiling("all-to-all", paths, reduces=False), paths.between.islands, False, library)
