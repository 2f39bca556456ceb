"""The table of communication time over link rates: which axes it needs, and what lies between its points."""

from __future__ import annotations

from math import log, sqrt

import pytest

from clusterspec.analysis.levers.interpolation import (
    CHECKS,
    SAME,
    TAPER_POINTS,
    TOLERANCE,
    Seconds,
    fastest_seconds,
    interpolated_seconds,
    tabulated_curve,
)
from clusterspec.analysis.levers.survival import VariedRates, survival, varied_cluster, varied_design, wire_times
from clusterspec.cluster.model import Design
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import transfer_rows
from clusterspec.records import replace
from clusterspec.results.survival import SPAN, STAGES, STRATEGIES, TAPERS, Curve
from tests.analysis.jobs import design_of
from tests.effort import sampled, telling, thorough

UP, NIC = 400e9, 50e9
"""B/s per direction of an accelerator in its domain, and of a NIC."""
BYTES = 1e9


def over_fabric(up: float, nic: float, taper: float) -> float:
    """All bytes leave the leaf: oversubscription divides the NIC rate."""
    return BYTES * taper / nic


def in_domain(up: float, nic: float, taper: float) -> float:
    """No byte leaves the domain."""
    return BYTES / up


def below_leaf(up: float, nic: float, taper: float) -> float:
    """All bytes leave the domain, none the leaf."""
    return BYTES / nic


def partly_above(up: float, nic: float, taper: float) -> float:
    """Half of the bytes leave the leaf, and the slower tier counts."""
    return max(BYTES / up, BYTES * (1 + sqrt(taper)) / (2 * nic))


