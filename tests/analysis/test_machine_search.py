"""The machine to buy: each row is the search of its own spec, and the best of them are those of a plain comparison."""

from __future__ import annotations

import json
from itertools import product
from math import inf, isclose
from pathlib import Path

import pytest
import yaml

from clusterspec import load
from clusterspec.analysis.searches.candidates import (
    Candidate,
    Limits,
    MachineFault,
    Prices,
    _spread_sizes,
    bisecting_sizes,
    currency_of_all,
    default_sizes,
    read_prices,
)
from clusterspec.analysis.searches.machines import nearest_rows, pareto_rows
from clusterspec.analysis.searches.studied import serving_targets_missed
from clusterspec.records import replace
from clusterspec.results.machine_search import MachineRow
from clusterspec.studies import study_text
from tests.cli.conftest import Call
from tests.effort import thorough
from tests.settings import SETTINGS
from tests.studies.test_fleets import study

WORK = """clusterspec: 1
name: small
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 20B}
layout: {framework: megatron-core}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years}
"""
PRICES = """currency: USD
prices: {cable: 100, transceiver: 500, leaf_switch: 30000}
machines:
  dgx-h100: {node: 200000}
  dgx-b200: {node: 400000}
"""
NAMES, SIZES = ("dgx-h100", "dgx-b200", "dgx-h200"), (1, 2)


def single(platform: str, nodes: int) -> dict[str, object]:
    """The spec of a machine with its prices."""
    spec: dict[str, object] = yaml.safe_load(WORK)
    listed = yaml.safe_load(PRICES)
    prices = listed["prices"] | listed["machines"].get(platform, {})
    procurement = spec["procurement"] | {"prices": prices}  # type: ignore[operator]
    return spec | {"cluster": {"platform": platform, "nodes": nodes}, "procurement": procurement}


@thorough
def test_each_machine_is_the_search_of_its_spec_and_the_best_are_the_least(call: Call) -> None:
    Path("work.yaml").write_text(WORK)
    Path("prices.yaml").write_text(PRICES)
    words = ("--nodes", "1,2", "--prices", "prices.yaml", "--within", "2d", "--jobs", "1", "--format", "json")
    done = call("search", "work.yaml", "--machines", *NAMES, *words)
    assert (done.status, done.error) == (0, "")
    made = json.loads(done.out)
    rows = {(row["spec"], row["nodes"]): row for row in made["machines"]}
    assert {*rows} == {*product(NAMES, SIZES)}
    for name in NAMES[1:]:
        design = load(yaml.safe_dump(single(name, 2)))
        (best,) = design.search(top=1).layouts
        placed = load(yaml.safe_dump(single(name, 2) | {"layout": dict(best.layout)}))
        row, cost = rows[name, 2], placed.cost().cost
        assert (row["layout"], row["step_time"]) == (dict(best.layout), best.step_time)
        assert row["time_to_train"] == placed.plan.time_to_train
        assert cost is not None and row["power"] == cost.watts.value
        total = cost.total.value if cost.total and name != "dgx-h200" else None
        assert row["cost"] == total, "a machine whose nodes have no price has no cost"
    meeting = [row for row in rows.values() if row["time_to_train"] <= 2 * 86400]
    assert 0 < len(meeting) < len(rows)
    assert [row for row in rows.values() if not row["missed"]] == [row for row in rows.values() if row in meeting]
    assert made["cheapest"] == min(meeting, key=lambda row: inf if row["cost"] is None else row["cost"])
    assert made["fastest"] == min(meeting, key=lambda row: row["time_to_train"])
    assert made["leanest"] == min(meeting, key=lambda row: row["power"])
    late = rows["dgx-h100", 1]
    assert late["missed"] == [f"run {late['time_to_train'] / 3600:.3g} h > 48 h"]


def row(cost: float | None, elapsed: float | None, power: float | None) -> MachineRow:
    return MachineRow("m", 1, "", {}, layout={}, cost=cost, elapsed=elapsed, power=power)


