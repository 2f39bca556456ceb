"""Systems of Calculon and aiconfigurator, and networks of ASTRA-sim: units, directions, what is refused or left out."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from clusterspec.exchange.exporters.registry import ExportInput, NotExportable, exporter_of
from clusterspec.studies import study_text
from tests.exchange.imports import counts, given, read
from tests.settings import SETTINGS

POD = "platform: dgx-h100, nodes: 32, scale_out: {topology: rail-optimized, switch: quantum-2-qm9700}"
RACKS = "platform: gb200-nvl72, nodes: 36"
MESH = "platform: mi300x-ubb8, nodes: 4"
TORUS = "accelerator: tpu-v4, nodes: 16, accelerators_per_node: 4, scale_up: {domain: 64}"


def source(cluster: str) -> ExportInput:
    return ExportInput(study_text(f"clusterspec: 1\nname: pod\ncluster: {{{cluster}}}\n", SETTINGS).design)


def omitted(kind: str, cluster: str) -> str:
    return "\n".join(exporter_of(kind).write(source(cluster)).omitted)


def written(kind: str, cluster: str) -> str:
    content = exporter_of(kind).write(source(cluster)).content
    assert isinstance(content, str)
    return content


def system(cluster: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(written("calculon", cluster))
    return loaded


def network(cluster: str) -> dict[str, list[Any]]:
    loaded: dict[str, list[Any]] = yaml.safe_load(written("astra-sim", cluster))
    return loaded


def planner(cluster: str, rest: str = "") -> dict[str, Any]:
    text = f"clusterspec: 1\nname: pod\ncluster: {{{cluster}}}\n{rest}"
    content = exporter_of("aiconfigurator").write(ExportInput(study_text(text, SETTINGS).design)).content
    loaded: dict[str, Any] = yaml.safe_load(content)
    return loaded


def seconds(network: dict[str, Any], operation: str, size: float, ranks: int) -> float:
    """The time of an operation by the formula of Calculon's networks, without its latency."""
    scalar, offset = network["ops"][operation]
    sent = size * scalar * (1 + (offset or 0) / ranks)
    return float(sent / (network["bandwidth"] * 1e9 * network["efficiency"]))


def test_a_system_has_the_dense_rates_and_memory_of_one_accelerator() -> None:
    """An H100: 989.4 dense TFLOP/s of which 0.803 x 0.9 is sustained, 81,559 MiB, 3,350 GB/s, no stated host memory."""
    pod = system(POD)
    assert pod["matrix"]["bfloat16"] == {"tflops": 989.4, "gflops_efficiency": [[0, 0.7227]]}
    assert pod["matrix"]["float8"]["tflops"] == 1978.9
    assert pod["vector"]["bfloat16"]["tflops"] == 66.9
    assert set(pod["matrix"]) == set(pod["vector"]) == {"float8", "float16", "bfloat16"}
    assert pod["mem1"]["GiB"] == pytest.approx(81_559 / 1024)
    assert (pod["mem1"]["GBps"], pod["mem2"]["GiB"]) == (3350, 0)
    assert "second memory" in omitted("calculon", POD)


def test_the_host_memory_of_a_node_is_shared_by_its_accelerators() -> None:
    """2 TiB over 8 accelerators; 16 lanes of 32 GT/s after 128b/130b are 63 GB/s per direction."""
    second = system(f"{POD}, host_memory: 2 TiB")["mem2"]
    assert second["GiB"] == 256
    assert second["GBps"] == pytest.approx(16 * 32 / 8 * 128 / 130)


@pytest.mark.parametrize(("cluster", "rates"), [(POD, [450, 50]), (RACKS, [900, 50]), (MESH, [448, 50])])
def test_a_bandwidth_of_calculon_is_that_of_an_accelerator_in_one_direction(cluster: str, rates: list[float]) -> None:
    assert [each["bandwidth"] for each in system(cluster)["networks"]] == rates


@pytest.mark.parametrize(("cluster", "sizes"), [(POD, [8, 256]), (RACKS, [72, 144]), (MESH, [8, 32])])
def test_the_near_network_holds_a_domain_and_the_far_one_all_accelerators(cluster: str, sizes: list[int]) -> None:
    networks = system(cluster)["networks"]
    assert [each["size"] for each in networks] == sizes
    assert [each["must_be_filled"] for each in networks] == [True, False]


