"""Resolves how unevenly tokens select the experts of a serving workload."""

from __future__ import annotations

from clusterspec.cluster.requests import ExpertLoad
from clusterspec.cluster.resolution import ResolutionLog
from clusterspec.finding import Problem
from clusterspec.source import Path
from clusterspec.spec.model import ExpertLoadSpec

PATH: Path = ("workload", "serving", "expert_load")


def resolve_expert_load(written: str | ExpertLoadSpec | None, experts: int, log: ResolutionLog) -> ExpertLoad | None:
    """The load of the ``experts`` of a layer; None, with a problem, where it is not known."""
    if written is not None and not experts:
        message, advice = "`expert_load` needs a model with experts", "drop `expert_load`"
        log.problems.append(Problem("keys-disagree", PATH, message, advice))
        return None
    if written is None or isinstance(written, str):
        return ExpertLoad() if written else None
    if not _states_one_load(written, log) or not _counts_every_expert(written, experts, log):
        return None
    return ExpertLoad(
        alpha=written.alpha or 0.0,
        ratio=written.max_over_mean,
        counts=tuple(map(float, written.counts or ())),
        balanced=written.placement == "balanced",
    )


def _states_one_load(written: ExpertLoadSpec, log: ResolutionLog) -> bool:
    ways = [name for name in ("alpha", "max_over_mean", "counts") if getattr(written, name) is not None]
    if written.law == "even":
        ways.append("law")
    if not ways:
        log.report_missing((*PATH, "alpha"), "the load of experts depends on it", "write the exponent of the power law")
    elif len(ways) > 1:
        named = " and ".join(f"`{name}`" for name in ways)
        message = f"`expert_load` states {named}, each of which is a load of its own"
        log.problems.append(Problem("keys-disagree", PATH, message, "keep one of them"))
    return len(ways) == 1


def _counts_every_expert(written: ExpertLoadSpec, experts: int, log: ResolutionLog) -> bool:
    counts = written.counts
    if counts is None or (len(counts) == experts and any(counts)):
        return True
    what = f"{len(counts):,} experts" if len(counts) != experts else "no tokens"
    message = f"`counts` has {what}, and a layer of the model has {experts:,} experts"
    advice = "write the tokens of every expert of one layer, or a sum over the layers"
    log.problems.append(Problem("keys-disagree", (*PATH, "counts"), message, advice))
    return False
