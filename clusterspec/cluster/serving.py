"""Resolves the requests of a serving plan: lengths, load, limits, and separate engines."""

from __future__ import annotations

from clusterspec.cluster.degrees import default_expert_tp, fewest_copies
from clusterspec.cluster.model import Engines, Serving
from clusterspec.cluster.resolution_log import ResolutionLog
from clusterspec.source import Path
from clusterspec.spec.model import EnginesSpec, ServingSpec, SpeculativeSpec, TargetsSpec

KEY = "workload.serving"
PATH: Path = ("workload", "serving")
MEMORY_FRACTION = 0.9
CHUNK_TOKENS = 8192


def resolve_serving(said: ServingSpec, experts: int, log: ResolutionLog) -> Serving | None:
    """The requests; None, with a problem, where their lengths are not known. ``experts`` are those of a layer."""
    for key, what in (("input_tokens", "of a prompt"), ("output_tokens", "of an answer")):
        if getattr(said, key) is None:
            log.missing((*PATH, key), "the cache and every time depend on it", f"write the tokens {what}")
    if said.input_tokens is None or said.output_tokens is None:
        return None
    speculative, targets = said.speculative or SpeculativeSpec(), said.targets or TargetsSpec()
    sides = said.disaggregated
    return Serving(
        input_tokens=said.input_tokens,
        output_tokens=said.output_tokens,
        load=_load(said, log),
        concurrency=said.concurrency,
        request_rate=said.request_rate,
        requests=said.requests,
        prefix_hit=said.prefix_hit or 0.0,
        draft_tokens=speculative.tokens or 0,
        draft_acceptance=speculative.acceptance or 0.0,
        ttft_target=targets.ttft.value if targets.ttft else None,
        tpot_target=targets.tpot.value if targets.tpot else None,
        percentile=50.0 if targets.percentile is None else targets.percentile,
        chunk_tokens=log.either(
            said.chunk_tokens, f"{KEY}.chunk_tokens", CHUNK_TOKENS, "the default of vLLM, SGLang and TensorRT-LLM"
        ),
        max_sequences=said.max_sequences,
        memory_fraction=log.either(
            said.memory_fraction, f"{KEY}.memory_fraction", MEMORY_FRACTION, "the default of vLLM and TensorRT-LLM"
        ),
        captured_graphs=log.either(
            said.captured_graphs, f"{KEY}.captured_graphs", True, "serving frameworks capture decoding steps by default"
        ),
        prefill=_engines(sides.prefill, "prefill", experts, said, log) if sides else None,
        decode=_engines(sides.decode, "decode", experts, said, log) if sides else None,
    )


def _load(said: ServingSpec, log: ResolutionLog) -> str:
    if said.load is not None:
        return said.load
    if said.concurrency is not None:
        return log.assume(f"{KEY}.load", "closed", "`concurrency` is given")
    if said.request_rate is not None:
        return log.assume(f"{KEY}.load", "open", "`request_rate` is given")
    return log.assume(f"{KEY}.load", "offline", "neither `concurrency` nor `request_rate` is given")


def _engines(said: EnginesSpec | None, side: str, experts: int, serving: ServingSpec, log: ResolutionLog) -> Engines:
    key, asked = f"{KEY}.disaggregated.{side}", said or EnginesSpec()

    def degree(name: str) -> int:
        written: int | None = getattr(asked, name)
        return max(1, log.either(written, f"{key}.{name}", 1, "no parallelism on this axis"))

    replicas = log.either(asked.replicas, f"{key}.replicas", 1, "one engine")
    engine = Engines(max(1, replicas), degree("tp"), degree("attention_dp"), degree("ep"), 1, degree("pp"))
    copies = serving.redundant_experts
    if copies is None:
        copies = fewest_copies(experts, engine.ep)
    return Engines(
        engine.replicas, engine.tp, engine.attention_dp, engine.ep, default_expert_tp(engine), engine.pp, copies
    )
