"""Caches of conversations: the tokens that each tier of memory still has when a user returns, and their load time.

A request leaves its tokens behind in every tier. A tier evicts the least recently used blocks, so it keeps them for the
time in which later requests fill it: its retention. A turn finds them where its user returned sooner.

Source: the characteristic time of an LRU cache, Che et al., "Hierarchical Web caching systems", IEEE JSAC 20(7), 2002;
why one time holds for all items, Fricker et al., arXiv 1202.3974.
"""

from __future__ import annotations

from collections.abc import Callable
from math import expm1

from clusterspec.cluster.requests import CacheTier, Serving, Session
from clusterspec.cost.drafters import drafter_cache_bytes
from clusterspec.cost.mixers import sequence_cache
from clusterspec.cost.serving.constants import MOST_LOAD
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.quantiles import decoded_tokens, secant_part
from clusterspec.cost.serving.state import Steady
from clusterspec.records import NamedTuple, replace
from clusterspec.standard import sum_of

ACCELERATOR = "accelerator"
"""The name of the cache tier in accelerator memory."""
DAY = 86400.0
WORKING = 3.0
"""Retention of a working set, in mean think times: within it 19 of 20 users have returned."""
MOST_HIT = 0.999
"""Largest share of the input tokens that caches can supply: every prompt has new tokens."""
LONGEST = 1e9
"""Seconds of retention from which a tier counts as large enough for all requests."""


class TierUse(NamedTuple):
    """How requests use a tier.

    The plan has ``units`` of the tier, each with space for ``tokens``, which retain a request for ``retention``
    seconds. ``within`` is the share of input tokens that the tier holds; ``hit`` the share read from it because no
    faster tier holds them. Reading takes a request ``load`` seconds on average. ``read`` and ``written`` are B/s per
    unit, ``busy`` the utilization of its read bandwidth. ``working_set`` is the bytes with which one unit retains
    nearly all tokens that are reused; ``token_bytes`` the bytes per token.
    """

    medium: str
    scope: str
    units: float
    tokens: float
    retention: float
    hit: float
    within: float
    load: float
    read: float
    written: float
    busy: float
    working_set: float
    token_bytes: float
    tier: CacheTier | None

    @property
    def overwrites_per_day(self) -> float | None:
        """The number of times a day that the tier is overwritten; None for the accelerators' memory."""
        return self.written * DAY / self.tier.capacity if self.tier else None


def occupied_tokens(session: Session, output: float, rate: float, retention: float, running: float = 0.0) -> float:
    """Tokens that one unit holds at ``rate`` requests per second, if each is held until its next use, for at most
    ``retention`` seconds.

    Each turn stores its prompt and its ``output`` tokens, ``running`` seconds before the answer ends. The next turn
    refreshes them; tokens of the last turn stay for the full retention. The shared prefix counts once.
    """
    think, turns = session.think_time, session.turns
    paused = max(0.0, retention - running)
    renewed = min(retention, running) + (think * -expm1(-paused / think) if think else 0.0)
    own = session.first - session.shared_prefix + output
    between = (turns - 1) * own + session.growth * (turns - 1) * (turns - 2) / 2
    last = own + session.growth * (turns - 1)
    kept = rate / turns * (between * renewed + last * retention)
    return kept + session.shared_prefix * -expm1(-rate * retention)


def retained_seconds(session: Session, output: float, rate: float, tokens: float, running: float = 0.0) -> float:
    """Seconds that a cache of ``tokens`` keeps a request, by bisection of `occupied_tokens`; 0 without space."""
    if tokens <= 0 or rate <= 0:
        return 0.0 if tokens <= 0 else LONGEST
    low, high = 0.0, 1.0
    while occupied_tokens(session, output, rate, high, running) < tokens:
        low, high = high, 2 * high
        if high > LONGEST:
            return LONGEST
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if occupied_tokens(session, output, rate, middle, running) < tokens else (low, middle)
        )
    return high


class ConversationTokens(NamedTuple):
    """Token counts of one conversation: answer tokens that the next prompt repeats, tokens of all its prompts, and
    tokens that later prompts repeat beyond the prefix shared by all requests.
    """

    repeated: float
    prompts: float
    returning: float


