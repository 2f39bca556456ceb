"""What is exported can be imported: the same layout, topology and bill; and what a format cannot hold is named."""

from __future__ import annotations

import csv
import io
import json
import re
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from clusterspec.exchange.exporters.fabric import fabric_links
from clusterspec.exchange.exporters.registry import EXPORTERS, ExportInput, NotExportable, exporter_of
from clusterspec.exchange.import_result import ImportResult
from clusterspec.exchange.merge import new_spec
from clusterspec.studies.study import study_text
from tests.cli.conftest import Call, call  # noqa: F401
from tests.exchange.imports import counts, given, read
from tests.settings import SETTINGS

FABRIC = "scale_out: {{topology: {0}, switch: quantum-2-qm9700, extra_endpoints: {1}}}"
WORK = "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}\n"


def source(cluster: str, rest: str = "") -> ExportInput:
    study = study_text(f"clusterspec: 1\nname: pod\ncluster: {{{cluster}}}\n{rest}", SETTINGS)
    return ExportInput(study.design)


def pod(
    nodes: int = 64, topology: str = "rail-optimized", extra: int = 0, more: str = "", rest: str = ""
) -> ExportInput:
    return source(f"platform: dgx-h100, nodes: {nodes}, {FABRIC.format(topology, extra)}{more}", rest)


def exported(name: str, design: ExportInput) -> str:
    content = exporter_of(name).write(design).content
    assert isinstance(content, str)
    return content


def imported(name: str, kind: str, design: ExportInput) -> ImportResult:
    return read(exported(name, design).encode(), kind)


LAYOUTS = [
    "{tp: 4, pp: 4, cp: 2, virtual_stages: 5, micro_batch: 1}",
    "{tp: 8, pp: 2, micro_batch: 2, recompute: full, sequence_parallel: true}",
    "{tp: 2, sharding: fsdp, recompute: selective}",
    "{tp: 1, sharding: none}",
]
KEYS = ("tp", "pp", "cp", "ep", "micro_batch", "sharding", "recompute", "virtual_stages", "sequence_parallel")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_megatron_arguments_come_back_as_the_same_layout(layout: str) -> None:
    before = pod(rest=f"{WORK}layout: {layout}\n")
    reading = imported("megatron", "auto", before)
    after = study_text(
        new_spec(reading).replace("cluster: {}", "cluster: {platform: dgx-h100, nodes: 64}"), SETTINGS
    ).design
    assert after.layout is not None
    assert {key: getattr(after.layout, key) for key in KEYS} == {key: getattr(before.layout, key) for key in KEYS}
    assert after.layout.dp == before.layout.dp
    assert after.workload is not None
    assert (after.workload.global_batch, after.workload.sequence_length) == (512, 8192)
    assert counts(reading)["parameters"] == 70_553_706_496


def test_the_experts_of_a_model_come_back_from_megatron() -> None:
    work = "workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 2048}\n"
    reading = imported("megatron", "auto", pod(128, rest=f"{work}layout: {{tp: 1, pp: 16, ep: 64}}\n"))
    keys = given(reading)
    assert (keys["layout.ep"], keys["workload.model.experts"], keys["workload.model.moe_layers"]) == (64, 256, 58)
    assert counts(reading)["parameters"] == pytest.approx(671.026e9, rel=1e-4)


@pytest.mark.parametrize("layout", ["{tp: 8, sharding: fsdp}", "{tp: 4, pp: 4, sharding: hsdp, shard_group: 8}"])
def test_torchtitan_comes_back_as_the_same_layout(layout: str) -> None:
    before = pod(rest=f"{WORK}layout: {layout}\n")
    text = exported("torchtitan", before)
    assert tomllib.loads(text)["model"] == {"name": "llama3", "flavor": "70B"}
    keys = given(read(text.encode(), "auto"))
    assert keys["workload.model"] == "llama-3.1-70b"
    for key in ("tp", "pp", "cp", "micro_batch", "sharding", "dp", "recompute"):
        assert keys[f"layout.{key}"] == getattr(before.layout, key), key


def test_deepspeed_and_maxtext_come_back() -> None:
    before = pod(rest=f"{WORK}layout: {{tp: 4, pp: 2, sharding: fsdp, offload: {{optimizer: 0.5}}}}\n")
    config = json.loads(exported("deepspeed", before))
    assert config["train_batch_size"] == 512
    steps = config["gradient_accumulation_steps"]
    assert steps * config["train_micro_batch_size_per_gpu"] * before.layout.dp == 512
    keys = given(imported("deepspeed", "auto", before))
    assert (keys["layout.sharding"], keys["layout.offload.optimizer"], keys["workload.global_batch"]) == (
        "fsdp",
        0.5,
        512,
    )
    assert "tp 4" in exporter_of("deepspeed").write(before).omitted[0]
    reading = imported("maxtext", "auto", before)
    assert (given(reading)["layout.tp"], given(reading)["layout.pp"]) == (4, 2)
    assert counts(reading)["parameters"] == 70_553_706_496


