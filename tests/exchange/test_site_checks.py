"""Exported limits, read as the health checks read them: a machine fails just below a limit and passes just above."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
import yaml

from clusterspec import analysis
from clusterspec.cost.collectives.predict import collective_table
from clusterspec.exchange.exporters.registry import ExportInput, NotExportable, exporter_of
from clusterspec.report import measurement_text
from clusterspec.studies import study_text
from tests.analysis.jobs import study_of
from tests.effort import thorough
from tests.settings import SETTINGS

STATED = (
    "acceptance:\n"
    "  - {collective: all-reduce, nodes: 1, size: 16 GiB, busbw: 440 GB/s}\n"
    "  - {collective: all-gather, nodes: 2, size: 8 GiB, busbw: 320 GB/s, pass: 3 of 3}\n"
    "  - {collective: all-reduce, nodes: 16, size: 16 GiB, busbw: 330 GB/s}\n"
)
NHC = "check_nccl_allreduce"
H100 = "{platform: dgx-h100, nodes: 16}"
MI300X = (
    "{accelerator: mi300x, accelerators_per_node: 8, nodes: 16, "
    "scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, nic: NIC}}"
)


def source(cluster: str, rest: str = "") -> ExportInput:
    return ExportInput(study_text(f"clusterspec: 1\nname: pod\ncluster: {cluster}\n{rest}", SETTINGS).design)


def content(kind: str, design: ExportInput) -> str:
    written = exporter_of(kind).write(design).content
    assert isinstance(written, str)
    return written


def superbench_passes(text: str, operation: str, nodes: int, size: int, busbw: float) -> bool:
    """As ``RuleBase._get_metrics`` finds metrics and ``RuleOp.value`` judges them, in GB/s."""
    rules = yaml.safe_load(text)["superbench"]["rules"]
    annotation = f"{operation}-{nodes}-node" + ("s" if nodes > 1 else "")
    judged = []
    for rule in rules.values():
        assert set(rule) == {"function", "criteria", "categories", "metrics"}
        assert rule["function"] == "value"
        criterion: Callable[[float], bool] = eval(rule["criteria"])
        assert isinstance(criterion(0), bool)
        for metric in (f"{operation}_{size}_busbw:0", f"{operation}_0_1:{size}_busbw"):
            found = [each for each in rule["metrics"] if re.search(each, f"nccl-bw:{annotation}/{metric}")]
            judged += [not criterion(busbw) for _ in found]
    assert len(judged) == 2, "the metric with and without a pattern of hosts"
    return all(judged)


def cvs_passes(text: str, nic: str, key: str, size: int, busbw: float) -> bool:
    """As ``rccl_perf`` looks an expectation up and ``check_bus_bw`` judges it."""
    parameters = json.loads(text)["rccl"]["cvs_params"]
    assert re.search("True", parameters["verify_bus_bw"], re.IGNORECASE)
    assert parameters["nic_model"] == nic
    return busbw >= float(parameters["results"][nic][key][str(size)]["bus_bw"]) * 0.95


def nhc_passes(text: str, check: str, busbw: float, size: int = 16 << 30) -> bool:
    """As node health checks split a line, and the check reads its arguments."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"\s*\*\s*\|\|\s*\w+( \S+)+", line) for line in lines)
    words = next(line.split("||")[1].split() for line in lines if check in line)
    assert words[2:] == ["1", str(size)]
    return busbw >= float(words[1])


DURATION = {"type": "string", "pattern": "^([0-9]+(h|m|s|ms))+$"}
OPTIONS = {
    "nodesPerJob": {"type": "integer", "minimum": 1},
    "gpusPerNode": {"type": "integer", "minimum": 1},
    "enableMNNVL": {"type": "boolean"},
    "repeatCount": {"type": "integer", "minimum": 1},
    "testScale": {"enum": ["intra-node", "intra-rack", "diagnose", "full-scale"]},
    "maxBytes": {"type": "string", "pattern": "^[0-9]+(K|M|G|T)?$"},
    "thresholds": {"type": "object", "additionalProperties": {"type": "string"}},
    "timeoutPerJob": DURATION,
}
CATEGORY = {
    "type": "object",
    "required": ["domain", "variant"],
    "additionalProperties": False,
    "properties": {
        "domain": {"const": "communication"},
        "variant": {"enum": ["nccl-all-reduce", "nccl-all-gather", "nccl-alltoall"]},
        "options": {"type": "object", "additionalProperties": False, "properties": OPTIONS},
    },
}
CERTIFICATION = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "nvcre.nvidia.com/v1alpha1"},
        "kind": {"const": "Certification"},
        "spec": {
            "type": "object",
            "required": ["target", "categories"],
            "additionalProperties": False,
            "properties": {
                **OPTIONS,
                "target": {"type": "object", "required": ["nodeSelector"]},
                "categories": {"type": "array", "minItems": 1, "maxItems": 64, "items": CATEGORY},
            },
        },
    },
}
"""Part of the Go types of the Cluster Readiness Engine."""


