"""Limits of resolving, each at its last allowed value and one step beyond, and the values that a spec leaves open."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cluster.clos import (
    FoldedClos,
    Ports,
    clos_in_pods,
    even_switch_count,
    evening_switch_count,
    spread_derivation,
)
from clusterspec.cluster.legality import cuts_shard_group, layout_error_rules
from clusterspec.cluster.measured_shares import MeasuredShare
from clusterspec.cluster.model import Dispatcher, Overlap, ScaleUp
from clusterspec.cluster.scaleup import _oversubscription_ratio, even_shape
from clusterspec.cluster.serving_load import _session_advice
from clusterspec.finding import Severity
from clusterspec.quantity import Bandwidth, Figure, Quantity
from clusterspec.records import replace
from clusterspec.source import Written
from tests.cluster.resolving import assumed, clean, layout_of, resolve_text
from tests.cluster.test_fabric import cluster, counted
from tests.effort import each

MACHINE = "cluster: {platform: dgx-h100, nodes: 2}\n"


def test_what_a_record_leaves_open_changes_nothing() -> None:
    """A ratio of 1, no spread, no reduction; the overlap that frameworks have; a copy to each expert."""
    link = Bandwidth.one_way(1e9, Written("test"))
    domain = ScaleUp(8, "switched", link, link)
    assert (domain.oversubscription, domain.in_network_reduction, domain.switches) == (1.0, False, None)
    share = MeasuredShare("all-reduce", "node", "ring", 8, Figure(0.8, "", Written("test")))
    assert (share.seconds, share.spread) == (None, 0.0)
    assert (Overlap().tp, Overlap().cp, Overlap().ep, Overlap().dp, Overlap().pp) == (
        "partial",
        True,
        False,
        True,
        True,
    )
    assert (Dispatcher().kind, Dispatcher().precision) == ("all-to-all", "bf16")


def test_a_predicted_time_is_the_measured_one_within_a_ten_thousandth() -> None:
    share = MeasuredShare("all-reduce", "node", "ring", 8, Figure(0.8, "", Written("test")), seconds=2.0)
    for seconds, same in ((2.0, True), (2.000199, True), (2.000201, False), (1.999801, True), (1.999799, False)):
        assert share.matches_measured_time(seconds) == same, seconds
    assert not MeasuredShare("all-reduce", "node", "ring", 8, share.share).matches_measured_time(2.0)


def session_problem(prompt: int, turns: int, growth: int, shared: int) -> bool:
    """Whether a session of these tokens is refused."""
    kept = f", shared_prefix: {shared}" if shared else ""
    _, problems = resolve_text(
        f"{MACHINE}workload: {{kind: serve, model: llama-3.1-8b, serving: {{input_tokens: {prompt}, output_tokens: 10, "
        f"session: {{turns: {turns}, think_time: 1 s, growth: {growth}{kept}}}}}}}\nlayout: {{tp: 8}}"
    )
    return any(one.path[-1] == "session" for one in problems)


def test_the_first_prompt_of_a_session_holds_one_token_and_the_shared_prefix() -> None:
    """Five turns that add 10 tokens each: the first prompt is 20 below the mean."""
    for prompt, shared, refused in ((21, 0, False), (20, 0, True), (21, 1, False), (22, 2, False), (22, 3, True)):
        assert session_problem(prompt, 5, 10, shared) == refused, (prompt, shared)


@given(prompt=st.integers(1, 60), turns=st.integers(1, 8), growth=st.integers(0, 30), shared=st.integers(0, 40))
def test_each_bound_of_the_advice_on_sessions_is_the_last_that_is_allowed(
    prompt: int, turns: int, growth: int, shared: int
) -> None:
    def allowed(prompt: int, turns: int, growth: int, shared: int) -> bool:
        return 2 * prompt - (turns - 1) * growth >= 2 * max(1, shared)

    text = _session_advice(prompt, turns, growth, shared)
    least = int(text.partition("at least ")[2].split(",")[0])
    assert allowed(least, turns, growth, shared) and not (least > 1 and allowed(least - 1, turns, growth, shared))
    if allowed(prompt, turns, growth, shared):
        return  # asked of sessions that are refused
    kept = {"turns": turns, "growth": growth, "shared_prefix": shared}
    for key in kept:
        held = {**kept, key: 0}
        bound = int(text.partition(f"`{key}` of at most ")[2].split()[0].rstrip(",")) if f"`{key}`" in text else 0
        fits = [each for each in range(1, 200) if allowed(prompt, *{**held, key: each}.values())]
        assert bound == max(fits, default=0), (key, text)


SERVE = "kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100"


def test_a_day_without_a_rate_above_zero_is_no_load() -> None:
    hours = "{from: '22:00', to: '06:00', request_rate: 0}"
    text = f"{MACHINE}workload: {{{SERVE}, load: open, day: [{hours}]}}}}\nlayout: {{tp: 8}}"
    design, problems = resolve_text(text)
    assert design.workload is not None and design.workload.serving is not None
    assert design.workload.serving.day is None
    assert [(one.rule, one.path[-1]) for one in problems if one.path[-1] == "day"] == [("keys-disagree", "day")]


@pytest.mark.parametrize(
    ("load", "message"),
    [
        ("load: closed, request_rate: 3", "a closed load has a `concurrency`, but the spec states `request_rate`"),
        ("load: open, concurrency: 3", "an open load has a `request_rate`, but the spec states `concurrency`"),
        ("load: offline, request_rate: 3", "in an offline load all requests are there at once, but the spec states"),
        ("load: closed, concurrency: 3", ""),
        ("load: open, request_rate: 3", ""),
        ("load: offline, concurrency: 3", ""),
        ("load: static, concurrency: 3", ""),
        ("load: open, day: [{from: '22:00', to: '06:00', request_rate: 1}]", ""),
    ],
)
def test_a_load_has_its_own_key(load: str, message: str) -> None:
    _, problems = resolve_text(f"{MACHINE}workload: {{{SERVE}, {load}}}}}\nlayout: {{tp: 8}}")
    found = [one for one in problems if one.path[-1] == "load"]
    assert [one.message.startswith(message) for one in found] == [True] * bool(message)
    assert all((one.rule, one.severity) == ("keys-disagree", Severity.ERROR) for one in found)


@pytest.mark.parametrize(("load", "batch"), [("concurrency: 1", 1), ("concurrency: 7", 7), ("request_rate: 3", 1)])
def test_a_serving_batch_is_the_requests_in_flight_or_one(load: str, batch: int) -> None:
    workload = clean(f"{MACHINE}workload: {{{SERVE}, {load}}}}}\nlayout: {{tp: 8}}").workload
    assert workload is not None and (workload.global_batch, workload.sequence_length) == (batch, 1100)


NAMELESS = (  # a machine, and the keys with a problem
    ("nodes: 1", ["cluster.platform"]),
    ("nodes: 1, accelerator: {memory: 96 GB}", ["cluster.accelerator.like"]),
    ("nodes: 1, platform: no-such-machine", ["cluster.platform"]),
    ("nodes: 1, platform: no-such-machine, accelerator: {memory: 96 GB}", ["cluster.platform"]),
    ("platform: dgx-h100", ["cluster.nodes"]),
    ("platform: dgx-h100, accelerators: 12", ["cluster.nodes"]),
)


@each(("machine", "keys"), NAMELESS)
def test_a_machine_without_a_part_is_reported_once_at_its_key(machine: str, keys: list[str]) -> None:
    design, problems = resolve_text(f"cluster: {{{machine}}}")
    assert design.cluster is None
    assert [".".join(map(str, one.path)) for one in problems] == keys


GROUPS = (  # layout on two nodes of eight ranks, and the ranks that share sharded states
    ("sharding: none", 1),
    ("sharding: zero1", 16),
    ("sharding: hsdp", 8),  # the ranks of a domain
    ("sharding: hsdp, tp: 2", 4),
    ("sharding: hsdp, tp: 16", 1),  # wider than a domain
    ("sharding: hsdp, shard_group: 1", 1),
    ("sharding: hsdp, shard_group: 2", 2),
    ("sharding: hsdp, shard_group: 12", 4),  # the greatest common divisor with 16
    ("sharding: hsdp, shard_group: 32, cp: 2", 16),
)


@each(("keys", "ranks"), GROUPS)
def test_a_shard_group_divides_the_replicas(keys: str, ranks: int) -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 16}\n"
    design = clean(f"{MACHINE}{work}layout: {{{keys}}}")
    assert design.layout is not None and design.layout.shard_group == ranks
    assert ("layout.shard_group" in assumed(design)) == ("hsdp" in keys and "shard_group" not in keys)


OVERLAPS = (  # layout of 16 ranks, and the axes whose overlap is assumed
    ("dp: 16", {"dp"}),
    ("tp: 2", {"tp", "dp"}),
    ("tp: 16", {"tp"}),
    ("cp: 16", {"cp", "dp"}),  # ranks of context parallelism reduce gradients together
    ("tp: 8, cp: 2", {"tp", "cp", "dp"}),
    ("pp: 16", {"pp"}),
    ("pp: 2", {"pp", "dp"}),
)


@each(("keys", "axes"), OVERLAPS)
def test_an_overlap_is_assumed_only_for_axes_that_communicate(keys: str, axes: set[str]) -> None:
    work = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 16}\n"
    found = assumed(clean(f"{MACHINE}{work}layout: {{{keys}}}"))
    assert {key.removeprefix("layout.overlap.") for key in found if key.startswith("layout.overlap.")} == axes


def test_written_degrees_of_one_step_are_kept() -> None:
    work = "workload: {model: mixtral-8x7b, sequence_length: 8192, global_batch: 32}\n"
    found = layout_of(
        f"cluster: {{platform: dgx-h100, nodes: 8}}\n{work}"
        "layout: {nodes: 2, tp: 2, cp: 2, ep: 2, expert_tp: 1, pp: 2, virtual_stages: 2, micro_batch: 2,"
        " gradient_compression: 4}"
    )
    assert (found.nodes, found.tp, found.cp, found.ep, found.expert_tp, found.pp) == (2, 2, 2, 2, 1, 2)
    assert (found.virtual_stages, found.micro_batch, found.gradient_compression) == (2, 2, 4.0)
    assert (found.dp, found.ranks, found.micro_batches, found.expert_dp) == (2, 16, 8, 4)
    plain = layout_of(f"cluster: {{platform: dgx-h100, nodes: 1}}\n{work}layout: {{}}")
    assert (plain.virtual_stages, plain.gradient_compression, plain.offload_optimizer, plain.offload_activations) == (
        *(1, 1.0, 0.0, 0.0),
    )


REFUSED: tuple[tuple[str, str, set[str]], ...] = (  # serving and training layouts of two nodes, and what is refused
    ("", "{tp: 2, dp: 8}", set()),
    ("", "{tp: 2, dp: 4}", {"world-size-mismatch"}),  # 8 of 16 ranks
    ("", "{tp: 2, cp: 2, pp: 2, dp: 2}", set()),
    ("", "{tp: 2, cp: 2, pp: 2, dp: 4}", {"world-size-mismatch"}),
    ("", "{tp: 2, nodes: 4, dp: 16}", {"world-size-mismatch"}),  # of nodes that the machine lacks
    ("", "{tp: 2, ep: 2}", {"ep-without-experts"}),
    ("serving", "{tp: 2, attention_dp: 2, dp: 4}", set()),
    ("serving", "{tp: 2, attention_dp: 2, dp: 2}", set()),  # engines may leave ranks idle
    ("serving", "{tp: 2, attention_dp: 2, dp: 5}", {"world-size-mismatch"}),
    ("serving", "{tp: 2, attention_dp: 2, pp: 2, dp: 3}", {"world-size-mismatch"}),
)


@each(("kind", "layout", "refused"), REFUSED)
def test_a_design_is_refused_for_ranks_that_its_nodes_do_not_have(kind: str, layout: str, refused: set[str]) -> None:
    work = SERVE + ", concurrency: 8}" if kind else "model: llama-3.1-8b, sequence_length: 8192, global_batch: 16"
    assert layout_error_rules(clean(f"{MACHINE}workload: {{{work}}}\nlayout: {layout}")) == refused


STAGES: tuple[tuple[str, bool], ...] = (  # pipelines of a model of 32 layers on 64 ranks
    ("{pp: 32}", False),
    ("{pp: 64}", True),
    ("{pp: 2, virtual_stages: 16, schedule: interleaved}", False),
    ("{pp: 2, virtual_stages: 17, schedule: interleaved}", False),  # embedding and head as two stages of their own
    ("{pp: 4, virtual_stages: 9, schedule: interleaved}", True),
    ("{pp: 1, virtual_stages: 64}", False),
)


@each(("layout", "exceeds"), STAGES)
def test_stages_without_layers_are_the_first_and_the_last_at_most(layout: str, exceeds: bool) -> None:
    text = "cluster: {platform: dgx-h100, nodes: 8}\nworkload: {model: llama-3.1-8b, sequence_length: 8192,"
    design = clean(f"{text} global_batch: 64}}\nlayout: {layout}")
    assert ("layers-indivisible-by-pp" in layout_error_rules(design)) == exceeds


@given(count=st.integers(1, 400), sides=st.integers(1, 3))
def test_a_derived_torus_has_the_smallest_sum_of_sides(count: int, sides: int) -> None:
    found = even_shape(count, sides)
    assert prod(found) == count and len(found) == sides and list(found) == sorted(found)
    divisors = [each for each in range(1, count + 1) if count % each == 0]
    boxes: list[tuple[int, ...]] = [(one,) for one in divisors]
    for _ in range(sides - 1):
        boxes = [(*box, one) for box in boxes for one in divisors if prod(box) * one <= count]
    assert sum(found) == min(sum(box) for box in boxes if prod(box) == count)


@given(switches=st.integers(1, 80), links=st.integers(1, 80), ports=st.integers(2, 80), below=st.integers(1, 80))
def test_a_count_that_evens_a_spread_divides_the_links_and_is_near(
    switches: int, links: int, ports: int, below: int
) -> None:
    found = evening_switch_count(switches, links, ports, below)
    if links % switches == 0:
        assert found is None
        return
    least = -(-below * links // ports)
    near = [even_switch_count(each, links) for each in (switches, least) if each <= links]
    near += [links] if switches > links else []
    even = [count for count in near if links % count == 0]
    assert found == (even[0] if even else None)


def test_a_spread_is_described_by_what_was_added() -> None:
    assert spread_derivation(9, 8, 9) == "8 by ports, 1 added so that 9 uplinks spread evenly"
    assert spread_derivation(8, 8, 9) == "8 by ports, 9 uplinks spread unevenly over them"
    assert spread_derivation(8, 8, 16) == "8"


@pytest.mark.parametrize(("ports", "ratio", "down", "up"), [(10, 3.0, 7, 3), (64, 1.0, 32, 32), (3, 2.0, 2, 1)])
def test_ports_split_by_their_ratio_to_a_billionth(ports: int, ratio: float, down: int, up: int) -> None:
    assert Ports.from_ratio(ports, ratio) == Ports(down, up)
    assert Ports.from_ratio(1000, 999.0) == Ports(999, 1)
    assert Ports.from_ratio(1000, 998.0) == Ports(998, 1)
    assert Ports.from_ratio(1000, 0.999998) == Ports(499, 500)  # 499.9995 ports are 499; 499.001 uplinks are 500


def test_pods_have_the_spines_and_the_cores_that_their_links_need() -> None:
    """Of 64 ports at 2:1 a spine has 42 down and 21 up. Four leaves with 32 uplinks need 128 / 42, four spines with 32
    links down and 16 up each; three need 96 / 42, 3, which 32 links spread unevenly over, so that four are built.
    """
    leaf = Ports(32, 32)
    assert clos_in_pods(8, leaf, 64, 2.0, 4) == FoldedClos(3, 8, 8, 2, 8 * 32, 8 * 16, pods=2, spines_of_pod=4)
    found = clos_in_pods(8, leaf, 64, 2.0, 3)
    assert found == FoldedClos(3, 8, 12, 3, 8 * 32, 12 * 12, pods=3, spines_of_pod=4)
    assert not clos_in_pods(8, leaf, 64, 2.0, 43).fits and clos_in_pods(42, leaf, 64, 2.0, 42).fits
    assert clos_in_pods(64, leaf, 64, 2.0, 1).fits and not clos_in_pods(65, leaf, 64, 2.0, 1).fits
    full = clos_in_pods(42, leaf, 64, 2.0, 42)
    assert (full.spines, full.spine_core) == (32, 32 * 21)
    assert even_switch_count(2, 3) == 3 and even_switch_count(4, 7) == 4


@pytest.mark.parametrize(("tiers", "nodes", "extra"), [(2, 100, 0), (2, 100, 9), (3, 1500, 16)])
def test_rails_that_no_switch_joins_are_as_many_fabrics_of_one_nic(tiers: int, nodes: int, extra: int) -> None:
    rails = counted(cluster(nodes, topology="rail-only", tiers=tiers, extra_endpoints=extra))
    keys = {"topology": "fat-tree", "rails": 1, "nics_per_node": 1, "tiers": tiers, "extra_endpoints": -(-extra // 8)}
    one = counted(cluster(nodes, **keys))
    switches = ("leaf_switches", "spine_switches", "core_switches", "capacity")
    least = ("least_spine_switches", "least_core_switches", "least_leaf_spine_links")
    for name in (*switches, *least):
        assert getattr(rails, name) == 8 * getattr(one, name), name
    for level in ("leaf_spine", "spine_core"):
        assert rails.links[level] == 8 * one.links[level]
    assert (rails.tiers, rails.fits, rails.down_ports) == (one.tiers, one.fits, one.down_ports)
    assert bool(rails.core_switches) == (tiers == 3) and rails.links["node_leaf"] == 8 * nodes + extra


@each(("stated", "ratio"), [(None, 1.0), (0.0, 1.0), (0.5, 0.5), (1.0, 1.0), (2.0, 2.0)])
def test_a_domain_is_oversubscribed_by_a_ratio_above_zero(stated: float | None, ratio: float) -> None:
    assert _oversubscription_ratio(None if stated is None else Quantity(stated, "1", f"{stated:g}:1")) == ratio


def test_a_measured_share_is_of_a_step_of_tokens_of_gemms_or_of_a_link() -> None:
    kinds = {"products": (True, False, False), "kernels": (False, True, False), "gemms": (False, False, True)}
    for part, told in {**kinds, "ring": (False, False, False), "network": (False, False, False)}.items():
        one = MeasuredShare("all-reduce", "node", part, 8, Figure(0.8, "", Written("test")))
        assert (one.is_of_step, one.is_of_tokens, one.is_of_gemms) == told, part


TRAINED = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}\n"


def test_ranks_of_data_and_context_parallelism_divide_into_whole_shard_groups() -> None:
    """6 replicas of 2 ranks of context parallelism are 12 ranks, with hsdp alone."""
    layout = replace(layout_of(f"{MACHINE}{TRAINED}layout: {{tp: 2}}"), dp=6, cp=2, sharding="hsdp")
    assert [group for group in range(1, 15) if not cuts_shard_group(layout, group)] == [1, 2, 3, 4, 6, 12]
    assert not cuts_shard_group(replace(layout, sharding="fsdp"), 5)
