"""The engines of a serving plan with their load, and the prompts that fit the steps of an engine."""

from __future__ import annotations

from math import floor, inf

from clusterspec.cluster.requests import Serving
from clusterspec.cost.formulas.routing import share_finding_others
from clusterspec.cost.formulas.serving import prompt_time, unequal_prompt_time
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.handoff import CacheTransfer, Handoff
from clusterspec.records import NamedTuple

ENDLESS = 1e6
"""Rounds of a loop without an end."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cluster.sites import PoolLink


class Pools(NamedTuple):
    """The decode engines, the prefill engines (the same ones, or a separate pool), and the load.

    ``limit`` is the maximum number of sequences on one attention rank: the lower of the cache limit, from ``tokens`` of
    space, and ``sequences``, the limit of the software and of recurrent states in a pool of their own.
    ``prompt_tokens`` is the cache space in tokens of a rank that runs prompts. Reading cached tokens from other memory
    takes a request ``loading`` seconds on average. ``transfer`` is the seconds in which the cache of a prompt occupies
    the link of a sending rank, and of a receiving rank; ``sent`` is the transfer on the slower side, None if no fabric
    connects them. ``link`` connects the machines of prefill and decode engines, if these are two machines.
    """

    decode: Engine
    prompts: Engine
    load: Serving
    limit: float
    tokens: float
    sequences: float
    prompt_tokens: float = 0.0
    loading: float = 0.0
    transfer: tuple[float, float] = (0.0, 0.0)
    sent: CacheTransfer | None = None
    link: PoolLink | None = None

    @property
    def has_prefill_engines(self) -> bool:
        """Whether prompts have separate engines."""
        return self.prompts is not self.decode

    @property
    def engines_of_choice(self) -> float:
        """The number of attention ranks among which a prompt goes to the one with the fewest requests: one for turns of
        conversations, which go to the rank with their cache.
        """
        return 1.0 if self.load.session is not None else float(self.prompts.attention_ranks)

    def share_of_arrivals_at_busy(self, sequences: float) -> float:
        """The share of the requests of an open load that find other requests on their engine, where each attention rank
        has ``sequences`` on average.
        """
        engines = 1.0 if self.load.session is not None else float(self.decode.replicas)
        return share_finding_others(sequences * self.decode.layout.attention_dp, engines)

    @property
    def share_with_others(self) -> float:
        """The share of the requests of a closed loop that find other requests on their engine; all attention ranks of
        an engine share its steps. A request goes to the engine with the fewest, so with as many engines as requests
        none finds another. On a single engine a request finds all but itself.
        """
        requests = float(self.load.concurrency or 1)
        each = requests / self.decode.replicas
        return max(0.0, min((requests - 1) / requests, 2 * (each - 1) / each))

    @property
    def sent_at_once(self) -> bool:
        """Whether all requests of a run are sent at its start: requests of an offline load, or of a closed loop with at
        least as many in flight.
        """
        load = self.load
        if not load.requests or load.load not in {"closed", "offline"}:
            return False
        return load.load == "offline" or load.requests <= (load.concurrency or 0)

    @property
    def in_one_wave(self) -> bool:
        """Whether all requests of a run are sent at its start and have places, on engines that also run their prompts:
        no request replaces another one, and the prompts come before the end of the first output.
        """
        places = self.limit * self.decode.attention_ranks
        return self.sent_at_once and not self.has_prefill_engines and (self.load.requests or 0) <= places

    @property
    def most_sequences_with_prompts(self) -> float:
        """The most sequences of an attention rank that decode with prompts that replace them; infinite if none do."""
        return inf if self.in_one_wave else most_sequences_with_prompts(self.load)

    @property
    def in_waves(self) -> bool:
        """Whether the requests of a closed loop start and end together: equal outputs on engines that run the prompts
        of all that came before any request decodes.
        """
        return self.keeps_step and self.decode.separates_prompts

    @property
    def in_groups(self) -> bool:
        """Whether the requests of a closed loop whose prompts share a step end in one step: equal outputs on an engine
        that mixes prompts with decoding.
        """
        return self.keeps_step and not self.decode.separates_prompts

    @property
    def shares_prompts_by_step(self) -> bool:
        """Whether the attention ranks of separate prefill engines divide the prompts that came during a step together
        at its end.
        """
        stack = self.prompts.layout.stack
        divides = stack is not None and stack.serving is not None and stack.serving.shares_prompts_by_step
        return divides and self.has_prefill_engines and self.prompts.layout.attention_dp > 1

    @property
    def equal_requests(self) -> bool:
        """Whether the spec says that all requests are alike, and each gains one token in each step."""
        return self.load.equal_outputs and not self.load.draft_tokens and not self.load.input_lengths

    @property
    def keeps_step(self) -> bool:
        """Whether requests that start together end together: all have places, and gain one token in each step. A
        loop starts with all of its requests.
        """
        load, engine = self.load, self.decode
        if not self.equal_requests or load.load != "closed":
            return False
        places = self.limit * engine.attention_ranks
        return 1 < (load.concurrency or 0) <= places and engine.layout.pp == 1 and not self.has_prefill_engines

    @property
    def requests_of_run(self) -> float:
        """The requests of a run. A loop without an end has so many rounds that its start does not count."""
        return float(self.load.requests or (self.load.concurrency or 1) * ENDLESS)

    @property
    def outside(self) -> float:
        """Seconds of a request outside the engines: its transport, and splitting the text of its prompt into tokens."""
        least, most = self.between_requests
        return (least + most) / 2

    @property
    def between_requests(self) -> tuple[float, float]:
        """The shortest and the longest of these seconds. Transport takes any time from none to twice its mean as often
        (assumed: no source states how it varies); splitting takes as long for each prompt of a length.
        """
        habits = self.decode.habits
        split = habits.prompt_token * self.load.input_tokens
        return split, split + 2 * habits.request


def most_sequences_with_prompts(load: Serving) -> float:
    """The highest number of sequences that one attention rank can decode while the rest of the token budget keeps up
    with new prompts.

    A step has at most ``chunk_tokens`` tokens, including those of decoding sequences. With s sequences, s / gaps
    prompts begin in a step, so that s (drafted + gained prompt / gaps) = chunk. Infinite without chunks.

    Source: Agrawal et al., Sarathi-Serve, arXiv 2403.02310, section 4.3: the budget of tokens of a step.
    """
    if load.chunk_tokens is None or load.load not in {"closed", "open"}:
        return inf
    gained = load.tokens_per_step
    fresh = load.fresh_tokens
    return max(1.0, load.chunk_tokens / (1.0 + load.draft_tokens + gained * fresh / load.gaps))


def is_open_run(load: Serving) -> bool:
    """Whether a stated number of requests arrive at a rate, on engines that also run their prompts."""
    return load.load == "open" and bool(load.requests) and load.prefill is None


def prompt_seconds(engine: Engine, prefill: StepTime) -> float:
    """Seconds of the steps of one prompt, which the stages of a pipeline process in succession."""
    each, stages = prefill.total / prefill.steps, float(engine.layout.pp)
    if unequal_in_pipeline(prefill, stages):
        return unequal_prompt_time(prefill.steps, each, prefill.longest, prefill.floor, stages)
    return prompt_time(prefill.steps, each, prefill.floor, stages)


def unequal_in_pipeline(prefill: StepTime, stages: float) -> bool:
    """Whether the steps of a prompt are unequal, which lasts longer on several ``stages``."""
    return stages > 1 and prefill.longest > 1


def prompts_per_step(pools: Pools) -> float:
    """Whole prompts that fit the token budget of one step; 1 without a budget."""
    return float(floor(prompts_of_step(pools, 0.0)))


def prompts_of_step(pools: Pools, taken: float) -> float:
    """Prompts that fit the token budget of one step after ``taken`` tokens, fractions included; at least 1, and 1
    without a budget.
    """
    load = pools.load
    fresh = max(1.0, load.fresh_tokens)
    return max(1.0, ((load.chunk_tokens or fresh) - taken) / fresh)


def cache_handoff(pools: Pools, prompt: float, chunks: float) -> Handoff | None:
    """The handoff of a prompt, which takes ``prompt`` seconds in ``chunks``, to the decode engine; None if the same
    engine decodes.
    """
    if not pools.has_prefill_engines:
        return None
    pieces = {"chunk": chunks, "layer": float(pools.decode.model.layers)}.get(pools.load.transfer.send, 1.0)
    passing = constants.HANDOFF.value + (pools.link.latency if pools.link is not None else 0.0)
    return Handoff(passing, pools.sent or CacheTransfer(0.0, 1.0), pieces, prompt)
