"""One wrong figure gives one finding, and the unit that was written decides first."""

from __future__ import annotations

import pytest

from clusterspec.finding import Finding
from clusterspec.records import replace
from clusterspec.rules.knowledge.nics import includes_frontend
from clusterspec.source import dotted_path
from clusterspec.studies import study_text
from tests.settings import SETTINGS

from .conftest import Check

SCALE_UP = [
    # accelerator, as written, the rule that tells (None: the figure is right), whether a fix is offered
    ("h100-sxm-80gb", "900 GB/s duplex", None, False),
    ("h100-sxm-80gb", "450 GB/s unidirectional", None, False),
    ("h100-sxm-80gb", "0.9 TB/s both ways", None, False),
    ("h100-sxm-80gb", "7.2 Tb/s duplex", None, False),
    ("h100-sxm-80gb", "880 GB/s duplex", None, False),
    ("h100-sxm-80gb", "900 GB/s unidirectional", "duplex-counted-as-one-way", True),
    ("h100-sxm-80gb", "900 GB/s each way", "duplex-counted-as-one-way", True),
    ("h100-sxm-80gb", "450 GB/s duplex", "one-way-counted-as-duplex", True),
    ("h100-sxm-80gb", "900 Gb/s duplex", "bits-and-bytes-swapped", True),
    ("h100-sxm-80gb", "450 Gb/s unidirectional", "bits-and-bytes-swapped", True),
    ("h100-sxm-80gb", "900 Gb/s unidirectional", "bits-and-bytes-swapped", True),
    ("h100-sxm-80gb", "7200 GB/s duplex", "bits-and-bytes-swapped", False),  # or the node's total
    ("h100-sxm-80gb", "900 MB/s duplex", "thousandfold-mistake", True),
    ("h100-sxm-80gb", "900 TB/s duplex", "thousandfold-mistake", True),
    ("h100-sxm-80gb", "25 GB/s unidirectional", "bandwidth-of-another-scope", True),
    ("h100-sxm-80gb", "50 GB/s duplex", "bandwidth-of-another-scope", True),
    ("h100-sxm-80gb", "478.1 GB/s unidirectional", "raw-signaling-rate", True),
    ("h100-sxm-80gb", "1800 GB/s duplex", "bandwidth-off-catalog", False),
    ("h100-sxm-80gb", "600 GB/s duplex", "bandwidth-off-catalog", False),
    ("h100-sxm-80gb", "400 GB/s duplex", "bandwidth-off-catalog", False),
    ("h800-sxm-80gb", "400 GB/s duplex", None, False),
    ("h800-sxm-80gb", "900 GB/s duplex", "bandwidth-off-catalog", False),  # the figure of the H100
    ("mi300x", "896 GB/s duplex", None, False),
    ("mi300x", "448 GB/s unidirectional", None, False),
    ("mi300x", "896 GB/s unidirectional", "duplex-counted-as-one-way", True),
    ("mi300x", "64 GB/s unidirectional", "bandwidth-of-another-scope", True),
]
NIC = [
    ("infiniband-ndr", "400 Gb/s", None, False),
    ("infiniband-ndr", "50 GB/s", None, False),
    ("infiniband-ndr", "200 Gb/s", None, False),
    ("infiniband-ndr", "800 Gb/s duplex", None, False),
    ("infiniband-ndr", "400 GB/s", "bits-and-bytes-swapped", False),  # or the node's total, in bytes
    ("infiniband-ndr", "50 Gb/s", "bits-and-bytes-swapped", True),
    ("infiniband-ndr", "3.2 Tb/s", "bandwidth-of-another-scope", True),
    ("infiniband-ndr", "3200 Gbps", "bandwidth-of-another-scope", True),
    ("infiniband-ndr", "100 Gb/s", "lanes-counted-as-nics", True),
    ("infiniband-hdr", "50 Gb/s", "lanes-counted-as-nics", True),
    ("infiniband-xdr", "200 Gb/s", "lanes-counted-as-nics", True),
    ("infiniband-ndr", "0.4 Gb/s", "thousandfold-mistake", True),
    ("infiniband-ndr", "400 Tb/s", "thousandfold-mistake", True),
    ("infiniband-ndr", "800 Gb/s", "nic-rate-off-technology", False),
    ("slingshot-11", "100 Gb/s", "nic-rate-off-technology", False),
    ("roce-v2", "25 Gb/s", None, False),
    ("roce-v2", "800 Gb/s", None, False),
    ("roce-v2", "50 Gb/s", None, False),  # sold, and slow
    ("roce-v2", "400 GB/s", "bits-and-bytes-swapped", False),
    ("ethernet", "25 GbE", None, False),
    ("roce-v2", "400 Mb/s", "thousandfold-mistake", True),
    ("ethernet", "400 Mb/s", "thousandfold-mistake", True),
    ("ethernet", "500 Mb/s", None, False),  # sites over the internet
    ("ethernet", "50 Mb/s", "thousandfold-mistake", True),
    ("ethernet", "24.6 Gb/s", None, False),  # the limit of a virtual machine
    ("ethernet", "24.6 Mb/s", "thousandfold-mistake", True),
    ("ethernet", "650 Gb/s", "nic-rate-off-technology", False),
]
FIGURES = (
    "bits-and-bytes-swapped",
    "duplex-counted-as-one-way",
    "one-way-counted-as-duplex",
    "thousandfold-mistake",
    "bandwidth-of-another-scope",
    "raw-signaling-rate",
    "bandwidth-off-catalog",
    "lanes-counted-as-nics",
    "nic-rate-off-technology",
    "nics-not-of-instance",
)