def test_operations_send_what_their_algorithms_send() -> None:
    """1 GB: rings of 8 H100 at 0.815 of 450 GB/s, switches that reduce 9/8 of it at 0.69, NICs at 0.965 of 50 GB/s."""
    near, far = system(POD)["networks"]
    assert seconds(near, "all_gather", 1e9, 8) == pytest.approx(7 / 8 / (450 * 0.815))
    assert seconds(near, "all_reduce", 1e9, 8) == pytest.approx(9 / 8 / (450 * 0.69), rel=1e-5)
    assert seconds(near, "p2p", 1e9, 2) == pytest.approx(1 / (450 * 0.815))
    assert seconds(far, "all_reduce", 1e9, 32) == pytest.approx(2 * 31 / 32 / (50 * 0.965))
    assert seconds(far, "reduce_scatter", 1e9, 32) == pytest.approx(31 / 32 / (50 * 0.965))


def test_a_pair_of_a_mesh_has_one_of_its_links() -> None:
    """One of seven links of an MI300X, 64 of 448 GB/s."""
    near = system(MESH)["networks"][0]
    assert seconds(near, "p2p", 1e9, 2) == pytest.approx(1 / (64 * near["efficiency"]))
    assert near["ops"]["all_reduce"] == [2.0, -1]


def test_the_latency_of_calculon_is_that_of_one_message_in_seconds() -> None:
    """4.9 us before the first hop of NVLink 4, then 0.81 us inside a node or 2.7 us over InfiniBand."""
    near, far = system(POD)["networks"]
    assert near["latency"] == pytest.approx(5.71e-6)
    assert far["latency"] == pytest.approx(7.6e-6)


@pytest.mark.parametrize(
    ("cluster", "blocks", "npus", "rates"),
    [
        (POD, ["Switch", "Switch"], [8, 32], [450, 50]),
        (RACKS, ["Switch", "Switch"], [72, 2], [900, 50]),
        (MESH, ["FullyConnected", "Switch"], [8, 4], [64, 50]),
        (TORUS, ["Ring", "Ring", "Ring"], [4, 4, 4], [50, 50, 50]),
        ("platform: dgx-h100, nodes: 1", ["Switch"], [8], [450]),
    ],
)
def test_a_dimension_has_the_rate_of_one_link_and_direction(
    cluster: str, blocks: list[str], npus: list[int], rates: list[float]
) -> None:
    """In units of 2^30 bytes: 450 GB/s are 419.1 of them."""
    found = network(cluster)
    assert (found["topology"], found["npus_count"]) == (blocks, npus)
    assert found["bandwidth"] == pytest.approx([each * 1e9 / 2**30 for each in rates])


def test_a_message_over_a_switch_waits_for_two_links() -> None:
    """Hops of 810 ns of NVLink 4 and 2,700 ns over InfiniBand."""
    assert network(POD)["latency"] == pytest.approx([405, 1350])


@pytest.mark.parametrize("cluster", [POD, RACKS, MESH, TORUS])
def test_a_written_network_is_read_with_the_same_accelerators(cluster: str) -> None:
    reading = read(written("astra-sim", cluster))
    assert reading.kind == "astra-sim"
    assert given(reading) == {"cluster.accelerators": source(cluster).cluster.accelerators}
    found = network(cluster)
    columns = zip(found["topology"], found["npus_count"], found["bandwidth"], strict=True)
    for number, (block, npus, rate) in enumerate(columns, 1):
        stated = str(counts(reading)[f"dimension_{number}"])
        assert stated.startswith(f"{block} of {npus}, {rate:g} GB/s (2^30 bytes)")


def test_a_faster_nic_makes_a_faster_far_network_alone() -> None:
    slow, fast = (
        system(f"platform: dgx-h100, nodes: 32, scale_out: {{nic_bandwidth: {rate} Gb/s per direction}}")["networks"]
        for rate in (200, 400)
    )
    assert slow[0] == fast[0]
    assert (slow[1]["bandwidth"], fast[1]["bandwidth"]) == (25, 50)


def test_a_system_of_aiconfigurator_has_dense_rates_and_bytes_of_one_accelerator() -> None:
    """An H100: 989.4 and 1,978.9 dense TFLOP/s, 81,559 MiB, 3,350 GB/s of which 0.82 is reached, sm_90, 700 W."""
    pod = planner(POD)["gpu"]
    assert (pod["bfloat16_tc_flops"], pod["fp8_tc_flops"], pod["int8_tc_flops"]) == (989.4e12, 1978.9e12, 1978.9e12)
    assert "fp4_tc_flops" not in pod
    assert (pod["mem_capacity"], pod["mem_bw"]) == (81_559 * 2**20, 3350e9)
    assert (pod["mem_bw_empirical_scaling_factor"], pod["sm_version"], pod["power"]) == (0.82, 90, 700)
    assert "rates of fp4" in omitted("aiconfigurator", POD)


def test_a_rate_with_sparsity_is_not_written_for_aiconfigurator() -> None:
    """GB200: 10 dense PFLOP/s in fp4, 5 in fp8, 2.5 in bf16; twice of them with sparsity."""
    gpu = planner(RACKS)["gpu"]
    assert [gpu[f"{each}_tc_flops"] for each in ("fp4", "fp8", "bfloat16")] == [10e15, 5e15, 2.5e15]


