"""Blueprints of Google Cluster Toolkit, and configurations that scripts and pages hold."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

BLUEPRINT = """\
blueprint_name: pod
vars: {{deployment_name: pod, nodes: 32, type: a3-megagpu-8g, unset: }}
deployment_groups:
- group: primary
  modules:
  - {{id: network, source: modules/network/vpc}}
  - {{id: home, source: modules/file-system/filestore, settings: {{local_mount: /home}}}}
  - id: login
    source: community/modules/scheduler/schedmd-slurm-gcp-v6-login
    settings: {{machine_type: n2-standard-4}}
  - id: pool
    source: {0}
    settings:
      machine_type: $(vars.type)
      {1}
"""
SLURM = "community/modules/compute/schedmd-slurm-gcp-v6-nodeset"
GKE = "modules/compute/gke-node-pool"
VM = "modules/compute/vm-instance"
QUEUES = """\
HeadNode: {InstanceType: m5.large}
Scheduling:
  SlurmQueues:
  - Name: gpu
    ComputeResources:
    - Name: ml
      InstanceType: p5.48xlarge
      MinCount: ${COUNT}
      MaxCount: ${COUNT}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  parallelism: 4
  completions: 4
  template:
    spec:
      containers:
      - {name: a, resources: {limits: {nvidia.com/gpu: 8}}}
