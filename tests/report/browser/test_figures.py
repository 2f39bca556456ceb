"""The live figures answer to pointer and keyboard, agree with the program, and load nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from clusterspec import analysis, studies
from clusterspec.analysis.levers.survival import varied_cluster, varied_design
from clusterspec.cluster.variation import with_values
from clusterspec.cost.estimate import estimate
from clusterspec.report import paper
from clusterspec.report.paper.compose import compose
from clusterspec.report.paper.link_drawings import path_picture
from clusterspec.results.full import FullReport
from clusterspec.results.survival import SPAN, STRATEGIES
from clusterspec.units import display
from tests.effort import thorough
from tests.settings import SETTINGS

SPEC = """\
clusterspec: 1
name: pod
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {topology: rail-optimized, oversubscription: 2:1}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {tp: 8, pp: 2, micro_batch: 1}
"""
POSITIONS = 40
"""Random positions that are compared, each for every strategy."""


@dataclass
class Opened:
    """A page with everything that it logged and asked for."""

    page: Any
    report: FullReport
    logged: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def report() -> FullReport:
    return analysis.report(studies.study_text(SPEC, SETTINGS), "design")


@pytest.fixture(scope="module")
def file(report: FullReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(paper.paper_as_html(compose(report)), "utf-8")
    return path


@pytest.fixture
def opened(browser: Any, file: Path, report: FullReport) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    found = Opened(context.new_page(), report)
    found.page.on("console", lambda message: found.logged.append(message.text))
    found.page.on("pageerror", lambda fault: found.logged.append(str(fault)))
    found.page.on("request", lambda request: found.asked.append(request.url))
    found.page.goto(file.as_uri())
    yield found
    context.close()


def panel(opened: Opened, name: str) -> str:
    return str(opened.page.locator(f"figure[data-live={name}] .panel").inner_text())


@thorough
def test_rendering_logs_nothing_and_requests_nothing(opened: Opened) -> None:
    opened.page.locator("figure[data-live=pyramid] .tier").nth(1).click()
    assert opened.logged == []
    assert [url for url in opened.asked if not url.startswith(("file:", "data:"))] == []


def test_every_tier_shows_its_numbers_to_pointer_and_keyboard(opened: Opened) -> None:
    tiers = opened.page.locator("figure[data-live=pyramid] .tier")
    assert tiers.count() == len(opened.report.tiers)
    tiers.nth(0).focus()
    shown = panel(opened, "pyramid")
    assert "31 TB/s" in shown and "9.25 times slower" in shown and "on-chip memory (shared memory)" in shown
    opened.page.keyboard.press("ArrowDown")
    assert "3.35 TB/s" in panel(opened, "pyramid")
    assert "7.44 times slower" in panel(opened, "pyramid")
    opened.page.keyboard.press("ArrowDown")
    shown = panel(opened, "pyramid")
    assert "450 GB/s" in shown and "900 GB/s" in shown and "3.6 Tb/s" in shown
    tiers.nth([tier.kind for tier in opened.report.tiers].index("scale-out")).hover()
    shown = panel(opened, "pyramid")
    assert "scale-out" in shown and "50 GB/s" in shown and "400 Gb/s" in shown
    tiers.last.hover()
    assert "above the leaf" in panel(opened, "pyramid")


def test_the_path_of_two_accelerators_depends_on_domain_leaf_and_rail(opened: Opened) -> None:
    fields = opened.page.locator("figure[data-live=pod] input")
    texts = opened.page.locator("figure[data-live=pod] .walk svg text")

    def choose(*values: int) -> tuple[str, str]:
        for number, value in enumerate(values):
            fields.nth(number).fill(str(value))
        return panel(opened, "pod"), "\n".join(texts.all_text_contents())

    inside, way = choose(1, 1, 1, 8)
    assert "the same scale-up domain" in inside and "450 GB/s" in inside and "NIC" not in way
    leaf, way = choose(1, 1, 2, 1)
    assert "both on rail 1" in leaf and "50 GB/s" in leaf and way.count("leaf switch") == 1
    other, way = choose(1, 1, 2, 3)
    assert "rail 1 and rail 3" in other and "accelerator on B's rail" in way and "not known" in way
    far, way = choose(1, 1, 64, 1)
    assert "the whole fabric" in far and "spine switch" in way and "25 GB/s" in far
    same, way = choose(5, 2, 5, 2)
    assert "same accelerator" in same and way == ""


def test_a_packet_stops_at_each_hop_and_arrives_at_the_latency_of_the_report(opened: Opened) -> None:
    assert opened.report.pod is not None
    page = opened.page
    figure = page.locator("figure[data-live=pod]")
    counter, button = figure.locator(".counter"), figure.get_by_role("button", name="Send a packet")
    far = opened.report.pod.classes[-1]
    assert far.latency is not None
    arrived = f"Hop {len(far.hops)} of {len(far.hops)}, accelerator: {display(far.latency, 's')}"
    assert str(counter.inner_text()) == arrived, "the farthest pair is chosen at first, and its packet has arrived"
    button.click()
    page.wait_for_function(
        "() => document.querySelector('figure[data-live=pod] .counter').textContent.startsWith('Hop 1 ')"
    )
    assert display(far.hops[0].seconds or 0.0, "s") in str(counter.inner_text())
    page.wait_for_function(
        "text => document.querySelector('figure[data-live=pod] .counter').textContent === text", arg=arrived
    )
    packet, stops = figure.locator(".walk .packet"), figure.locator(".walk circle:not(.packet)")
    assert stops.count() == len(far.hops)
    assert float(packet.get_attribute("cy")) == float(stops.last.get_attribute("cy"))


def test_with_reduced_motion_a_packet_has_arrived_at_once(browser: Any, file: Path) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(file.as_uri())
    page.get_by_role("button", name="Send a packet").click()
    counter = str(page.locator("figure[data-live=pod] .counter").inner_text())
    assert counter.startswith("Hop 7 of 7")
    context.close()


def test_each_path_of_the_figure_ends_at_the_latency_of_its_class(report: FullReport) -> None:
    assert report.pod is not None
    picture = path_picture(report.pod)
    assert picture is not None
    walks = json.loads(picture.data)["walks"]
    for one, ways in zip(report.pod.classes, walks, strict=True):
        assert one.latency is not None
        assert ways[0]["steps"][-1] == f"accelerator: {display(one.latency, 's')}"
        assert len(ways) == 1 + ("NIC" in one.parts), "over a rail's accelerator, where there are rails"
        assert all(way["svg"].count("<circle") == len(way["steps"]) for way in ways)
        assert [way["steps"][-1].startswith("accelerator: ≥") for way in ways] == [False, True][: len(ways)]


def test_nodes_without_a_network_between_them_have_no_path(browser: Any, tmp_path: Path) -> None:
    machine = "accelerator: mi300x, accelerators_per_node: 8, nodes: 32, scale_out: {technology: unknown}"
    spec = f"clusterspec: 1\ncluster: {{{machine}}}\n"
    path = tmp_path / "alone.html"
    path.write_text(
        paper.paper_as_html(compose(analysis.report(studies.study_text(spec, SETTINGS), "design"))), "utf-8"
    )
    page = browser.new_page()
    page.goto(path.as_uri())
    shown = page.locator("figure[data-live=pod] .panel")
    assert "no network between A and B" in str(shown.inner_text())
    page.locator("figure[data-live=pod] input").nth(2).fill("1")
    page.locator("figure[data-live=pod] input").nth(3).fill("8")
    assert "the same scale-up domain" in str(shown.inner_text())
    page.close()


def test_a_click_on_the_map_chooses_a_node(opened: Opened) -> None:
    svg = opened.page.locator("figure[data-live=pod] .choice svg")
    box = svg.bounding_box()
    svg.click(position={"x": box["width"] - 4, "y": 6})
    chosen = int(opened.page.locator("figure[data-live=pod] input").nth(0).input_value())
    assert 1 < chosen <= 64


@thorough
def test_random_positions_agree_with_the_program(opened: Opened) -> None:
    report, dice = opened.report, random.Random(11)
    design, grid = report.estimate.design, report.survival
    assert grid is not None and design.cluster is not None
    worst = 0.0
    for _ in range(POSITIONS):
        nodes, model = dice.randrange(len(grid.nodes)), dice.randrange(len(grid.models))
        up, nic = (rate * SPAN ** dice.uniform(-1, 1) for rate in (grid.bandwidth, grid.nic))
        taper = 8 ** dice.random()
        position = {"nodes": nodes, "model": model, "bandwidth": up, "nic": nic, "taper": taper}
        shown = opened.page.evaluate(
            "at => document.querySelector('figure[data-live=survival] .live').interpolate(at)", position
        )
        assert shown
        for row in shown:
            other = varied_design(design, grid.nodes[nodes], grid.models[model][0], grid.sequences, row["strategy"])
            assert other is not None and other.cluster is not None
            plan = estimate(with_values(other, {("cluster",): varied_cluster(other.cluster, up, nic, taper)}))
            axes = next(one.axes for one in STRATEGIES if one.name == row["strategy"])
            true = sum(flow.seconds for flow in plan.communication if flow.axis in axes)
            worst = max(worst, abs(row["wire"] / true - 1))
            assert row["wire"] == pytest.approx(true, rel=0.03), (row, position)
    assert worst > 0


def test_a_slider_moves_with_the_keyboard(opened: Opened) -> None:
    figure = opened.page.locator("figure[data-live=survival]")
    before = figure.locator(".wire").all_inner_texts()
    figure.locator("input[type=range]").nth(3).focus()
    for _ in range(30):
        opened.page.keyboard.press("ArrowLeft")
    after = figure.locator(".wire").all_inner_texts()
    assert before != after
    assert before[0] == after[0], "tensor parallelism stays in the domain and does not see the NICs"


@pytest.mark.parametrize("width", [400, 1400, 3840])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_the_window(browser: Any, file: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_without_scripts_a_static_figure_stands_there(browser: Any, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    for name in ("pyramid", "pod", "survival"):
        assert page.locator(f"figure[data-live={name}] .still svg").is_visible()
        assert not page.locator(f"figure[data-live={name}] .live").is_visible()
    context.close()