def readiness_passes(text: str, variant: str, nodes: int, busbw: float) -> bool:
    document = yaml.safe_load(text)
    jsonschema.validate(document, CERTIFICATION)
    for category in document["spec"]["categories"]:
        options: dict[str, Any] = category["options"]
        on = 1 if options.get("testScale") == "intra-node" else options["nodesPerJob"]
        if (category["variant"], on) == (variant, nodes):
            limit = re.fullmatch(r"value >= ([0-9.]+)", options["thresholds"]["busBandwidthGBps"])
            return limit is not None and busbw >= float(limit[1])
    raise AssertionError(f"no category {variant} on {nodes} nodes")


def aicr_passes(text: str, busbw: float) -> bool:
    """As ``parseThreshold`` strips operator and unit; the validator passes 90 %."""
    document = yaml.safe_load(text)
    assert (document["kind"], document["apiVersion"]) == ("RecipeMetadata", "aicr.run/v1beta1")
    assert set(document["spec"]) <= {"base", "criteria", "constraints", "componentRefs", "validation"}
    performance = document["spec"]["validation"]["performance"]
    (constraint,) = performance["constraints"]
    assert performance["checks"] == [constraint["name"]] == ["nccl-all-reduce-bw"]
    return busbw >= float(constraint["value"].strip().lstrip("><=! ").split(" ")[0]) * 0.9


def scanner_passes(text: str, busbw: float) -> bool:
    """As ``process_test_result`` compares whole GB/s."""
    values = yaml.safe_load(text)["health_check"]["env"]
    assert all(isinstance(value, str) for value in values.values()), "the chart takes strings"
    assert (values["BENCHMARK"], values["NHOSTS"], values["nr"]) == ("all_gather_perf", "2", "8")
    assert values["START_MESSAGE_SIZE"] == values["END_MESSAGE_SIZE"] == str(8 << 30)
    return int(busbw) >= int(values["BANDWIDTH_THRESHOLD"])


@thorough
def test_a_machine_fails_just_below_a_stated_limit_and_passes_just_above() -> None:
    design = source(H100, STATED)
    of_amd = {nic: source(MI300X.replace("NIC", nic), STATED) for nic in ("pollara-400", "connectx-7")}
    big = 16 << 30
    judges: list[tuple[float, Callable[[float], bool]]] = [
        (440, lambda rate: superbench_passes(content("superbench", design), "allreduce", 1, big, rate)),
        (330, lambda rate: superbench_passes(content("superbench", design), "allreduce", 16, big, rate)),
        (440, lambda rate: nhc_passes(content("azure-nhc", design), "check_nccl_allreduce", rate)),
        (440, lambda rate: nhc_passes(content("azure-nhc", of_amd["connectx-7"]), "check_rccl_allreduce", rate)),
        (440, lambda rate: readiness_passes(content("nvcre", design), "nccl-all-reduce", 1, rate)),
        (320, lambda rate: readiness_passes(content("nvcre", design), "nccl-all-gather", 2, rate)),
        (330, lambda rate: aicr_passes(content("aicr", design), rate)),
        (320, lambda rate: scanner_passes(content("health-scanner", design), rate)),
        *(
            (330, lambda rate, nic=nic, name=name: cvs_passes(
                content("cvs", of_amd[nic]), name, "all_reduce_perf-float-128", big, rate
            ))
            for nic, name in (("pollara-400", "ainic"), ("connectx-7", "connectx"))
        ),
    ]  # fmt: skip
    for number, (limit, passes) in enumerate(judges):
        assert (passes(limit * 0.995), passes(limit * 1.005)) == (False, True), number


@pytest.mark.parametrize(
    "stated", ["", "acceptance: [{collective: all-reduce, nodes: 8, size: 16 GiB, busbw: 330 GB/s}]\n"]
)
def test_a_limit_that_is_not_stated_is_the_slow_end_of_the_prediction_on_its_nodes(stated: str) -> None:
    """A pair of nodes for the scanner, one node for the node check, all nodes for AICR."""
    design = source(H100, stated)

    def predicted(collective: str, ranks: int, size: int) -> float:
        return collective_table(design.cluster, collective, ranks, (float(size),))[0].lowest_busbw / 1e9

    values = yaml.safe_load(content("health-scanner", design))["health_check"]["env"]
    assert int(values["BANDWIDTH_THRESHOLD"]) == int(predicted("all-gather", 16, 8 << 30))
    judges: list[tuple[float, Callable[[float], bool]]] = [
        (
            predicted("all-reduce", 8, 8 << 30),
            lambda rate: nhc_passes(content("azure-nhc", design), NHC, rate, 8 << 30),
        ),
        (predicted("all-reduce", 128, 16 << 30), lambda rate: aicr_passes(content("aicr", design), rate)),
    ]
    for number, (limit, passes) in enumerate(judges):
        assert (passes(limit * 0.99), passes(limit * 1.01)) == (False, True), number