def conversation_tokens(session: Session, output: float) -> ConversationTokens:
    """The tokens of a conversation whose answers have ``output`` tokens."""
    turns, repeated = session.turns, min(output, session.growth)
    own = session.first - session.shared_prefix + repeated
    returning = (turns - 1) * own + session.growth * (turns - 1) * (turns - 2) / 2
    return ConversationTokens(repeated, turns * (session.first + (turns - 1) / 2 * session.growth), returning)


def returning_share(
    session: Session, output: float, rate: float, retention: float, *, running: float = 0.0, in_use: float = 0.0
) -> float:
    """The share of all input tokens found in a cache that retains tokens for ``retention`` seconds.

    Each later turn repeats the previous prompt and its answer, as far as the growth per turn allows. The accelerators'
    memory also holds the prefix that all requests share for the ``in_use`` seconds that a request runs.
    """
    turns, (_, whole, found) = session.turns, conversation_tokens(session, output)
    paused = retention - running
    returned = 0.0 if paused <= 0 else -expm1(-paused / session.think_time) if session.think_time else 1.0
    shared = turns * session.shared_prefix * -expm1(-rate * (retention + in_use))
    return min(1.0, (found * returned + shared) / whole)


class TurnPrompt(NamedTuple):
    """Similar prompts of conversations: the tokens to compute, the tokens in all, and their share of the requests."""

    fresh: float
    length: float
    share: float


def turn_prompts(load: Serving) -> tuple[TurnPrompt, ...]:
    """The prompts of three kinds: first turns, later turns that find the previous turn in a cache, and later turns that
    do not.

    Their shares follow from the cached share of the input tokens, assigned first to the shared prefix, then to previous
    turns.
    """
    session = load.session
    assert session is not None
    turns, shared = session.turns, float(session.shared_prefix)
    repeated, whole, returning = conversation_tokens(session, float(load.output_tokens))
    hit = load.prefix_hit * whole
    known = min(shared, hit / turns)
    found = min(1.0, (hit - turns * known) / returning) if returning else 0.0
    later, share = session.first + turns / 2 * session.growth, (turns - 1) / turns
    return (
        TurnPrompt(max(1.0, session.first - known), session.first, 1 / turns),
        TurnPrompt(max(1.0, session.growth - repeated + shared - known), later, share * found),
        TurnPrompt(max(1.0, later - known), later, share * (1 - found)),
    )


def tier_uses(pools: Pools, now: Steady) -> tuple[TierUse, ...]:
    """The tiers of a plan in a steady state, the accelerators' memory first; none without sessions."""
    load = pools.load
    session, engine = load.session, pools.prompts
    if session is None:
        return ()
    token_bytes = _token_bytes(engine, load.input_tokens + load.output_tokens / 2)
    output = float(load.output_tokens)
    found: list[TierUse] = []
    above = 0.0
    for tier in (None, *load.tiers):
        units = _cache_count(pools, tier)
        tokens = _spare_tokens(pools, now) if tier is None else tier.capacity / token_bytes
        rate = now.rate / units
        whole = now.before_decode + (output - 1) * now.tpot
        running, in_use = (whole, 0.0) if tier else (0.0, whole)
        kept = retained_seconds(session, output, rate, tokens, running)
        within = returning_share(session, output, rate, kept, running=running, in_use=in_use)
        hit = max(0.0, within - above)
        above = max(above, within)
        size = hit * load.input_tokens * token_bytes
        busy = rate * size / tier.read if tier else 0.0
        load_seconds = size / tier.read / (1 - min(busy, MOST_LOAD)) if tier else 0.0
        written = rate * (load.input_tokens * (1 - within) + output) * token_bytes
        enough = occupied_tokens(session, output, rate, running + WORKING * session.think_time, running) * token_bytes
        medium, scope = (tier.medium, tier.scope) if tier else (ACCELERATOR, "engine")
        found.append(
            TierUse(
                medium,
                scope,
                units,
                tokens,
                kept,
                hit,
                within,
                load_seconds,
                rate * size,
                written,
                busy,
                enough,
                token_bytes,
                tier,
            )
        )
    return tuple(found)


