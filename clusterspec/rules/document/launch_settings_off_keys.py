"""Flags or environment variables in the description or a comment contradict the keys.

## What it finds

In the description and the comments of a spec of one design:

- flags of launch lines with another number than the key: degrees of parallelism, batch, sequence length, nodes and
  ranks per node, slots of an engine and its share of the memory; more nodes (`--nodes`, `--nnodes`) than there are;
- `--max-model-len` below the longest prompt and answer together;
- engines without a cache of prefixes (`--disable-radix-cache`, `--no-enable-prefix-caching`) with a `prefix_hit`, a
  `shared_prefix` or `cache_tiers`;
- `NCCL_IB_HCA` with fewer adapters than `nics_per_node`, or with a caret before as many; `NCCL_IB_DISABLE=1`, or the
  provider `tcp` of libfabric, with an RDMA fabric; a traffic class (`NCCL_IB_TC`, `HCCL_RDMA_TC`) or service level
  (`HCCL_RDMA_SL`) whose priority is not lossless;
- flags of the distributed optimizer where `sharding` is none, and a first batch of a ramp (`--rampup-batch-size`) that
  the replicas do not divide, or that has fewer micro-batches than stages;
- samples called on-policy where a step has several minibatches: a note, since some mean that rollout waits for the new
  weights; all others are errors;
- a container of NVIDIA (`pytorch:24.09-py3`), a branch of its driver (`R535`) or a CUDA release that is older than the
  accelerator; kernels of FlashAttention 3 (`VLLM_FLASH_ATTN_VERSION=3`) on an NVIDIA accelerator without them;
- a repository of a quantized model (`…-FP8`, `…-AWQ`) whose precision is not `parameter_precision`.

## Why it matters

The job runs with the settings of the scripts. A plan with other numbers describes another job.

## What to do

Correct the key, or the setting in the script and the text.

## When to ignore it

Ignore it where the text quotes the settings of another job.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
description: Each job exports NCCL_IB_HCA="=mlx5_0,mlx5_3,mlx5_4,mlx5_5".
cluster:
  platform: dgx-h100
  nodes: 16
  scale_out: {technology: infiniband-ndr, nics_per_node: 8}
```

## Silent

```yaml
clusterspec: 1
description: Each job exports NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7 on driver R550.
cluster:
  platform: dgx-h100
  nodes: 16
  scale_out: {technology: infiniband-ndr, nics_per_node: 8}
```

## Sources

- What FlashAttention 3 runs on: https://github.com/Dao-AILab/flash-attention/issues/1853
- Environment variables: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
- The service level of HCCL equals the priority of PFC: https://www.hiascend.com/document/detail/en/canncommercial/850/commlib/hcclug/hcclug_000096.html
- CUDA releases of the containers: https://docs.nvidia.com/deeplearning/frameworks/support-matrix/index.html














"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.frameworks import capabilities, named_library
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.requests import Serving
from clusterspec.finding import Problem
from clusterspec.quantity import PRECISIONS
from clusterspec.rules.readers.written_numbers import number_in_text, sentences_of, unambiguous_setting
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec, Spec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_CUES = pattern(
    r"--\w|(?<![\w-])-[tp]p[ =]|on-policy|R\d{3}|river|CCL_|VLLM_|FI_PROVIDER|pytorch:|nemo:|-(?:FP8|FP4|AWQ|GPTQ|INT4|NVFP4|W4A16|W8A8)"
)
"""Pattern of the flags, variables and names that the rule reads."""
_SIGNS = (
    "--",
    "-tp",
    "-pp",
    "on-policy",
    *(f"R{digit}" for digit in range(10)),
    "river",
    "CCL_",
    "VLLM_",
    "FI_",
    "pytorch:",
    "nemo:",
    "-F",
    "-A",
    "-G",
    "-I",
    "-NV",
    "-W",
)
"""Signs: `_CUES` needs at least one of them, and is compiled only for texts with one."""
_N = r"[ =]+\"?(\d[\d,]*(?:\.\d+)?)\b"
_FLAGS = {
    "layout.tp": pattern(rf"(?<!\w)--?(?:tensor-(?:model-)?parallel-size|tp-size|tp){_N}"),
    "layout.pp": pattern(rf"(?<!\w)--?(?:pipeline-(?:model-)?parallel-size|pp-size|pp){_N}"),
    "layout.cp": pattern(rf"(?<!\w)--context-parallel-size{_N}"),
    "layout.ep": pattern(rf"(?<!\w)--(?:expert-(?:model-)?parallel-size|ep-size){_N}"),
    "layout.micro_batch": pattern(rf"(?<!\w)--micro-batch-size{_N}"),
    "workload.global_batch": pattern(rf"(?<!\w)--global-batch-size{_N}"),
    "workload.sequence_length": pattern(rf"(?<!\w)--seq-length{_N}"),
    "workload.serving.max_sequences": pattern(rf"(?<!\w)--(?:max-num-seqs|max-running-requests){_N}"),
    "workload.serving.memory_fraction": pattern(rf"(?<!\w)--(?:gpu-memory-utilization|mem-fraction-static){_N}"),
    "cluster.nodes": pattern(rf"(?<!\w)--nnodes{_N}"),
    "cluster.accelerators_per_node": pattern(rf"(?<!\w)--nproc[-_]per[-_]node{_N}"),
}
_ADAPTER_RANK = pattern(rf"(?<!\w)--(?:max-)?lora-rank{_N}")
_MODEL_LENGTH = pattern(rf"(?<!\w)--(?:max-model-len|context-length){_N}")
_NODES = pattern(rf"(?<!\w)--(?:nnodes|nodes){_N}")
_WHOLE = pattern(
    r"(?i)\b(?:all (?:of the )?nodes|(?:whole|full|entire) (?:cluster|machine|system|run|training)|alle knoten|gesamte\w* (?:cluster|maschine)|tous les nœuds|todos los nodos)\b"
)
"""Pattern of words for a launch on all nodes."""
_OTHER_LAUNCH = pattern(
    r"(?i)\b(?:debug\w*|tests?|testing|benchmarks?|smoke|one node|single[- ]node|nccl-tests|other cluster|ablations?|evaluation)\b"
)
_ADAPTERS = pattern(
    r"\bNCCL_IB_HCA[\"'`]?(?: ?= ?| (?:is set to|is|to|set to|auf|à) |: )[\"'`]?[=]?((?:\w{1,30}(?::\d)?,)+\w{1,30}(?::\d)?|\w{1,30}?_(?:re)?\d{1,2}(?::\d)?(?![\w,]))"
)
_EXCLUDED = pattern(r"\bNCCL_IB_HCA ?= ?[\"']?\^=?((?:\w{1,30}(?::\d)?,){0,40}\w{1,30}(?::\d)?)")
"""The adapters that `NCCL_IB_HCA` excludes with a caret."""
_NO_PREFIX_CACHE = pattern(r"--(?:disable-radix-cache|no-enable-prefix-caching)\b")
_TRAFFIC_CLASS = pattern(r"\b(?:NCCL_IB_TC|HCCL_RDMA_TC) ?= ?(\d{1,3})\b")
_SERVICE_LEVEL = pattern(r"\bHCCL_RDMA_SL ?= ?([0-7])\b")
_NO_RDMA = pattern(r"\bNCCL_IB_DISABLE ?= ?1\b|\bFI_PROVIDER ?= ?(?:tcp|sockets)\b")
_FLASH_3 = pattern(r"\bVLLM_FLASH_ATTN_VERSION ?= ?3\b|--attention-backend[ =]fa3\b")
FLASH_3_ARCHITECTURES = ("sm_80", "sm_90")
"""Compute capabilities for which FlashAttention 3 has kernels; newer releases of vLLM refuse 8.0."""
_CONTAINER = pattern(r"(?i)\b(?:nvcr\.io/nvidia/|ngc )(?:pytorch|nemo|tritonserver)?:?[ ]?(\d\d)\.(\d\d)(?:-py3)?\b")
_DRIVER = pattern(r"\b(?:R|driver(?: branch)?[ -]R?)(\d{3})(?:\.[\d.]+)?\b")
_DISTRIBUTED_OPTIMIZER = pattern(r"--(?:overlap-param-gather|use-distributed-optimizer)\b")
_RAMP = pattern(r"--rampup-batch-size[ =]+(\d+)\b")
_ON_POLICY = pattern(r"(?i)\b(?:strictly|fully|always|purely) on-policy\b")
_REPOSITORY = pattern(
    r"\b[\w.-]{1,60}/[\w.]{1,60}(?:-[\w.]{1,40}){0,12}-(FP8|AWQ|GPTQ(?:-Int4)?|INT4|NVFP4|FP4|W4A16|W8A8)\b"
)
_WIDTHS = {"fp8": 8, "w8a8": 8, "awq": 4, "gptq": 4, "gptq-int4": 4, "int4": 4, "nvfp4": 4, "fp4": 4, "w4a16": 4}


def check(
    own_remarks: str,
    spec: Spec,
    cluster: Cluster,
    layout: Layout | None,
    workload: Workload | None,
    catalog: Catalog,
    design: Design,
) -> Iterator[Problem]:
    if not own_remarks:
        return
    if not any(sign in own_remarks for sign in _SIGNS) or _CUES.search(own_remarks) is None:
        return
    if "--" in own_remarks or "-tp" in own_remarks or "-pp" in own_remarks:
        yield from _flag_problems(own_remarks, cluster, design)
        if layout is None:
            yield from _nodes_problem(own_remarks, cluster)
        yield from _length_problem(own_remarks, spec)
        yield from _rank_problem(own_remarks, spec)
        yield from _prefix_problem(own_remarks, spec)
    written = spec.cluster.scale_out if spec.cluster is not None else None
    if "CCL_" in own_remarks or "FI_PROVIDER" in own_remarks:
        yield from _variable_problems(own_remarks, cluster, written)
    yield from _software_problems(own_remarks, cluster, catalog)
    yield from _training_problems(own_remarks, layout, workload, spec)
    yield from _repository_problem(own_remarks, workload)


def _problem(words: str, key: str, own: str) -> Problem:
    message = f"the text says `{words.strip()[:60]}`, but `{key}` is {own}"
    return RULE.problem(key, message, "correct the setting in the script and the text, or the key")


def _engine_share(design: Design, load: Serving) -> float:
    """The share of the memory with which the engines of a design are started."""
    if load.raised_from is None:
        return load.memory_fraction
    from clusterspec.cost.serving.plan_engines import design_with_share  # few texts hold the launch of an engine

    found = design_with_share(design).workload
    return found.serving.memory_fraction if found is not None and found.serving is not None else load.memory_fraction


def _flag_problems(text: str, cluster: Cluster, design: Design) -> Iterator[Problem]:
    """Flags with another number than the resolved design."""
    layout, workload = design.layout, design.workload
    own: dict[str, float | None] = {"cluster.accelerators_per_node": cluster.ranks_per_node}
    if layout is not None and not layout.separate_engines:
        own |= {f"layout.{axis}": getattr(layout, axis) for axis in ("tp", "pp", "cp", "ep", "micro_batch")}
        own["cluster.nodes"] = layout.nodes
    if workload is not None and workload.kind == "train":
        own |= {"workload.global_batch": workload.global_batch, "workload.sequence_length": workload.sequence_length}
    elif workload is not None and workload.serving is not None:
        own["workload.serving.max_sequences"] = workload.serving.max_sequences
        own["workload.serving.memory_fraction"] = _engine_share(design, workload.serving)
    for key, flag in _FLAGS.items():
        stated, match = own.get(key), unambiguous_setting(flag, text)
        if stated is None or match is None:
            continue
        value = number_in_text(match[1])
        whole_engine = key == "layout.tp" and layout is not None and value == layout.tp * layout.attention_dp
        if abs(value - stated) > 1e-6 and not whole_engine:  # NOTE: SGLang's --tp counts the replicas of attention
            yield _problem(match[0], key, f"{stated:g}")


def _own_launches(text: str) -> str:
    """The text without sentences about tests and single-node launches."""
    return ". ".join(each for each in sentences_of(text) if _OTHER_LAUNCH.search(each) is None)


def _nodes_problem(text: str, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a launch on more nodes than the cluster has, or of a launch on all nodes with another number."""
    for sentence in sentences_of(_own_launches(text)):
        match = unambiguous_setting(_NODES, sentence)
        if match is None:
            continue
        value, own = number_in_text(match[1]), {cluster.nodes, cluster.all_nodes}
        if value > cluster.all_nodes or (_WHOLE.search(sentence) is not None and value not in own):
            yield _problem(match[0], "cluster.nodes", f"{cluster.nodes:g}")
            return


