"""Names of exported objects and values of exported options are those that their targets accept."""

from __future__ import annotations

import csv
import re
from collections import Counter

import pytest
import yaml

from clusterspec.exchange.exporters.fabric import fabric_links
from clusterspec.exchange.exporters.registry import ExportInput, NotExportable, exporter_of
from clusterspec.studies import study_text
from tests.exchange.test_exporters import exported, pod, source
from tests.settings import SETTINGS

LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def named(name: str) -> ExportInput:
    text = f"clusterspec: 1\nname: {name}\ncluster: {{platform: dgx-h100, nodes: 128}}\n"
    return ExportInput(study_text(text, SETTINGS).design)


@pytest.mark.parametrize("name", ["405b-tight", "a-design-whose-name-is-as-long-as-one-may-be-in-all", "pod"])
@pytest.mark.parametrize(("kind", "added"), [("mpijob", "-worker-127"), ("kubernetes-job", "-127"), ("jobset", "-ssh")])
def test_hosts_of_an_exported_job_have_a_label(name: str, kind: str, added: str) -> None:
    """mpi-operator refuses a job whose last worker is no label of RFC 1035; a Job of Kubernetes is alike."""
    documents = list(yaml.safe_load_all(exported(kind, named(name))))
    names = [each["metadata"]["name"] for each in documents]
    assert all(LABEL.fullmatch(each + added) and len(each + added) <= 63 for each in names), names
    assert len(set(names)) == len(names)


def test_the_launcher_of_an_mpijob_may_run_as_root() -> None:
    """The user of a container is root where its image names none, and Open MPI refuses root without the option."""
    assert "mpirun --allow-run-as-root -np 8" in exported("mpijob", named("pod"))


SCALE_OUT = "scale_out: {{topology: {0}, switch: quantum-2-qm9700, {1}}}"
ORDERED = [
    (16, "rail-optimized", "leaf_switches: 4, spine_switches: 2", 4, {2}),  # two rails share a leaf
    (16, "rail-optimized", "leaf_switches: 8, spine_switches: 2", 8, {1}),  # 16 uplinks of a leaf with 32 ports up
    (20, "fat-tree", "leaf_switches: 5, spine_switches: 3, links: {leaf_spine: 163}", 5, {8}),  # 33 or 32 of a leaf
]


@pytest.mark.parametrize(("nodes", "topology", "more", "leaves", "rails"), ORDERED)
def test_an_ordered_fabric_is_wired_with_what_was_ordered(
    nodes: int, topology: str, more: str, leaves: int, rails: set[int]
) -> None:
    design = source(f"platform: dgx-h100, nodes: {nodes}, {SCALE_OUT.format(topology, more)}")
    found = list(fabric_links(design))
    for level, count in design.fabric.links.items():
        assert sum(link.level == level for link in found) == count, level
    ends = [(end.device, end.port) for link in found for end in (link.low, link.high)]
    assert len(set(ends)) == len(ends)
    assert all(1 <= port <= 64 for device, port in ends if not device.startswith("node"))
    below: dict[int, set[int]] = {}
    for link in found:
        if link.level == "node_leaf":
            below.setdefault(link.high.number, set()).add(link.low.port)
    assert len(below) == leaves
    assert {len(each) for each in below.values()} == rails
    uplinks = [sum(link.low.device == f"leaf{leaf:04d}" for link in found) for leaf in range(1, leaves + 1)]
    assert max(uplinks) - min(uplinks) <= 1


SN5600 = "topology: fat-tree, switch: spectrum-4-sn5600"
PAIRS = [
    # leaves of 85 ports down, 43 up: a leaf has 11 + 11 + 11 + 10 links to 4 spines, 6 + 6 + 6 + 5 cables
    (f"platform: dgx-b200, nodes: 103, scale_out: {{{SN5600}, oversubscription: 2:1}}", 2, 230),
    # 16 leaves of 64 uplinks to 8 spines: 8 links and 4 cables for each pair
    (f"platform: dgx-h100, nodes: 128, scale_out: {{{SN5600}, technology: roce-v2}}", 2, 512),
    # the same in each of two planes
    ("platform: dgx-b300, nodes: 128, scale_out: {topology: fat-tree, technology: spectrum-x, planes: 2}", 2, 1024),
]