ROUNDS, CLOSE = 40, 1e-4
LEAST_PART = 0.1
"""The smallest part of the computed difference by which a round changes the hits."""


def settled_caches(pools: Pools, state: Callable[[Pools], Steady]) -> tuple[Pools, tuple[TierUse, ...]]:
    """The plan with consistent prefix hits and request rate, by the secant method, and the use of each tier.

    Hits raise the rate, and the rate shortens the retention that produces hits. The search starts at the maximum of
    hits, so a plan that sustains its load only with warm caches is found with warm caches. No step goes past the hits
    that it computes, so the search cannot skip that solution. In a closed loop, more hits can raise the rate, which
    evicts caches sooner. There the search takes shorter steps.
    """
    assert pools.load.session is not None
    hit = min(MOST_HIT, returning_share(pools.load.session, float(pools.load.output_tokens), 1.0, LONGEST))
    uses: tuple[TierUse, ...] = ()
    missing, taken = 0.0, 0.0
    for _ in range(ROUNDS):
        other = pools._replace(load=replace(pools.load, prefix_hit=hit))
        uses = tier_uses(other, state(other))
        former, missing = missing, min(MOST_HIT, sum_of(each.hit for each in uses)) - hit
        if abs(missing) < CLOSE:
            break
        taken = missing * (secant_part(taken, former - missing, (LEAST_PART, 1.0)) if taken else 0.5)
        hit += taken
    loading = sum_of(each.load for each in uses)
    return pools._replace(load=replace(pools.load, prefix_hit=hit), loading=loading), uses


def bare_tiers(pools: Pools) -> tuple[TierUse, ...]:
    """The tiers of a plan whose conversations come from a trace: only space and links, without rates."""
    engine, load = pools.prompts, pools.load
    token_bytes = _token_bytes(engine, load.input_tokens + load.output_tokens / 2)
    found = []
    for tier in (None, *load.tiers):
        tokens = pools.prompt_tokens if tier is None else tier.capacity / token_bytes
        medium, scope = (tier.medium, tier.scope) if tier else (ACCELERATOR, "engine")
        idle = dict.fromkeys(TierUse._fields[4:12], 0.0)
        found.append(
            TierUse(medium, scope, _cache_count(pools, tier), tokens, **idle, token_bytes=token_bytes, tier=tier)
        )
    return tuple(found)


def tiers_with_stated_hits(pools: Pools, rate: float) -> tuple[TierUse, ...]:
    """The tiers of a plan whose prefix hits the spec states: their space, and the B/s written at ``rate`` requests per
    second. Each tier stores a copy of every new token.
    """
    load = pools.load
    fresh = load.fresh_tokens + load.output_tokens
    return tuple(use._replace(written=rate / use.units * fresh * use.token_bytes) for use in bare_tiers(pools))


def _token_bytes(engine: Engine, context: float) -> float:
    """Bytes of cache of one token over the whole model, at a context, copies on several ranks counted once."""
    kept = sequence_cache(engine.model, (engine.whole,), context)
    drafted = drafter_cache_bytes(engine.workload, context, 1)
    return (kept.stored_bytes(engine.workload.kv_precision).total + drafted) / context


def _cache_count(pools: Pools, tier: CacheTier | None) -> float:
    """The number of caches of a tier; requests of one conversation return to the same one."""
    engine = pools.prompts
    if tier is None:
        return float(engine.attention_ranks)
    if tier.scope == "plan":
        return 1.0
    if tier.scope == "engine":
        return float(engine.replicas)
    ranks = engine.replicas * engine.ranks * engine.layout.pp
    return max(1.0, ranks / (engine.cluster.ranks_per_node))


def _spare_tokens(pools: Pools, now: Steady) -> float:
    """Tokens of cache on one attention rank that running requests do not fill."""
    load = pools.load
    if pools.has_prefill_engines:
        return max(0.0, pools.prompt_tokens - load.input_tokens)
    return max(0.0, pools.tokens - now.sequences * (load.input_tokens + decoded_tokens(load)))