def _length_problem(text: str, spec: Spec) -> Iterator[Problem]:
    """An engine whose context is shorter than the longest prompt with its answer."""
    serving = spec.workload.serving if spec.workload is not None else None
    match = unambiguous_setting(_MODEL_LENGTH, text)
    if serving is None or match is None:
        return
    prompt, answer = (_longest_length(each) for each in (serving.input_tokens, serving.output_tokens))
    if prompt and answer and prompt + answer > number_in_text(match[1]):
        longest = f"{prompt:,}, and answers up to {answer:,}: {prompt + answer:,} tokens"
        yield _problem(match[0], "workload.serving.input_tokens", f"up to {longest}")


def _rank_problem(text: str, spec: Spec) -> Iterator[Problem]:
    """The problem of engines whose largest adapter rank is below the rank of the trained adapters."""
    trained = spec.workload.trainable if spec.workload is not None else None
    match = unambiguous_setting(_ADAPTER_RANK, text)
    if trained is not None and trained.rank and match is not None and number_in_text(match[1]) < trained.rank:
        yield _problem(match[0], "workload.trainable.rank", f"{trained.rank}: the engines refuse these adapters")


def _prefix_problem(text: str, spec: Spec) -> Iterator[Problem]:
    """Problems of engines without a prefix cache in a plan that counts on cached prefixes."""
    serving = spec.workload.serving if spec.workload is not None else None
    match = unambiguous_setting(_NO_PREFIX_CACHE, text)
    if serving is None or match is None:
        return
    session = serving.session
    shared = session.shared_prefix if session is not None else None
    counted = {"prefix_hit": serving.prefix_hit, "session.shared_prefix": shared}
    for key, value in counted.items():
        if value:
            yield _problem(match[0], f"workload.serving.{key}", f"{value:g}: the engines keep no cache of prompts")
    if serving.cache_tiers:
        yield _problem(match[0], "workload.serving.cache_tiers", "stated: the engines keep no cache of prompts")