def test_the_front_is_what_no_other_machine_beats() -> None:
    figures = [*product((1.0, 2.0, None), (5.0, 6.0), (9.0, 8.0))]
    rows = [row(*each) for each in figures]
    worst = [tuple(inf if value is None else value for value in each) for each in figures]
    wanted = [
        one
        for one, own in zip(rows, worst, strict=True)
        if not any(all(x <= y for x, y in zip(other, own, strict=True)) and other != own for other in worst)
    ]
    assert [*pareto_rows(rows)] == wanted == [row(1.0, 5.0, 8.0)]
    assert len(pareto_rows([row(1.0, 6.0, 9.0), row(2.0, 5.0, 9.0), row(2.0, 6.0, 8.0), row(2.0, 6.0, 9.0)])) == 3


def test_the_nearest_row_misses_one_limit_by_the_least() -> None:
    late, over, both = ("run 5 d > 3 d",), ("cost 9 > 7",), ("run 5 d > 3 d", "cost 9 > 7")
    rows = [
        replace(row(cost, time, 1.0), missed=missed)
        for cost, time, missed in (
            (6.0, 5.0, late),
            (7.0, 4.0, late),
            (9.0, 2.0, over),
            (8.0, 3.0, over),
            (8.0, 4.0, both),
            (None, 1.0, ("cost not known: no price for `node`",)),
        )
    ]
    assert nearest_rows(rows) == {"run": rows[1], "cost": rows[3]}
    assert nearest_rows([replace(one, layout=None) for one in rows]) == {}


def test_sizes_follow_from_the_limits(tmp_path: Path) -> None:
    """6 × 8e9 × 2e10 FLOP or more in a day at 0.989e15 FLOP/s: 11.2 accelerators at an MFU of 100 %, so two nodes."""
    work, machine = study(WORK), Candidate("dgx-h100", {"platform": "dgx-h100"})
    (tmp_path / "prices.yaml").write_text(PRICES)
    prices = read_prices(tmp_path / "prices.yaml")
    fast = default_sizes(work, machine, "", prices, Limits(within=86400.0))
    assert fast[0] == 2 and fast[-1] <= 10
    assert default_sizes(work, machine, "", prices, Limits(within=86400.0, budget=700_000.0))[-1] == 3
    assert default_sizes(work, machine, "", prices, Limits(power=45_000.0))[-1] == 4, "10.2 kW a node"
    stated = Candidate("x.yaml", {"platform": "dgx-h100", "nodes": 5}, nodes=5)
    assert default_sizes(work, stated, "", prices, Limits()) == [5]


def test_a_machine_for_serving_is_tried_at_its_largest_size_in_whole_domains(tmp_path: Path) -> None:
    """A budget for three nodes, and one for none; racks of 18 nodes are bought whole."""
    serving = (
        "workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 9, output_tokens: 9, concurrency: 8}}"
    )
    work = study(f"clusterspec: 1\n{serving}\nlayout: {{framework: vllm}}\nprocurement: {{currency: USD}}\n")
    (tmp_path / "prices.yaml").write_text(PRICES + "  gb200-nvl72: {node: 200000}\n")
    prices = read_prices(tmp_path / "prices.yaml")
    for platform, budget, size in (
        ("dgx-h100", 700_000.0, 3),
        ("dgx-h100", 100.0, 1),
        ("gb200-nvl72", 200_000.0 * 40, 36),
        ("gb200-nvl72", 200_000.0 * 9, 18),
    ):
        machine = Candidate(platform, {"platform": platform})
        assert default_sizes(work, machine, "", prices, Limits(budget=budget)) == [size], (platform, budget)


