"""Compared machines by hand: the limits that they miss, their order and sizes, and nodes of reinforcement learning."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import pytest

from clusterspec.analysis.failures.pairs import _stops_same_engines
from clusterspec.analysis.fleets.options import Goal, _accounting_period, _missed_targets
from clusterspec.analysis.fleets.search import _optimality_gap
from clusterspec.analysis.purchase.choices import (
    _changes_of_size,
    _choice_of_size,
    _exceeds_budget,
    _machine_errors,
    _other_sizes,
    recommended_row,
)
from clusterspec.analysis.searches.candidates import Limits, _affordable_nodes
from clusterspec.analysis.searches.layouts import search
from clusterspec.analysis.searches.machines import (
    _lowest_row,
    _missed_limits,
    _ranking_key,
    _value_or_infinity,
    _with_money,
)
from clusterspec.analysis.searches.rl_nodes import BestLayouts, Divisions
from clusterspec.analysis.searches.rl_splits import (
    FEW,
    _engine_tp_degrees,
    _rl_of,
    _rollout_counts,
    faster_splits,
    keys_of_nodes,
    keys_of_split,
    nodes_by_role,
    nodes_of_job,
    placement_json,
    placement_on_nodes,
    rollout_nodes_in_proportion,
)
from clusterspec.analysis.searches.studied import SearchOptions
from clusterspec.cluster.variation import Changes
from clusterspec.cost.interruptions import plan_interruptions
from clusterspec.money import Money
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import cost
from clusterspec.quantity import YEAR
from clusterspec.records import replace
from clusterspec.results.fleet_search import Assignment
from clusterspec.results.machine_search import MachineRow
from clusterspec.results.search import RlSplit
from clusterspec.results.verdict import Choice
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.spec.model import ProcurementSpec
from clusterspec.studies.variation import rewritten_study
from tests.analysis.jobs import study_of
from tests.analysis.test_rl_nodes import SPLIT
from tests.effort import each

ROW = MachineRow("dgx-h100", 2, "", {}, layout={"tp": 2}, elapsed=100.0, cost=50.0, power=20e3)
JOB = """
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64, tokens: 1B}
layout: {framework: megatron-core, tp: 2}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years}
"""


@each(
    ("changes", "limits", "missed"),
    [
        ({}, Limits(100.0, 50.0, 20e3), []),
        ({}, Limits(99.0, 49.0, 19e3), ["run 100 s > 99 s", "cost 50 > 49 USD", "power 20 kW > 19 kW"]),
        ({"elapsed": None}, Limits(99.0), ["run of unknown time > 99 s"]),
        ({"cost": None}, Limits(budget=49.0), ["cost not known: no price for `node`"]),
        ({"power": None}, Limits(power=19e3), ["power not known"]),
        ({"elapsed": None, "cost": None, "power": None}, Limits(), []),
    ],
)
def test_a_machine_misses_a_limit_that_its_figure_exceeds_or_that_it_has_no_figure_for(
    changes: dict[str, Any], limits: Limits, missed: list[str]
) -> None:
    assert list(_missed_limits(replace(ROW, **changes), study_of(JOB), limits)) == missed


def test_machines_stand_by_what_they_meet_then_by_their_cost_and_time() -> None:
    bare = replace(ROW, layout=None)
    one, two = replace(ROW, missed=("a",)), replace(ROW, missed=("a", "b"))
    dear, slow, open_ = replace(ROW, cost=60.0, elapsed=1.0), replace(ROW, elapsed=200.0), replace(ROW, cost=None)
    wanted = [ROW, slow, dear, open_, one, two, bare]
    shuffled = [wanted[place] for place in (3, 6, 1, 5, 0, 4, 2)]
    assert sorted(shuffled, key=_ranking_key) == wanted
    assert (_value_or_infinity(None), _value_or_infinity(3.0)) == (inf, 3.0)


def test_the_least_row_has_a_figure_and_among_equals_the_least_of_the_second() -> None:
    rows = [replace(ROW, cost=None, elapsed=1.0), replace(ROW, elapsed=None), ROW, replace(ROW, elapsed=90.0)]
    assert _lowest_row(rows, lambda row: (row.cost, row.time)) is rows[3]
    assert _lowest_row(rows[:2], lambda row: (row.cost, row.time)) is rows[1]
    assert _lowest_row(rows[:1], lambda row: (row.cost, row.time)) is None


def test_other_sizes_of_a_machine_are_half_three_quarters_one_and_a_half_and_twice() -> None:
    """Of four nodes 2, 3, 6 and 8; of two no three quarters. GB200 are bought by racks, slices of TPUs by hosts."""
    machines = (
        *(("dgx-h100", 4, [2, 3, 6, 8]), ("dgx-h100", 2, [1, 3, 4]), ("gb200-nvl72", 36, [18, 54, 72])),
        *(("tpu-v5p", 4, [2, 3, 6, 8]), ("tpu-v5p", 2, [1, 3, 4])),
    )
    for platform, nodes, sizes in machines:
        text = JOB.replace("dgx-h100", platform).replace("nodes: 4", f"nodes: {nodes}")
        found = list(_other_sizes(study_of(text)))
        assert [changes["cluster", "nodes"] for _, changes in found] == sizes
        assert [float(factor) * nodes for factor, _ in found] == sizes


def test_a_size_has_its_share_of_the_spare_nodes_rounded_up() -> None:
    """That there is none is stated of every size, and what the spec leaves open stays open."""
    for spares, nodes, wanted in ((1, 8, 2), (1, 2, 1), (3, 2, 2), (0, 8, 0), (None, 8, None)):
        stated = "" if spares is None else f", spare_nodes: {spares}"
        study = study_of(JOB.replace("nodes: 4", f"nodes: 4{stated}"))
        assert study.design.cluster is not None
        changes = _changes_of_size(study, study.design.cluster, nodes)
        assert (changes["cluster", "nodes"], changes["cluster", "spare_nodes"]) == (nodes, wanted)
        assert changes["layout", "dp"] is None and changes["acceptance",] is None


def choice(kind: str, price: float, work: float, **more: Any) -> Choice:
    return replace(Choice(kind, kind, 4, Money.of(price, "USD"), work), **more)


def test_a_budget_is_exceeded_by_the_low_end_of_an_amount() -> None:
    amount = Money(100.0, 200.0, "USD")
    found = [_exceeds_budget(amount, ProcurementSpec(budget=most)) for most in (99.0, 100.0, 150.0)]
    assert found == [True, False, False]
    assert not _exceeds_budget(amount, None) and not _exceeds_budget(amount, ProcurementSpec())


def test_a_choice_is_recommended_that_works_and_costs_least_for_its_work() -> None:
    """A size that takes longer or costs more is not compared with a design that nothing rules out."""
    design, cheap = choice("design", 100.0, 10.0), choice("option", 80.0, 11.0)
    assert recommended_row([design, cheap], "s") == 1  # 880 of money and time against 1,000
    for out in (
        {"errors": ("x",)},
        {"over_budget": True},
        {"surely_fits": False},
        {"holds_load": False},
        {"rent": "1 y"},
    ):
        assert recommended_row([design, replace(cheap, **out)], "s") == 0
    size = choice("size", 80.0, 11.0)
    assert recommended_row([design, size], "s") == 0
    assert recommended_row([replace(design, errors=("x",)), size], "s") == 1
    assert recommended_row([design, replace(size, work=9.0)], "s") == 1
    by_token = [replace(design, per_million=2.0), replace(cheap, per_million=3.0)]
    assert recommended_row(by_token, "s") == 0
    assert recommended_row([replace(design, errors=("x",))], "s") is None


def test_a_gap_is_the_share_of_an_objective_above_its_bound() -> None:
    found = [_optimality_gap(Assignment({}, 8.0, None), bound) for bound in (6.0, 8.0, 9.0)]
    assert found == [0.25, 0.0, 0.0] and _optimality_gap(Assignment({}, 0.0, None), 6.0) == 0.0


def test_a_run_misses_its_limit_and_a_plan_is_counted_for_its_term_or_a_year() -> None:
    one = study_of(JOB)
    assert list(_missed_targets("a", one, 9.0, Goal(within={"a": 9.0}))) == []
    assert list(_missed_targets("a", one, 9.0, Goal(within={"b": 1.0}))) == []
    assert list(_missed_targets("a", one, 9.0, Goal(within={"": 8.0}))) == ["run 9 s > 8 s"]
    assert list(_missed_targets("a", one, None, Goal(within={"a": 8.0}))) == ["run of unknown time > 8 s"]
    assert _accounting_period(one) == 4 * YEAR
    assert _accounting_period(study_of(JOB.replace(", term: 4 years", ""))) == YEAR


@each(
    ("nodes", "counts"),
    [
        (0, ()),
        (1, ()),
        (2, (1,)),
        (FEW, tuple(range(1, 16))),
        # sixteenths of 32, and an eighth, a quarter, a third, a half, two thirds and three quarters
        (32, (2, 4, 6, 8, 10, 11, 12, 14, 16, 18, 20, 21, 22, 24, 26, 28, 30)),
        (17, (*range(1, 9), *range(10, 17))),  # 8 of 16 parts are 8.5 nodes, 9 are 9.6
    ],
)
def test_few_nodes_are_divided_in_every_way_and_many_in_sixteenths(nodes: int, counts: tuple[int, ...]) -> None:
    assert _rollout_counts(nodes) == counts


def test_nodes_of_a_job_are_those_of_its_roles_and_keep_their_proportion() -> None:
    """4 of 8 nodes generate; of 12 there are 6, of one none is left, and of two one is."""
    design = study_of(SPLIT % "").design
    rl = _rl_of(design)
    assert (rl.trainer_nodes, rl.rollout_nodes, nodes_of_job(design)) == (4, 4, 8)
    assert nodes_by_role(design) == {"trainer": 4, "rollout": 4}
    assert [rollout_nodes_in_proportion(design, nodes) for nodes in (12, 8, 3, 2, 1)] == [6, 4, 2, 1, 1]
    assert _engine_tp_degrees(design, rl) == (1, 2, 4)  # Qwen2.5 7B has 28 heads
    keys = keys_of_nodes(design, 12, 5)
    assert keys == {
        ("layout", "nodes"): 7,
        ("layout", "dp"): None,
        ("workload", "rl", "rollout", "nodes"): 5,
        ("cluster", "nodes"): 12,
        ("cluster", "accelerators"): None,
    }
    assert keys_of_nodes(design, 4, 4)["layout", "nodes"] == 1
    assert nodes_by_role(study_of(JOB).design) == {}


def split(nodes: int, step: float, **more: Any) -> RlSplit:
    return replace(RlSplit("split", 8 - nodes, nodes, 4, 0, step, 1.0, {}), **more)


def test_a_placement_is_written_with_its_nodes_its_degree_and_its_staleness() -> None:
    ahead = split(3, 1.0, max_staleness=2)
    assert placement_json(ahead) == {"placement": "split", "max_staleness": 2, "rollout": {"nodes": 3, "tp": 4}}
    keys = keys_of_split(ahead)
    rl = ("workload", "rl")
    assert keys[*rl, "rollout", "nodes"] == 3 and keys[*rl, "rollout", "tp"] == 4 and keys["layout", "nodes"] == 5
    assert keys[*rl, "placement"] == "split" and keys[*rl, "max_staleness"] == 2
    assert placement_on_nodes(keys, 12)["layout", "nodes"] == 9
    here = split(0, 1.0, placement="colocated")
    assert placement_json(here) == {"placement": "colocated", "max_staleness": 0, "rollout": {"tp": 4}}
    assert keys_of_split(here)[*rl, "rollout", "nodes"] is None
    assert placement_on_nodes(keys_of_split(here), 12)["layout", "nodes"] == 12


def test_each_placement_stands_once_with_its_faster_layout() -> None:
    slow, fast, other = split(3, 2.0), split(3, 1.0, layout="best"), split(2, 1.5)
    assert faster_splits([slow, other], [fast]) == (fast, other)
    assert faster_splits([slow], [replace(fast, rollout_tp=8)]) == (replace(fast, rollout_tp=8), slow)


def test_divisions_keep_the_degree_of_the_engines_unless_layouts_are_searched() -> None:
    """Four nodes with tp 4 as the spec has it, or with every degree that divides 28 heads; the fastest is first."""
    one = study_of(SPLIT % "")
    layout: Changes = {("layout",): {"framework": "megatron-core", "tp": 2, "recompute": "full"}}

    def divided(best_layouts: BestLayouts | None) -> list[tuple[int, int, int]]:
        found = list(Divisions(one, best_layouts).of_nodes(4))
        steps = [each.plan.rl.step for each, _ in found if each.plan.rl is not None]
        assert len(steps) == len(found) and steps == sorted(steps) and all(not changes for _, changes in found)
        return [
            (rl.trainer_nodes, rl.rollout_nodes, each.spec.workload.rl.rollout.tp)  # type: ignore[union-attr, misc]
            for each, _ in found
            if (rl := _rl_of(each.design))
        ]

    kept = divided(None)
    assert [nodes for nodes in kept if nodes[2] != 4] == [] and kept[0] == (2, 2, 4)
    searched = divided(lambda design: iter([layout]))
    assert {*searched} > {*kept} and {degree for _, _, degree in searched} == {1, 2, 4}
    assert all(trainer + rollout == 4 for trainer, rollout, _ in searched) and len({*searched}) == len(searched)


PRICED = JOB.replace("term: 4 years", "term: 4 years, prices: {node: 300000}")


def test_a_row_has_the_cost_of_its_term_and_the_run_with_interruptions_where_its_time_is_known() -> None:
    one = study_of(PRICED)
    counted = bill(one.design)
    found = cost(one.design, one.plan, counted)
    assert found is not None and found.total is not None and found.run is not None and found.per_run is not None
    row = _with_money(ROW, one, Limits(budget=found.total.value - 1))
    assert (row.cost, row.run, row.per_run) == (found.total.value, found.run.value, found.per_run.value)
    assert row.power == found.watts.value and len(row.missed) == 1
    assert _with_money(replace(ROW, elapsed=None), one, Limits()).run is None
    bare = _with_money(ROW, study_of(JOB), Limits())
    assert (bare.cost, bare.per_run) == (None, None), "without the price of a node a cost would be that of the rest"


def test_a_size_takes_the_time_of_its_run_with_interruptions() -> None:
    one = study_of(PRICED)
    kept, time = plan_interruptions(one.plan), one.plan.time_to_train
    found = _choice_of_size(one)
    assert kept is not None and time is not None and found is not None and 0.9 < kept.share < 1
    assert found.work == pytest.approx(time / kept.share)
    assert (found.kind, found.nodes, found.name, found.over_budget) == ("size", 4, "4 nodes", False)
    assert found.amount.low >= 4 * 300_000
    assert _choice_of_size(study_of(JOB.replace("tokens: 1B", "precision: bf16"))) is None


@each(
    ("power", "errors"),
    [
        ("nodes_per_rack: 4, rack_limit: 40 kW", ("rack-over-power-limit",)),  # a rack of 4 x 10.2 kW, at any size
        ("nodes_per_rack: 4, rack_limit: 41 kW", ()),
        ("budget: 30 kW", ()),  # the design draws 4 x 10.2 kW, half of it 20.4 kW and a switch
    ],
)
def test_a_size_has_the_errors_of_the_design_that_it_does_not_cure(power: str, errors: tuple[str, ...]) -> None:
    one = study_of(PRICED.replace("nodes: 4", f"nodes: 4, power: {{{power}}}"))
    halved = next(changes for factor, changes in _other_sizes(one) if factor == Fraction(1, 2))
    found = _choice_of_size(rewritten_study(one, halved))
    assert found is not None and found.errors == errors


def test_an_error_of_the_purchase_or_of_a_quote_speaks_against_no_machine() -> None:
    """A delivery that comes late, or a faulty line, is no fault of the nodes; an unserved rack is."""
    found = [
        ("delivery-misses-date", ("procurement", "delivery")),
        ("quote-names-other-part", ("procurement", "quote", 0, "part")),
        ("rack-over-power-limit", ("cluster", "power", "nodes_per_rack")),
    ]
    assert _machine_errors(found) == ("rack-over-power-limit",) and _machine_errors(found[:2]) == ()


def test_another_size_of_a_machine_without_spares_waits_for_repairs_too() -> None:
    """Half of the machine fails half as often: each failed part of either waits a day for its repair."""
    one = study_of(PRICED.replace("nodes: 4", "nodes: 4, spare_nodes: 0"))
    halved = next(changes for factor, changes in _other_sizes(one) if factor == Fraction(1, 2))
    half = rewritten_study(one, halved)
    found, whole, kept = _choice_of_size(half), plan_interruptions(one.plan), plan_interruptions(half.plan)
    assert found is not None and whole is not None and kept is not None and half.plan.time_to_train is not None
    assert whole.mostly_waits and kept.mostly_waits and kept.standby is None
    assert found.work == pytest.approx(half.plan.time_to_train / kept.share)


def test_a_spec_that_lacks_the_inputs_of_a_search_has_an_empty_report_with_the_reason() -> None:
    found = search(study_of("cluster: {platform: dgx-h100, nodes: 2}\n"), SearchOptions())
    assert (found.evaluated, found.fitting, found.refused, found.may_fit) == (0, 0, 0, 0)
    assert (found.layouts, found.present, found.incomplete) == ((), None, True)
    assert "workload" in found.why


SERVED = """
cluster: {platform: dgx-h100, nodes: 4}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 500, output_tokens: 100, concurrency: 8}}
layout: {framework: vllm, tp: TP}
"""


@each(
    ("tp", "shared", "names", "same"),
    [
        (8, "node", ("accelerator", "NIC"), True),  # the engine is the node
        (4, "node", ("accelerator", "NIC"), False),
        (4, "node", ("accelerator", "node"), True),
        (8, "leaf", ("NIC", "leaf switch"), True),
        (8, "leaf", ("NIC", "leaf-spine link"), False),
        (8, "rack", ("node", "leaf switch"), False),
    ],
)
def test_a_part_stops_the_engines_of_another_where_it_takes_the_whole_node_or_leaf(
    tp: int, shared: str, names: tuple[str, str], same: bool
) -> None:
    machine = FailingMachine(study_of(SERVED.replace("TP", str(tp))).design, None, None)
    assert _stops_same_engines(machine, shared, names) is same


@pytest.mark.parametrize(
    ("price", "budget", "nodes"),
    [("100000", 1e6, 10), ("[100000, 300000]", 1e6, 10), ("100000", 999_999.0, 9), ("[300000, 400000]", 2e5, 1)],
)
def test_a_budget_buys_nodes_at_the_low_end_of_their_price(price: str, budget: float, nodes: int) -> None:
    text = f"cluster: {{platform: dgx-h100, nodes: 4}}\nprocurement: {{currency: USD, prices: {{node: {price}}}}}\n"
    assert _affordable_nodes(study_of(text).design, Limits(budget=budget)) == nodes
    assert _affordable_nodes(study_of(text).design, Limits()) is None