def _longest_length(lengths: object) -> int:
    """The longest of the given lengths."""
    return int(lengths) if isinstance(lengths, int) else int(getattr(lengths, "max", None) or 0)


def _variable_problems(text: str, cluster: Cluster, written: ScaleOutSpec | None) -> Iterator[Problem]:
    """Problems of environment variables that leave adapters idle, disable RDMA or select a lossy priority."""
    fabric = cluster.scale_out
    if fabric is None:
        return
    at = "cluster.scale_out"
    names = unambiguous_setting(_ADAPTERS, _own_launches(text))
    if names is not None and len(names[1].split(",")) < fabric.nics_per_node:
        yield _problem(names[0], f"{at}.nics_per_node", f"{fabric.nics_per_node}: the others stay idle")
    excluded = unambiguous_setting(_EXCLUDED, text)
    if excluded is not None and len(excluded[1].split(",")) >= fabric.nics_per_node > 1:
        own = f"{fabric.nics_per_node}: `^` excludes as many NICs, and no NIC of the fabric is left"
        yield _problem(excluded[0], f"{at}.nics_per_node", own)
    off = unambiguous_setting(_NO_RDMA, text)
    if off is not None and fabric.technology.family in {"infiniband", "roce", "efa"}:
        yield _problem(off[0], f"{at}.technology", f"{fabric.technology.id}: the library uses TCP sockets")
    flow = written.flow_control if written is not None else None
    if flow is not None and flow.lossless_priorities and fabric.technology.family == "roce":
        yield from _priority_problem(text, flow.lossless_priorities)


