"""The engines of a serving plan as launches: one for each node of each replica, of every kind of engine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cluster.requests import Serving
from clusterspec.cluster.variation import layout_of_engines
from clusterspec.exchange.exporters.registry import (
    ExportInput,
    NotExportable,
    require_architecture,
    require_vendor,
    unchanged_model,
)
from clusterspec.records import NamedTuple
from clusterspec.units import plural

MOST_LAUNCHES = 2_000


class EngineKind(NamedTuple):
    """The engines of one kind: ``prefill``, ``decode``, or both if ``role`` is empty.

    ``layout`` has the degrees of one engine and the number of replicas, on ranks from ``first_rank`` on.
    """

    role: str
    layout: Layout
    first_rank: int


class Launch(NamedTuple):
    """The start of one engine, or of its part on one node. ``node`` (from 0) is one of the ``nodes`` of the replica.

    ``comment`` says where the part runs. ``number`` is the number of the node in the plan, from 1; the part takes
    ``ranks`` ranks of that node, starting at ``first``; ``all`` says whether these are all ranks of the node. ``local``
    is the number of attention replicas on the node.
    """

    comment: str
    number: int
    nodes: int
    node: int
    first: int
    ranks: int
    all: bool
    local: int


def served_workload(source: ExportInput, framework: str) -> tuple[Workload, Serving | None]:
    """The workload of a serving design. Raises `NotExportable` for training, and accelerators without the software."""
    work = source.workload
    if work.rl is not None:
        raise NotExportable(
            "the workload is reinforcement learning, whose trainer starts the engines; this format is for serving"
        )
    if work.kind != "serve":
        raise NotExportable("the workload is training; this format is for serving")
    require_vendor(source, framework)
    return work, work.serving


def checked_release(source: ExportInput, framework: str, releases: tuple[str, ...]) -> str:
    """The release whose options are written: the spec's, or the newest of ``releases``, which were checked.

    Raises `NotExportable` for an unchecked release, and for one that does not run on the accelerators.
    """
    found = _stated_release(source, framework, releases)
    require_architecture(source, framework, found)
    return found


def _stated_release(source: ExportInput, framework: str, releases: tuple[str, ...]) -> str:
    named = source.layout.capabilities.release
    if named is None or not named.startswith(f"{framework} "):
        return releases[-1]
    wanted = named.removeprefix(f"{framework} ").removeprefix("v")
    for each in releases:
        if each == wanted or each.startswith(f"{wanted}."):
            return each
    raise NotExportable(f"the options of {named} were not checked; those of {', '.join(releases)} were")


def engine_kinds(source: ExportInput) -> tuple[EngineKind, ...]:
    """The kinds of engine of a plan; they take consecutive nodes."""
    layout, serving = source.layout, source.workload.serving
    if serving is None or serving.prefill is None or serving.decode is None:
        return (EngineKind("", layout, 0),)
    layers, found, rank = source.workload.model.layers, [], 0
    for role, engines in (("prefill", serving.prefill), ("decode", serving.decode)):
        block = min(engines.ranks, source.cluster.ranks_per_node)
        rank = -(-rank // block) * block
        found.append(EngineKind(role, layout_of_engines(layout, engines, layers), rank))
        rank += found[-1].layout.ranks
    return tuple(found)


def launches(kind: EngineKind, per_node: int) -> Iterator[Launch]:
    """The launches of all replicas of a kind, on nodes of ``per_node`` ranks.

    Raises `NotExportable` if ranks do not fill nodes evenly, or there are more than `MOST_LAUNCHES`.
    """
    layout = kind.layout
    of_replica = layout.ranks // max(1, layout.dp)
    name = f"# {kind.role} replica" if kind.role else "# replica"
    if of_replica <= per_node:
        on_node = per_node // of_replica
        before, within = divmod(kind.first_rank, per_node)
        for replica in range(_bounded_count(layout.dp)):
            node, slot = divmod(within // of_replica + replica, on_node)
            number, first = before + node + 1, slot * of_replica
            last = first + of_replica - 1
            alone = f", accelerator {first}" if first == last else f", accelerators {first} to {last}"
            part = "" if of_replica == per_node else alone
            where = f"{name} {replica + 1}: node {number}{part}"
            yield Launch(where, number, 1, 0, first, of_replica, all=not part, local=layout.attention_dp)
        return
    nodes, engine = of_replica // per_node, layout.tp * layout.pp
    if of_replica % per_node or (layout.attention_dp > 1 and per_node % engine):
        raise NotExportable(f"replicas of {of_replica} ranks do not fill nodes of {per_node} with whole engines")
    for replica in range(_bounded_count(nodes * layout.dp) // nodes):
        for node in range(nodes):
            number = kind.first_rank // per_node + replica * nodes + node + 1
            where = f"{name} {replica + 1}: node {number}"
            yield Launch(where, number, nodes, node, 0, per_node, all=True, local=per_node // engine)


def _bounded_count(count: int) -> int:
    if count > MOST_LAUNCHES:
        raise NotExportable(f"more than {MOST_LAUNCHES:,} commands")
    return count


def repository_of(source: ExportInput, omitted: list[str]) -> str:
    """The repository of the model's checkpoint; if unknown, ``MODEL`` and a note."""
    model = source.workload.model
    if model.repository and unchanged_model(source):
        return model.repository
    omitted.append(f"the repository of {model.id or 'the model'}: put it, or a path, in place of MODEL")
    return "MODEL"