@pytest.mark.parametrize(("machine", "carried", "cables"), PAIRS)
def test_the_bill_has_the_cables_that_the_wired_pairs_of_switches_take(machine: str, carried: int, cables: int) -> None:
    design = source(machine)
    pairs = Counter(
        (link.plane, link.low.device, link.high.device) for link in fabric_links(design) if link.level == "leaf_spine"
    )
    assert design.fabric.links_per_cable["leaf_spine"] == carried
    assert sum(-(-links // carried) for links in pairs.values()) == design.fabric.cables["leaf_spine"] == cables


@pytest.mark.parametrize(("nodes", "more"), [(103, ", oversubscription: 2:1"), (64, ""), (20, ", nics_per_node: 5")])
def test_a_scheduler_groups_nodes_by_the_leaf_with_most_of_their_links(nodes: int, more: str) -> None:
    """85 ports of a leaf take 10 nodes of 8 links and five links of the eleventh."""
    design = source(f"platform: dgx-h100, nodes: {nodes}, scale_out: {{{SN5600}, technology: roce-v2{more}}}")
    leaves: dict[int, Counter[str]] = {}
    for link in fabric_links(design):
        if link.level == "node_leaf":
            leaves.setdefault(link.low.number, Counter())[link.high.device] += 1
    blocks = re.findall(r"nodes: node\[?(\d+)(?:-(\d+))?", exported("slurm-topology", design))
    groups = [range(int(first), int(last or first) + 1) for first, last in blocks]
    assert [node for group in groups for node in group] == sorted(leaves)
    most = {node: {leaf for leaf, many in ends.items() if 2 * many >= ends.total()} for node, ends in leaves.items()}
    assert all(set.intersection(*(most[node] for node in group)) for group in groups)


@pytest.mark.parametrize(("planes", "leaf", "nic"), [(1, "leaf0001", "nic0"), (2, "leaf0001-plane1", "nic0-plane1")])
def test_no_port_of_the_cabling_list_has_two_links(planes: int, leaf: str, nic: str) -> None:
    """Each plane has switches of its own: 16 leaves and 8 spines in each of two."""
    design = source(f"platform: dgx-b300, nodes: 128, scale_out: {{topology: fat-tree, planes: {planes}}}")
    rows = list(csv.DictReader(exported("cabling", design).splitlines()))
    ends = [(row[f"{end}_device"], row[f"{end}_port"]) for row in rows for end in ("from", "to")]
    assert len(rows) == sum(design.fabric.links.values()) and len(set(ends)) == len(ends)
    assert (rows[0]["to_device"], rows[0]["from_port"]) == (leaf, nic)
    switches = {device for device, _ in ends if device.startswith(("leaf", "spine"))}
    assert len(switches) == design.fabric.leaf_switches + design.fabric.spine_switches


@pytest.mark.parametrize(("nodes", "spares"), [(512, 12), (512, 0), (300, 0)])
def test_a_scheduler_gets_no_pod_of_spare_nodes_alone(nodes: int, spares: int) -> None:
    text = exported("slurm-topology", pod(nodes, "fat-tree", more=f", spare_nodes: {spares}"))
    switches = yaml.safe_load(text)[0]["tree"]["switches"]
    assert [each["switch"] for each in switches if each["switch"] == "fabric"] == ["fabric"]
    ranges = re.findall(r"\[(\d+)-(\d+)\]", text)
    assert ranges and all(int(first) <= int(last) for first, last in ranges)
    blocks = [re.findall(r"\d+", each["children"]) for each in switches if each["switch"].startswith("pod")]
    held = [number for first, last in blocks for number in range(int(first), int(last) + 1)]
    assert held == [*range(1, sum(each["switch"].startswith("block") for each in switches) + 1)]


SERVED = """\
workload:
  kind: serve
  model: {model}
  serving: {{input_tokens: 2000, output_tokens: 500, concurrency: 64{more}}}
layout: {{framework: {framework}, tp: 8}}
"""


def served(framework: str, more: str = "", model: str = "deepseek-v3") -> ExportInput:
    return pod(2, rest=SERVED.format(model=model, more=more, framework=framework).replace("tp: 8", "tp: 16"))


def test_a_share_of_what_the_weights_leave_is_written_where_it_is_one() -> None:
    """TensorRT-LLM counts its share from what the weights leave, vLLM and SGLang from the whole."""
    share = yaml.safe_load(exported("trt-llm", served("trt-llm")).split("<<'EOF'\n")[1].split("EOF\n")[0])
    assert share["kv_cache_config"] == {"free_gpu_memory_fraction": 0.9}
    for kind, option in (("vllm", "--gpu-memory-utilization"), ("sglang", "--mem-fraction-static")):
        file = exporter_of(kind).write(served("trt-llm"))
        assert option not in str(file.content), kind
        assert any(f"{option} is a share of the whole" in each for each in file.omitted), kind
        assert f"{option} 0." in exported(kind, served(kind)), kind
    stated = exporter_of("trt-llm").write(served("trt-llm", ", memory_fraction: 0.8"))
    assert "free_gpu_memory_fraction" not in str(stated.content)
    assert any("free_gpu_memory_fraction is a share of the memory that the" in each for each in stated.omitted)


@pytest.mark.parametrize("method", ["mtp", "ngram", "eagle"])
def test_drafts_come_from_what_the_design_names(method: str) -> None:
    more = f", speculative: {{tokens: 2, acceptance: 0.6, method: {method}}}"
    written = {kind: exporter_of(kind).write(served(kind, more)) for kind in ("vllm", "sglang", "trt-llm")}
    own = {"vllm": '"method": "mtp"', "sglang": "--speculative-algorithm EAGLE", "trt-llm": "decoding_type: MTP"}
    for kind, option in own.items():
        assert (option in str(written[kind].content)) is (method == "mtp"), kind
    left = {kind for kind, file in written.items() if any(f"2 tokens by {method}" in each for each in file.omitted)}
    assert left == {"mtp": set(), "ngram": {"trt-llm"}, "eagle": set(own)}[method]
    if method == "ngram":
        chain = (
            "--speculative-algorithm NGRAM --speculative-num-draft-tokens 3 \\\n  --speculative-ngram-max-bfs-breadth 1"
        )
        assert chain in str(written["sglang"].content)
        assert '{"method": "ngram", "num_speculative_tokens": 2}' in str(written["vllm"].content)


def test_a_step_of_vllm_has_a_token_for_every_sequence() -> None:
    """vLLM does not start with fewer tokens in a step than sequences."""
    file = exporter_of("vllm").write(served("vllm", ", max_sequences: 512, chunk_tokens: 256"))
    assert "--max-num-batched-tokens 512" in str(file.content)
    assert any("chunks of 256 tokens" in each for each in file.omitted)


@pytest.mark.parametrize("kind", ["vllm", "sglang", "trt-llm"])
def test_a_launch_names_the_cache_outside_the_accelerators_that_it_omits(kind: str) -> None:
    tiers = ", cache_tiers: [{medium: host, capacity: 1 TB, read: 50 GB/s, write: 50 GB/s, scope: node}]"
    omitted = exporter_of(kind).write(served(kind, tiers)).omitted
    assert any("the cache of keys and values outside the accelerators (host)" in each for each in omitted)
    assert not any("outside the accelerators" in each for each in exporter_of(kind).write(served(kind)).omitted)


def test_engines_that_share_a_node_are_limited_to_their_accelerators_or_it_is_said() -> None:
    work = "workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, "
    rest = work + "concurrency: 64}}\nlayout: {framework: vllm, tp: 4, dp: 2}\n"
    gaudi = "accelerator: {0}, nodes: 1, accelerators_per_node: 8, scale_up: {{topology: full-mesh}}"
    for accelerator, variable in (("gaudi3", "HABANA_VISIBLE_MODULES"), ("mi300x", "HIP_VISIBLE_DEVICES")):
        file = exporter_of("vllm").write(source(gaudi.format(accelerator), rest))
        assert str(file.content).count(f"{variable}=0,1,2,3 ") == str(file.content).count(f"{variable}=4,5,6,7 ") == 1
        assert not any("of each engine of a node" in each for each in file.omitted)
    file = exporter_of("vllm").write(source(gaudi.format("inferentia2"), rest.replace("tp: 4, dp: 2", "tp: 8, dp: 2")))
    assert any("no variable is known that limits the devices of Inferentia2" in each for each in file.omitted)


APART = ", disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}}"


@pytest.mark.parametrize("framework", ["vllm", "sglang"])
def test_a_graph_of_dynamo_names_its_engine_and_roles(framework: str) -> None:
    """Engines of SGLang send caches by the backend of Dynamo, and a prefill engine is asked from other pods."""
    text = SERVED.format(model="llama-3.1-70b", more=APART, framework=framework).replace(", tp: 8}\n", "}\n")
    graph = yaml.safe_load(exported("dynamo", pod(2, rest=text)))["spec"]
    assert graph["backendFramework"] == framework
    roles = {each["name"]: each for each in graph["components"]}
    assert [each["type"] for each in graph["components"]] == ["frontend", "prefill", "decode"]
    for role in ("prefill", "decode"):
        words = " ".join(roles[role]["podTemplate"]["spec"]["containers"][0]["args"])
        assert f"--disaggregation-mode {role}" in words
        assert ("--disaggregation-transfer-backend nixl --host 0.0.0.0" in words) is (framework == "sglang")
        assert ("NixlConnector" in words) is (framework == "vllm")


def test_what_an_engine_does_otherwise_than_the_design_is_said() -> None:
    text = SERVED.format(model="deepseek-v3", more="", framework="vllm").replace("tp: 8", "attention_dp: 16, ep: 16")
    gathers = "by default vLLM gathers the tokens"
    assert any(gathers in each for each in exporter_of("vllm").write(pod(2, rest=text)).omitted)
    deepep = pod(2, rest=text.replace("ep: 16", "ep: 16, dispatcher: deepep"))
    assert not any(gathers in each for each in exporter_of("vllm").write(deepep).omitted)
    dense = served("vllm", model="llama-3.1-70b")
    assert not any(gathers in each for each in exporter_of("vllm").write(dense).omitted)
    one = pod(1, rest=SERVED.format(model="llama-3.1-70b", more="", framework="vllm"))
    assert any("may be another release" in each for each in exporter_of("llm-d").write(one).omitted)


PACKAGES = "accelerator: mi250x, nodes: 4, accelerators_per_node: 4, scale_out: {technology: slingshot-11}"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("sbatch", "--gpus-per-node=8"),
        ("kubernetes-job", "amd.com/gpu: 8"),
        ("mpijob", "amd.com/gpu: 8"),
        ("jobset", "amd.com/gpu: 8"),
        ("nhc", "-ge 8 ]"),
        ("node-problem-detector", "8 devices of 4 accelerators Instinct MI250X"),
        ("azure-nhc", "check_gpu_count 8 rocm"),
    ],
)
def test_each_die_of_a_package_is_a_device(kind: str, words: str) -> None:
    assert words in exported(kind, source(PACKAGES))