def test_the_largest_stated_size_sets_the_limit_of_a_tool_that_takes_one() -> None:
    line = "  - {{collective: all-gather, nodes: 2, size: {} GiB, busbw: {} GB/s}}\n"
    for sizes in ((4, 8), (8, 4)):
        text = "acceptance:\n" + "".join(line.format(size, 40 * size) for size in sizes)
        assert [scanner_passes(content("health-scanner", source(H100, text)), rate) for rate in (319, 320)] == [
            False,
            True,
        ]


def test_a_limit_without_a_measurement_says_so() -> None:
    """On 800 Gb/s nothing was measured; with a measurement of the spec, or a stated limit, nothing is said."""
    for kind in ("superbench", "nvcre", "health-scanner"):
        new = exporter_of(kind).write(source("{platform: dgx-b300, nodes: 16}"))
        assert "nothing was measured for this limit" in str(new.content)
        assert any("NICs of 800 Gb/s on InfiniBand XDR" in line for line in new.omitted), kind
        for known in (
            source(H100),
            source("{platform: dgx-b300, nodes: 16}", STATED),
            source(
                "{platform: dgx-b300, nodes: 16}",
                "measured: [{collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 600 GB/s}]\n",
            ),
        ):
            assert "nothing was measured" not in str(exporter_of(kind).write(known).content), kind


def test_a_tool_of_another_vendor_or_scale_is_refused() -> None:
    for kind, cluster, why in (
        ("cvs", H100, "is for accelerators of AMD"),
        ("nvcre", MI300X.replace("nic: NIC", ""), "is for accelerators of NVIDIA"),
        ("aicr", "{platform: dgx-b300, nodes: 16}", "no criterion for"),
        ("aicr", "{platform: dgx-h100, nodes: 1}", "two nodes and more"),
        ("health-scanner", "{platform: dgx-h100, nodes: 1}", "pairs of nodes"),
    ):
        with pytest.raises(NotExportable, match=why):
            exporter_of(kind).write(source(cluster))
    assert "nccl-all-reduce-bw" in content("aicr", source("{platform: dgx-h100, nodes: 2}"))


def test_aicr_gets_the_check_that_its_validator_runs() -> None:
    """By ``supportedNCCLCombinations``: the default check or that of NVLink over nodes; others are skipped."""
    for platform, service, name, skipped in (
        ("aws-p5-48xlarge", "eks", "nccl-all-reduce-bw", False),
        ("aws-p6e-gb200-36xlarge", "eks", "nccl-all-reduce-bw-nvls", False),
        ("oci-bm-gpu-gb200-4", "oke", "nccl-all-reduce-bw-nvls", False),
        ("gb300-nvl72", "generic", "nccl-all-reduce-bw-nvls", False),
        ("gb200-nvl72", None, "nccl-all-reduce-bw", False),
        ("aws-p6e-gb300-36xlarge", "eks", "nccl-all-reduce-bw-nvls", True),
        ("aws-p6-b200-48xlarge", "eks", "nccl-all-reduce-bw", True),
    ):
        file = exporter_of("aicr").write(source(f"{{platform: {platform}, nodes: 8}}"))
        spec = yaml.safe_load(file.content)["spec"]
        assert spec["criteria"].get("service") == service, platform
        performance = spec["validation"]["performance"]
        assert performance["checks"] == [each["name"] for each in performance["constraints"]] == [name], platform
        assert any("the validator skips" in line for line in file.omitted) == skipped, platform


def test_cvs_gets_only_sizes_that_its_sweep_reaches() -> None:
    """From 2 GiB on, doubled: 4, 8 and 16 GiB, but never 3 GiB, whose limit would pass unseen."""
    sizes = "".join(
        f"  - {{collective: all-reduce, nodes: 16, size: {size} GiB, busbw: 300 GB/s}}\n" for size in (2, 3, 16)
    )
    file = exporter_of("cvs").write(source(MI300X.replace("NIC", "connectx-7"), f"acceptance:\n{sizes}"))
    document = json.loads(file.content)["rccl"]
    tested, last = (
        int(document["rccl_test_params"]["start_msg_size"]),
        int(document["rccl_test_params"]["end_msg_size"]),
    )
    swept = {str(tested << times) for times in range(40) if tested << times <= last}
    (limits,) = document["cvs_params"]["results"]["connectx"].values()
    assert set(limits) == {str(2 << 30), str(16 << 30)} <= swept
    assert [line for line in file.omitted if "3 GiB" in line]