@pytest.mark.parametrize(
    ("seconds", "joint", "tapers", "ratios"),
    [(over_fabric, True, 1, 3), (in_domain, False, 1, 1), (below_leaf, False, 1, 3)],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_a_table_has_the_axes_that_matter(seconds: Seconds, joint: bool, tapers: int, ratios: int) -> None:
    asked: list[tuple[float, float, float]] = []

    def recorded(up: float, nic: float, taper: float) -> float:
        asked.append((up, nic, taper))
        return seconds(up, nic, taper)

    curve, worst, checked = tabulated_curve(recorded, (UP, NIC, 1.0), SPAN, TAPERS)
    assert (curve.joint, len(curve.z), len(curve.y)) == (joint, tapers, ratios)
    assert checked > CHECKS
    for up, nic, taper in asked[-CHECKS:]:
        assert 1 / SPAN <= up / UP <= SPAN and 1 / SPAN <= nic / NIC <= SPAN and TAPERS[0] <= taper <= TAPERS[1]
    assert worst < SAME


def test_an_oversubscription_that_does_not_divide_the_rate_has_an_axis_of_its_own() -> None:
    curve, worst, _ = tabulated_curve(partly_above, (UP, NIC, 1.0), SPAN, TAPERS)
    assert not curve.joint
    assert len(curve.z) >= TAPER_POINTS
    assert curve.z[-1] == pytest.approx(log(TAPERS[1]))
    assert worst < 5 * TOLERANCE


def bounded(up: float, nic: float, taper: float) -> float:
    """Something else than the two rates bounds the tier inside, as a copy by the accelerators does: NICs of more than
    60 GB/s gain nothing, at any scale-up bandwidth."""
    return max(BYTES / 60e9, BYTES / nic)


def bounded_twice(up: float, nic: float, taper: float) -> float:
    """Kinks at a NIC rate and, in slow domains, at a ratio."""
    return max(BYTES / 80e9, 0.1 * BYTES * taper / nic, 0.2 * BYTES / up) + BYTES / nic / 50


def above_leaf_or_bounded(up: float, nic: float, taper: float) -> float:
    return max(BYTES / 30e9, BYTES * (0.5 + 0.5 * taper) / nic)


@thorough
@pytest.mark.parametrize("seconds", [bounded, bounded_twice, above_leaf_or_bounded, partly_above])
def test_a_table_holds_to_three_percent_wherever_the_kink_lies(seconds: Seconds) -> None:
    """40 × 40 × 8 positions, fewer in `make test`; sixteen missed kinks on the diagonal by up to a quarter."""
    curve, worst, _ = tabulated_curve(seconds, (UP, NIC, 2.3), SPAN, TAPERS)
    steps = [-1 + (2 * number + 1) / 40 for number in sampled(range(40), 16)]
    for up in (UP * SPAN**step for step in steps):
        for nic in (NIC * SPAN**step for step in steps):
            for taper in (TAPERS[1] ** ((step + 1) / 2) for step in steps[::5]):
                assert interpolated_seconds(curve, up, nic, taper) == pytest.approx(seconds(up, nic, taper), rel=0.03)
    assert worst < 0.03


@pytest.mark.parametrize("seconds", [over_fabric, in_domain, below_leaf, partly_above])
def test_the_table_is_exact_at_the_rates_of_the_spec(seconds: Seconds) -> None:
    for taper in (1.0, 2.3, TAPERS[1]):
        curve, _, _ = tabulated_curve(seconds, (UP, NIC, taper), SPAN, TAPERS)
        assert interpolated_seconds(curve, UP, NIC, taper) == pytest.approx(seconds(UP, NIC, taper), rel=SAME)


def test_between_two_points_logarithms_are_linear() -> None:
    """Hand-worked: x from 0 to 2 and y from 0 to 1; at x = 1 and y = 0.5 the mean of the four corners, 2.5."""
    curve = Curve((0.0, 2.0), (0.0, 1.0), (0.0,), False, True, (((1.0, 2.0), (3.0, 4.0)),))
    e = 2.718281828459045
    assert log(interpolated_seconds(curve, e, e * sqrt(e), 1.0)) == pytest.approx(2.5)
    assert log(interpolated_seconds(curve, e, e * sqrt(e), 8.0)) == pytest.approx(2.5)
    assert log(interpolated_seconds(curve, e**9, e**9, 1.0)) == pytest.approx(3.0)
    joint = Curve((0.0, 2.0), (0.0, 1.0), (0.0,), True, True, curve.tables)
    assert log(interpolated_seconds(joint, e, e * sqrt(e), e**0.25)) == pytest.approx(2.25)
    alone = Curve((0.0, 2.0), (0.0, 1.0), (0.0,), False, False, curve.tables)
    assert log(interpolated_seconds(alone, e, sqrt(e), 1.0)) == pytest.approx(2.5), "of the NIC rate, not of its ratio"


def test_between_two_tables_logarithms_are_linear_in_the_oversubscription() -> None:
    curve = Curve((0.0,), (0.0,), (0.0, log(4.0)), False, True, (((1.0,),), ((3.0,),)))
    assert log(interpolated_seconds(curve, 5.0, 7.0, 2.0)) == pytest.approx(2.0)
    assert log(interpolated_seconds(curve, 5.0, 7.0, 4.0)) == pytest.approx(3.0)


def training(nodes: int = 4, model: str = "llama-3.1-8b", platform: str = "dgx-h100", fabric: str = "") -> Design:
    work = f"{{model: {model}, sequence_length: 4096, global_batch: {nodes * 16}}}"
    cluster = f"{{platform: {platform}, nodes: {nodes}{fabric}}}"
    return design_of(f"cluster: {cluster}\nworkload: {work}\nlayout: {{tp: 2}}\n")


@telling(1)
@pytest.mark.parametrize(("ratio", "shown"), [("3:1", 3.0), (f"{2 * TAPERS[1]:g}:1", TAPERS[1])])
def test_the_oversubscription_that_is_shown_lies_on_its_axis(ratio: str, shown: float) -> None:
    fabric = f", scale_out: {{technology: infiniband-ndr, topology: fat-tree, oversubscription: {ratio}}}"
    found = survival(training(fabric=fabric), live=False)
    assert found is not None and found.taper == shown
    assert found.nodes == (4,) and [name for name, _ in found.models] == ["llama-3.1-8b"]


def test_a_case_has_the_seconds_of_its_transfers_at_the_rates_of_the_machine() -> None:
    """What the shared timings give is what the estimate of the case gives."""
    design = training()
    assert design.cluster is not None and design.cluster.scale_out is not None
    rates = (design.cluster.scale_up.bandwidth.value, design.cluster.scale_out.nic_bandwidth.value, 1.0)
    axes = {one.name: one.axes for one in STRATEGIES}
    for strategy in ("TP", "DDP", "FSDP", "HSDP"):
        other = varied_design(design, 4, "llama-3.1-8b", 2, strategy)
        assert other is not None and other.cluster is not None
        step = estimate(other).step
        assert step is not None
        rows = [pair for pair in transfer_rows(step) if pair[0].axis in axes[strategy]]
        machine, times = VariedRates(other.cluster), wire_times(estimate(other), rows)
        assert times
        timed = [(one, machine.timings(one.collective, one.placement)) for one in times]
        halved = (rates[0] / 2, rates[1] / 2, 1.0)
        seconds, slower = (
            sum(one.calls * timings.device_seconds(at, one.size) for one, timings in timed) for at in (rates, halved)
        )
        assert seconds == pytest.approx(sum(row.seconds for row, _ in rows), rel=1e-9)
        assert seconds < slower < 2.01 * seconds


@thorough
def test_a_survival_table_has_a_quarter_the_nodes_of_the_spec_and_four_times_as_many() -> None:
    found = survival(training())
    assert found is not None
    assert found.nodes == (2, 4, 16) and found.sequences == 2
    assert (found.bandwidth, found.nic, found.taper) == (450e9, 50e9, 1.0)
    assert [name for name, _ in found.models] == ["llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b"]
    assert {case.strategy for case in found.cases} == {"TP", "PP", "DDP", "FSDP", "HSDP"}
    assert {(case.nodes, case.model) for case in found.cases} == {
        (nodes, name) for nodes in found.nodes for name, _ in found.models
    }
    rates = (found.bandwidth, found.nic, found.taper)
    assert rates == (450e9, 50e9, 1.0)
    for case in found.cases:
        assert case.communication == fastest_seconds(case.curves, *rates) > 0 and case.compute > 0
    assert 0 < found.error < 0.03 and found.checked > CHECKS * len(found.cases)


@thorough
def test_a_printed_report_has_the_case_of_the_spec_alone() -> None:
    found = survival(training(8), live=False)
    assert found is not None
    assert found.nodes == (8,) and [name for name, _ in found.models] == ["llama-3.1-8b"]


@thorough
def test_a_case_says_what_the_estimate_of_its_layout_says_on_the_nodes_of_the_job() -> None:
    """The job has half of the machine; a model that does not fit is marked in every case."""
    work = "{model: llama-3.1-70b, sequence_length: 4096, global_batch: 128}"
    design = design_of(f"cluster: {{platform: dgx-h100, nodes: 16}}\nworkload: {work}\nlayout: {{tp: 8, nodes: 8}}\n")
    found = survival(design, live=False)
    assert found is not None and found.nodes == (8,) and found.sequences == 2
    axes = {one.name: one.axes for one in STRATEGIES}
    for case in found.cases:
        other = varied_design(design, 8, case.model, found.sequences, case.strategy)
        assert other is not None
        plan = estimate(other)
        assert plan.step is not None
        exposed = sum(row.exposed for row in plan.communication if row.axis in axes[case.strategy])
        told = (case.compute, case.exposed, case.bubble, case.memory)
        assert told == pytest.approx((plan.step.computing_seconds, exposed, plan.step.times.bubble, plan.memory_bytes))
        assert case.fits is plan.fits
        assert (case.bubble > 0) is (case.strategy == "PP")
    assert {case.strategy for case in found.cases if case.fits is False} >= {"DDP"}


@pytest.mark.parametrize(
    "text",
    [
        "cluster: {platform: dgx-h100, nodes: 1}\nworkload: {model: llama-3.1-8b, global_batch: 16}\nlayout: {tp: 2}\n",
        "cluster: {platform: dgx-h100, nodes: 4}\n",
        "cluster: {platform: dgx-h100, nodes: 4}\nworkload: {kind: serve, model: llama-3.1-8b}\nlayout: {tp: 2}\n",
    ],
)
def test_one_node_serving_and_no_workload_have_no_table(text: str) -> None:
    assert survival(design_of(text)) is None


def test_a_strategy_has_its_degrees_and_the_machine_no_other_levels() -> None:
    design = training(16, "mixtral-8x7b")
    layouts = {}
    for strategy in STRATEGIES:
        other = varied_design(design, 16, "mixtral-8x7b", 2, strategy.name)
        assert other is not None and other.layout is not None and other.cluster is not None
        assert other.cluster.nodes == 16 and other.workload is not None and other.workload.global_batch == 256
        layouts[strategy.name] = other.layout
    assert (layouts["TP"].tp, layouts["TP"].dp, layouts["PP"].pp, layouts["EP"].ep) == (8, 16, STAGES, 8)
    assert [layouts[name].sharding for name in ("DDP", "FSDP", "HSDP")] == ["none", "fsdp", "hsdp"]
    assert {layout.micro_batch for layout in layouts.values()} == {1}


def test_rates_are_varied_together_and_the_oversubscription_at_the_leaf() -> None:
    cluster = training().cluster
    assert cluster is not None
    other = varied_cluster(cluster, 225e9, 25e9, 2.0)
    assert other.scale_up.bandwidth.value == 225e9
    assert other.scale_up.peer_bandwidth.value == cluster.scale_up.peer_bandwidth.value / 2
    assert other.scale_out is not None and other.scale_out.nic_bandwidth.value == 25e9
    assert other.scale_out.oversubscription == (2.0,)


@pytest.mark.parametrize(("each", "inside"), [(1, None), (2, 2), (4, 4)])
def test_tensor_and_expert_parallelism_need_a_second_accelerator_in_the_domain(each: int, inside: int | None) -> None:
    machine = f"{{accelerator: h100-sxm-80gb, accelerators_per_node: {each}, nodes: 8}}"
    work = "{model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}"
    design = design_of(f"clusterspec: 1\ncluster: {machine}\nworkload: {work}\nlayout: {{}}\n")
    for strategy, degree in (("TP", "tp"), ("EP", "ep")):
        other = varied_design(design, 8, "this model", 2, strategy)
        assert (getattr(other.layout, degree) if other and other.layout else None) == inside


def test_trees_and_rings_have_curves_of_their_own_where_an_oversubscription_slows_them_unlike() -> None:
    """An all-reduce over 16 nodes in leaves of 4 needs less points as the least of two curves than by a table for each
    oversubscription, and equals the estimate on either side of its kinks.
    """
    fabric = ", scale_out: {technology: infiniband-ndr, topology: fat-tree, switch_ports: 64, oversubscription: 1:1}"
    design = training(16, fabric=fabric)
    found = survival(design, live=False)
    assert found is not None and found.error < 0.03
    (case,) = (one for one in found.cases if one.strategy == "DDP")
    rings, trees = case.curves
    assert [len(one.z) for one in case.curves] == [1, 1] and rings.crossing < trees.crossing
    other = varied_design(design, 16, case.model, found.sequences, "DDP")
    assert other is not None and other.cluster is not None
    axes = next(one.axes for one in STRATEGIES if one.name == "DDP")
    for taper in (1.0, 1.5, 3.0, 7.5):
        for up, nic in ((450e9, 50e9), (450e9, 12.5e9), (120e9, 100e9)):
            plan = estimate(replace(other, cluster=varied_cluster(other.cluster, up, nic, taper)))
            true = sum(flow.seconds for flow in plan.communication if flow.axis in axes)
            assert fastest_seconds(case.curves, up, nic, taper) == pytest.approx(true, rel=0.03)