@pytest.mark.parametrize("kind", ["slurm-topology", "kueue-topology"])
def test_one_switch_for_a_fabric_that_is_not_known_is_said(kind: str) -> None:
    dragonfly = PACKAGES.replace("slingshot-11}", "slingshot-11, topology: dragonfly}")
    said = "switches between the nodes: a dragonfly is not counted"
    assert any(said in each for each in exporter_of(kind).write(source(dragonfly)).omitted)
    assert not any("switches" in each for each in exporter_of(kind).write(pod(128)).omitted)


def test_the_server_of_tpus_is_another_one_than_sglang() -> None:
    serve = "workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 500, "
    rest = serve + "concurrency: 16}}\nlayout: {framework: sglang, tp: 8}\n"
    with pytest.raises(NotExportable, match="SGLang-JAX"):
        exporter_of("sglang").write(source("accelerator: tpu-v6e, nodes: 1, accelerators_per_node: 8", rest))


def trained(model: str, layout: str, machine: str = "platform: dgx-h100, nodes: 16", batch: int = 256) -> ExportInput:
    work = f"workload: {{kind: train, model: {model}, sequence_length: 4096, global_batch: {batch}}}\n"
    return source(machine, f"{work}layout: {{framework: maxtext, recompute: full, {layout}}}\n")