def is_published_precision(work: Workload) -> bool:
    """Whether the published checkpoint of the model has its weights in the precision of the design."""
    return work.parameter_precision == (work.model.checkpoint_precision or "bf16")


def omitted_weights(work: Workload) -> str:
    """A note that the named checkpoint does not keep its weights in the precision of the design."""
    kept, model = work.parameter_precision, work.model
    note = f"weights in {kept}: name a checkpoint that keeps them so"
    if model.repository and model.checkpoint_expert_precision == kept:
        others = model.checkpoint_precision or "bf16"
        note = f"all weights in {kept}: {model.repository} keeps its experts in {kept} and the others in {others}"
        note += "; leave out parameter_precision for it, or name a checkpoint that keeps all so"
    return note


def quantizes_at_load(work: Workload, omitted: list[str]) -> bool:
    """Whether the engine has to quantize the weights of the named repository to fp8 when it loads them.

    No engine quantizes weights again that the repository holds in another narrow format: vLLM refuses the option
    (vllm/config/model.py, ``_verify_quantization``).
    """
    if work.parameter_precision != "fp8" or is_published_precision(work):
        return False
    if {work.model.checkpoint_precision, work.model.checkpoint_expert_precision} - {None, "bf16", "fp16", "fp32"}:
        return False
    if work.model.fp8_block:
        block = work.model.fp8_block
        note = f"the publisher's fp8 checkpoint, whose blocks of {block} × {block} have scales: put its repository"
        omitted.append(f"{note} in place of the one that is quantized at load")
    return True


def omitted_cache(serving: Serving, host_memory: str) -> Iterator[str]:
    """A note that a launch leaves out the host memory or storage for caches; ``host_memory`` names the option of the
    engine for it.
    """
    if serving.tiers:
        media = ", ".join(dict.fromkeys(tier.medium for tier in serving.tiers))
        yield f"the cache of keys and values outside the accelerators ({media}): see {host_memory}"


def omitted_cache_precision(work: Workload, option: str, written: Collection[str] = ("fp8",)) -> Iterator[str]:
    """A note that the ``option`` for the precision of the cache is not written. It is written only for ``written``
    precisions, and not needed for 16 bits, the default of engines.
    """
    if work.kv_precision not in {"bf16", "fp16", *written}:
        yield f"the cache of keys and values in {work.kv_precision}: see {option}"


def omitted_share(serving: Serving, option: str) -> str:
    """A note that the design's share of the memory left by the weights is not written, since ``option`` is a share of
    the whole memory.
    """
    return f"{serving.memory_fraction:g} of the memory that the weights leave: {option} is a share of the whole"


def drafts_with_model(work: Workload) -> bool:
    """Whether layers of the model itself draft tokens: if the spec says so, or if it names no method and the model has
    such layers.
    """
    method = work.serving.draft_method if work.serving is not None else None
    return method in {None, "mtp"} and work.model.drafts