def assert_only(rule: str | None, fixed: bool, found: list[Finding]) -> None:
    """One finding on a figure, of this rule, or none; with a fix if it is ``fixed``."""
    figures = [finding for finding in found if finding.rule in FIGURES]
    assert [finding.rule for finding in figures] == ([rule] if rule else [])
    assert bool(figures and figures[0].edits) == fixed


@pytest.mark.parametrize(("accelerator", "written", "rule", "fixed"), SCALE_UP)
def test_a_scale_up_figure_gets_the_reading_it_deserves(
    accelerator: str, written: str, rule: str | None, fixed: bool, check: Check
) -> None:
    text = f"""\
clusterspec: 1
cluster:
  accelerator: {accelerator}
  accelerators_per_node: 8
  nodes: 2
  scale_up: {{bandwidth: {written}}}
"""
    assert_only(rule, fixed, check(text))


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("400 Gb/s", None),
        ("800 Gb/s duplex", None),  # 400 Gb/s each way, the rate of the card, half of a port of the switch
        ("400 Gb/s duplex", "one-way-counted-as-duplex"),
    ],
)
def test_the_rate_of_a_stated_card_counts_before_that_of_the_switch(
    written: str, rule: str | None, check: Check
) -> None:
    text = f"""\
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  nodes: 2
  scale_out: {{nic: connectx-7, nic_bandwidth: {written}, technology: roce-v2, switch: spectrum-4-sn5600}}
"""
    assert [finding.rule for finding in check(text) if finding.rule in FIGURES] == ([rule] if rule else [])


@pytest.mark.parametrize(("technology", "written", "rule", "fixed"), NIC)
def test_a_nic_figure_gets_the_reading_it_deserves(
    technology: str, written: str, rule: str | None, fixed: bool, check: Check
) -> None:
    text = f"""\
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 2
  scale_out: {{technology: {technology}, nics_per_node: 8, nic_bandwidth: {written}}}
"""
    assert_only(rule, fixed, check(text))


@pytest.mark.parametrize(
    ("bandwidth", "rule"),
    [
        (300, None),
        (200, None),  # two of six links to each of two peers, and two to the processor
        (150, "one-way-counted-as-duplex"),  # three links cannot serve two peers alike
        (250, "bandwidth-off-catalog"),
    ],
)
def test_a_part_in_a_small_mesh_may_use_other_links_for_the_host(
    bandwidth: int, rule: str | None, check: Check
) -> None:
    findings = check(f"""\
clusterspec: 1
cluster:
  accelerator: v100-sxm-32gb
  accelerators_per_node: 6
  nodes: 2
  scale_up: {{interconnect: nvlink-2, topology: full-mesh, domain: 3, bandwidth: {bandwidth} GB/s duplex}}
""")
    assert [str(each.rule) for each in findings if each.rule in FIGURES] == ([rule] if rule else [])


@pytest.mark.parametrize(("accelerator", "written", "rule", "fixed"), [row for row in SCALE_UP if row[3]])
def test_a_fix_leaves_no_finding(accelerator: str, written: str, rule: str, fixed: bool, check: Check) -> None:
    text = f"""\
clusterspec: 1
cluster: {{accelerator: {accelerator}, accelerators_per_node: 8, nodes: 2, scale_up: {{bandwidth: {written}}}}}
"""
    (figure,) = [finding for finding in check(text, rule) if finding.rule == rule]
    assert rule and fixed
    (edit,) = figure.edits
    lines = text.splitlines()
    line = lines[edit.span.start.line - 1]
    lines[edit.span.start.line - 1] = line[: edit.span.start.column - 1] + edit.text + line[edit.span.end.column - 1 :]
    assert [finding.rule for finding in check("\n".join(lines)) if finding.rule in FIGURES] == []


