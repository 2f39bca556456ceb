"""A serving plan with its requests and times, and plans with other layouts for the same requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from math import ceil, inf, prod

from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cluster.requests import Serving
from clusterspec.cluster.variation import Changes, layout_of_engines
from clusterspec.cost.plan import Plan
from clusterspec.cost.serving.handoff import CacheTransfer
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.loads import decoding_rate
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.times import serving_pools
from clusterspec.quantity import precision_width
from clusterspec.records import dataclass, field
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import display, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Redone = Callable[[Changes], Plan | None]
"""Estimates the design with changed keys of its spec."""
LOAD = "workload.serving"
TIERS = ("workload", "serving", "cache_tiers")
"""The path of the tiers of the cache."""
MOST_UNBALANCED = 2.0
"""Ratio of the prefill and decode rates above which the engines are not balanced."""
PREFILL = f"{LOAD}.disaggregated.prefill"
DECODE = f"{LOAD}.disaggregated.decode"


@dataclass(frozen=True)
class Served:
    """A serving plan: the machine, the requests, the engines that decode, and the times."""

    plan: Plan
    cluster: Cluster
    workload: Workload
    layout: Layout
    load: Serving
    times: ServingTimes
    redone: Redone = field(repr=False, compare=False)

    @classmethod
    def from_plan(cls, plan: Plan | None, redone: Redone) -> Served | None:
        """The serving plan of an estimate; None if it trains, or has no times."""
        if plan is None or plan.serving is None:
            return None
        design = plan.design
        cluster, workload, layout = design.cluster, design.workload, design.layout
        assert cluster is not None and workload is not None and layout is not None and workload.serving is not None
        return cls(plan, cluster, workload, layout, workload.serving, plan.serving, redone)

    @property
    def design(self) -> Design:
        return self.plan.design

    @property
    def pools(self) -> Iterator[tuple[str, Layout]]:
        """The layout of each kind of engine, with the key path of its degrees."""
        if self.load.prefill is None:
            yield "layout", self.layout
            return
        yield PREFILL, layout_of_engines(self.layout, self.load.prefill, self.workload.model.layers)
        yield DECODE, self.layout

    @cached_property
    def engines(self) -> Pools:
        """The engines of the plan with their load, as the cost model times them."""
        found = serving_pools(self.design)
        assert found is not None  # the plan has times
        return found

    @property
    def decode_places(self) -> float:
        """Number of requests that the decode engines can hold at a time."""
        return self.engines.limit * self.engines.decode.attention_ranks

    def rate_of_decoding(self, requests: float) -> float:
        """Requests per second that the decode engines complete with ``requests`` in flight, all of which decode."""
        return decoding_rate(self.engines, requests)

    def with_layout(self, **changes: Any) -> Served | None:
        """The plan with some layout keys changed, on the same number of ranks."""
        section = self.design.spec.layout or LayoutSpec()
        degrees = [changes.get(key, getattr(self.layout, key)) for key in ("tp", "attention_dp", "pp")]
        number = max(1, self.layout.ranks // prod(degrees)) if section.dp is not None else None
        return self._with_changes({("layout", key): value for key, value in ({"dp": number} | changes).items()})

    def with_load(self, **changes: Any) -> Served | None:
        """The plan with some keys of its requests changed."""
        spec = self.design.spec
        if spec.workload is None or spec.workload.serving is None:
            return None
        return self._with_changes({("workload", "serving", key): value for key, value in changes.items()})

    def with_copies(self, more: int) -> Served | None:
        """The plan with ``more`` redundant experts and experts placed to balance their load."""
        load = ("workload", "serving")
        copies = self.layout.redundant_experts + more
        return self._with_changes(
            {(*load, "redundant_experts"): copies, (*load, "expert_load", "placement"): "balanced"}
        )

    def with_weights(self, precision: str) -> Served | None:
        """The plan with weights and products in a precision of 8 or 16 bits, and no quantization method."""
        keys = {"parameter_precision": precision, "precision": precision, "quantization": None}
        return self._with_changes({("workload", key): value for key, value in keys.items()})

    def with_cache(self, precision: str) -> Served | None:
        """The plan with the key-value cache kept in another precision."""
        return self._with_changes({("workload", "kv_precision"): precision})

    def single_request_plan(self) -> Served | None:
        """The plan with one request in flight."""
        return self.with_load(concurrency=1, request_rate=None, load="closed", requests=None)

    def _with_changes(self, changes: Changes) -> Served | None:
        """The plan with changed keys, which further changes keep."""
        return Served.from_plan(self.redone(changes), lambda more: self.redone({**changes, **more}))


def prompt_rate_of_load(served: Served) -> float:
    """Prompts per second that the load asks for.

    It is the request rate, or the rate at which the requests in flight complete if all of them decode. (If prefill is
    slower, fewer decode at a time, and each decodes faster.)
    """
    return served.load.request_rate or served.rate_of_decoding(served.times.offered)


def prompts_processed(served: Served) -> float:
    """Prompts per second that separate prefill engines can process; infinite without such engines."""
    prefill, service = served.load.prefill, served.times.prompt_service
    return prefill.replicas * prefill.attention_dp / service if prefill is not None and service > 0 else inf


def is_twice(one: float, other: float) -> bool:
    """Whether one rate is more than twice the other, at the rounding of messages."""
    return round(one / other, 1) > MOST_UNBALANCED


def link_advice(served: Served, missing: float) -> str:
    """Advice to speed up the cache links to ``missing`` times their rate, if they limit prompts more than the engines
    do; else empty.
    """
    sent = served.times.sent
    if sent is None or not served.times.links_limit_prefill:
        return ""
    if served.load.prefill is not None and served.load.prefill.pool is not None:
        return f"use a link between the pools of {times_as_much(missing)} the bandwidth{smaller_cache(served.workload, missing)}"
    return transfer_advice(sent.transfer, served.workload, missing)


def transfer_advice(sent: CacheTransfer, workload: Workload, missing: float) -> str:
    """Advice to speed up a cache transfer: larger blocks if the number of blocks limits it, else links with ``missing``
    times the rate.
    """
    if sent.descriptors and sent.seconds > sent.size / sent.bandwidth:
        return f"use larger blocks (`block_tokens`): {sent.descriptors:,.0f} descriptors take longer than {display(sent.size, 'B')}"
    faster = f"use more or faster NICs, of {times_as_much(missing)} the bandwidth"
    return f"{faster}, or one scale-up domain for both sides{smaller_cache(workload, missing)}"


def times_as_much(missing: float) -> str:
    """A multiple, rounded up to a tenth, as text: `3.2 times`."""
    return f"{plain(ceil(10 * missing - 1e-6) / 10)} times"


def smaller_cache(workload: Workload, missing: float) -> str:
    """Advice to use an fp8 cache, if that alone divides the bytes of the cache by at least ``missing``; else empty."""
    saved = precision_width(workload.kv_precision) / precision_width("fp8")
    return ", or a smaller cache (`kv_precision: fp8`)" if saved > 1 and saved >= missing else ""


def longest_request(serving: Serving) -> tuple[int, int]:
    """Tokens of the longest prompt and of the longest output.

    A prompt counts with its limit, else with the 99th percentile, and in conversations with the last turn. An output
    counts with its limit, else with its mean.
    """
    prompts, outputs = serving.input_lengths, serving.output_lengths
    prompt = (prompts.most or prompts.p99) if prompts else serving.input_tokens
    if serving.session is not None and not prompts:
        prompt = int(serving.session.first + serving.session.growth * (serving.session.turns - 1))
    return prompt, (outputs.most if outputs else None) or serving.output_tokens
