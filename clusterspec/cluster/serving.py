"""Resolves the requests of a serving plan: lengths, load, targets, batching defaults, and separate engines."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.models import Model
from clusterspec.catalog.serving_software import ServingSoftware
from clusterspec.catalog.stacks import Stack
from clusterspec.cluster.degrees import default_expert_tp, fewest_copies
from clusterspec.cluster.requests import (
    NARROW_CHUNK,
    WIDE_CHUNK,
    Day,
    Engines,
    ExpertLoad,
    Lengths,
    Serving,
    Target,
    Transfer,
)
from clusterspec.cluster.resolution import ResolutionLog
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.records import replace
from clusterspec.source import Path, dotted_path
from clusterspec.spec.model import (
    EnginesSpec,
    LengthsSpec,
    ServingSpec,
    SpeculativeSpec,
    TargetsSpec,
    TracedLengthsSpec,
    TransferSpec,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.logs.traces import TraceLengths

KEY = "workload.serving"
SERVING_PATH: Path = ("workload", "serving")
CHUNK = 8192
OF_FREE = "of the memory left by the weights"
SHARED_CHUNK = (
    f"shared by the attention replicas of an engine; {WIDE_CHUNK:,} for each replica if its share is below"
    f" {NARROW_CHUNK:,}"
)
RAISED = "up to 0.95 if the requests in flight need more"
USUAL = ServingSoftware(0.9, of_free=False, whole_requests=False, chunk_tokens=CHUNK, max_sequences=None)
"""Defaults for software without an entry in the catalog: the common defaults of vLLM and SGLang."""


def resolve_serving(
    section: ServingSpec,
    model: Model | None,
    stack: Stack | None,
    accelerator: Accelerator | None,
    log: ResolutionLog,
) -> Serving | None:
    """The requests; None, with a problem, if their lengths are not known. Defaults of software may depend on the
    ``model`` and on the ``accelerator``.
    """
    experts, latent = (model.experts, model.latent) if model is not None else (0, False)
    section = _with_highest_rate(_with_traced_requests(section, log), log)
    prompt, answer = _stated_lengths(section, log)
    if prompt is None or answer is None:
        return None
    speculative, targets = section.speculative or SpeculativeSpec(), section.targets or TargetsSpec()
    percentile = 50.0 if targets.percentile is None else targets.percentile
    sides = section.disaggregated
    load = _load_kind(section, log)
    return Serving(
        input_tokens=prompt.mean,
        output_tokens=answer.mean,
        load=load,
        concurrency=section.concurrency,
        request_rate=section.request_rate,
        requests=section.requests,
        prefix_hit=section.prefix_hit or 0.0,
        draft_tokens=speculative.tokens or 0,
        draft_method=speculative.method,
        **_drafting_settings(speculative, model, log),
        targets=tuple(_resolved_targets(targets, percentile)),
        percentile=percentile,
        **_batching_settings(section, stack, accelerator, log),
        captured_graphs=_captures_graphs(section, stack, bool(latent), log),
        max_sequences=section.max_sequences,
        prefill=_resolved_engines(sides.prefill, "prefill", experts, section, log) if sides else None,
        decode=_resolved_engines(sides.decode, "decode", experts, section, log) if sides else None,
        arrival_cv=_arrival_variation(section, log),
        trace=section.arrivals.trace if section.arrivals else None,
        **_spread_of_lengths(section, prompt, answer),
        transfer=_resolved_transfer(sides.transfer if sides else None),
        expert_load=_resolved_expert_load(section, experts, log),
        day=_resolved_day(section, load, log),
        receive_interval=section.receive_interval or 1,
        hold_steps=section.hold_steps or 1,
        **_cache_settings(section, prompt.mean, log),
    )


def _drafting_settings(speculative: SpeculativeSpec, model: Model | None, log: ResolutionLog) -> dict[str, Any]:
    """The draft method and the accepted share of draft tokens: as written, else assumed if a step drafts any tokens."""
    key = f"{KEY}.speculative"
    if not speculative.tokens:
        return {"draft_acceptance": speculative.acceptance or 0.0}
    predicts = model is not None and model.drafts
    why = "its released weights have layers that predict tokens" if predicts else "the most frequent method"
    usual, gain = "mtp" if predicts else "eagle", "no share is stated: drafted tokens gain nothing"
    return {
        "drafter": log.written_or_assumed(speculative.method, f"{key}.method", usual, why),
        "draft_acceptance": log.written_or_assumed(speculative.acceptance, f"{key}.acceptance", 0.0, gain),
    }


def _stated_lengths(section: ServingSpec, log: ResolutionLog) -> tuple[Lengths | None, Lengths | None]:
    """The lengths of prompts and of outputs; those not stated are None, with a problem."""
    lengths = {"input_tokens": "of a prompt", "output_tokens": "of the output"}
    for key, what in lengths.items():
        if getattr(section, key) is None:
            log.report_missing(
                (*SERVING_PATH, key), "the cache and every time depend on it", f"write the tokens {what}"
            )
    prompt, answer = (resolved_lengths(getattr(section, key), (*SERVING_PATH, key), log) for key in lengths)
    return prompt, answer


def _batching_settings(
    section: ServingSpec, stack: Stack | None, accelerator: Accelerator | None, log: ResolutionLog
) -> dict[str, Any]:
    """The settings of memory and batches: as written, else the defaults of the software on the accelerator."""
    software = stack.serving if stack is not None and stack.serving is not None else USUAL
    if accelerator is not None:
        software = software.defaults_for(accelerator)
    named = stack.name if stack is not None and stack.serving is not None else "most software"
    why = f"the default of {named}"
    at_once = bool(section.requests) and (section.concurrency or 0) >= (section.requests or 0)  # a number nobody chose
    share = f"{why}, {OF_FREE}" if software.of_free else why if at_once else f"{why}, {RAISED}"
    in_flight = section.concurrency is not None or section.request_rate is not None
    rises = section.memory_fraction is None and in_flight and not at_once
    return {
        "chunk_tokens": log.written_or_assumed(
            section.chunk_tokens,
            f"{KEY}.chunk_tokens",
            software.chunk_tokens or CHUNK,
            f"{why}, {SHARED_CHUNK}" if software.chunk_of_engine else why,
        ),
        "chunk_of_engine": software.chunk_of_engine and section.chunk_tokens is None,
        "sampled_sequences": section.max_sequences or software.max_sequences or 0,
        "sampling_bytes": software.sampling_bytes,
        "expert_tiles": software.tiles_on(accelerator.architecture) if accelerator is not None else None,
        "memory_fraction": log.written_or_assumed(
            section.memory_fraction, f"{KEY}.memory_fraction", software.memory_fraction, share
        ),
        "of_free": software.of_free and section.memory_fraction is None,
        "whole_requests": software.whole_requests,
        "own_output": software.own_output,
        "raised_from": software.memory_fraction if rises else None,
    }


def _captures_graphs(section: ServingSpec, stack: Stack | None, latent: bool, log: ResolutionLog) -> bool:
    """Whether decode steps are launched as captured graphs: as written, else yes, unless the software does not capture
    models with ``latent`` attention.
    """
    if latent and stack is not None and stack.serving is not None and "latent" in stack.serving.uncaptured:
        why = f"the default of {stack.name} for models with latent attention"
        return log.written_or_assumed(section.captured_graphs, f"{KEY}.captured_graphs", False, why)
    why = "the default of serving frameworks"
    return log.written_or_assumed(section.captured_graphs, f"{KEY}.captured_graphs", True, why)


def _resolved_day(section: ServingSpec, load: str, log: ResolutionLog) -> Day | None:
    """The load of a day; None if the spec has none."""
    if section.day is None and section.scaling is None:
        return None
    from clusterspec.cluster.serving_load import resolve_day

    return resolve_day(section, load, log)


def _resolved_expert_load(section: ServingSpec, experts: int, log: ResolutionLog) -> ExpertLoad | None:
    """How unevenly tokens select experts; None if the spec does not say."""
    if section.expert_load is None:
        return None
    from clusterspec.cluster.serving_load import resolve_expert_load

    return resolve_expert_load(section.expert_load, experts, log)


def _resolved_transfer(section: TransferSpec | None) -> Transfer:
    """The transfer of caches to decode engines; absent values take the defaults of `Transfer`."""
    if section is None:
        return Transfer()
    usual = Transfer()
    return Transfer(
        section.send or usual.send,
        section.block_tokens or usual.block_tokens,
        section.bandwidth.per_direction if section.bandwidth is not None else None,
        section.first_token or usual.first_token,
    )


def _cache_settings(section: ServingSpec, prompt: int, log: ResolutionLog) -> dict[str, Any]:
    """The sessions and the tiers that keep their caches, where the spec has any."""
    if section.session is None and not section.cache_tiers:
        return {}
    from clusterspec.cluster.serving_load import resolve_cache_tiers, resolve_session

    return {"session": resolve_session(section, prompt, log), "tiers": resolve_cache_tiers(section, log)}


def _resolved_targets(section: TargetsSpec, percentile: float) -> Iterator[Target]:
    """The targets by latency and percentile; a plain time holds at ``percentile``."""
    for quantity in ("ttft", "tpot", "itl", "end_to_end"):
        written: Quantity | dict[str, Quantity] | None = getattr(section, quantity)
        if isinstance(written, dict):
            for name, time in written.items():
                yield Target(quantity, float(name[1:]), time.value, f"{quantity}.{name}")
        elif written is not None:
            yield Target(quantity, percentile, written.value, quantity)


def _with_traced_requests(section: ServingSpec, log: ResolutionLog) -> ServingSpec:
    """The requests with the rate, variation and lengths of their trace for all keys that the spec does not state."""
    arrivals = section.arrivals
    summary = log.traces.get(arrivals.trace) if arrivals and arrivals.trace else None
    if arrivals is None or summary is None:
        return section
    why = f"{summary.requests:,} requests of {arrivals.trace}"
    changes: dict[str, Any] = {}
    for key, lengths in (("input_tokens", summary.prompts), ("output_tokens", summary.answers)):
        if getattr(section, key) is None and lengths is not None:
            log.assume(f"{KEY}.{key}", lengths.mean, f"the mean of {why}")
            changes[key] = TracedLengthsSpec(lengths.mean, _drawable_percentile(lengths), lengths.most)
    if section.concurrency is None and section.load in {None, "open"} and section.request_rate is None and summary.rate:
        changes["request_rate"] = log.assume(f"{KEY}.request_rate", summary.rate, f"the mean of {why}")
        if arrivals.process is None and arrivals.cv is None and summary.variation:
            variation = log.assume(f"{KEY}.arrivals.cv", summary.variation, f"that of {why}")
            changes["arrivals"] = replace(arrivals, cv=variation)
    return replace(section, **changes) if changes else section


def _with_highest_rate(section: ServingSpec, log: ResolutionLog) -> ServingSpec:
    """The requests at the highest rate of their day, if the spec states no other load."""
    stated = section.concurrency is not None or section.request_rate is not None or section.load not in {None, "open"}
    if section.day is None or stated:
        return section
    from clusterspec.cluster.serving_load import highest_rate

    rate = highest_rate(section)
    if rate is None:
        return section
    return replace(section, request_rate=log.assume(f"{KEY}.request_rate", rate, "the highest of `day`"))


def _drawable_percentile(lengths: TraceLengths) -> int:
    """The 99th percentile of a trace's lengths, limited so that a log-normal distribution with this percentile and the
    mean exists.
    """
    return int(min(max(lengths.p99, lengths.mean), MOST_SPREAD * lengths.mean, lengths.most))


MOST_SPREAD = 14.0
"""The highest 99th percentile of a log-normal distribution over its mean is 14.97 times."""


def resolved_lengths(written: int | LengthsSpec | None, path: Path, log: ResolutionLog) -> Lengths | None:
    """The lengths under a key; without a 99th percentile all are equal. None if there is no mean."""
    if isinstance(written, int):
        return Lengths(written, written, None)
    if written is None:
        return None
    if isinstance(written, TracedLengthsSpec) and written.trace is not None:
        return _traced_lengths(written, written.trace, path, log)
    if written.mean is None:
        log.report_missing((*path, "mean"), "the formulas use it", "write the mean of the lengths in tokens")
        return None
    mean, p99, most = written.mean, written.p99 or written.mean, written.max
    if mean <= p99 <= MOST_SPREAD * mean and (most is None or most >= p99):
        return Lengths(mean, p99, most)
    end = f" and a maximum of {most:,}" if most else ""
    message = f"`{path[-1]}` has a mean of {mean:,}, a 99th percentile of {p99:,}{end}"
    advice = f"state them in ascending order, the 99th percentile at most {MOST_SPREAD:g} times the mean"
    log.problems.append(Problem("keys-disagree", path, message, advice))
    return Lengths(mean, mean, None)


def _spread_of_lengths(section: ServingSpec, prompt: Lengths, answer: Lengths) -> dict[str, Any]:
    """The distributions of lengths that vary, and whether the spec states that all outputs have the same length."""
    written = section.output_tokens
    stated = written is not None and not isinstance(written, int) and written.p99 is not None
    return {
        "input_lengths": prompt if prompt.p99 > prompt.mean else None,
        "output_lengths": answer if answer.p99 > answer.mean else None,
        "equal_outputs": stated and answer.p99 == answer.mean,
    }


def _traced_lengths(written: LengthsSpec, name: str, path: Path, log: ResolutionLog) -> Lengths | None:
    """The lengths of the column of a trace that has the name of the key. None, with a problem, if it has none."""
    if written.mean or written.p99 or written.max:
        message = f"`{path[-1]}` states lengths and the trace {name}, which has them"
        log.problems.append(Problem("keys-disagree", path, message, "state one of the two"))
    summary = log.traces.get(name)
    lengths = summary and (summary.answers if path[-1] == "output_tokens" else summary.prompts)
    if not lengths:
        why = f"{name} has no column {path[-1]}" if summary else f"{name} cannot be read"
        log.report_missing((*path, "mean"), why, f"write the mean of the lengths in tokens, or add {name}")
        return None
    log.assume(dotted_path((*path, "mean")), lengths.mean, f"the mean of {name}; drawn log-normally")
    return Lengths(lengths.mean, _drawable_percentile(lengths), lengths.most)


def _arrival_variation(section: ServingSpec, log: ResolutionLog) -> float:
    """The coefficient of variation of the times between arrivals: 1 for a Poisson process."""
    arrivals, path = section.arrivals, (*SERVING_PATH, "arrivals")
    if arrivals is None:
        return 1.0
    if section.concurrency is not None:
        message = "`concurrency` keeps requests in flight, and `arrivals` says when requests of an open load arrive"
        log.problems.append(Problem("keys-disagree", path, message, "keep one of the two, `arrivals` with a rate"))
    if arrivals.process == "poisson" and arrivals.cv not in {None, 1}:
        message = f"the times between arrivals of a Poisson process have a variation of 1, not {arrivals.cv:g}"
        log.problems.append(Problem("keys-disagree", (*path, "cv"), message, "drop `cv`, or set `process: gamma`"))
        return 1.0
    return arrivals.cv or 1.0


def _load_kind(section: ServingSpec, log: ResolutionLog) -> str:
    if section.concurrency is not None and section.request_rate is not None:
        message = "`concurrency` keeps a number of requests in flight, and `request_rate` lets it follow from the load"
        log.problems.append(Problem("keys-disagree", (*SERVING_PATH, "request_rate"), message, "state one of the two"))
    if section.load is not None:
        _check_load_key(section, section.load, log)
        return section.load
    if section.concurrency is not None:
        return log.assume(f"{KEY}.load", "closed", "`concurrency` is given")
    if section.request_rate is not None:
        traced = section.arrivals is not None and section.arrivals.trace is not None
        return log.assume(f"{KEY}.load", "open", "requests arrive as traced" if traced else "`request_rate` is given")
    return log.assume(f"{KEY}.load", "offline", "neither `concurrency` nor `request_rate` is given")


NEEDED = {"closed": "concurrency", "open": "request_rate"}
"""The key that gives the size of a load of each kind."""


def _check_load_key(section: ServingSpec, load: str, log: ResolutionLog) -> None:
    """Reports a load whose size is given by the key of another kind of load."""
    given = next((key for key in ("concurrency", "request_rate") if getattr(section, key) is not None), None)
    needed = NEEDED.get(load)
    if given is not None and needed is not None and getattr(section, needed) is None:
        message = f"an {load} load" if load == "open" else f"a {load} load"
        message += f" has a `{needed}`, but the spec states `{given}`"
        advice = f"state `{needed}`, or remove `load`: `{given}` implies it"
        log.problems.append(Problem("keys-disagree", (*SERVING_PATH, "load"), message, advice))
    elif load == "offline" and given == "request_rate":
        message = "in an offline load all requests are there at once, but the spec states `request_rate`"
        log.problems.append(
            Problem("keys-disagree", (*SERVING_PATH, "load"), message, "write `load: open`, or drop the rate")
        )


def _resolved_engines(
    section: EnginesSpec | None, side: str, experts: int, serving: ServingSpec, log: ResolutionLog
) -> Engines:
    key, engines = f"{KEY}.disaggregated.{side}", section or EnginesSpec()

    def degree(name: str) -> int:
        written: int | None = getattr(engines, name)
        return log.written_or_assumed(written, f"{key}.{name}", 1, "no parallelism on this axis")

    replicas = log.written_or_assumed(engines.replicas, f"{key}.replicas", 1, "one engine")
    engine = Engines(replicas, degree("tp"), degree("attention_dp"), degree("ep"), 1, degree("pp"))
    copies = serving.redundant_experts
    if copies is None:
        copies = fewest_copies(experts, engine.ep)
    expert_tp = default_expert_tp(engine)
    return replace(engine, expert_tp=expert_tp, redundant_experts=copies, pool=engines.pool)
