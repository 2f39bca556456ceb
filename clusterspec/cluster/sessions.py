"""Resolves the sessions of a serving workload, and the tiers of memory that keep their caches."""

from __future__ import annotations

from clusterspec.cluster.requests import CacheTier, Session
from clusterspec.cluster.resolution import ResolutionLog
from clusterspec.finding import Problem
from clusterspec.source import Path
from clusterspec.spec.model import CacheTierSpec, ServingSpec

PATH: Path = ("workload", "serving")
SCOPES = {"host": "node", "nvme": "node", "remote": "plan"}
"""The default scope that shares a tier, by medium."""


def resolve_session(section: ServingSpec, prompt: int, log: ResolutionLog) -> Session | None:
    """The sessions of requests with prompts of ``prompt`` tokens on average; None, with a problem, if not known."""
    written, path = section.session, (*PATH, "session")
    if written is None:
        return None
    if section.prefix_hit is not None:
        message = "`session` says which tokens return, and `prefix_hit` what share of them the cache has"
        log.problems.append(Problem("keys-disagree", path, message, "keep one of the two"))
        return None
    missing = [key for key in ("turns", "think_time", "growth") if getattr(written, key) is None]
    for key in missing:
        log.report_missing((*path, key), "what the cache holds depends on it", "write it, or drop `session`")
    if missing or written.turns is None or written.think_time is None or written.growth is None:
        return None
    shared = written.shared_prefix or 0
    first = prompt - (written.turns - 1) / 2 * written.growth
    if first < max(1, shared):
        grown = f"{written.turns:,} turns that add {written.growth:,} tokens each"
        message = f"the prompts have {prompt:,} tokens on average, and {grown}: the first has {first:,.0f}" + (
            f", less than the shared prefix of {shared:,}" if shared else ""
        )
        advice = "`input_tokens` is the mean of all turns; raise it, or lower `turns` or `growth`"
        log.problems.append(Problem("keys-disagree", path, message, advice))
        return None
    return Session(written.turns, written.think_time.value, written.growth, shared, first)


def resolve_cache_tiers(section: ServingSpec, log: ResolutionLog) -> tuple[CacheTier, ...]:
    """The tiers below the accelerator's memory, in the order written."""
    if not section.cache_tiers:
        return ()
    trace = section.arrivals.trace if section.arrivals else None
    if section.session is None and section.prefix_hit is None and trace is None:
        why = "`cache_tiers` keeps what returns"
        log.report_missing((*PATH, "session"), why, "describe the sessions, or state `prefix_hit`")
    found = [_resolved_tier(number, written, log) for number, written in enumerate(section.cache_tiers)]
    return tuple(tier for tier in found if tier is not None)


def _resolved_tier(number: int, written: CacheTierSpec, log: ResolutionLog) -> CacheTier | None:
    """One tier; None, with a problem, where a key is missing."""
    key = f"workload.serving.cache_tiers.{number}"
    missing = [name for name in ("medium", "capacity", "read") if getattr(written, name) is None]
    for name in missing:
        log.report_missing((*PATH, "cache_tiers", number, name), "the tier depends on it", "write it")
    if missing or written.medium is None or written.capacity is None or written.read is None:
        return None
    read = written.read.value
    scope = log.written_or_assumed(written.scope, f"{key}.scope", SCOPES[written.medium], "usual for this medium")
    write = written.write.value if written.write else log.assume(f"{key}.write", read, "as fast as it is read")
    return CacheTier(written.medium, written.capacity.value, read, write, scope, written.writes_per_day)
