"""A rule with a numeric limit: just below it, at it and just above it, each limit worked out by hand."""

from __future__ import annotations

from math import ceil, floor
from pathlib import Path

import pytest

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.rules.advice.domain_layouts import _candidates
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.rules.knowledge.nics import is_starved, usual_network
from clusterspec.rules.knowledge.ranges import RANGES, UnusualValue, UsualRange
from clusterspec.studies import study_text
from clusterspec.units.symbols import UnitFault, text_of
from tests.effort import thorough
from tests.settings import SETTINGS

from .conftest import Check
from .test_verdicts import of

DGX = "cluster: {{platform: dgx-h100, nodes: {nodes}, scale_out: {{{fabric}}}}}\n"
WORK = "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 480}\n"
TPU = (
    "cluster: {{accelerator: tpu-v5p, accelerators_per_node: 4, nodes: {nodes}, spare_nodes: {spares},"
    " scale_up: {{shape: [4, 4, 4]}}}}\n"
)
RAILS = "cluster: {platform: dgx-h100, nodes: 6, scale_out: {topology: rail-optimized}}\n"


def fabric(nodes: int, keys: str) -> str:
    return DGX.format(nodes=nodes, fabric=f"technology: infiniband-ndr, {keys}")


TWO_TIERS = "topology: fat-tree, switch_ports: 64, tiers: 2"
LIMITS = [
    # two tiers of 64-port switches connect 64² / 2 = 2,048 endpoints: 256 nodes of 8 NICs
    ("endpoints-exceed-fabric", fabric(255, TWO_TIERS), False),
    ("endpoints-exceed-fabric", fabric(256, TWO_TIERS), False),
    ("endpoints-exceed-fabric", fabric(257, TWO_TIERS), True),
    # half of the usual 400 Gb/s of an H100: 8 × 200 Gb/s are 4 NICs of 400 Gb/s for 8 accelerators
    ("nic-starved-accelerators", fabric(8, "nics_per_node: 5") + WORK, False),
    ("nic-starved-accelerators", fabric(8, "nics_per_node: 4") + WORK, False),
    ("nic-starved-accelerators", fabric(8, "nics_per_node: 3") + WORK, True),
    # tp × cp before dp: 4 divides the 8 ranks of a node, 8 is all of them, 16 is a multiple; 6 and 12 are neither
    ("dp-group-off-rail", RAILS + WORK + "layout: {tp: 2, cp: 2}\n", False),
    ("dp-group-off-rail", RAILS + WORK + "layout: {tp: 2, cp: 3}\n", True),
    ("dp-group-off-rail", RAILS + WORK + "layout: {tp: 2, cp: 4}\n", False),
    ("dp-group-off-rail", RAILS + WORK + "layout: {tp: 2, cp: 6}\n", True),
    ("dp-group-off-rail", RAILS + WORK + "layout: {tp: 2, cp: 8}\n", False),
    # a 4 × 4 × 4 slice has 64 chips, 16 nodes of 4; spares may or may not be counted in its shape
    ("torus-shape-mismatch", TPU.format(nodes=15, spares=0), True),
    ("torus-shape-mismatch", TPU.format(nodes=16, spares=0), False),
    ("torus-shape-mismatch", TPU.format(nodes=17, spares=0), True),
    ("torus-shape-mismatch", TPU.format(nodes=16, spares=1), False),
    ("torus-shape-mismatch", TPU.format(nodes=15, spares=1), False),
    ("torus-shape-mismatch", TPU.format(nodes=15, spares=2), True),
    # 64 heads and 8 key-value heads: at tp 2 a rank has 32 and 4, at tp 16 it has 4 and a replica of 1
    ("ulysses-exceeds-heads", RAILS + WORK + "layout: {tp: 2, cp: 4, cp_method: all-to-all}\n", False),
    ("ulysses-exceeds-heads", RAILS + WORK + "layout: {tp: 2, cp: 8, cp_method: all-to-all}\n", True),
    ("ulysses-exceeds-heads", RAILS + WORK + "layout: {tp: 16, cp: 1, cp_method: all-to-all}\n", False),
    ("ulysses-exceeds-heads", RAILS + WORK + "layout: {tp: 16, cp: 3, cp_method: all-to-all}\n", True),
]