def test_vllm_comes_back() -> None:
    requests = "serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 64}"
    serving = f"workload: {{kind: serve, model: deepseek-v3, kv_precision: fp8, {requests}}}\n"
    before = pod(2, rest=f"{serving}layout: {{framework: vllm, tp: 1, attention_dp: 16, ep: 16}}\n")
    keys = given(imported("vllm", "auto", before))
    assert (keys["layout.tp"], keys["layout.attention_dp"], keys["layout.ep"]) == (1, 16, 16)
    assert (keys["workload.model"], keys["workload.kv_precision"]) == ("deepseek-v3", "fp8")


TREES = [
    (64, "rail-optimized", 0, ""),
    (63, "rail-optimized", 4, ""),
    (32, "fat-tree", 0, ""),
    (60, "fat-tree", 3, ", spare_nodes: 4"),
    (512, "rail-optimized", 0, ""),
    (300, "fat-tree", 0, ""),
    (400, "rail-optimized", 0, ""),  # 13 pods of 8 spines, 52 cores: two groups of cores share 13
]


@pytest.mark.parametrize(("nodes", "topology", "extra", "more"), TREES)
def test_the_wiring_has_as_many_links_as_the_bill_and_no_port_twice(
    nodes: int, topology: str, extra: int, more: str
) -> None:
    design = pod(nodes, topology, extra, more)
    found = list(fabric_links(design))
    assert Counter(link.level for link in found) == Counter({k: v for k, v in design.fabric.links.items() if v})
    ends = [end for link in found for end in (link.low, link.high)]
    ports = Counter((end.device, end.port) for end in ends)
    assert set(ports.values()) == {1}
    switches = {end.device: 0 for end in ends if end.kind in {"leaf", "spine", "core"}}
    for end in ends:
        if end.device in switches:
            switches[end.device] += 1
    assert max(switches.values()) <= 64
    kinds = Counter(name.rstrip("0123456789") for name in switches)
    fabric = design.fabric
    assert (kinds["leaf"], kinds["spine"], kinds["core"]) == (
        fabric.leaf_switches,
        fabric.spine_switches,
        fabric.core_switches,
    )


@pytest.mark.parametrize("nodes", [64, 512])
def test_nics_of_a_rail_share_leaves_with_no_other_rail(nodes: int) -> None:
    rails: dict[str, set[int]] = {}
    for link in fabric_links(pod(nodes)):
        if link.level == "node_leaf":
            rails.setdefault(link.high.device, set()).add(link.low.port)
    assert all(len(found) == 1 for found in rails.values())


@pytest.mark.parametrize(("nodes", "topology", "extra", "more"), TREES)
def test_an_infragraph_comes_back_as_the_same_topology_and_bill(
    nodes: int, topology: str, extra: int, more: str
) -> None:
    before = pod(nodes, topology, extra, more)
    text = new_spec(imported("infragraph", "infragraph", before))
    spec = text.replace("cluster:\n", "cluster:\n  platform: dgx-h100\n", 1)
    after = ExportInput(study_text(spec, SETTINGS).design)
    wanted, found = before.fabric, after.fabric
    for name in ("tiers", "leaf_switches", "spine_switches", "core_switches", "links", "cables", "switch_ports"):
        assert getattr(found, name) == getattr(wanted, name), name
    assert after.cluster.nodes == nodes
    assert after.cluster.spare_nodes == before.cluster.spare_nodes
    assert dict(found.stated)["leaf_switches"] == wanted.leaf_switches


def test_a_bill_comes_back_from_csv_and_xlsx() -> None:
    pytest.importorskip("openpyxl")
    money = "procurement: {currency: USD, prices: {node: 310000, leaf_switch: 36000.5, cable: 900}}\n"
    design = pod(rest=money)
    content = exporter_of("bom-xlsx").write(design).content
    assert isinstance(content, bytes)
    readings = [imported("bom-csv", "auto", design), read(content, "auto", "bill.xlsx")]
    for reading in readings:
        lines = [each.value for each in reading.given if each.appended]
        assert [(line["quantity"], line.get("price")) for line in lines] == [  # type: ignore[index, union-attr, call-overload]
            (item.quantity, item.price.price if item.price else None) for item in design.bill.items
        ]
        assert lines[0] == {"part": "node", "quantity": 64, "unit_price": 310000, "price": 19840000}
        assert given(reading)["procurement.currency"] == "USD"


def test_a_spreadsheet_does_not_hold_the_time_of_its_making() -> None:
    pytest.importorskip("openpyxl")
    content = exporter_of("bom-xlsx").write(pod()).content
    assert isinstance(content, bytes)
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert re.search(rb"\d{4}-\d\d-\d\d", parts.read("docProps/core.xml")) is None
    assert exporter_of("bom-xlsx").write(pod()).content == content