"""


@pytest.mark.parametrize(
    ("source", "setting", "nodes"),
    [
        (SLURM, "{node_count_static: 16, node_count_dynamic_max: 0}", 16),
        (SLURM, "{node_count_static: $(vars.nodes), node_count_dynamic_max: 0}", 32),
        (SLURM, "{node_count_static: 16}", None),
        (SLURM, "{node_count_static: 0, node_count_dynamic_max: 8}", None),
        (SLURM, "{node_count_static: $(vars.unset), node_count_dynamic_max: 0}", None),
        (GKE, "{static_node_count: 18}", 18),
        (GKE, "{static_node_count: 18, num_node_pools: 2}", 36),
        (GKE, "{initial_node_count: 2}", None),
        (VM, "{instance_count: 3}", 3),
        (VM, "{name_prefix: a}", 1),
        ("community/modules/compute/mig", "{target_size: 3}", None),
    ],
)
def test_a_module_states_a_fixed_number_of_nodes_or_none(source: str, setting: str, nodes: int | None) -> None:
    settings = setting.strip("{}").replace(", ", "\n      ")
    reading = read(BLUEPRINT.format(source, settings))
    assert given(reading)["cluster.platform"] == "gcp-a3-megagpu-8g"
    assert given(reading).get("cluster.nodes") == nodes
    assert ("cluster.nodes:" in unknown(reading)) is (nodes is None)
    assert "login: n2-standard-4: machines without an entry" in unknown(reading)


@pytest.mark.parametrize(
    ("source", "setting", "why"),
    [
        (SLURM, "{node_count_static: 16}", "16 nodes, and up to 10 more: the node set grows and shrinks"),
        (SLURM, "{node_count_static: 16, node_count_dynamic_max: 8}", "16 nodes, and up to 8 more"),
        (SLURM, "{node_count_static: $(vars.unset), node_count_dynamic_max: 8}", "node_count_static is not a number"),
        (GKE, "{static_node_count: $(vars.unset)}", "static_node_count is not a number here"),
        ("community/modules/compute/mig", "{target_size: 3}", "compute/mig makes is not read"),
    ],
)
def test_a_number_of_nodes_that_is_not_fixed_is_listed_with_the_reason(source: str, setting: str, why: str) -> None:
    assert why in unknown(read(BLUEPRINT.format(source, setting.strip("{}").replace(", ", "\n      "))))


def test_attached_accelerators_are_those_of_a_machine_without_an_entry() -> None:
    attached = "guest_accelerator: [{type: nvidia-tesla-t4, count: 4}]"
    text = BLUEPRINT.format(VM, attached).replace("a3-megagpu-8g", "n1-standard-32")
    assert given(read(text)) == {"cluster.accelerator": "t4", "cluster.accelerators_per_node": 4, "cluster.nodes": 1}
    with pytest.raises(FormatError, match="no module of the blueprint has machines with accelerators"):
        read(text.replace("nvidia-tesla-t4", "unheard-of"))


def test_several_modules_with_accelerators_are_not_read_as_one() -> None:
    text = BLUEPRINT.format(VM, "instance_count: 2").replace("n2-standard-4", "a3-ultragpu-8g")
    with pytest.raises(SeveralParts, match="2 modules: login of a3-ultragpu-8g, pool of a3-megagpu-8g"):
        read(text)
    assert given(read(text, "gcp-blueprint", part=2))["cluster.platform"] == "gcp-a3-megagpu-8g"


def test_queues_that_a_script_writes_have_the_variables_of_the_script() -> None:
    script = "#!/bin/bash\nexport COUNT=4\ncat > cluster.yaml << EOF\n" + QUEUES + "EOF\n"
    reading = read(script)
    assert given(reading) == {"cluster.platform": "aws-p5-48xlarge", "cluster.nodes": 4}
    assert {each.at.line for each in reading.given} == {10, 12}
    quoted = read(script.replace("<< EOF", "<< 'EOF'"))
    assert "cluster.nodes" not in given(quoted)
    assert "${COUNT} is not a number here" in unknown(quoted)
    branched = script.replace("export COUNT=4", 'if [ "$1" ]; then COUNT=4; else COUNT=8; fi')
    assert "cluster.nodes" not in given(read(branched))


@pytest.mark.parametrize(
    "before", ["```yaml\n", "```\n", "kubectl apply -f - <<EOF\n", "#!/bin/sh\ncat <<'EOF' | kubectl apply -f -\n"]
)
def test_objects_in_pages_and_scripts_are_read_at_their_lines(before: str) -> None:
    after = "```\n" if before.startswith("```") else "EOF\n"
    reading = read(f"{before}{JOB}{after}")
    assert given(reading)["cluster.accelerators_per_node"] == 8
    assert counts(reading)["accelerators"] == 32
    assert all(each.at.line > before.count("\n") for each in reading.given)


def test_several_documents_of_a_page_are_not_read_as_one() -> None:
    page = f"```yaml\n{JOB}```\nand\n```yaml\n{JOB.replace('gpu: 8', 'gpu: 4')}```\n"
    with pytest.raises(SeveralParts, match="holds 2 documents, on lines 2, 15"):
        read(page)
    assert given(read(page, "kubernetes", part=2))["cluster.accelerators_per_node"] == 4
    other = f"```yaml\n{JOB}```\n```yaml\napiVersion: v1\nkind: Service\n```\n"
    assert given(read(other))["cluster.accelerators_per_node"] == 8


@pytest.mark.parametrize(
    ("hosts", "nodes", "ranks"),
    [
        ("localhost:0,1,2,3", 1, 4),
        ("a:0,1@b:2,3", 2, 2),
        ("a:0,1@b:0", None, None),
        ("a@b", None, None),
    ],
)
def test_included_hosts_are_nodes_and_their_devices_ranks(hosts: str, nodes: int | None, ranks: int | None) -> None:
    train = "train.py --model_name_or_path a/b --per_device_train_batch_size 4 --output_dir o --learning_rate 1e-5"
    reading = read(f"deepspeed --include={hosts} {train}\n")
    assert (given(reading).get("layout.nodes"), counts(reading).get("ranks_per_node")) == (nodes, ranks)


def test_no_parameters_are_counted_where_a_size_is_undecided() -> None:
    sizes = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size 1"
    launch = f"torchrun pretrain_gpt.py {sizes}"
    # 4 layers x (4 x 64^2 of attention + 2 x 64 x 256 of the network + norms) are about 12 x 4 x 64^2 = 196,608
    assert 196_608 <= int(str(counts(read(launch))["parameters_without_embeddings"])) < 202_000
    for more in ("--num-experts $EXPERTS", "--num-experts 64 64 128", "--group-query-attention --num-query-groups $N"):
        assert "parameters_without_embeddings" not in counts(read(f"{launch} {more}")), more


def test_keys_that_a_recipe_leaves_out_state_nothing_of_its_model() -> None:
    recipe = "model: {tensor_model_parallel_size: 2, num_layers: 4, hidden_size: 64, num_attention_heads: 4}\n"
    reading = read(f"{recipe}train: {{global_batch_size: 8, micro_batch_size: 1}}\n", "megatron")
    stated = given(reading)
    assert stated["workload.model.layers"] == 4
    assert not {f"workload.model.{name}" for name in ("gated_ffn", "tied_embeddings", "ffn_hidden")} & set(stated)
    assert "workload.model: not stated in full" in unknown(reading)


def test_options_of_another_program_state_no_defaults_of_megatron() -> None:
    sizes = (
        "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size 1 --micro-batch-size 2"
    )
    own, other = (given(read(f"torchrun {name} {sizes}")) for name in ("pretrain_gpt.py", "train.py --num-nodes 2"))
    assert own["workload.model.tied_embeddings"] is True
    assert "workload.model.tied_embeddings" not in other
    assert own["layout.micro_batch"] == other["layout.micro_batch"] == 2


@pytest.mark.parametrize(
    ("experts", "visited"),
    [("num_experts: 1\nnum_experts_per_tok: 1", None), ("num_experts: 8\nnum_experts_per_tok: 2", 2)],
)
def test_a_dense_model_of_maxtext_has_no_experts_per_token(experts: str, visited: int | None) -> None:
    stated = given(read(f"base_emb_dim: 64\nbase_num_decoder_layers: 4\nbase_num_query_heads: 4\n{experts}\n"))
    assert stated.get("workload.model.experts_per_token") == visited


@pytest.mark.parametrize(
    "program", ["llama_mistral_mixtral_orbax_to_hf", "llama_or_mistral_ckpt", "convert_gpt3_ckpt_from_paxml"]
)
def test_a_conversion_of_maxtext_is_no_training(program: str) -> None:
    launch = f"python3 -m MaxText.{program} MaxText/configs/base.yml model_name=llama3-8b run_name=a\n"
    with pytest.raises(FormatError, match="line 1: starts MaxText to convert a checkpoint"):
        read(launch)
    trains = launch.replace(f"MaxText.{program}", "MaxText.train")
    assert given(read(trains + launch))["workload.model"] == "llama-3-8b"


@pytest.mark.parametrize(
    ("printed", "read_"),
    [
        ("cat <<EOF\n{}\nEOF\n", False),
        ("cat <<EOF | bash\n{}\nEOF\n", True),
        ("cat <<EOF > run.sh\n{}\nEOF\n", True),
        ("cat > run.sh <<EOF\n{}\nEOF\n", True),
        ("{{ cat <<EOF\n{}\nEOF\n}} > run.sh\n", True),
        ("make() {{\ncat <<EOF\n{}\nEOF\n}}\nmake > run.sh\n", True),
        ("bash <<EOF\n{}\nEOF\n", True),
    ],
)
def test_a_launch_that_a_script_only_prints_is_none(printed: str, read_: bool) -> None:
    script = "#!/bin/bash\n" + printed.format("vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 2")
    if read_:
        assert given(read(script))["layout.tp"] == 2
    else:
        with pytest.raises(FormatError):
            read(script)