def _priority_problem(text: str, priorities: Sequence[int]) -> Iterator[Problem]:
    """The problem of a service level or a traffic class of the collective library whose priority is not lossless."""
    at, lossless = "cluster.scale_out.flow_control.lossless_priorities", ", ".join(map(str, priorities))
    level, chosen = unambiguous_setting(_SERVICE_LEVEL, text), unambiguous_setting(_TRAFFIC_CLASS, text)
    if level is not None and int(level[1]) not in priorities:
        yield _problem(level[0], at, f"{lossless}; the service level is priority {level[1]}")
    elif chosen is not None and int(chosen[1]) >> 5 not in priorities:
        point = f"code point {int(chosen[1]) >> 2} and, by the usual map, priority {int(chosen[1]) >> 5}"
        yield _problem(chosen[0], at, f"{lossless}; the class has {point}")


def _software_problems(text: str, cluster: Cluster, catalog: Catalog) -> Iterator[Problem]:
    """Problems of an NVIDIA container or driver branch that does not support the accelerator."""
    accelerator = cluster.accelerator
    part = f"{accelerator.id} ({accelerator.architecture})"
    at = "cluster.platform" if cluster.platform is not None else "cluster.accelerator"
    flash = unambiguous_setting(_FLASH_3, text)
    if flash is not None and accelerator.vendor == "NVIDIA" and accelerator.architecture not in FLASH_3_ARCHITECTURES:
        message = f"the text names `{flash[0]}`, whose kernels are for sm_90 and sm_80, but not for {part}"
        yield RULE.problem(at, message, "name the kernels that the engine has for this accelerator")
    match = unambiguous_setting(_CONTAINER, text)
    first = _first_release("nvidia-containers", f"{match[1]}.{match[2]}", accelerator, catalog) if match else ""
    if match is not None and first:
        message = f"the container of {match[1]}.{match[2]} is from before {part}: it has no kernels for it"
        yield RULE.problem(at, message, f"use the container of {first} or a later one")
    match = unambiguous_setting(_DRIVER, text)
    first = _first_release("nvidia-driver", match[1], accelerator, catalog) if match else ""
    if match is not None and first:
        message = f"the text names driver {match[1]}, but {part} needs {first} or later"
        yield RULE.problem(at, message, f"plan driver {first} or later: no container brings it")


