"""Resolves the requests of a serving plan: lengths, load, limits, and separate engines."""

from __future__ import annotations

from clusterspec.catalog.entries import Stack
from clusterspec.catalog.serving_software import ServingSoftware
from clusterspec.cluster.degrees import default_expert_tp, fewest_copies
from clusterspec.cluster.model import Engines, Serving
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.source import Path
from clusterspec.spec.model import EnginesSpec, ServingSpec, SpeculativeSpec, TargetsSpec

KEY = "workload.serving"
PATH: Path = ("workload", "serving")
CHUNK = 8192
OF_FREE = "of the memory left by the weights"
RAISED = "up to 0.95 if the requests in flight need more"
USUAL = ServingSoftware(0.9, of_free=False, whole_requests=False, chunk_tokens=CHUNK, max_sequences=None)
"""The defaults of software that the catalog does not know: those that vLLM and SGLang share."""


def resolve_serving(section: ServingSpec, experts: int, stack: Stack | None, log: ResolutionLog) -> Serving | None:
    """The requests; None, with a problem, where their lengths are not known. ``experts`` are those of a layer."""
    for key, what in (("input_tokens", "of a prompt"), ("output_tokens", "of the output")):
        if getattr(section, key) is None:
            log.missing((*PATH, key), "the cache and every time depend on it", f"write the tokens {what}")
    if section.input_tokens is None or section.output_tokens is None:
        return None
    speculative, targets = section.speculative or SpeculativeSpec(), section.targets or TargetsSpec()
    sides = section.disaggregated
    software = stack.serving if stack is not None and stack.serving is not None else USUAL
    named = stack.name if stack is not None and software is not USUAL else "most software"
    why = f"the default of {named}"
    share = f"{why}, {OF_FREE if software.of_free else RAISED}"
    return Serving(
        input_tokens=section.input_tokens,
        output_tokens=section.output_tokens,
        load=_load(section, log),
        concurrency=section.concurrency,
        request_rate=section.request_rate,
        requests=section.requests,
        prefix_hit=section.prefix_hit or 0.0,
        draft_tokens=speculative.tokens or 0,
        draft_acceptance=speculative.acceptance or 0.0,
        ttft_target=targets.ttft.value if targets.ttft else None,
        tpot_target=targets.tpot.value if targets.tpot else None,
        percentile=50.0 if targets.percentile is None else targets.percentile,
        chunk_tokens=log.either(section.chunk_tokens, f"{KEY}.chunk_tokens", software.chunk_tokens or CHUNK, why),
        max_sequences=section.max_sequences,
        memory_fraction=log.either(section.memory_fraction, f"{KEY}.memory_fraction", software.memory_fraction, share),
        of_free=software.of_free and section.memory_fraction is None,
        whole_requests=software.whole_requests,
        raised=section.memory_fraction is None and section.concurrency is not None,
        captured_graphs=log.either(
            section.captured_graphs, f"{KEY}.captured_graphs", True, "the default of serving frameworks"
        ),
        prefill=_engines(sides.prefill, "prefill", experts, section, log) if sides else None,
        decode=_engines(sides.decode, "decode", experts, section, log) if sides else None,
    )


def _load(section: ServingSpec, log: ResolutionLog) -> str:
    if section.load is not None:
        return section.load
    if section.concurrency is not None:
        return log.assume(f"{KEY}.load", "closed", "`concurrency` is given")
    if section.request_rate is not None:
        return log.assume(f"{KEY}.load", "open", "`request_rate` is given")
    return log.assume(f"{KEY}.load", "offline", "neither `concurrency` nor `request_rate` is given")


def _engines(section: EnginesSpec | None, side: str, experts: int, serving: ServingSpec, log: ResolutionLog) -> Engines:
    key, engines = f"{KEY}.disaggregated.{side}", section or EnginesSpec()

    def degree(name: str) -> int:
        written: int | None = getattr(engines, name)
        return max(1, log.either(written, f"{key}.{name}", 1, "no parallelism on this axis"))

    replicas = log.either(engines.replicas, f"{key}.replicas", 1, "one engine")
    engine = Engines(max(1, replicas), degree("tp"), degree("attention_dp"), degree("ep"), 1, degree("pp"))
    copies = serving.redundant_experts
    if copies is None:
        copies = fewest_copies(experts, engine.ep)
    return Engines(
        engine.replicas, engine.tp, engine.attention_dp, engine.ep, default_expert_tp(engine), engine.pp, copies
    )