def test_all_readings_that_fit_are_listed(check: Check) -> None:
    text = """\
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 2
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 GB/s}
"""
    (figure,) = [
        finding for finding in check(text, "bits-and-bytes-swapped") if finding.rule == "bits-and-bytes-swapped"
    ]
    assert "Gb/s" in figure.message and "8 NICs of a node" in figure.message
    assert figure.edits == ()


def test_a_nic_figure_is_compared_with_the_stated_nic(check: Check) -> None:
    text = """\
clusterspec: 1
cluster:
  accelerator: h100-pcie-80gb
  accelerators_per_node: 8
  nodes: 2
  scale_out: {technology: roce-v2, nics_per_node: 4, nic: thor-2, nic_bandwidth: 400 GB/s}
"""
    (figure,) = [
        finding for finding in check(text, "bits-and-bytes-swapped") if finding.rule == "bits-and-bytes-swapped"
    ]
    assert "8 times the 50 GB/s of thor-2" in figure.message


WRONG = [
    # one wrong figure in a design that also communicates much: the one finding it gets
    ("scale_out: {technology: infiniband-ndr, nic_bandwidth: 400 GB/s}", "bits-and-bytes-swapped"),
    ("scale_out: {technology: infiniband-ndr, nic_bandwidth: 50 Gb/s}", "bits-and-bytes-swapped"),
    ("scale_out: {technology: infiniband-ndr, nic_bandwidth: 400 Gb/s duplex}", "one-way-counted-as-duplex"),
    ("scale_out: {technology: infiniband-ndr, nic_bandwidth: 100 Gb/s}", "lanes-counted-as-nics"),
    ("scale_up: {bandwidth: 900 Gb/s duplex}", "bits-and-bytes-swapped"),
    ("scale_up: {bandwidth: 450 GB/s duplex}", "one-way-counted-as-duplex"),
    ("scale_up: {bandwidth: 50 GB/s duplex}", "bandwidth-of-another-scope"),
]
BUSY = """\
clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 8, {figure}}}
workload: {{model: llama-3.1-8b, sequence_length: 2048, global_batch: 64}}
layout: {{tp: {tp}, sharding: {sharding}, recompute: full}}
measured:
  - {{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 330 GB/s}}
acceptance:
  - {{collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 320 GB/s}}
  - {{collective: all-reduce, nodes: 1, size: 8 GiB, busbw: 400 GB/s}}
  - {{collective: all-gather, nodes: 4, size: 8 GiB, busbw: 320 GB/s}}
"""


@pytest.mark.parametrize(("tp", "sharding"), [(1, "zero1"), (1, "fsdp"), (8, "zero1")])
@pytest.mark.parametrize(("figure", "rule"), WRONG)
def test_nothing_is_reported_that_is_computed_from_a_wrong_figure(
    figure: str, rule: str, tp: int, sharding: str, check: Check
) -> None:
    sound = {finding.rule for finding in check(BUSY.format(figure="spare_nodes: 0", tp=tp, sharding=sharding))}
    found = {finding.rule for finding in check(BUSY.format(figure=figure, tp=tp, sharding=sharding))}
    assert found - sound == {rule}


HEADLINES = [
    # platform, as written, what it is, and what to write (empty: the catalog has no such figure)
    ("dgx-h100", "900 GB/s", "the duplex figure of h100-sxm-80gb", "900 GB/s duplex", True),
    ("dgx-h100", "450 GB/s", "the one-way figure of h100-sxm-80gb", "450 GB/s unidirectional", True),
    ("dgx-b200", "1.8 TB/s", "the duplex figure of b200-sxm-180gb", "1.8 TB/s duplex", True),
    ("mi300x-ubb8", "7.2 TB/s", "the duplex figure of the 8 accelerators of a node together", "896 GB/s duplex", False),
    ("mi300x-ubb8", "896 GB/s", "the duplex figure of mi300x", "896 GB/s duplex", True),
]


@pytest.mark.parametrize(("platform", "written", "what", "text", "fixed"), HEADLINES)
def test_a_headline_without_direction_is_named(
    platform: str, written: str, what: str, text: str, fixed: bool, check: Check
) -> None:
    spec = f"clusterspec: 1\ncluster: {{platform: {platform}, nodes: 2, scale_up: {{bandwidth: {written}}}}}\n"
    (found,) = [finding for finding in check(spec, "missing-direction") if finding.rule == "missing-direction"]
    assert found.message.endswith(f": it is {what}")
    assert found.help == f"write `{text}`"
    assert [edit.text for edit in found.edits] == [text] * fixed


def test_a_headline_of_another_part_names_the_parts_own_figure(check: Check) -> None:
    spec = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 2, scale_up: {bandwidth: 1.8 TB/s}}\n"
    (found,) = [finding for finding in check(spec, "missing-direction") if finding.rule == "missing-direction"]
    assert found.message.endswith("; h100-sxm-80gb has 450 GB/s unidirectional, 900 GB/s duplex")
    assert "`1.8 TB/s duplex`" in found.help and found.edits == ()


