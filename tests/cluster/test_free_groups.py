"""The free nodes of a pool, by scale-up domain and by leaf."""

from __future__ import annotations

from clusterspec.cluster.fleet import free_groups, nodes_of_job
from tests.studies.test_fleets import fleet_of


def test_a_job_has_the_nodes_that_it_states_or_those_of_its_set() -> None:
    """Of 16 nodes, a job that states none has what the others leave; with `nodes_of` it takes turns on the nodes of
    another, and may use fewer of them."""
    pool = "clusterspec: 1\npools: {p: {platform: dgx-h100, nodes: 16}}\njobs:\n"
    jobs = {"a": ("nodes: 6", 6), "b": ("nodes_of: a", 6), "c": ("nodes_of: a, nodes: 4", 4), "d": ("", 10)}
    text = pool + "".join(f"  {name}: {{pool: p, {keys}}}\n" for name, (keys, _) in jobs.items())
    fleet = fleet_of(text.replace(", }", "}")).fleet
    sets = fleet.pools["p"].sets
    assert {name: nodes_of_job(name, fleet.jobs[name].spec, sets) for name in jobs} == {
        name: nodes for name, (_, nodes) in jobs.items()
    }


def test_the_gang_that_still_fits_is_counted_by_domain_and_leaf() -> None:
    """A job of 20 on four domains of 18 leaves two whole ones; 4 nodes with 8 NICs share a leaf of 32 ports down, and
    13 of 16 leave 3 of the last leaf."""
    racks = "clusterspec: 1\npools: {p: {platform: gb200-nvl72, nodes: 72}}\njobs: {a: {pool: p, nodes: 20}}\n"
    (domains, *_) = free_groups(fleet_of(racks).fleet.pools["p"])
    assert (domains.size, domains.whole, domains.largest) == (18, 2, 18)
    nodes = "clusterspec: 1\npools: {p: {platform: dgx-h100, nodes: 16}}\njobs: {a: {pool: p, nodes: 13}}\n"
    (leaves,) = free_groups(fleet_of(nodes).fleet.pools["p"])
    assert (leaves.name, leaves.size, leaves.whole, leaves.largest) == ("leaf", 4, 0, 3)