V5P = "platform: tpu-v5p, nodes: 32"


def test_a_configuration_has_the_rules_of_its_base() -> None:
    """MaxText divides no array over the mesh without them; the file alone has none."""
    assert "base_config: base.yml" in exported("maxtext", trained("llama-3.1-8b", "sharding: fsdp")).splitlines()


@pytest.mark.parametrize(
    ("machine", "lines"),
    [
        ("platform: dgx-h100, nodes: 16", {"attention: dot_product"}),
        (V5P, {"attention: flash", "use_tokamax_splash: true"}),
    ],
)
def test_attention_to_selected_tokens_has_a_kernel_that_selects(machine: str, lines: set[str]) -> None:
    """By default MaxText refuses such a model: configs/types.py, line 3803."""
    design = trained("deepseek-v3.2", "sharding: fsdp", machine)
    kernels = {"attention: dot_product", "attention: flash", "use_tokamax_splash: true", "attention: cudnn_flash_te"}
    assert kernels & set(exported("maxtext", design).splitlines()) == lines


def test_attention_to_selected_tokens_is_not_divided_on_gpus() -> None:
    with pytest.raises(NotExportable, match="no attention to selected tokens"):
        exporter_of("maxtext").write(trained("deepseek-v3.2", "sharding: fsdp, cp: 2"))


