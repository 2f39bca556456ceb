"""Power as drawn: worked out by hand, bounded by the nameplate, and near what public logs show."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import median

import pytest

from clusterspec.cost.power import Drawn, drawn_power, time_shares
from clusterspec.studies.study import study_text
from tests.settings import SETTINGS

ROWS = list(csv.DictReader((Path(__file__).parents[1] / "accuracy" / "power.csv").read_text("utf-8").splitlines()))
PAGE = (Path(__file__).parents[2] / "docs" / "power.md").read_text("utf-8")
WORK = {
    "gpt3": (
        "{model: gpt3-175b, sequence_length: 2048, global_batch: 2048, precision: fp8}",
        "{tp: 4, pp: 8, virtual_stages: 6, micro_batch: 2, framework: nemo}",
    ),
    "lora": (
        "{model: llama-2-70b, sequence_length: 4096, global_batch: 64, precision: fp8, trainable: {method: lora}}",
        "{tp: 4, cp: 2, micro_batch: 1, framework: nemo}",
    ),
    "dense": (
        "{model: llama-2-13b, sequence_length: 4096, global_batch: 64, precision: bf16}",
        "{tp: 8, micro_batch: 1, framework: nemo}",
    ),
}


def spec(platform: str, nodes: int, power: str, work: str) -> str:
    planned, layout = WORK[work]
    fabric = "{technology: infiniband-ndr, topology: fat-tree, nics_per_node: 8, nic_bandwidth: 400 Gb/s}"
    return (
        f"clusterspec: 1\ncluster:\n  platform: {platform}\n  nodes: {nodes}\n  scale_out: {fabric}\n"
        f"  power: {power}\nworkload: {planned}\nlayout: {layout}\n"
    )


def drawn(text: str) -> Drawn:
    found = drawn_power(study_text(text, SETTINGS).plan, None)
    assert found is not None and found.busy is not None
    return found


def test_a_node_is_its_accelerators_by_what_they_do_and_the_rest() -> None:
    text = spec("hgx-h100", 64, "{cooling: immersion}", "gpt3")
    shares = time_shares(study_text(text, SETTINGS).plan)
    assert shares is not None and 0.6 < shares[0] < 0.75 and 0.1 < shares[1] < 0.25
    found = drawn(text)
    accelerator = 700 * (shares[0] * 1.0 + shares[1] * 0.85 + (1 - sum(shares)) * 0.65)
    assert found.busy is not None
    assert found.busy.value / 64 == pytest.approx(8 * accelerator + 0.28 * 8 * 700)
    assert found.idle.value / 64 == pytest.approx(8 * 70 + 0.28 * 8 * 700)


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
    assert capped.busy.value == pytest.approx(whole.busy.value * 500 / 700)
    assert idle.idle.value == 64 * 2500


def test_energy_follows_power_rate_and_time() -> None:
    study = study_text(spec("hgx-h100", 64, "{cooling: air}", "dense"), SETTINGS)
    found = drawn_power(study.plan, None, run=1000.0)
    assert found is not None and found.busy and found.per_token and found.of_run
    rate = study.plan.tokens_per_second_per_accelerator
    assert rate and found.per_token.value == pytest.approx(found.busy.value / (512 * rate))
    assert found.of_run.value == pytest.approx(1000 * found.busy.value)


def test_nodes_of_public_logs_draw_what_is_predicted() -> None:
    """The median error of each side is at most 10 %: the constants were fitted to one source alone."""
    errors: dict[str, list[float]] = {"fitted": [], "held out": []}
    for row in ROWS:
        nodes = int(row["nodes"])
        text = spec(row["platform"], nodes, f"{{cooling: {row['cooling']}}}", row["work"])
        if nodes == 1 and row["work"] == "lora":
            text = text.replace("cp: 2, ", "")
        found = drawn(text)
        assert found.busy is not None
        assert f"| {float(row['watts_of_node']):,.0f} | {found.busy.value / nodes:,.0f} | {row['side']} |" in PAGE
        errors[row["side"]].append(found.busy.value / nodes / float(row["watts_of_node"]) - 1)
        if row["idle_of_node"]:
            assert found.idle.value / nodes == pytest.approx(float(row["idle_of_node"]), rel=0.1)
    for side, found_errors in errors.items():
        assert median(map(abs, found_errors)) <= 0.10, (side, found_errors)
        assert max(map(abs, found_errors)) <= 0.16, (side, found_errors)