@pytest.mark.parametrize(("rule", "design", "fires"), LIMITS, ids=[rule for rule, _, _ in LIMITS])
def test_a_rule_fires_from_its_limit_on(rule: str, design: str, fires: bool, check: Check) -> None:
    assert len(of(rule, design, check)) == fires


def test_planes_are_named_only_where_there_are_several(check: Check) -> None:
    (one,) = of("endpoints-exceed-fabric", fabric(257, TWO_TIERS), check)
    assert one.message.startswith("2,056 endpoints exceed the 2,048 ")
    # at 200 Gb/s a port of 400 Gb/s carries two planes' worth, but each plane still connects 2,048 endpoints
    (two,) = of("endpoints-exceed-fabric", fabric(257, f"{TWO_TIERS}, planes: 2"), check)
    assert two.message.startswith("2,056 endpoints in each plane exceed the 2,048 ")


def test_replicated_key_value_heads_count_as_one_per_rank(check: Check) -> None:
    design = RAILS + WORK + "layout: {tp: 16, cp: 2, cp_method: all-to-all}\n"
    (found,) = of("ulysses-exceeds-heads", design, check)
    assert "tp 16 leaves 1 key-value head per rank" in found.message


MEMORY_RULES = ("states-exceed-memory", "activations-exceed-memory", "tight-memory")
JOB = (
    "cluster: {{platform: dgx-h100, nodes: 8, accelerator: {{like: h100-sxm-80gb, memory: {memory} B}}}}\n"
    "workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}}\nlayout: {{tp: 2}}\n"
)


@thorough
def test_memory_has_one_rule_for_each_capacity(check: Check) -> None:
    """Below the states, below the total, below 90 % of free memory, and above: always the same job."""
    states, total = _states_and_total(JOB)
    assert states.is_integer()
    expected = {
        int(states) - 1: ["states-exceed-memory"],
        int(states): ["activations-exceed-memory"],
        int(states) + 1: ["activations-exceed-memory"],
        floor(total) - 1: ["activations-exceed-memory"],
        ceil(total) + 1: ["tight-memory"],
        floor(total / 0.9) - 1: ["tight-memory"],
        ceil(total / 0.9) + 1: [],
    }
    for memory, rules in expected.items():
        findings = check("clusterspec: 1\n" + JOB.format(memory=memory))
        assert [one.rule for one in findings if one.rule in MEMORY_RULES] == rules, memory


def test_tight_memory_is_a_warning_where_states_are_most_of_it(check: Check) -> None:
    held = JOB.replace("tp: 2", "tp: 2, sharding: none").replace("8192", "2048")
    for job, above in ((JOB, "note"), (held, "warning")):
        states, total = _states_and_total(job)
        assert (states > 0.76 * total) == (above == "warning")
        for memory, severity in ((ceil(total / 0.975) + 1, "note"), (floor(total / 0.975) - 1, above)):
            (found,) = of("tight-memory", job.format(memory=memory), check)
            assert str(found.severity) == severity


def _states_and_total(job: str) -> tuple[float, float]:
    plan = study_text("clusterspec: 1\n" + job.format(memory=80 * 10**9), SETTINGS).plan
    assert plan is not None and plan.memory is not None
    used = plan.memory
    return used.weights.value + used.gradients.value + used.optimizer.value, used.total.value


@pytest.mark.parametrize(
    ("name", "gigabits"),
    [("h100-sxm-80gb", 400), ("a100-sxm-80gb", 200), ("tpu-v5p", 50)],  # a host of four TPU v5p has one NIC of 200 Gb/s
)
def test_the_usual_network_counts_the_nics_of_an_accelerator(name: str, gigabits: int) -> None:
    entry = Catalog.open().find("accelerator", name)
    assert isinstance(entry, Accelerator)
    assert usual_network(entry) == gigabits * 1e9 / 8


FREED: list[dict[str, object]] = [{"tp": 8}, {"tp": 4}, {"tp": 4, "pp": 6, "stage_layers": None}, {"tp": 2}]
FREED += [{"tp": 2, "pp": 12, "stage_layers": None}, {"tp": 1}, {"tp": 1, "pp": 24, "stage_layers": None}]


