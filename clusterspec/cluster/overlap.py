"""Resolves overlap with computation and the dispatcher of tokens."""

from __future__ import annotations

from clusterspec.catalog.entries import Stack
from clusterspec.cluster.degrees import Degrees
from clusterspec.cluster.model import Cluster, Dispatcher, Overlap, Workload
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.spec.model import DispatcherSpec, LayoutSpec, OverlapSpec

KEY = "layout.overlap"


def resolve_overlap(section: OverlapSpec, degrees: Degrees, stack: Stack | None, log: ResolutionLog) -> Overlap:
    """The overlap as written, else the default of the software; defaults are listed only for axes that communicate."""

    def either(axis: str, default: bool, why: str) -> bool:
        written: bool | None = getattr(section, axis)
        if written is None and _communicates(axis, degrees):
            log.assume(f"{KEY}.{axis}", default, why)
        return default if written is None else written

    return Overlap(
        tp=_tensor(section, degrees, stack, log),
        cp=either("cp", True, "the keys and values of the next block are fetched beside the current one"),
        ep=either("ep", False, "dispatch and combine wait for the experts"),
        dp=either("dp", *_by_software("dp", stack)),
        pp=either("pp", *_by_software("pp", stack)),
    )


def _communicates(axis: str, degrees: Degrees) -> bool:
    found: int = getattr(degrees, axis)
    return found > 1 or (axis == "dp" and degrees.cp > 1)


def _by_software(axis: str, stack: Stack | None) -> tuple[bool, str]:
    """Whether a stack overlaps the communication of an axis, and the reason to assume so."""
    if stack is None:
        return True, "usual"
    hides = axis in stack.hides
    return hides, f"{stack.id} {'hides it' if hides else 'does not hide it'}"


def _tensor(section: OverlapSpec, degrees: Degrees, stack: Stack | None, log: ResolutionLog) -> str | float:
    """``none``, ``partial``, ``full`` or a share; false means none and true full."""
    if section.tp is None:
        if degrees.tp > 1:
            log.assume(f"{KEY}.tp", "partial", _partial(stack))
        return "partial"
    if isinstance(section.tp, bool):
        return "full" if section.tp else "none"
    return section.tp


def _partial(stack: Stack | None) -> str:
    if stack is None:
        return "what the software does"
    figure = stack.achievable.get("hidden.tensor")
    share = figure.value if figure else 0.0
    return f"what {stack.id} does: it runs {share:.0%} of the traffic inside the products around it"


def resolve_dispatcher(
    section: LayoutSpec,
    degrees: Degrees,
    cluster: Cluster,
    workload: Workload | None,
    *,
    stack: Stack | None,
    log: ResolutionLog,
) -> Dispatcher:
    """The dispatcher of tokens: as written, else that of the software; listed only where tokens are sent."""
    written = section.dispatcher
    kind = written.kind if isinstance(written, DispatcherSpec) else written
    precision = written.precision if isinstance(written, DispatcherSpec) else None
    if kind is None:
        kind, why = _usual_dispatcher(cluster, stack)
        sent = degrees.ep > 1 and workload is not None and workload.model.experts
        if sent and precision is None:
            log.assume("layout.dispatcher", kind, why)
    wide = workload is not None and workload.precision in {"fp32", "tf32"}
    return Dispatcher(kind, precision or ("fp32" if wide else "bf16"))


def _usual_dispatcher(cluster: Cluster, stack: Stack | None) -> tuple[str, str]:
    """The dispatcher that a stack uses on a machine, and the reason to assume so."""
    if stack is None:
        return "all-to-all", "usual"
    if stack.rack_dispatcher and cluster.scale_up.domain > cluster.accelerators_per_node:
        return stack.rack_dispatcher, f"what {stack.id} does where the scale-up domain spans nodes"
    return stack.dispatcher, f"what {stack.id} does"
