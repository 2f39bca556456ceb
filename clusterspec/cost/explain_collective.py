"""The seconds of a collective as an expression over its size, its path and its latencies."""

from __future__ import annotations

from clusterspec.cost.collectives.model import CollectiveCost, Paths, Way
from clusterspec.cost.expressions import EXPRESSIONS
from clusterspec.cost.formulas import alpha_beta
from clusterspec.cost.leaf import Expanded, computed
from clusterspec.quantity import Figure


def seconds_of(cost: CollectiveCost, prefix: str = "") -> Expanded:
    """Seconds on the device of one call, launching left out; ``prefix`` begins every name."""
    if cost.way is None or cost.paths is None:
        return Expanded(0.0, "0", ())
    line, share = _slowest(cost.paths, cost.way)
    what = f"{cost.name} over {cost.ranks} ranks by {cost.algorithm} ({cost.protocol}, {cost.tier})"
    traffic = cost.way.per_byte * line.value * share.value
    inputs = {
        "latency": computed(cost.way.latency, f"latency of a {what}", "s"),
        "size": computed(cost.size, f"{cost.name}, as nccl-tests counts it", "B"),
        "traffic": computed(traffic, "bytes on the slower tier for each byte of the size"),
        "line": line,
        "share": share,
    }
    if not cost.way.overlapped:
        inputs["held"] = computed(cost.way.held, "sending what a full pipeline holds", "s")
    value = cost.way.queued(cost.size)
    formula = alpha_beta.overlapped if cost.way.overlapped else alpha_beta.pipelined
    sending = f"({prefix}size * {prefix}traffic / ({prefix}line * {prefix}share))"
    names = {"latency": f"{prefix}latency", "sending": sending, "filling": f"{prefix}held"}
    expression = " ".join(_word(word, names) for word in EXPRESSIONS[formula].split())
    if cost.queued > value * (1 + 1e-12):
        return _at_line_rate(cost, prefix)
    return Expanded(value, expression, tuple((prefix + key, figure) for key, figure in inputs.items()))


def _word(word: str, names: dict[str, str]) -> str:
    bare = word.strip("()")
    return word.replace(bare, names[bare]) if bare in names else word


def _at_line_rate(cost: CollectiveCost, prefix: str) -> Expanded:
    """What the links need at line rate, where that is more than the model of the algorithm gives."""
    assert cost.way is not None
    inputs = {
        "size": computed(cost.size, f"{cost.name}, as nccl-tests counts it", "B"),
        "bus_factor": computed(cost.busbw / cost.algbw, "bus bandwidth over algorithm bandwidth"),
        "ceiling": computed(cost.ceiling_busbw, "bus bandwidth at line rate", "B/s"),
        "launch": computed(cost.way.launch, "launching, which a queued collective does not wait for", "s"),
    }
    expression = f"{prefix}size * {prefix}bus_factor / {prefix}ceiling - {prefix}launch"
    return Expanded(cost.queued, expression, tuple((prefix + key, figure) for key, figure in inputs.items()))


def _slowest(paths: Paths, way: Way) -> tuple[Figure, Figure]:
    """The line rate of the tier that sends longest, and the share of it that the algorithm reaches."""
    send = way.algorithm == "send"
    if paths.between is not None and way.between >= way.inside:
        return paths.between.sender if send else paths.between.line, paths.between.share
    inside = paths.inside
    if way.algorithm.startswith("nvls") and inside.reduction is not None:
        return inside.line, inside.reduction
    if way.algorithm in ("direct", "staged") and way.protocol == "Simple":
        return inside.line, inside.exchange
    return inside.peer if send else inside.line, inside.ring
