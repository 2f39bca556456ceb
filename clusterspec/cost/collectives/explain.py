"""The time of a collective as an expression over its size, its links and its latencies."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from clusterspec.cost.collectives import Candidate, CollectiveCost, Paths
from clusterspec.cost.formulas import EXPRESSIONS, collectives
from clusterspec.cost.term import ExpandedArgument, computed_figure
from clusterspec.quantity import Figure

CLOSE = 1e-12
"""Relative difference of two times that is due to rounding."""


def expanded_seconds(cost: CollectiveCost, prefix: str = "") -> ExpandedArgument:
    """Seconds of one call on the device, without launch time; ``prefix`` begins every name."""
    if cost.candidate is None or cost.paths is None:
        return ExpandedArgument(0.0, "0", ())
    line, share = _slowest_line(cost.paths, cost.candidate)
    article = "an" if cost.name.startswith("a") else "a"
    what = f"{article} {cost.name} over {cost.ranks} ranks by {cost.algorithm} ({cost.protocol}, {cost.tier})"
    traffic = cost.candidate.per_byte * line.value * share.value
    inputs = {
        "latency": computed_figure(cost.candidate.latency_of(cost.size), f"latency of {what}", "s"),
        "size": computed_figure(cost.size, f"{cost.name}, as nccl-tests counts it", "B"),
        "traffic": computed_figure(traffic, "bytes on the slower tier for each byte of the size"),
        "line": line,
        "share": share,
    }
    if not cost.candidate.overlapped:
        inputs["held"] = computed_figure(
            cost.candidate.held, "sending the content of a full stage of the pipeline", "s"
        )
        inputs["stages"] = computed_figure(cost.candidate.stages, "stages of the pipeline")
    value = cost.candidate.device_seconds(cost.size)
    overlapped: bool = cost.candidate.overlapped
    formula: Callable[..., float] = collectives.overlapped_time if overlapped else collectives.pipelined_time
    if cost.device_seconds > value * (1 + CLOSE):
        return _line_rate_seconds(cost, prefix)
    named = tuple((prefix + key, figure) for key, figure in inputs.items())
    return ExpandedArgument(value, _seconds_expression(formula, prefix), named)


@cache
def _seconds_expression(formula: Callable[..., float], prefix: str) -> str:
    """The expression of the time of a collective over its size and its links."""
    sending = f"({prefix}size * {prefix}traffic / ({prefix}line * {prefix}share))"
    names = {"latency": f"{prefix}latency", "sending": sending, "filling": f"{prefix}held", "stages": f"{prefix}stages"}
    return " ".join(_expanded_word(word, names) for word in EXPRESSIONS[formula].split())


def _expanded_word(word: str, names: dict[str, str]) -> str:
    bare = word.strip("()")
    return word.replace(bare, names[bare]) if bare in names else word


def _line_rate_seconds(cost: CollectiveCost, prefix: str) -> ExpandedArgument:
    """The time at line rate, used if it exceeds the time that the algorithm's model predicts."""
    assert cost.candidate is not None
    inputs = {
        "size": computed_figure(cost.size, f"{cost.name}, as nccl-tests counts it", "B"),
        "bus_factor": computed_figure(cost.busbw / cost.algbw, "bus bandwidth over algorithm bandwidth"),
        "ceiling": computed_figure(cost.ceiling_busbw, "bus bandwidth at line rate", "B/s"),
        "launch": computed_figure(
            cost.candidate.launch, "launch time, which a queued collective does not wait for", "s"
        ),
    }
    expression = f"{prefix}size * {prefix}bus_factor / {prefix}ceiling - {prefix}launch"
    return ExpandedArgument(
        cost.device_seconds, expression, tuple((prefix + key, figure) for key, figure in inputs.items())
    )


def _slowest_line(paths: Paths, candidate: Candidate) -> tuple[Figure, Figure]:
    """The line rate of the tier that takes longest to send, and the share of that rate that the algorithm achieves."""
    send = candidate.algorithm == "send"
    if paths.between is not None and candidate.between >= candidate.inside:
        exchanged = candidate.algorithm in ("direct", "staged")
        tree = candidate.algorithm in ("tree", "nvls-tree")
        line = paths.between.exchange if exchanged else paths.between.tree_line if tree else paths.between.line
        return paths.between.sender if send else line, paths.between.share
    inside = paths.inside
    if candidate.algorithm.startswith("nvls") and inside.reduction is not None:
        return inside.line, inside.reduction
    if candidate.algorithm in ("direct", "staged") and candidate.protocol == "Simple":
        return inside.line, inside.exchange
    return inside.peer if send else inside.line, inside.ring