@pytest.mark.parametrize(
    ("layout", "wanted", "order"),
    [
        ("tp: 12, pp: 2", FREED, ()),
        ("tp: 12, pp: 2, order: [dp, tp, pp]", FREED, ("tp", "dp", "cp", "ep", "pp")),
        ("tp: 2, order: [dp, tp, pp]", [{}, {"tp": 1}, FREED[-1] | {"pp": 2}], ("tp", "dp", "cp", "ep", "pp")),
        ("tp: 1", [], ()),
    ],
)
def test_a_smaller_tp_inside_the_domain_frees_ranks_for_stages_only_where_it_divides(
    layout: str, wanted: list[dict[str, object]], order: tuple[str, ...]
) -> None:
    """tp 12 on domains of 8: 8 does not divide 12, so no stages; 4 gives 3 times the stages, 2 six times, 1 twelve.
    A tp that divides the domain is kept, and comes first in the order.
    """
    design = study_text("clusterspec: 1\n" + RAILS + WORK + f"layout: {{{layout}}}\n", SETTINGS).design
    assert design.cluster is not None and design.layout is not None
    found = list(_candidates(design.cluster, design.layout))
    assert found == [each | ({"order": order} if order else {}) for each in wanted]


def test_a_number_has_at_most_100_digits() -> None:
    """10¹⁰⁰ − 1 has 100 digits and 333 bits; 2³³³ has 101 digits and is the first integer of 334 bits."""
    assert text_of(10**100 - 1) == "9" * 100
    with pytest.raises(UnitFault, match="more than 100 digits"):
        text_of(2**333)


@pytest.mark.parametrize(("nics", "expected"), [(3, True), (4, False), (5, False)])
def test_half_of_the_usual_network_is_not_starved(nics: int, expected: bool) -> None:
    """4 NICs of 50 GB/s for 8 accelerators are 25 GB/s each, exactly half of the usual 50 GB/s."""
    facts = study_text("clusterspec: 1\n" + fabric(8, f"nics_per_node: {nics}"), SETTINGS).facts()
    assert facts.cluster is not None
    assert is_starved(facts.cluster, facts.deviations) is expected


def range_text(key: str, usual: UsualRange) -> str:
    limit = f", {usual.limit:g} times beyond is impossible" if usual.limit else ""
    return f"{key}: {UnusualValue((), '', 0.0, usual).range_text}{limit}{', in dollars' if usual.priced else ''}"


def test_usual_ranges_are_those_that_were_read_against_machines_and_prices() -> None:
    written = Path(__file__).with_name("usual_ranges.txt").read_text("utf-8").splitlines()
    assert [range_text(key, usual) for key, usual in RANGES.items()] == written


@pytest.mark.parametrize("keys", ["topology: fat-tree", "topology: rail-optimized", "topology: fat-tree, tiers: 3"])
def test_each_of_several_planes_fails_with_its_part_of_the_bandwidth(keys: str) -> None:
    """Of the links and switches above the leaves there are as many times more, and each takes as many times less."""
    found = {}
    for planes in (1, 2, 4):
        text = f"clusterspec: 1\n{fabric(72, f'switch_ports: 64, {keys}, planes: {planes}')}"
        parts = FailingMachine(study_text(text, SETTINGS).design, None, None).classes
        above = [part for part in parts if part.name in {"leaf-spine link", "spine switch", "spine-core link"}]
        found[planes] = [(part.name, (part.count or 0) / planes, part.lost * planes) for part in above]
    assert found[1] == found[2] == found[4] and len(found[1]) >= 2


@pytest.mark.parametrize(
    ("nodes", "keys", "classes"),
    [
        (1, "", ""),
        (8, "topology: rail-optimized", "leaf switch"),  # 64 ports connect all NICs: rails share the switch
        (9, "topology: rail-optimized", "leaf switch, rail, leaf-spine link, spine switch"),
        (9, "topology: fat-tree", "leaf switch, leaf-spine link, spine switch"),
        (8, "topology: rail-optimized, planes: 2", "leaf switch, plane"),
        (9, "topology: rail-optimized, planes: 2", "leaf switch, rail, plane, leaf-spine link, spine switch"),
    ],
)
def test_a_fabric_has_the_failures_of_what_it_is_built_of(nodes: int, keys: str, classes: str) -> None:
    design = study_text(f"clusterspec: 1\n{fabric(nodes, f'switch_ports: 64, {keys}'.rstrip(', '))}", SETTINGS).design
    ends = ["NIC", "NIC-leaf link", *classes.split(", ")] if classes else []
    machine = FailingMachine(design, None, None)
    assert [part.name for part in machine.classes] == ["accelerator", "node", *ends, "software"]
