"""Power as drawn: worked out by hand, bounded by the nameplate, and near what public logs show."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import pytest

from clusterspec.cluster.fabric import counted_fabric
from clusterspec.cost.activity import activity_of
from clusterspec.cost.energy import energy_assumptions, mean_price
from clusterspec.cost.power import MachinePower, _term_of_million_tokens, drawn_power, idle_power
from clusterspec.records import replace
from clusterspec.studies import Study, study_text
from tests.cluster.resolving import clean
from tests.settings import SETTINGS
from tools.accuracy.cases import table
from tools.accuracy.power_cases import drawn_of, spec

ROWS = list(table("power.csv"))
PAGE = (Path(__file__).parents[2] / "docs" / "power.md").read_text("utf-8")


def drawn(text: str) -> MachinePower:
    found = drawn_power(study_text(text, SETTINGS).plan, None)
    assert found is not None and found.busy is not None
    return found


def test_a_node_is_its_accelerators_by_what_they_do_and_the_rest() -> None:
    text = spec("hgx-h100", 64, "{cooling: immersion}", "gpt3")
    shares = activity_of(study_text(text, SETTINGS).plan)
    assert shares is not None and 0.6 < shares.products < 0.75 and 0.1 < shares.memory < 0.25
    assert shares.host == shares.idle == shares.arithmetic == 0
    found = drawn(text)
    accelerator = 700 * (shares[0] * 1.0 + shares[1] * 0.8 + (1 - sum(shares)) * 0.65)
    assert found.busy is not None
    assert found.busy.value / 64 == pytest.approx(8 * accelerator + 8 * 0.28 * 700)
    assert found.idle.value / 64 == pytest.approx(8 * 70 + 0.28 * 8 * 700)


def test_an_idle_part_draws_what_was_measured_of_it() -> None:
    """MI300X: 133 W of 750 W, 0.9 to 1.1 times, and for each 160, 196 and 240 W of the rest, less than at work."""
    found = drawn(spec("mi300x-ubb8", 4, "{cooling: immersion}", "dense").replace("nemo", "megatron-core")).idle
    assert [end and end / 32 for end in (found.low, found.value, found.high)] == pytest.approx(
        [0.9 * 133 + 160, 133 + 196, 1.1 * 133 + 240]
    )


def test_switches_of_unknown_power_are_left_out_aloud() -> None:
    """16 nodes with eight NICs on 64 ports: four leaves and two spines."""
    text = spec("hgx-h100", 16, "{cooling: air}", "dense").replace("fat-tree", "fat-tree, switch_ports: 64")
    study = study_text(text, SETTINGS)
    fabric = counted_fabric(study.design)
    for power, said in (
        ("{cooling: air}", ["the power of the 6 switches of the fabric is not known"]),
        ("{switch: 1 kW}", []),
    ):
        plan = study_text(text.replace("{cooling: air}", power), SETTINGS).plan
        found = drawn_power(plan, fabric)
        assert found is not None
        left_out = [why for key, _, why in found.assumptions if key == "cluster.power.switch"]
        assert [why.partition(" and not")[0] for why in left_out] == said


def test_power_is_ordered_from_idle_to_the_nameplate() -> None:
    for platform in ("dgx-h100", "dgx-b200", "gb200-nvl72"):
        found = drawn(spec(platform, 16, "{nodes_per_rack: 4}", "dense").replace("tp: 8", "tp: 4"))
        assert found.busy is not None and found.peak is not None and found.busy.low is not None and found.busy.high
        assert found.idle.value < found.busy.low < found.busy.value <= found.busy.high
        assert found.busy.high <= found.peak.value * 1.001


def test_idle_nodes_draw_less_and_a_cap_never_draws_more() -> None:
    whole = drawn(spec("hgx-h100", 64, "{cooling: air}", "dense"))
    half = drawn(spec("hgx-h100", 64, "{cooling: air}", "dense").replace("layout: {", "layout: {nodes: 32, "))
    capped = drawn(spec("hgx-h100", 64, "{cooling: air, accelerator_cap: 500 W}", "dense"))
    idle = drawn(spec("hgx-h100", 64, "{cooling: air, node_idle: 2.5 kW}", "dense"))
    assert whole.busy and half.busy and capped.busy
    assert whole.idle.value < half.busy.value < whole.busy.value
    assert capped.busy.value < whole.busy.value
    assert idle.idle.value == 64 * 2500


def test_a_stop_falls_further_than_a_step_swings() -> None:
    """A step leaves its kernels waiting at 0.65 of 700 W; a stop leaves a node idle. Edges of 0.2 s, 0.1 to 1 s."""
    found = drawn(spec("hgx-h100", 64, "{cooling: air}", "dense"))
    assert found.swings is not None and found.busy is not None
    step, fall, ramp = found.swings
    assert step.value == pytest.approx(64 * 8 * 0.35 * 700)
    assert fall.value == pytest.approx(found.busy.value - found.idle.value)
    assert (
        step.low
        and step.high
        and (ramp.low, ramp.value, ramp.high) == pytest.approx((step.low / 1.0, step.value / 0.2, step.high / 0.1))
    )


def test_energy_follows_power_rate_and_time() -> None:
    study = study_text(spec("hgx-h100", 64, "{cooling: air}", "dense"), SETTINGS)
    found = drawn_power(study.plan, None, run=1000.0)
    assert found is not None and found.busy and found.per_token and found.of_run
    rate = study.plan.tokens_per_second_per_accelerator
    assert rate and found.per_token.value == pytest.approx(found.busy.value / (512 * rate))
    assert found.of_run.value == pytest.approx(1000 * found.busy.value)
    ranged = replace(found.per_token, value=2.0, low=1.5, high=None)
    million = _term_of_million_tokens(ranged)
    assert (million.value, million.low, million.high) == (2e6, 1.5e6, None)


def capped(cap: str, work: str = "dense", more: str = "") -> Study:
    return study_text(spec("hgx-h100", 1, f"{{cooling: air{cap}}}", work) + more, SETTINGS)


def test_a_cap_slows_products_by_the_root_of_the_power_above_idle() -> None:
    """At 407.5 W of 700 W, (407.5 - 70) / (700 - 70) = 0.536 of the power above idle is left: 0.732 of the rate.

    An air-cooled node draws then 8 × 407.5 W, 8 × 196 W for the host, and fans of 0.16 × (700 + 3 × 407.5) / 4 each.
    """
    whole, slow = capped(""), capped(", accelerator_cap: 407.5 W")
    times = [
        {part.name: part.value for term in (each.plan.step_time,) if term for part in term.walk()}
        for each in (whole, slow)
    ]
    name = "forward_dense_layer_feed_forward_in"
    assert times[0][name] / times[1][name] == pytest.approx((337.5 / 630) ** 0.5, rel=2e-3)
    found = drawn_power(slow.plan, None)
    assert found is not None and found.busy is not None
    assert found.busy.value <= 8 * (407.5 + 196 + 0.16 * (700 + 3 * 407.5) / 4)
    steps = [
        capped(cap).plan.step_seconds or 0.0 for cap in ("", ", accelerator_cap: 600 W", ", accelerator_cap: 400 W")
    ]
    assert steps == sorted(steps) and steps[0] < steps[2]


def test_a_cap_costs_as_much_throughput_as_in_published_runs() -> None:
    """Tokens per second of 8 H200 at 500 W over those at 700 W (MLPerf Inference 4.1, closed/NVIDIA, Offline)."""
    for work, measured in (("serve-llama2", 25_253.6 / 31_302.7), ("serve-mixtral", 48_883.5 / 59_022.3)):
        rates = []
        for cap in ("", ", accelerator_cap: 500 W"):
            plan = study_text(spec("hgx-h200", 1, f"{{cooling: air{cap}}}", work), SETTINGS).plan
            assert plan.serving is not None
            rates.append(plan.serving.output_tokens_per_second)
        assert rates[1] / rates[0] == pytest.approx(measured, rel=0.05)


def test_energy_costs_the_mean_price_of_the_tariff_and_emits_by_the_stated_grid() -> None:
    """8 h at 0.08 and 16 h at 0.14 are 0.12 a kWh; 3.6 MJ of IT are 1.25 kWh at the meter: 0.15 EUR and 0.5 kg."""
    tariff = '[{from: "22:00", to: "06:00", price: 0.08}]'
    more = f"procurement: {{currency: EUR, electricity: 0.14, tariff: {tariff}, pue: 1.25}}\n"
    more += "operations: {carbon: {intensity: 0.4, source: a contract}}\n"
    found = drawn_power(capped("", "dense", more).plan, None, run=1000.0)
    assert found is not None and found.of_run is not None
    money, carbon = found.terms["energy_cost_of_run"], found.terms["carbon_of_run"]
    assert money.value == pytest.approx(found.of_run.value / 3.6e6 * 0.15)
    assert carbon.value == pytest.approx(found.of_run.value / 3.6e6 * 0.5)
    assert money.low is not None and money.low < money.value
    body: Any = found.to_json()
    assert body["carbon"]["source"] == "a contract" and body["energy"]["cost"]["of_run"] == money.value
    bare = drawn_power(capped("").plan, None, run=1000.0)
    assert bare is not None and bare.to_json()["carbon"] is None and not bare.money


def test_a_tariff_that_covers_the_day_needs_no_other_price() -> None:
    """Overlapping hours count once, as the first entry says; minutes without a price leave no mean."""
    for hours, price in (
        ('{from: "00:00", to: "24:00", price: 0.1}', 0.1),
        ('{from: "12:00", to: "12:00", price: 0.2}', 0.2),
        ('{from: "06:00", to: "18:00", price: 0.3}, {from: "00:00", to: "00:00", price: 0.1}', 0.2),
        ('{from: "06:00", to: "18:00", price: 0.3}', None),
    ):
        term = mean_price(capped("", "dense", f"procurement: {{tariff: [{hours}]}}\n").spec.procurement, "EUR")
        assert (term.value if term else None) == (pytest.approx(price) if price is not None else None)


def test_one_price_of_electricity_is_its_own_mean() -> None:
    for words, price in (("electricity: 0.14", 0.14), ("currency: EUR", None)):
        term = mean_price(capped("", "dense", f"procurement: {{{words}}}\n").spec.procurement, "EUR")
        assert (term.value if term else None) == price
    assert mean_price(None, "EUR") is None


def test_racks_rows_and_feeds_are_sums_of_nameplates() -> None:
    """Four DGX H100 of 10.2 kW are a rack of 40.8 kW, as in the DGX SuperPOD reference architecture."""
    base = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 64, floor: {racks_per_row: 8}, power: {nodes_per_rack: 4"
    )
    for feeds, each in (("", None), (", feeds: N", 40_800.0), (", feeds: 2N", 40_800.0), (", feeds: N+1", 20_400.0)):
        found = drawn_power(study_text(f"{base}{feeds}}}}}\n", SETTINGS).plan, None)
        assert found is not None and found.supply.rack is not None and found.supply.row is not None
        assert (found.supply.rack.value, found.supply.row.value) == (40_800.0, 8 * 40_800.0)
        assert (found.supply.feed.value if found.supply.feed else None) == each
        assert found.supply.racks == 16
        most = {None: None, 40_800.0: 2 if "2N" in feeds else 1, 20_400.0: 1.5}[each]
        assert found.supply.hall is not None and found.supply.hall.value == 64 * 10_200
        assert (found.supply.all_feeds.value if found.supply.all_feeds else None) == (most and most * 64 * 10_200)


def test_racks_of_an_assumed_server_sum_to_the_hall_over_its_range() -> None:
    """A server with 8 × 750 W draws 40 to 110 % more: 8.4 to 12.6 kW, four of them 33.6 to 50.4 kW."""
    text = "accelerator: mi300x, accelerators_per_node: 8, nodes: 16, power: {nodes_per_rack: 4, feeds: N+1}"
    found = drawn_power(study_text(f"clusterspec: 1\ncluster: {{{text}}}\n", SETTINGS).plan, None)
    assert found is not None and found.supply.rack and found.supply.hall and found.supply.feed
    rack, hall, feed = found.supply.rack, found.supply.hall, found.supply.feed
    assert (rack.low, rack.value, rack.high) == pytest.approx((33_600, 42_000, 50_400))
    assert (hall.low, hall.value, hall.high) == pytest.approx((4 * 33_600, 4 * 42_000, 4 * 50_400))
    assert (feed.low, feed.value, feed.high) == pytest.approx((16_800, 21_000, 25_200))


def test_heat_leaves_by_liquid_or_by_air() -> None:
    """Of 16 racks of 40.8 kW, cold plates take 0.85 of the heat of the nodes; nothing is lost between the two ways."""
    for power, share in (("air", 0.0), ("immersion", 1.0), ("liquid", 0.85), ("liquid, liquid_share: 0.6", 0.6)):
        base = f"platform: dgx-h100, nodes: 64, power: {{nodes_per_rack: 4, cooling: {power}}}"
        found = drawn_power(study_text(f"clusterspec: 1\ncluster: {{{base}}}\n", SETTINGS).plan, None)
        assert found is not None and found.supply.hall is not None
        rack, hall = found.supply.heat
        assert (rack.liquid.value, hall.liquid.value) == pytest.approx((share * 40_800, share * 64 * 10_200))
        assert hall.liquid.value + hall.air.value == pytest.approx(found.supply.hall.value)
        assert [key for key, _, _ in found.assumptions if "share" in key] == ["cluster.power.liquid_share"] * (
            share == 0.85
        )


def test_nodes_of_public_logs_draw_what_is_predicted() -> None:
    """The median error of each side is at most 10 %: the constants were fitted to one source alone."""
    errors: dict[str, list[float]] = {"fitted": [], "held out": []}
    idle: dict[str, float] = {}
    for row in ROWS:
        nodes, found = int(row["nodes"]), drawn_of(row)
        assert found is not None and found.busy is not None
        assert f"| {float(row['watts_of_node']):,.0f} | {found.busy.value / nodes:,.0f} | {row['side']} |" in PAGE
        errors[row["side"]].append(found.busy.value / nodes / float(row["watts_of_node"]) - 1)
        if row["idle_of_node"]:
            idle[row["case"]] = found.idle.value / nodes / float(row["idle_of_node"]) - 1
    for side, found_errors in errors.items():
        assert median(map(abs, found_errors)) <= 0.10, (side, found_errors)
        assert max(map(abs, found_errors)) <= 0.16, (side, found_errors)
    assert max(abs(error) for case, error in idle.items() if case != "lora-dell") <= 0.1, idle
    assert abs(idle["lora-dell"]) <= 0.17, "readings between the runs of a job, not of a node without one"


ASSUMED: list[tuple[str, list[str]]] = [  # keys of a spec, and what its energy then rests on
    ("", []),
    ("procurement: {currency: EUR, prices: {node: 9}}\n", []),
    ("procurement: {currency: EUR, electricity: 0.1}\n", ["pue"]),
    ("procurement: {currency: EUR, electricity: 0.1, pue: 1.2}\n", []),
    ("operations: {carbon: {intensity: 0.4, source: a contract}}\n", ["pue"]),
    ("operations: {carbon: {intensity: 0.4, source: a contract}}\nprocurement: {currency: EUR, pue: 1.2}\n", []),
    ("operations: {checkpoint_interval: 1 h}\n", []),
    (
        'procurement: {currency: EUR, pue: 1.2, tariff: [{from: "00:00", to: "24:00", price: 0.1}]}\n',
        ["hours of a day"],
    ),
]


@pytest.mark.parametrize(("keys", "assumed"), ASSUMED)
def test_energy_rests_on_a_usual_pue_where_money_or_carbon_needs_one(keys: str, assumed: list[str]) -> None:
    read = capped("", "dense", keys).spec
    found = [
        key.rpartition(".")[2] for key, _, _ in energy_assumptions(read.cluster, read.operations, read.procurement)
    ]
    assert found == assumed


def test_a_machine_without_work_draws_what_idle_nodes_and_switches_draw() -> None:
    """Four nodes of 2,419.2 W and switches of 1,720 W."""
    design = clean("cluster: {platform: dgx-h100, nodes: 4}")
    found = idle_power(design, counted_fabric(design))
    assert found is not None and found.low is not None and found.high is not None
    told = {part.name: part.value for part in found.parts}
    assert told["node_idle"] == pytest.approx(2419.2) and told["switches"] == 1720.0
    assert found.value == pytest.approx(11_396.8) and found.low < found.value < found.high
    assert idle_power(replace(design, cluster=None), None) is None
    cluster = design.cluster
    assert cluster is not None and not cluster.cloud
    unknown = replace(cluster, accelerator=replace(cluster.accelerator, power=None))
    assert idle_power(replace(design, cluster=unknown), None) is None