def omitted_drafts(serving: Serving, option: str, needs: str = "a draft model") -> str:
    """A note that a launch leaves out the drafted tokens, since their ``option`` ``needs`` information that a design
    does not have.
    """
    by = f" by {serving.draft_method}" if serving.draft_method else ""
    return f"drafts of {serving.draft_tokens} tokens{by}: {option} needs {needs}"


def require_all_ranks(layout: Layout, software: str) -> None:
    """Raise `NotExportable` if the experts are not divided over all ranks of a stage, as ``software`` requires."""
    ranks = layout.tp * layout.attention_dp
    if layout.ep != ranks:
        raise NotExportable(f"{software} lays experts on all {ranks} ranks of tp × attention_dp, not on ep {layout.ep}")


def heading(source: ExportInput, options: str) -> str:
    """The first line of a script: the design, its size, and the release whose ``options`` are written."""
    layout = source.layout
    size = f"{plural(layout.ranks, 'rank')} on {plural(layout.nodes, 'node')}"
    return f"# {source.name}: {size}, options of {options}"


_VARIABLES = {
    "$HEAD_ADDRESS": "the address of the first node of each replica",
    "$NODE_ADDRESS": "the address of the node itself",
    '"$NODE"': "the number of the node on which the script runs, from 1",
}
"""The variables in launch lines that no line sets, with the meaning of each."""


def script(head: Sequence[str], started: Sequence[tuple[Launch, str]]) -> str:
    """A header and the launch commands, each for its node; the first line explains the variables."""
    several = len({launch.number for launch, _ in started}) > 1
    rest = list(head[1:])
    for launch, words in started:
        guard = f'[ "$NODE" = {launch.number} ] && ' if several else ""
        rest += [launch.comment, f"{guard}{words}{' &' if len(started) > 1 else ''}"]
    rest += ["wait"] * (len(started) > 1)
    notes = [f"; {name.strip(chr(34))} is {what}" for name, what in _VARIABLES.items() if name in "\n".join(rest)]
    return "\n".join([head[0] + "".join(notes), *rest, ""])


def omitted_router(source: ExportInput, kinds: Sequence[EngineKind], name: str = "") -> Iterator[str]:
    """A note that launch lines leave out the router that distributes requests over the engines; ``name`` is the
    software.
    """
    if len(kinds) > 1:
        suffix = f": {name}" if name else ""
        yield f"the router that sends a prompt to a prefill engine and its answer to a decode engine{suffix}"
    elif source.layout.dp > 1:
        yield f"the router before {plural(source.layout.dp, 'replica')}"


def command(*words: str) -> str:
    """A command with one option in each line."""
    return " \\\n  ".join(word for word in words if word)


VISIBLE = {"NVIDIA": "CUDA_VISIBLE_DEVICES", "AMD": "HIP_VISIBLE_DEVICES", "Intel": "HABANA_VISIBLE_MODULES"}
"""The variable that limits the accelerators of a process, by vendor. That of Intel is for Gaudi with two or four
accelerators of a node (docs.habana.ai, Multiple Workloads on a Single Docker, read 2026-11-26).
"""


def _visible_variable(source: ExportInput) -> str:
    """The variable that limits the accelerators of a process; empty if none is known."""
    accelerator = source.cluster.accelerator
    counted = source.cluster.ranks_per_accelerator == 1 and (
        accelerator.vendor != "Intel" or "Gaudi" in accelerator.name
    )
    return VISIBLE.get(accelerator.vendor or "", "") if counted else ""


def visible_accelerators(source: ExportInput, launch: Launch) -> str:
    """The environment of an engine that uses some of a node's accelerators; empty if it uses all."""
    name = _visible_variable(source)
    if launch.all or not name:
        return ""
    return f"{name}={','.join(str(launch.first + each) for each in range(launch.ranks))} "


def omitted_device_limits(source: ExportInput, started: Sequence[tuple[Launch, str]]) -> Iterator[str]:
    """A note that the engines on a shared node are not limited to their own accelerators."""
    if not _visible_variable(source) and any(not launch.all for launch, _ in started):
        why = f"no variable is known that limits the devices of {source.cluster.accelerator.name}"
        yield f"the accelerators of each engine of a node: {why}"