def test_predictions_without_a_measurement_say_so_wherever_they_are_printed() -> None:
    fast = "cluster: {platform: hgx-b300, nodes: 4, scale_out: {technology: infiniband-xdr, nic_bandwidth: 800 Gb/s}}\n"
    usual = "cluster: {platform: dgx-h100, nodes: 4}\n"
    for text, missing in ((fast, True), (usual, False)):
        study = study_of(text)
        report = analysis.collective(study, "all-reduce", 32, (2.0**33,))
        assert ("NICs of 800 Gb/s" in report.unmeasured) == missing
        assert ("Nothing was measured" in " ".join(measurement_text.collective_text(report).split())) == missing
        accepted, _ = analysis.accept(study, ())
        assert bool(accepted.unmeasured) == missing
        assert ("weak evidence" in measurement_text.acceptance_as_text(accepted)) == missing


def test_a_group_over_nodes_never_reaches_the_ceiling_of_its_links() -> None:
    for platform in ("gaudi2-hls", "gaudi3-hls", "mi300x-ubb8", "dgx-h100", "dgx-b200"):
        for name in ("all-reduce", "all-gather"):
            study = study_of(f"cluster: {{platform: {platform}, nodes: 4}}\n")
            row = analysis.collective(study, name, 32, (2.0**33,)).rows[0]
            assert row.busbw < 0.99 * row.ceiling_busbw, (platform, name)


def test_alerts_have_the_keys_of_rule_files_and_the_counts_of_the_design() -> None:
    """64 nodes and 2 spares of eight H100 of 700 W, capped at 650 W, with eight ports of 400 Gb/s, 50 GB/s."""
    design = "{platform: dgx-h100, nodes: 64, spare_nodes: 2, power: {accelerator_cap: 650 W}}"
    (group,) = yaml.safe_load(content("prometheus", source(design)))["groups"]
    assert set(group) == {"name", "rules"}
    assert all(set(each) == {"alert", "expr", "for", "labels", "annotations"} for each in group["rules"])
    ports = "node_infiniband_rate_bytes_per_second >= 5e+10 and node_infiniband_state_id == 4"
    assert {each["alert"]: each["expr"] for each in group["rules"]} == {
        "NodesOfJobMissing": "(count(count by (instance) (DCGM_FI_DEV_GPU_TEMP)) or vector(0)) < 64",
        "NodesMissing": "(count(count by (instance) (DCGM_FI_DEV_GPU_TEMP)) or vector(0)) < 66",
        "AcceleratorsMissing": "count by (instance) (DCGM_FI_DEV_GPU_TEMP) < 8",
        "AcceleratorAbovePower": "DCGM_FI_DEV_POWER_USAGE > 650",
        "PortsBelowRate": f"(count by (instance) ({ports}) or 0 * count by (instance) (node_infiniband_state_id)) < 8",
    }
    with pytest.raises(NotExportable, match="dcgm-exporter"):
        content("prometheus", source(MI300X))


ONE = "acceptance:\n  - {{collective: all-reduce, nodes: {}, size: 16 GiB, busbw: 300 GB/s, {}}}\n"


@pytest.mark.parametrize(
    ("kind", "nodes", "demand", "told"),
    [
        ("superbench", 2, "pass: 4 of 5", "4 of 5 runs"),
        ("superbench", 2, "scope: every-2-nodes", "each of 8 sets of 2 nodes"),
        ("superbench", 1, "scope: every-1-nodes", ""),  # each node has a result of its own
        ("superbench", 2, "algorithm: ring", "the algorithm ring"),
        ("superbench", 2, "pass: 1 of 1", ""),
        ("nvcre", 2, "pass: 5 of 5", ""),  # repeatCount
        ("nvcre", 2, "pass: 4 of 5", "4 of 5 runs"),
        ("nvcre", 2, "scope: every-2-nodes", ""),  # a job for each set of nodesPerJob
        ("nvcre", 2, "duration: 1 h", "a test for 1 h"),
        ("azure-nhc", 1, "pass: 5 of 5", "5 of 5 runs"),
        ("aicr", 16, "pass: 5 of 5, duration: 2 h", "5 of 5 runs, a test for 2 h"),
        ("health-scanner", 2, "scope: every-2-nodes, pass: 3 of 3", "3 of 3 runs"),
    ],
)
def test_what_a_test_demands_besides_one_run_is_written_or_named(kind: str, nodes: int, demand: str, told: str) -> None:
    omitted = exporter_of(kind).write(source(H100, ONE.format(nodes, demand))).omitted
    named = [each.partition(": one run, where the spec demands ")[2] for each in omitted if "one run" in each]
    assert named == ([told] if told else [])