def _first_release(library: str, release: str, accelerator: Accelerator, catalog: Catalog) -> str:
    """The first release of a library that supports the accelerator's architecture, if a stated release is older; else
    empty.
    """
    entry, used = named_library(library, catalog), frozenset({accelerator.architecture})
    refused = capabilities(entry, release, 0).refused if entry is not None else ()
    return next((each.feature.since for each in refused if each.feature.since and each.combination.applies(used)), "")


def _training_problems(text: str, layout: Layout | None, workload: Workload | None, spec: Spec) -> Iterator[Problem]:
    """Problems of flags that the layout excludes, of a batch ramp that the pipeline cannot run, and of samples that are
    not on-policy.
    """
    rl = spec.workload.rl if spec.workload is not None else None
    updates = (rl.minibatches or 1) * (rl.epochs or 1) if rl is not None else 1
    match = unambiguous_setting(_ON_POLICY, text) if rl is not None and updates > 1 else None
    if match is not None:
        later = "optimizer steps after the first use samples of earlier weights"
        message = f"the text says `{match[0]}`, but `workload.rl.minibatches` is {updates}: {later}"
        advice = "use one minibatch, or keep several where only rollout has to wait for the new weights"
        yield RULE.problem("workload.rl.minibatches", message, advice, severity="note")
    if layout is None or workload is None or workload.kind != "train":
        return
    flag = unambiguous_setting(_DISTRIBUTED_OPTIMIZER, text)
    if flag is not None and layout.sharding == "none":
        yield _problem(flag[0], "layout.sharding", "none: the flag needs the distributed optimizer (`zero1`)")
    ramp, each = unambiguous_setting(_RAMP, text), layout.dp * layout.micro_batch
    if ramp is None or each <= 0:
        return
    first, left = divmod(int(ramp[1]), each)
    if left:
        yield _problem(
            ramp[0], "workload.global_batch", f"divided by {each:,} (dp × micro-batch), but the first batch is not"
        )
    elif layout.virtual_stages > 1 and first < layout.pp:
        yield _problem(ramp[0], "layout.pp", f"{layout.pp}: the interleaved schedule refuses {first} micro-batches")


def _repository_problem(text: str, workload: Workload | None) -> Iterator[Problem]:
    """The problem of a model repository whose weights have another width than the plan's."""
    match = unambiguous_setting(_REPOSITORY, text)
    if workload is None or workload.kind != "serve" or match is None:
        return
    kept = PRECISIONS.get(workload.parameter_precision)
    if kept is not None and kept.bits != _WIDTHS[match[1].lower()]:
        yield _problem(match[0], "workload.parameter_precision", workload.parameter_precision)