def test_an_architecture_of_amd_has_no_compute_capability() -> None:
    assert "sm_version" not in planner(MESH)["gpu"]
    assert "gfx942" in omitted("aiconfigurator", MESH)


@pytest.mark.parametrize(
    ("cluster", "sizes", "rates"),
    [(POD, [8, 256], [450, 50]), (MESH, [8, 32], [448, 50]), (RACKS, [4, 72, 144], [900, 900, 50])],
)
def test_bandwidths_of_aiconfigurator_are_those_of_an_accelerator_in_one_direction(
    cluster: str, sizes: list[int], rates: list[float]
) -> None:
    """By the largest group inside a node, a domain of several nodes, and the cluster."""
    node = planner(cluster)["node"]
    tiers = ["intra_node_bw", "inter_node_bw", *(["inter_rack_bw"] if len(sizes) > 2 else [])]
    assert [node[each] for each in tiers] == [each * 1e9 for each in rates]
    assert node["num_gpus_per_node"] == sizes[0]
    assert node.get("num_gpus_per_rack") == (sizes[1] if len(sizes) > 2 else None)


def test_a_message_between_nodes_waits_for_the_fabric_or_for_the_links_of_a_rack() -> None:
    """7.6 us over InfiniBand between nodes of H100; inside a rack of GB200 no fabric is crossed."""
    assert planner(POD)["node"]["p2p_latency"] == pytest.approx(7.6e-6)
    one = planner("platform: dgx-h100, nodes: 1")["node"]["p2p_latency"]
    assert one == pytest.approx(5.71e-6)
    assert planner(RACKS)["node"]["p2p_latency"] == planner("platform: gb200-nvl72, nodes: 18")["node"]["p2p_latency"]


def test_memory_other_than_weights_is_that_of_communicators_and_of_the_software() -> None:
    """Two communicators of 0.25 GB from two ranks on, and 0.8 GB of context under a named framework."""
    bare = planner(POD)["misc"]
    assert bare["nccl_mem"] == {1: 0, 2: 500e6, 4: 500e6, 8: 500e6}
    assert bare["other_mem"] == 0
    assert "other_mem" in omitted("aiconfigurator", POD)
    load = "serving: {input_tokens: 1000, output_tokens: 100, concurrency: 8}"
    served = f"workload: {{kind: serve, model: llama-3.1-70b, {load}}}\nlayout: {{tp: 8, software: vllm 0.18}}\n"
    assert planner(POD, served)["misc"]["other_mem"] == 800e6


@pytest.mark.parametrize(
    ("kind", "cluster", "why"),
    [
        ("aiconfigurator", TORUS, "a torus"),
        ("aiconfigurator", "accelerator: h100-sxm-80gb, nodes: 1, accelerators_per_node: 8", "NICs of the nodes"),
        ("aiconfigurator", "platform: gh200-quad, nodes: 4, accelerators_per_node: 1, scale_up: {domain: 1}", "of one"),
        ("calculon", TORUS, "a torus"),
        ("astra-sim", "platform: gb200-nvl72, nodes: 20", "has 8 of 72 accelerators"),
        ("astra-sim", "accelerator: mi250x, nodes: 4, accelerators_per_node: 4", "is 2 ranks"),
        ("calculon", "accelerator: h100-sxm-80gb, nodes: 1, accelerators_per_node: 1", "a single accelerator"),
    ],
)
def test_a_design_that_a_simulator_cannot_state_is_refused(kind: str, cluster: str, why: str) -> None:
    with pytest.raises(NotExportable, match=re.escape(why)):
        exporter_of(kind).write(source(cluster))


def test_a_network_of_one_dimension_has_no_messages_across_several() -> None:
    one, two = omitted("astra-sim", "platform: dgx-h100, nodes: 1"), omitted("astra-sim", POD)
    for words in ("messages that cross several dimensions", "congestion: "):
        assert words in two and words not in one
    assert "both directions of a ring" in omitted("astra-sim", TORUS) and "of a ring" not in two


@pytest.mark.parametrize("kind", ["calculon", "astra-sim", "aiconfigurator"])
def test_what_a_network_of_one_bandwidth_cannot_state_is_named(kind: str) -> None:
    tapered = "platform: dgx-h100, nodes: 32, spare_nodes: 2, scale_out: {topology: fat-tree, oversubscription: 2}"
    left_out = omitted(kind, tapered)
    assert "2 spare nodes" in left_out
    assert "oversubscription of the fabric, 2:1" in left_out
    assert system(tapered)["networks"][1]["bandwidth"] == 50