@pytest.mark.parametrize(
    ("written", "what", "text"),
    [
        (
            "1979 TFLOP/s",
            "the peak of h100-sxm-80gb in bf16 with 2:4 sparsity, 989 TFLOP/s dense",
            "1979 TFLOP/s sparse",
        ),
        ("989 TFLOP/s", "the dense peak of h100-sxm-80gb in bf16", "989 TFLOP/s dense"),
    ],
)
def test_a_headline_peak_is_named(written: str, what: str, text: str, check: Check) -> None:
    workload = f"{{model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, peak_flops: {written}}}"
    found = check(f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 2}}\nworkload: {workload}\n")
    (one,) = [finding for finding in found if finding.rule == "missing-sparsity"]
    assert one.message.endswith(f": it is {what}") and one.help == f"write `{text}`"


def test_a_fabric_holds_the_front_end_where_one_of_its_figures_is_stated() -> None:
    """8 × 200 Gb/s are the fabric of an A3 Mega, 200 Gb/s more its front end."""
    platform = SETTINGS.catalog.platform("gcp-a3-megagpu-8g")
    for nics, rate, holds in ((9, 200, True), (9, None, True), (None, 225, True), (8, 200, False), (None, None, False)):
        written = {"nics_per_node": nics, "nic_bandwidth": rate and f"{rate} Gb/s"}
        keys = ", ".join(f"{key}: {value}" for key, value in written.items() if value)
        text = f"clusterspec: 1\ncluster: {{platform: gcp-a3-megagpu-8g, nodes: 4, scale_out: {{{keys}}}}}\n"
        study = study_text(text, SETTINGS)
        fabric = study.spec.cluster.scale_out if study.spec.cluster else None
        assert includes_frontend(platform, study.design.cluster, fabric) == holds, keys
        for front_end, times in ((None, 1), (1, 1), (2, 2)):  # one NIC where the entry counts none
            other = replace(platform, frontend_nics=front_end)
            assert includes_frontend(other, study.design.cluster, fabric) == (holds and times == 1), (keys, front_end)


@pytest.mark.parametrize("rate", ["4000 Gb/s", "1600 Gb/s", "800 Gb/s", "400 Gb/s", "100 Gb/s", "40 Gb/s"])
def test_a_rate_of_roce_is_one_of_the_nic_or_of_ethernet(check: Check, rate: str) -> None:
    fabric = f"{{technology: roce-v2, nic: connectx-7, nic_bandwidth: {rate}}}"
    text = f"clusterspec: 1\ncluster: {{platform: dgx-h100, nodes: 4, scale_out: {fabric}}}\n"
    found = [one for one in check(text) if dotted_path(one.path) == "cluster.scale_out.nic_bandwidth"]
    assert bool(found) is (rate in {"4000 Gb/s", "1600 Gb/s", "800 Gb/s"}), [one.message for one in found]


@pytest.mark.parametrize(
    ("written", "help_", "severity"),
    [
        ("50 GB/s", None, None),  # the usual 400 Gb/s
        ("25 GB/s", None, None),  # 200 Gb/s
        ("100 GB/s", "write `100 Gb/s`, or `800 Gb/s`", "warning"),  # such ports are sold
        ("200 GB/s", "write `200 Gb/s`", "error"),  # 1.6 Tb/s on a NIC
        ("100 Gb/s", None, None),
        ("120 GB/s", None, None),  # no port has 120 Gb/s
    ],
)
def test_a_number_of_gigabits_in_gigabytes_is_told_above_all_usual_nics(
    written: str, help_: str | None, severity: str | None, check: Check
) -> None:
    """H100 usually have NICs of 400 Gb/s, 50 GB/s."""
    fabric = f"{{technology: ethernet, nics_per_node: 2, nic_bandwidth: {written}}}"
    cluster = f"{{accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 2, scale_out: {fabric}}}"
    found = [
        one
        for one in check(f"clusterspec: 1\ncluster: {cluster}\n", "bits-and-bytes-swapped")
        if one.rule == "bits-and-bytes-swapped"
    ]
    assert [(one.help or one.fix_description, str(one.severity)) for one in found] == (
        [(help_, severity)] if help_ else []
    )


def test_a_faster_accelerator_has_nics_of_its_own_rate(check: Check) -> None:
    """GB300 come with NICs of 800 Gb/s, 100 GB/s."""
    fabric = "{technology: infiniband-xdr, nic_bandwidth: 100 GB/s}"
    found = check(f"clusterspec: 1\ncluster: {{platform: gb300-nvl72, nodes: 18, scale_out: {fabric}}}\n")
    assert not [one for one in found if one.rule == "bits-and-bytes-swapped"]