def test_prices_hold_for_the_machine_for_which_they_are_stated(call: Call) -> None:
    own = WORK.replace("term: 4 years", "term: 4 years, prices: {node: 1000, cable: 1}")
    Path("a.yaml").write_text(own + "cluster: {platform: dgx-h100, nodes: 2}\n")
    Path("b.yaml").write_text(
        WORK.replace("4 years", "4 years, prices: {node: 9}") + "cluster: {platform: dgx-h200, nodes: 2}\n"
    )
    made = json.loads(
        call("search", "--machines", "a.yaml", "b.yaml", "dgx-b200", "--nodes", "2", "--format", "json").out
    )
    cost = {row["spec"]: row["cost"] for row in made["machines"]}
    cables = 2 * 8
    assert cost["dgx-b200"] is None, "the price of a node is that of a DGX H100"
    assert isclose(cost["a.yaml"], 2 * 1000 + cables)
    assert isclose(cost["b.yaml"], 2 * 9 + cables), "a cable costs the same for all"


def test_a_machine_for_serving_has_the_nodes_of_its_plan(call: Call) -> None:
    load_ = "serving: {input_tokens: 500, output_tokens: 100, concurrency: 8, targets: {tpot: 50 ms}}"
    Path("s.yaml").write_text(
        f"clusterspec: 1\nworkload: {{kind: serve, model: llama-3.1-8b, {load_}}}\nlayout: {{framework: vllm}}\n"
    )
    done = call("search", "s.yaml", "--machines", "dgx-h100", "--max-power", "100 kW", "--format", "json")
    (only,) = json.loads(done.out)["machines"]
    assert (done.status, only["nodes"], only["missed"], only["cluster"]["nodes"]) == (0, 1, [], 1)
    assert only["serving"]["tpot"] <= 0.05


def test_a_missed_target_is_told_with_both_figures() -> None:
    text = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\nlayout: {framework: vllm, tp: 1}\nworkload: "
    load = "input_tokens: 500, output_tokens: 100, concurrency: 8"
    serve = f"{text}{{kind: serve, model: llama-3.1-8b, serving: {{{load}, targets: {{tpot: TARGET, ttft: 9 s}}}}}}\n"
    (missed,) = serving_targets_missed(study_text(serve.replace("TARGET", "1 us"), SETTINGS))
    assert missed.startswith("TPOT ") and missed.endswith(" > 1 µs")
    assert [*serving_targets_missed(study_text(serve.replace("TARGET", "9 s"), SETTINGS))] == []
    train = f"{text}{{model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}}\n"
    assert [*serving_targets_missed(study_text(train, SETTINGS))] == []


REFUSED = {
    ("work.yaml", "--machines", "dgx-h101"): "no platform and no file is called 'dgx-h101'; did you mean dgx-h100",
    ("work.yaml", "--machines", "dgx-h100"): "nothing limits its size",
    ("--machines", "dgx-h100"): "name the SPEC of the work",
    ("work.yaml", "--machines", "work.yaml"): "describes no `cluster`",
    ("work.yaml", "--machines", "dgx-h100", "--fabrics", "infiniband-nrd"): "did you mean infiniband-ndr",
    ("work.yaml", "--machines", "dgx-h100", "--budget", "20M EUR"): "is not an amount",
    ("work.yaml", "--machines", "dgx-h100", "--by", "2020-01-01"): "is not after",
    ("work.yaml", "--machines", "dgx-h100", "--prices", "bad.yaml"): "bad.yaml:1:22: ",
    ("work.yaml", "--machines", "dgx-h100", "--prices", "euro.yaml"): "state all in one currency",
    ("work.yaml", "--budget", "20M"): "--budget cannot be combined with a search for layouts",
    ("--fleet",): "name the SPEC to search",
}


def test_a_wrong_call_is_one_line(call: Call) -> None:
    Path("work.yaml").write_text(WORK)
    Path("bad.yaml").write_text("machines: {x: {node: cheap}}\n")
    Path("euro.yaml").write_text("currency: EUR\n")
    for words, message in REFUSED.items():
        done = call("search", *words)
        assert (done.status, done.out, done.error.count("\n")) == (2, "", 1), (words, done)
        assert message in done.error, words