def test_a_scheduler_gets_every_working_node_once() -> None:
    reading = imported("slurm-topology", "auto", pod(64, more=", spare_nodes: 4"))
    assert given(reading) == {"cluster.nodes": 64}
    assert counts(reading)["nodes_per_leaf"] == 32
    rack = source("platform: gb200-nvl72, nodes: 36")
    blocks = imported("slurm-topology", "auto", rack)
    assert (counts(blocks)["blocks"], counts(blocks)["nodes_per_block"]) == (2, 18)
    assert counts(imported("kueue-topology", "auto", pod()))["levels"] == 2


def test_cabling_states_rails_racks_and_length_classes() -> None:
    text = exported("cabling", pod(more=", power: {nodes_per_rack: 4}"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 64 * 8 + 512
    first = rows[0]
    assert (first["from_device"], first["from_rack"], first["rail"], first["length_class"]) == (
        "node0001",
        "rack001",
        "1",
        "one-row",
    )
    assert first["rate"] == "400 Gb/s"
    assert exporter_of("cabling").write(pod()).omitted


def test_the_environment_gives_a_reason_for_every_variable() -> None:
    lines = exported("nccl-env", pod()).splitlines()
    for at, line in enumerate(lines):
        if line.startswith("export "):
            assert lines[at - 1].startswith("# ")
    assert "export NCCL_NET=IB" in lines
    efa = exported("nccl-env", source("platform: aws-p5-48xlarge, nodes: 4"))
    assert 'export NCCL_NET="AWS Libfabric"' in efa
    assert "NCCL_IB_HCA" not in efa


@pytest.mark.parametrize("kind", ["sbatch", "mpirun", "mpijob"])
def test_acceptance_scripts_run_the_tests_of_the_plan(kind: str) -> None:
    test = "collective: all-to-all, nodes: 4, size: 2 GiB, busbw: 40 GB/s, pass: 3 of 3, algorithm: ring"
    plan = f"acceptance:\n  - {{{test}}}\n"
    text = exported(kind, pod(rest=plan))
    assert "alltoall_perf -b 8388608 -e 2147483648 -f 2" in text
    assert "at least 40 GB/s" in text
    assert "NCCL_ALGO=Ring" in text
    if kind == "mpijob":
        reading = read(text.encode(), "auto")
        assert given(reading)["layout.nodes"] == 4
        assert counts(reading)["ranks"] == 32
    else:
        assert "seq 1 3" in text


def test_a_tender_holds_no_price() -> None:
    text = exported("rfp", pod(rest="procurement: {currency: USD, prices: {node: 310000}, budget: 25000000}\n"))
    assert "64 nodes" in text
    assert "310" not in text.replace("331", "")
    assert "25000000" not in text
    assert "USD" not in text


def test_no_cell_is_a_formula() -> None:
    design = source(
        "accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 2, "
        "scale_out: {technology: infiniband-ndr, switch_ports: 64}"
    )
    rows = list(csv.reader(io.StringIO(exported("bom-csv", design))))
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    from clusterspec.exchange.exporters.registry import csv_table

    assert csv_table(("part",), [("=HYPERLINK(1)",), ("@x",), (-5,)]) == "part\n'=HYPERLINK(1)\n'@x\n-5\n"


@pytest.mark.parametrize("kind", [each.name for each in EXPORTERS])
def test_a_design_that_lacks_what_a_format_needs_is_one_line(kind: str, call: Call) -> None:  # noqa: F811
    Path("bare.yaml").write_text("clusterspec: 1\ncluster: {nodes: 4}\n")
    done = call("export", kind, "bare.yaml")
    assert done.status in (1, 2)
    if done.status == 2:
        assert len(done.error.splitlines()) == 1
        assert done.out == ""


def test_the_command_writes_files_and_names_what_is_lost(call: Call) -> None:  # noqa: F811
    Path("spec.yaml").write_text(
        f"clusterspec: 1\nname: pod\ncluster: {{platform: dgx-h100, nodes: 4, {FABRIC.format('rail-optimized', 0)}}}\n"
    )
    pytest.importorskip("openpyxl")
    done = call("export", "bom-xlsx", "spec.yaml", "-o", "bill.xlsx")
    assert (done.status, done.out) == (0, "")
    assert Path("bill.xlsx").read_bytes().startswith(b"PK")
    kueue = call("export", "kueue", "spec.yaml")
    assert "omits counts of nodes" in kueue.error
    for words in (("export",), ("export", "nonsense", "spec.yaml"), ("export", "rfp", "none.yaml")):
        wrong = call(*words)
        assert (wrong.status, wrong.out, len(wrong.error.splitlines())) == (2, "", 1)
    listed = call("export", "--list").out
    assert all(each.name in listed for each in EXPORTERS)


def test_an_unknown_kind_offers_the_nearest() -> None:
    with pytest.raises(NotExportable, match="did you mean infragraph"):
        exporter_of("infragrph")
