"""The scheduler of one simulated serving engine: admission, chunks of prompts, decoding and preemption."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import ceil, inf
from operator import attrgetter

from clusterspec.analysis.simulation.ranks import (
    REQUESTS,
    TINY,
    AttentionRank,
    Limits,
    Request,
    chunk_sums,
    fullest_ranks,
    gaps_of_rounds,
    kept_space,
    note_retraction,
    put_in_shortest_queues,
    subtract_ended_request,
)
from clusterspec.analysis.simulation.steps import StepTables
from clusterspec.cost.serving.admission import MOST_OUTPUT
from clusterspec.standard import sum_of

EXPECTED, CONTEXT = attrgetter("expected"), attrgetter("context")


class SimulatedEngine:
    """One engine with its attention ranks, whose steps start together and end with the slowest rank.

    ``requests`` counts waiting and running requests; ``expected`` also those still on their way from prefill engines.
    ``free_links`` is the time from which each rank's link is free. ``gaps`` maps the seconds between two tokens to
    the number of sequences with that gap. ``since`` counts the decode steps since requests were received. On a decode
    engine, ``announced`` holds the requests whose prompts wait until it has received them, ``accepted`` those that it
    has received. ``fetched`` holds the prompts that are divided among the ranks at the end of the running step. With
    ``launches_ahead``, it prepares and launches each decode step while the one before it runs. If steps are formed
    ahead, ``looked`` is the last time at which the scheduler looked for requests, and ``launching`` the time at which
    it began to launch the running step. The latest prompts leave the last stage of a pipeline at ``passed``.

    A step is that of one batch on the first stage of a pipeline. Its prompts are admitted when the step starts, and it
    decodes one in ``tables.stages`` of the sequences, each of which gains a token once per round of all batches.
    Source: vLLM, vllm/v1/engine/core.py (step_with_batch_queue): a batch is scheduled whenever fewer than one for each
    stage are in flight; SGLang, managers/scheduler_pp_mixin.py (event_loop_pp): micro-batches take prompts in turn.
    """

    def __init__(self, tables: StepTables, limits: Limits, gaps: dict[float, float]) -> None:
        self.tables, self.limits, self.gaps = tables, limits, gaps
        self.launches_ahead = limits.ahead and limits.apart != "prefill"
        self.ranks = [AttentionRank(limits.own.first if limits.own is not None else 0.0) for _ in range(tables.ranks)]
        self.gained = tables.gained / tables.stages
        self.version = 0
        self.started, self.each, self.steps, self.floor = 0.0, 0.0, 0, 0.0
        self.stage = self.passing = self.passed = 0.0
        self.running = self.mixed = False
        self.launching = 0.0
        self.preempted = self.requests = self.since = self.held = 0
        self.cold = limits.cold
        self.looked = -inf
        self.chunks: list[list[tuple[Request, float]]] = []
        self.free_links = [0.0] * tables.ranks
        self.expected = 0
        self.announced: list[Request] = []
        self.accepted: list[Request] = []
        self.fetched: list[Request] = []

    def next_rank(self) -> int:
        """The index of the rank with the fewest requests. One more request is counted for it."""
        rank = min(self.ranks, key=EXPECTED)
        rank.expected += 1
        self.expected += 1
        return self.ranks.index(rank)

    def note_arrival(self, rank: int) -> None:
        """Note that a request on its way to a rank has arrived."""
        self.ranks[rank % len(self.ranks)].expected -= 1
        self.expected -= 1

    def receive(self, request: Request, now: float) -> None:
        """Put a request into the queue of its rank, or of the one with the fewest requests."""
        request.received = now
        if request.rank < 0 and self.limits.shared:
            self.requests, self.expected = self.requests + 1, self.expected + 1
            self.fetched.append(request)
            return
        if request.rank >= 0:
            rank = self.ranks[request.rank % len(self.ranks)]
        else:
            rank = min(self.ranks, key=REQUESTS) if len(self.ranks) > 1 else self.ranks[0]
        (rank.waiting if self.limits.interval == 1 or self.limits.apart else rank.sent).append(request)
        for each in (self, rank):
            each.requests += 1
            each.expected += 1

    def shortened_end(self, now: float, interval: int) -> float | None:
        """The new end of a run of steps if a request that arrives now shortens it; None if no step is cut off.

        A request joins at the end of the step in which it arrives, or of the next one that ends an ``interval``.
        """
        if self.mixed or self.steps <= 1:
            return None
        done = max(1, ceil((now - self.started) / self.each - TINY))
        done += -(self.since + done) % interval + self.launches_ahead
        if done >= self.steps:
            return None
        self.steps = done
        self.version += 1
        return self.started + done * self.each

    def next_step_end(self, now: float) -> float | None:
        """Admit requests and start the next steps; their end, or None if nothing is to do."""
        if self.launches_ahead and not self.mixed:
            self.looked = max(self.looked, now - self.each)
        if not self.since:
            self._receive_sent()
        put_in_shortest_queues(self.fetched, self.ranks)
        formed = self.limits.ahead and self._form_ahead(now)
        for rank in () if formed else self.ranks:
            if rank.waiting:
                self._admit(rank, now)
        self.version += 1
        self.started, self.launching = now, self.looked if formed and self.launches_ahead else now
        if any(rank.prompts for rank in self.ranks) and not self._holds_prompts():
            self._begin_mixed_step()
            self.each, self.cold = self.each + self.cold, 0.0
            self.looked = now if formed and not self.launches_ahead else max(now, self.launching + self.floor)
        elif any(rank.count for rank in self.ranks):
            self._begin_decoding()
        elif self.since:  # nothing runs: the engine looks for requests all the time
            self.since = 0
            return self.next_step_end(now)
        else:
            self.running = False
            return None
        self.running = True
        return now + self.steps * self.each

    def _holds_prompts(self) -> bool:
        """Whether prompts are held back until each rank has one. They are not if the limit is reached or a rank is
        idle.
        """
        if not self.held % self.limits.hold or not all(rank.count for rank in self.ranks):
            return False
        return not all(rank.prompts for rank in self.ranks)

    def _form_ahead(self, now: float) -> bool:
        """Admits the requests that had arrived when the scheduler last looked. Returns whether the next step has any
        work.
        """
        for rank in self.ranks:
            if rank.waiting:
                self._admit(rank, now, self.looked)
        return any(rank.prompts or (rank.count and self.launches_ahead) for rank in self.ranks)

    def _receive_sent(self) -> None:
        """Put the requests that were sent into the queues of their ranks, and let announced prompts start."""
        self.accepted.extend(self.announced)
        self.announced.clear()
        for rank in self.ranks:
            if rank.sent:
                rank.waiting.extend(rank.sent)
                rank.sent.clear()

    def end(self, now: float) -> list[Request]:
        """Finish the running steps; the requests that ended with them."""
        gained, steps = self.gained * self.steps, self.steps
        self.since = 0 if self.mixed else (self.since + steps) % self.limits.interval
        self.held = 1 if self.mixed else (self.held + steps) % self.limits.hold
        ended: list[Request] = []
        whole, steadily = self.limits.whole, 0
        for place, rank in enumerate(self.ranks):
            if self.mixed and self._pauses_decoding(self.chunks[place]):
                rank.stalled += self.each
                continue
            rank.step += steps
            if not rank.count:
                rank.recent.clear()
            if count := rank.count:
                tokens = count * gained
                rank.context += tokens
                if not whole:
                    rank.used += tokens
                if self.tables.stages > 1:
                    for gap, share in gaps_of_rounds(rank, self.each, steps, self.tables.stages):
                        self.gaps[gap] = self.gaps.get(gap, 0.0) + count * share
                elif rank.stalled:
                    self._count_gaps(count, self.each + rank.stalled)
                else:
                    steadily += count
                while rank.decoding and rank.decoding[0][0] <= rank.step:
                    self._end_request(rank, heappop(rank.decoding)[2], now, ended)
            rank.stalled = 0.0
        if steadily:
            self._count_gaps(steadily, self.each)
        if self.mixed:
            self._end_prompts(now, ended)
        self.requests -= len(ended)
        self.expected -= len(ended)
        return ended

    def _pauses_decoding(self, parts: list[tuple[Request, float]]) -> bool:
        """Whether a rank that computes these prompt parts stops decoding in the step."""
        return self.tables.apart or (self.tables.pausing and bool(parts))

    def _count_gaps(self, count: int, first: float) -> None:
        """Counts the gaps of ``count`` sequences in the finished steps. The first gap, which prompts may delay, is
        ``first`` seconds.
        """
        rest = self.steps - 1
        self.gaps[first] = self.gaps.get(first, 0.0) + count
        if rest:
            self.gaps[self.each] = self.gaps.get(self.each, 0.0) + count * rest

    def _admit(self, rank: AttentionRank, now: float, until: float = inf) -> None:
        limits, kept = self.limits, kept_space(rank, self.limits.own, self.gained)
        while rank.waiting and len(rank.prompts) + rank.count < limits.sequences:
            request = rank.waiting[0]
            if request.received > until:
                return
            wanted = request.held or request.prompt
            reserved = wanted + (request.output if limits.whole else 0)
            kept += min(MOST_OUTPUT, request.left or request.output) if limits.own is not None else 0
            if rank.used + reserved + kept > limits.tokens and (rank.count or rank.prompts):
                return
            rank.waiting.popleft()
            rank.used += reserved
            request.admitted = now if request.admitted < 0 else request.admitted
            if limits.apart == "decode":
                request.handed, request.placed = request.received, now
                if limits.early:
                    self.gaps[now - request.first] = self.gaps.get(now - request.first, 0.0) + 1
                else:
                    request.first = now
                self._join(rank, request)
                continue
            fresh = request.prompt * (1 - limits.hit) if request.cached < 0 else request.prompt - request.cached
            request.todo = request.held or max(1.0, fresh)
            request.held = wanted
            rank.prompts.append(request)

    def _join(self, rank: AttentionRank, request: Request) -> None:
        """Let a request with a computed prompt decode from the next step on."""
        if not request.left:
            request.left = max(1, ceil((request.output - 1) / self.tables.gained - TINY)) * self.tables.stages
        request.held = request.held or request.prompt
        request.joined = rank.step
        rank.ends += rank.step + request.left
        rank.count += 1
        rank.context += request.held
        rank.order[request.index] = request
        heappush(rank.decoding, (rank.step + request.left, request.index, request))

    def _end_request(self, rank: AttentionRank, request: Request, now: float, ended: list[Request]) -> None:
        """Remove a request from its rank after its last token."""
        held = request.held + (rank.step - request.joined) * self.gained
        rank.ends -= request.joined + request.left
        rank.count -= 1
        subtract_ended_request(rank)
        rank.context -= held
        rank.used -= request.prompt + request.output if self.limits.whole else held
        del rank.order[request.index]
        request.ended = now + request.lag
        ended.append(request)

    def _begin_decoding(self) -> None:
        """Starts a run of decode steps: as many as pass until a request ends, and as the free cache allows."""
        gained, grows, held = self.gained, not self.limits.whole, self.limits.tokens
        most = inf
        for rank in self.ranks:
            if not rank.count:
                continue
            self._free_for_growth(rank)
            last = rank.decoding[0][0] - rank.step
            most = min(most, last)
            if grows and rank.count > 1:
                fitting = (held - rank.used) // (rank.count * gained)
                if fitting < most:
                    most = max(1.0, fitting)
        if self.announced or any(rank.sent for rank in self.ranks):
            most = min(most, self.limits.interval - self.since)
        if any(rank.prompts for rank in self.ranks):
            most = min(most, self.limits.hold - self.held % self.limits.hold)
        if self.launches_ahead and any(rank.waiting and rank.waiting[-1].received > self.looked for rank in self.ranks):
            most = 1  # it came while the step before ran, after this one was formed
        self.mixed, self.steps = False, max(1, int(most))
        fullest = max(self.ranks, key=CONTEXT)
        counts = [rank.count for rank in self.ranks]
        count, mean = max(counts), sum(counts) / len(counts)
        context = fullest.context / fullest.count + gained * (self.steps - 1) / 2
        self.each = self.tables.decode_seconds(count, context, mean) / self.tables.stages

    def _free_for_growth(self, rank: AttentionRank) -> None:
        """Preempts requests of a rank until the cache has space for the tokens that the others gain in one step.

        Source: vLLM, vllm/v1/core/sched/scheduler.py at 00024d31 (Scheduler.schedule): running requests come first in
        each step, and the youngest are preempted where `allocate_slots` finds no block.
        """
        grows = not self.limits.whole
        while grows and rank.count > 1 and rank.used + rank.count * self.gained > self.limits.tokens:
            self._preempt(rank)
            note_retraction(rank, self.limits.own, self.gained)

    def _preempt(self, rank: AttentionRank) -> None:
        """Send the youngest request back to the queue; its prompt and its tokens are computed again."""
        request = rank.order.popitem()[1]
        rank.decoding.remove((request.joined + request.left, request.index, request))
        heapify(rank.decoding)
        past = rank.step - request.joined
        rank.ends -= request.joined + request.left
        rank.count -= 1
        rank.context -= request.held + past * self.gained
        request.held += past * self.gained
        request.left -= past
        rank.used -= request.held
        rank.waiting.appendleft(request)
        self.preempted += 1

    def _begin_mixed_step(self) -> None:
        """Start a step that computes a part of the prompts on each rank and decodes the sequences of a batch that may.

        The prompts of a batch are complete when it has passed all pipeline stages. The step lasts at least as long as
        the host takes to launch it, also for the sequences that decode in it.
        """
        self.mixed, self.steps = True, 1
        for rank in self.ranks:
            if not self._pauses_decoding([(each, 0.0) for each in rank.prompts]):
                self._free_for_growth(rank)
        self.chunks = [self._prompt_chunks(rank) for rank in self.ranks]
        stages, pairs = self.tables.stages, list(zip(self.ranks, self.chunks, strict=True))
        tokens, ending = [], []
        for rank, taken in pairs:
            decoded = 0.0 if self._pauses_decoding(taken) else self._decoded_tokens(rank)
            computed, completed = chunk_sums(taken)
            tokens.append(computed + decoded)
            ending.append(completed + decoded)
        busy = sum_of(tokens) / max(tokens)
        self.floor = self.tables.host_floor(max(tokens), max(ending))
        longest = [pair for pair in pairs if pair[1]]
        if len(longest) < len(pairs):
            longest += [(rank, []) for rank in fullest_ranks(pairs)]
        here = max([self._mixed_seconds(rank, taken, busy) for rank, taken in longest]) / stages
        launched = self.floor / stages - (self.started - self.launching)
        self.each, self.stage, self.passing = max(here, launched), here, here * (stages - 1)

    def _mixed_seconds(self, rank: AttentionRank, parts: list[tuple[Request, float]], busy: float) -> float:
        """Seconds of a mixed step with the ``parts`` of prompts on one rank."""
        seen = sum_of([self.tables.attention_seconds(each.held - each.todo, part) for each, part in parts])
        count = 0 if self._pauses_decoding(parts) else rank.count
        decoding = (float(count), rank.context / count if count else 0.0)
        computed, completed = chunk_sums(parts)
        return self.tables.mixed_seconds(decoding, (computed, seen, completed), busy)

    def _decoded_tokens(self, rank: AttentionRank) -> float:
        """The tokens that a rank computes for its decoding sequences in one step, for at least one of them."""
        return max(1.0, rank.count / self.tables.stages) * self.tables.drafted if rank.count else 0.0

    def _prompt_chunks(self, rank: AttentionRank) -> list[tuple[Request, float]]:
        """The tokens of each prompt of a rank in the next step."""
        if self.limits.chunk is None:
            return [(rank.prompts[0], rank.prompts[0].todo)] if rank.prompts else []
        alone = self.tables.apart or self.tables.pausing
        taken = 0.0 if alone else self._decoded_tokens(rank)
        budget, found = max(1.0, self.limits.chunk - taken), []
        for request in rank.prompts:
            if budget <= 0:
                break
            part = min(budget, request.todo)
            found.append((request, part))
            budget -= part
        return found

    def _end_prompts(self, now: float, ended: list[Request]) -> None:
        """Count the computed tokens of prompts; those that are complete decode, or end."""
        self.passed = max(self.passed + self.stage, now + self.passing)  # a short chunk follows a long one
        for place, (rank, taken) in enumerate(zip(self.ranks, self.chunks, strict=True)):
            for request, part in taken:
                request.todo -= part
                request.launched += self.floor
                request.passed = self.passed
                if request.began < 0:
                    request.began = self.launching
                if request.todo > TINY:
                    continue
                rank.prompts.popleft()
                if request.first < 0:
                    request.first = max(request.passed, request.began + request.launched)
                if self.limits.apart == "prefill" or request.output <= 1:
                    subtract_ended_request(rank)
                    rank.used -= request.held + (request.output if self.limits.whole else 0)
                    if self.limits.apart != "prefill":
                        request.ended = request.first
                    else:
                        request.rank = place
                    ended.append(request)
                else:
                    request.lag = max(request.lag, request.first - now)
                    self._join(rank, request)