@thorough
def test_the_library_compares_machines_and_assigns_jobs_as_the_commands_do(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text(PRICES)
    design = load(yaml.safe_dump(single("dgx-h100", 1)))
    made = design.search_machines([design], nodes=[1, 5], prices=tmp_path / "prices.yaml", budget=1e9)
    only, odd = made.machines
    assert (odd.nodes, odd.layout and odd.layout["nodes"]) == (5, 4), "64 sequences divide over 32 ranks, not over 40"
    assert (only.missed, only.cost, made.best["cheapest"]) == ((), 200_000.0, only)
    fleet = load(
        "clusterspec: 1\npools: {p: {platform: dgx-h100, nodes: 1}}\njobs: {a: {pool: p, "
        + JOB
        + ", layout: {framework: megatron-core}}}\n"
    )
    (best, *_) = fleet.search_fleet().assignments
    assert best.jobs["a"].step_time == only.step_time
    assert best.objective == only.elapsed


JOB = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 20B}"


@pytest.mark.parametrize(
    ("of_work", "of_file", "of_machines", "said"),
    [
        ("USD", "USD", ["USD"], "USD"),
        ("", None, ["EUR", "EUR"], "EUR"),
        ("", None, [], ""),
        ("USD", "EUR", [], "spec.yaml has prices in USD and the price file in EUR: state all in one currency"),
        ("USD", "EUR", ["CHF"], "spec.yaml has prices in USD and the price file in EUR: state all in one currency"),
        ("", "EUR", ["CHF"], "the price file has prices in EUR and m0 in CHF: state all in one currency"),
    ],
)
def test_prices_of_several_currencies_are_refused_and_the_first_two_named(
    of_work: str, of_file: str | None, of_machines: list[str], said: str
) -> None:
    work = study(f"clusterspec: 1\nprocurement: {{currency: {of_work}}}\n" if of_work else "clusterspec: 1\n")
    machines = [Candidate(f"m{at}", {}, procurement={"currency": one}) for at, one in enumerate(of_machines)]
    if " " not in said:
        assert currency_of_all(work, machines, Prices(currency=of_file)) == said
        return
    with pytest.raises(MachineFault) as fault:
        currency_of_all(work, machines, Prices(currency=of_file))
    assert str(fault.value) == said.replace("spec.yaml", work.source.name)


@pytest.mark.parametrize(
    ("first", "last", "unit", "sizes"),
    [
        (1, 1, 1, [1]),
        (1, 9, 1, [1, 2, 3, 4, 6, 8, 9]),
        (20, 31, 1, [24, 30]),  # the last is even from 16 on,
        (10, 63, 1, [12, 16, 24, 32, 48, 60]),  # a multiple of 4 from 32 on
        (1, 70, 1, [1, 3, 6, 16, 32, 64]),  # and of 8 from 64 on: six of twelve powers of two and their triples
        (1, 1000, 1, [1, 6, 16, 64, 192, 768, 1000]),
        (20, 60, 18, [36, 54]),
        (40, 50, 18, [54]),  # no whole unit is in between
    ],
)
def test_six_sizes_that_divide_well_and_the_last_are_tried(first: int, last: int, unit: int, sizes: list[int]) -> None:
    assert _spread_sizes(first, last, unit) == sizes


@pytest.mark.parametrize(
    ("rows", "unit", "sizes"),
    [
        ([], 1, []),
        ([(8, False)], 1, []),
        ([(8, True)], 1, []),
        ([(16, False), (8, True)], 1, []),  # a larger machine that is slower says nothing
        ([(8, False), (9, True)], 1, []),
        ([(8, False), (10, True)], 1, [9]),
        ([(8, False), (16, False), (32, True), (64, True)], 1, [20, 24, 28]),
        ([(18, False), (90, True)], 18, [36, 54, 72]),
    ],
)
def test_sizes_between_the_largest_too_slow_and_the_smallest_fast_enough(
    rows: list[tuple[int, bool]], unit: int, sizes: list[int]
) -> None:
    assert list(bisecting_sizes(rows, unit)) == sizes