def test_layers_of_a_stage_are_counted_as_the_target_counts_them() -> None:
    """A layer of MaxText's Gemma 2 is two of the model: 42 layers are 21, seven for each of three stages."""
    three = trained("gemma-2-9b", "pp: 3", "platform: dgx-h100, nodes: 12", 288)
    assert "num_layers_per_pipeline_stage: 7" in exported("maxtext", three).splitlines()
    assert "num_layers_per_pipeline_stage: 16" in exported("maxtext", trained("llama-3.1-8b", "pp: 2"))
    with pytest.raises(NotExportable, match="stages of 21 layers: MaxText's Gemma 2 has layers in pairs"):
        exporter_of("maxtext").write(trained("gemma-2-9b", "pp: 2"))


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        ("mixtral-8x7b", {"megablox: false"}),
        ("gemma-3-27b", {"attention: dot_product"}),
        ("gpt-oss-20b", {"megablox: false", "attention: dot_product"}),
        ("llama-3.1-8b", set()),
    ],
)
def test_kernels_of_tpus_are_not_left_as_the_default_on_gpus(model: str, lines: set[str]) -> None:
    """MaxText interprets that of experts on other devices, and its attention there knows no windows."""
    work = f"workload: {{kind: train, model: {model}, sequence_length: 4096, global_batch: 256}}\n"
    rest = work + "layout: {framework: maxtext, sharding: fsdp, recompute: full}\n"
    kernels = {"megablox: false", "attention: dot_product"}
    assert kernels & set(exported("maxtext", pod(16, rest=rest)).splitlines()) == lines
    tpus = source("accelerator: tpu-v5p, nodes: 32, accelerators_per_node: 4", rest)
    assert not kernels & set(exported("maxtext", tpus).splitlines())


@pytest.mark.parametrize("kind", ["mpijob", "jobset"])
def test_pods_on_efa_ask_for_its_devices_and_other_nics_are_left_to_the_site(kind: str) -> None:
    efa = exporter_of(kind).write(source("platform: aws-p5-48xlarge, nodes: 2"))
    assert "{nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 32}" in efa.content  # 32 EFA devices of a p5.48xlarge
    assert not [note for note in efa.omitted if "resources of its NICs" in note]
    other = exporter_of(kind).write(source("platform: dgx-h100, nodes: 2"))
    assert "vpc.amazonaws.com" not in other.content
    assert [note for note in other.omitted if "resources of its NICs (such as rdma/ib)" in note]


@pytest.mark.parametrize("kind", ["dynamo", "llm-d"])
def test_engines_that_exchange_caches_between_pods_need_nics_and_one_engine_needs_none(kind: str) -> None:
    apart = SERVED.format(model="llama-3.1-70b", more=APART, framework="vllm").replace(", tp: 8}\n", "}\n")
    efa = exporter_of(kind).write(source("platform: aws-p5-48xlarge, nodes: 2", apart))
    assert any("(vpc.amazonaws.com/efa: 32 for a node)" in note for note in efa.omitted)
    whole = SERVED.format(model="llama-3.1-70b", more="", framework="vllm")
    alone = exporter_of(kind).write(source("platform: aws-p5-48xlarge, nodes: 1", whole))
    assert not any("resources of NICs" in note for note in alone.omitted)
