"""Nodes, pools and keys of the jobs of a fleet, each counted by hand from the keys that the job states."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.fleet import (
    EnginesAway,
    Fleet,
    Job,
    NodeSet,
    Pool,
    _free_groups,
    engines_at_home,
    engines_on_other_pools,
    main_pool,
    node_set_path,
    node_sets,
    nodes_of_job,
    nodes_of_layout,
    nodes_of_separate_roles,
    nodes_path,
    pools_of_job,
    stated_nodes,
)
from clusterspec.spec.model import JobSpec, LayoutSpec, PoolSpec, Spec
from clusterspec.spec.model.cluster import NetworkSpec, NetworksSpec
from clusterspec.spec.model.requests import (
    DisaggregatedSpec,
    EnginesSpec,
    RlSpec,
    RoleSpec,
    RolloutSpec,
    ServingSpec,
)
from clusterspec.spec.model.workload import WorkloadSpec

ROLLOUT = ("workload", "rl", "rollout")
DECODE = ("workload", "serving", "disaggregated", "decode")


def serving(prefill: EnginesSpec | None, decode: EnginesSpec | None, **job: Any) -> JobSpec:
    sides = DisaggregatedSpec(prefill=prefill, decode=decode)
    return JobSpec(pool="own", workload=WorkloadSpec(serving=ServingSpec(disaggregated=sides)), **job)


def trained(layout: int | None = None, nodes: int | None = None, **rl: Any) -> JobSpec:
    return JobSpec(
        pool="own",
        nodes=nodes,
        workload=WorkloadSpec(rl=RlSpec(**rl)),
        layout=LayoutSpec(nodes=layout) if layout is not None else None,
    )


HERE, AWAY = EnginesSpec(replicas=3, tp=4), EnginesSpec(pool="away", replicas=2, tp=8, attention_dp=2, pp=2)
APART = RoleSpec(nodes=2)


def test_engines_away_are_those_that_name_another_pool_with_their_ranks_or_nodes() -> None:
    """2 × 8 × 2 × 2 = 64 ranks; degrees that are not stated count as 1."""
    assert engines_on_other_pools(serving(HERE, AWAY)) == (EnginesAway("decode", "away", DECODE, None, 64),)
    assert engines_on_other_pools(serving(HERE, EnginesSpec(pool="away")))[0].ranks == 1
    assert engines_on_other_pools(serving(HERE, EnginesSpec(pool="own", tp=8))) == ()
    assert (
        engines_on_other_pools(JobSpec(pool="own"))
        == engines_on_other_pools(JobSpec(pool="own", workload=WorkloadSpec()))
        == ()
    )
    roles = trained(rollout=RolloutSpec(pool="r", nodes=3), critic=RoleSpec(pool="c", nodes=1), reference=APART)
    assert engines_on_other_pools(roles) == (
        EnginesAway("rollout", "r", ROLLOUT, 3),
        EnginesAway("critic", "c", ("workload", "rl", "critic"), 1),
    )


@pytest.mark.parametrize(
    ("nodes", "ranks", "per_node", "found"),
    [(None, 64, 8, 8), (None, 65, 8, 9), (None, 1, 8, 1), (None, 64, None, None), (5, 64, 8, 5), (None, None, 8, None)],
)
def test_engines_take_whole_nodes(
    nodes: int | None, ranks: int | None, per_node: int | None, found: int | None
) -> None:
    assert EnginesAway("decode", "away", DECODE, nodes, ranks).node_count_at(per_node) == found


@pytest.mark.parametrize(
    ("job", "per_node", "found"),
    [
        (serving(HERE, AWAY), 8, ("prefill", 2)),  # 12 ranks on nodes of 8
        (serving(AWAY, HERE), 4, ("decode", 3)),
        (serving(AWAY, HERE), None, None),
        (serving(AWAY, AWAY), 8, None),
        (serving(HERE, HERE), 8, None),
        (serving(None, AWAY), 8, None),
        (JobSpec(pool="own"), 8, None),
    ],
)
def test_one_side_at_home_has_the_nodes_that_its_ranks_fill(
    job: JobSpec, per_node: int | None, found: tuple[str, int] | None
) -> None:
    assert engines_at_home(job, per_node) == found


def test_a_job_is_designed_on_the_pool_of_its_decode_engines() -> None:
    assert main_pool(serving(HERE, AWAY)) == "away"
    assert main_pool(serving(AWAY, HERE)) == main_pool(JobSpec(pool="own")) == "own"
    assert list(pools_of_job(serving(HERE, AWAY))) == ["own", "away"]
    assert list(pools_of_job(JobSpec(pool="own"))) == ["own"]


@pytest.mark.parametrize(
    ("job", "beside"),
    [
        (JobSpec(), 0),
        (JobSpec(workload=WorkloadSpec(serving=ServingSpec())), 0),
        (trained(), 0),  # no placement is stated: all roles share the nodes
        (trained(placement="colocated", rollout=RolloutSpec(nodes=4)), 0),
        (trained(placement="split"), None),
        (trained(placement="split", rollout=RolloutSpec(nodes=4)), 4),
        (trained(rollout=RolloutSpec(nodes=4), reference=APART, critic=RoleSpec(nodes=1), reward=RoleSpec()), 7),
        (trained(placement="colocated", reference=APART, reward=RoleSpec(nodes=3)), 5),
        (trained(rollout=RolloutSpec(pool="away", nodes=4), critic=APART), 2),
        (trained(rollout=RolloutSpec(nodes=4), critic=RoleSpec(pool="away", nodes=2)), 4),
    ],
)
def test_separate_roles_have_nodes_in_addition_to_the_trainer(job: JobSpec, beside: int | None) -> None:
    assert nodes_of_separate_roles(job) == beside
    assert nodes_of_layout(job) is None


@pytest.mark.parametrize(
    ("job", "nodes", "key"),
    [
        (JobSpec(), None, ("jobs", "a")),
        (JobSpec(nodes=5), 5, ("jobs", "a", "nodes")),
        (JobSpec(layout=LayoutSpec(nodes=6)), 6, ("jobs", "a", "layout", "nodes")),
        (JobSpec(nodes=5, layout=LayoutSpec(nodes=6)), 5, ("jobs", "a", "nodes")),
        (trained(6, rollout=RolloutSpec(nodes=4)), 10, ("jobs", "a", "layout", "nodes")),
        (trained(6, placement="split"), None, ("jobs", "a")),
    ],
)
def test_a_job_states_its_nodes_itself_or_in_its_layout(job: JobSpec, nodes: int | None, key: tuple[str, ...]) -> None:
    fleet = Fleet(Spec("f"), {}, {"a": Job("a", job, nodes)})
    assert (stated_nodes(job), nodes_path(fleet, "a")) == (nodes, key)
    assert node_set_path(fleet, NodeSet("a", "own", ("a",), nodes, True)) == key


def test_a_set_on_another_pool_is_stated_by_the_nodes_of_its_role() -> None:
    fleet = Fleet(Spec("f"), {}, {})
    rollout, decode = ("jobs", "a", *ROLLOUT), ("jobs", "a", *DECODE)
    assert node_set_path(fleet, NodeSet("a.rollout", "r", ("a",), 3, True, rollout)) == (*rollout, "nodes")
    assert node_set_path(fleet, NodeSet("a.rollout", "r", ("a",), 3, False, rollout)) == rollout
    assert node_set_path(fleet, NodeSet("a.decode", "r", ("a",), 3, True, decode)) == decode


def sets_of(jobs: dict[str, JobSpec], nodes: int | None, pool: str = "own") -> list[tuple[str, int | None, bool]]:
    found = node_sets(Spec("f", jobs=jobs), pool, nodes, 8)
    return [(each.name, each.nodes, each.stated) for each in found]


def test_a_pool_is_divided_among_the_sets_of_its_jobs() -> None:
    a, turn, rest = JobSpec(pool="own", nodes=6), JobSpec(pool="own", nodes_of="a", nodes=7), JobSpec(pool="own")
    assert sets_of({"a": a, "b": turn, "c": rest}, 16) == [("a", 7, True), ("c", 9, False)]
    assert sets_of({"a": a, "c": rest}, 7) == [("a", 6, True), ("c", 1, False)]
    assert sets_of({"a": a, "c": rest}, 6) == [("a", 6, True), ("c", None, False)]
    assert sets_of({"a": a, "c": rest}, None) == [("a", 6, True), ("c", None, False)]
    assert sets_of({"a": a, "c": rest, "d": rest}, 16)[1:] == [("c", None, False), ("d", None, False)]
    assert sets_of({"a": a}, 16, "elsewhere") == []


def test_engines_have_a_set_on_their_pool_and_the_other_side_one_at_home() -> None:
    """12 ranks of prefill fill 2 nodes of 8 at home unless the job states more; 64 of decode fill 8 away."""
    job = serving(HERE, AWAY)
    assert sets_of({"chat": job}, 16) == [("chat", 2, True)]
    assert sets_of({"chat": serving(HERE, AWAY, nodes=5)}, 16) == [("chat", 5, True)]
    (away,) = node_sets(Spec("f", jobs={"chat": job}), "away", 16, 8)
    assert away == NodeSet("chat.decode", "away", ("chat",), 8, True, ("jobs", "chat", *DECODE))
    own = node_sets(Spec("f", jobs={"chat": job}), "own", 16, 8)
    assert nodes_of_job("chat", job, own) == 2
    assert nodes_of_job("chat", job, (away,)) is nodes_of_job("other", job, own) is None
    assert nodes_of_job("chat", serving(HERE, AWAY, nodes=5), own) == 5


def test_a_fleet_counts_the_nodes_of_a_job_on_each_pool() -> None:
    job, other = serving(HERE, AWAY), JobSpec(pool="away", share=0.25)
    own = Pool("own", PoolSpec(), None, 16, (NodeSet("chat", "own", ("chat",), 2, True),))
    chat = NodeSet("chat.decode", "away", ("chat",), 8, True, ("jobs", "chat", *DECODE))
    more = NodeSet("chat.prefill", "away", ("chat",), 3, True, ("jobs", "chat", "workload"))
    store = PoolSpec(networks=NetworksSpec(storage=NetworkSpec(pool="own")))
    away = Pool("away", store, None, 20, (chat, more, NodeSet("o", "away", ("o",), 4, True)))
    fleet = Fleet(Spec("f"), {"own": own, "away": away}, {"chat": Job("chat", job, 2), "o": Job("o", other, 4)})
    assert [fleet.job_node_count(pool, "chat") for pool in ("own", "away", "none")] == [2, 11, None]
    assert fleet.job_node_count("own", "o") is None
    assert [each.name for each in fleet.jobs_of("own")] == ["chat"]
    assert [each.name for each in fleet.jobs_of("away")] == ["chat", "o"]
    assert [fleet.store_pool(pool) for pool in ("own", "away", "none")] == ["own", "own", "none"]
    assert (fleet.jobs["chat"].term_share, fleet.jobs["o"].term_share) == (1.0, 0.25)
    assert (own.promised_nodes, own.idle_nodes, away.promised_nodes, away.idle_nodes) == (2, 14, 15, 5)
    over = Pool("p", PoolSpec(), None, 10, (chat, more))
    unknown = Pool("p", PoolSpec(), None, 10, (NodeSet("c", "p", ("c",), None, False),))
    assert (over.idle_nodes, unknown.idle_nodes, Pool("p", PoolSpec(), None, None).idle_nodes) == (0, None, None)


@pytest.mark.parametrize(
    ("first", "nodes", "whole", "largest"),
    [(0, 8, 2, 4), (1, 8, 1, 4), (4, 8, 1, 4), (5, 8, 0, 3), (8, 8, 0, 0), (4, 7, 0, 3), (6, 7, 0, 1), (5, 6, 0, 1)],
)
def test_free_groups_of_four_nodes_begin_at_multiples_of_four(first: int, nodes: int, whole: int, largest: int) -> None:
    found = _free_groups("leaf", 4, first, nodes)
    assert (found.size, found.whole, found.largest) == (4, whole, largest)


def test_a_job_of_unknown_size_promises_no_nodes() -> None:
    """3 + 2 nodes of 8 are promised; without the two, one job is of unknown size, and what is idle is not known."""

    def pool(*nodes: int | None) -> Pool:
        sets = tuple(NodeSet(f"job {each}", "own", (f"job {each}",), each, stated=each is not None) for each in nodes)
        return Pool("own", PoolSpec(), None, 8, sets)

    assert (pool(3, 2).promised_nodes, pool(3, 2).idle_nodes) == (5, 3)
    assert (pool(3, None).promised_nodes, pool(3, None).idle_nodes) == (3, None)
    assert pool(6, 5).idle_nodes == 0, "more nodes are promised than there are"
