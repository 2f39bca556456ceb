"""Vendors' headline figures put into a spec as they are printed: what ``check`` says of each, by hand."""

from __future__ import annotations

import pytest

from clusterspec.finding import Finding
from tests.rules.conftest import Check

SPEC = """\
clusterspec: 1
cluster:
  platform: {platform}
  nodes: {nodes}
{cluster}
workload:
  model: llama-3.1-8b
  sequence_length: 8192
  global_batch: 288
{workload}
"""


def found(check: Check, platform: str, cluster: str = "", workload: str = "", nodes: int = 18) -> dict[str, Finding]:
    """The findings of a spec by rule."""
    text = SPEC.format(platform=platform, nodes=nodes, cluster=f"  {cluster}", workload=f"  {workload}")
    return {finding.rule: finding for finding in check(text)}


BANDWIDTHS = {  # the platform, what its sheet prints, what that is, and what to write
    "DGX B200, NVLink of a GPU": ("dgx-b200", "1.8 TB/s", "the duplex figure of b200-sxm-180gb", "1.8 TB/s duplex"),
    "DGX H100, NVLink of a GPU": ("dgx-h100", "900 GB/s", "the duplex figure of h100-sxm-80gb", "900 GB/s duplex"),
    "MI300X, Infinity Fabric of a GPU": ("mi300x-ubb8", "896 GB/s", "the duplex figure of mi300x", "896 GB/s duplex"),
    "VR NVL72, NVLink of a GPU": ("vr-nvl72", "3.6 TB/s", "the duplex figure of rubin", "3.6 TB/s duplex"),
    "DGX B200, NVLink of the system": (
        *("dgx-b200", "14.4 TB/s", "the duplex figure of the 8 accelerators of a node together", "1.8 TB/s duplex"),
    ),
    "MI300X, 7.2 TB/s Infinity Fabric of the board": (  # 8 x 896 GB/s is 7.168
        *("mi300x-ubb8", "7.2 TB/s", "the duplex figure of the 8 accelerators of a node together", "896 GB/s duplex"),
    ),
    "DGX H100, bisection of the system": (
        *("dgx-h100", "3.6 TB/s", "the one-way figure of the 8 accelerators of a node together"),
        "450 GB/s unidirectional",
    ),
    "GB200 NVL72, NVLink of the rack": (  # 72 x 1.8 TB/s is 129.6
        *("gb200-nvl72", "130 TB/s", "the duplex figure of the 72 accelerators of a domain together"),
        "1.8 TB/s duplex",
    ),
}


@pytest.mark.parametrize(("platform", "printed", "what", "right"), BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_a_bandwidth_without_direction_is_named(
    platform: str, printed: str, what: str, right: str, check: Check
) -> None:
    finding = found(check, platform, cluster=f"scale_up: {{bandwidth: {printed}}}")["missing-direction"]
    assert finding.message == f"`{printed}` does not say whether it counts one direction or both: it is {what}"
    assert finding.help == f"write `{right}`"


def test_without_a_known_machine_a_bandwidth_is_not_named_and_both_directions_are_offered(check: Check) -> None:
    finding = found(check, "another-system", cluster="scale_up: {bandwidth: 900 GB/s}")["missing-direction"]
    assert finding.message == "`900 GB/s` does not say whether it counts one direction or both"
    assert finding.help == "write `900 GB/s duplex` (both summed) or `900 GB/s unidirectional` (each way)"


def test_what_is_offered_is_accepted(check: Check) -> None:
    for platform, printed, _, right in BANDWIDTHS.values():
        rules = set(found(check, platform, cluster=f"scale_up: {{bandwidth: {right}}}"))
        wrong = {"missing-direction", "duplex-counted-as-one-way", "one-way-counted-as-duplex", "bandwidth-off-catalog"}
        assert not rules & wrong, (platform, printed)


@pytest.mark.parametrize(
    ("printed", "rule"),
    [
        ("1.8 TB/s unidirectional", "duplex-counted-as-one-way"),
        ("130 TB/s duplex", "bandwidth-of-another-scope"),
        ("100 GB/s duplex", "bandwidth-of-another-scope"),
    ],
)
def test_a_headline_with_the_wrong_words_is_found_by_its_rule(printed: str, rule: str, check: Check) -> None:
    assert rule in found(check, "gb200-nvl72", cluster=f"scale_up: {{bandwidth: {printed}}}")


SPARSE = "the peak of h100-sxm-80gb in bf16 with 2:4 sparsity, 989 TFLOP/s dense"
PEAKS = {  # the platform, what its sheet prints, the rule, what that is, and what to write
    "H100 in bf16": ("dgx-h100", "1979 TFLOPS", "missing-sparsity", f"it is {SPARSE}", "`1979 TFLOPS sparse`"),
    "the same with its comma": (
        *("dgx-h100", "1,979 TFLOPS", "unreadable-quantity", f"it is {SPARSE}", "`1979 TFLOPS sparse`"),
    ),
    "H100 in fp8": (
        *("dgx-h100", "3,958 TFLOPS", "unreadable-quantity"),
        *("it is the peak of h100-sxm-80gb in fp8 with 2:4 sparsity", "`989.4 TFLOP/s dense`"),
    ),
    "DGX H100 in fp8": (  # 8 x 3.958 is 31.7
        *("dgx-h100", "32 PFLOPS", "missing-sparsity"),
        *("it is the peak of the 8 accelerators of a node together in fp8 with 2:4 sparsity", "`989.4 TFLOP/s dense`"),
    ),
    "MI300X in bf16": (
        *("mi300x-ubb8", "2614.9 TFLOPS", "missing-sparsity"),
        *("it is the peak of mi300x in bf16 with 2:4 sparsity, 1.31 PFLOP/s dense", "`2614.9 TFLOPS sparse`"),
    ),
    "DGX B200, training": (  # 8 x 9 PFLOP/s, of fp8 with sparsity as of fp4 without
        *("dgx-b200", "72 PFLOPS", "missing-sparsity"),
        "it may be the peak of the 8 accelerators of a node together in fp4 dense "
        "or the peak of the 8 accelerators of a node together in fp8 with 2:4 sparsity",
        "`2.25 PFLOP/s dense`",
    ),
}


@pytest.mark.parametrize(("platform", "printed", "rule", "what", "right"), PEAKS.values(), ids=PEAKS)
def test_a_peak_without_sparsity_is_named(
    platform: str, printed: str, rule: str, what: str, right: str, check: Check
) -> None:
    finding = found(check, platform, workload=f"peak_flops: {printed}")[rule]
    assert finding.message.endswith(f": {what}")
    assert finding.help == f"write {right}"


def test_an_unknown_headline_offers_both_readings(check: Check) -> None:
    finding = found(check, "dgx-h100", workload="peak_flops: 700 TFLOPS")["missing-sparsity"]
    assert finding.help == "write `700 TFLOPS dense` or `700 TFLOPS sparse`"


def test_a_headline_of_an_accelerator_without_peaks_is_a_finding_alone(check: Check) -> None:
    """No peak is known of which `700 TFLOPS` could be the sparse or the dense figure."""
    text = SPEC.format(platform="dgx-h100", nodes=4, cluster="", workload="  peak_flops: 700 TFLOPS")
    unknown = text.replace("platform: dgx-h100", "accelerator: nobodys-accelerator")
    rules = {finding.rule for finding in check(unknown)}
    assert {"missing-sparsity", "unknown-catalog-id"} <= rules
