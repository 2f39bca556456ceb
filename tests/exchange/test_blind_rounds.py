"""What the files of blind rounds were read wrongly for, one small text for each class."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

LAUNCH = "torchrun {} --tensor-model-parallel-size 2 --num-layers 4 --hidden-size 64 --num-attention-heads 4 {}\n"
TOWERS = """\
trainer: {devices: 8, num_nodes: 1}
model:
  tensor_model_parallel_size: 1
  vision: {num_layers: 27, hidden_size: 1152, num_attention_heads: 16}
  text: {num_layers: 12, hidden_size: 768, num_attention_heads: 12}
"""
PARTIAL = """\
trainer: {devices: 8, strategy: {tensor_model_parallel_size: 2}}
model: {config: {num_layers: 12, hidden_size: 768, num_attention_heads: 16, ffn_hidden_size: 3072}}
"""
DSTACK = """\
type: service
env: [HF_TOKEN, MODEL=mistralai/Mixtral-8x7B-Instruct-v0.1]
commands:
  - pip install vllm
  - python -m vllm.entrypoints.openai.api_server
    --model $MODEL
    --tensor-parallel-size 2 # as many as GPUs
resources: {gpu: 80GB:2}
"""
OPEA = """\
vllm:
  LLM_MODEL_ID: Qwen/Qwen3-14B
  extraCmdArgs: ["--tensor-parallel-size", "4", "--max-num-seqs", "256"]
"""
OLMO = """\
{"model_type": "hf_olmo", "architectures": ["OLMoForCausalLM"], "activation_type": "swiglu", "d_model": 32,
 "n_layers": 1, "n_heads": 1, "vocab_size": 50257, "mlp_ratio": 4, "weight_tying": true}
"""
SCONTROL = "$ scontrol show node a1\nNodeName=a1 CoresPerSocket=1\n   CPUAlloc=0 CPUTot=32\n   Gres=gpu:h200:8\n"


PRINTED = """\
ARGS=(--tensor-model-parallel-size 2 --seq-length 1024 --global-batch-size 16 --train-iters 10)
CMD="torchrun pretrain_gpt.py ${ARGS[@]}"
FP16=false
if $FP16; then CMD+=" --fp16"; else CMD+=" --bf16"; fi
echo "Run: $CMD"
$CMD
"""
SERVED = """\
if [ "$1" = head ]; then
  vllm serve a/b --tensor-parallel-size 8 --data-parallel-size 2 --api-server-count {}
else
  vllm serve a/b --tensor-parallel-size 8 --data-parallel-size 2 --headless
fi
"""
FLAGGED = """\
ZERO=1
while [ $# -gt 0 ]; do
  key=$1
  case $key in --no-zero) ZERO=0 ;; esac
  shift
done
OPTS="--tensor-model-parallel-size 2 --attention-backend flash"
if [ $ZERO -eq 1 ]; then OPTS="$OPTS --use-distributed-optimizer"; fi
torchrun pretrain_gpt.py $OPTS
"""
POLICY = """\
policy:
  train_global_batch_size: 32
  train_micro_batch_size: 1
  precision: bfloat16
  tensor_model_parallel_size: 1
  pipeline_model_parallel_size: 1
  dtensor_cfg: {enabled: true, tensor_parallel_size: 1}
  megatron_cfg: {enabled: false, expert_model_parallel_size: 4, optimizer: {use_distributed_optimizer: true}}
"""
FIREFLY = """\
{
    "model_name_or_path": "01-ai/Yi-6B-Chat",
    "train_mode": "full",
    "per_device_train_batch_size": 1,
    "fp16": true,
    "max_grad_norm": 1.0
}
"""
FEWER = "torchrun --nnodes 1 --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 4 {}\n".format(
    "--pipeline-model-parallel-size 16"
)
NEURON = """\
trainer: {devices: 32, num_nodes: 4}
distributed_strategy: {tensor_model_parallel_size: 8, pipeline_model_parallel_size: 1, zero1: true}
model: {num_layers: 4, hidden_size: 64, num_attention_heads: 4, num_kv_heads: 2}
"""
FACTORY = """\
deepspeed --num_gpus 8 ./LLaMA-Factory/src/train_bash.py --stage sft --do_train --finetuning_type lora --lora_rank 4 \\
  --lora_target q_proj,v_proj --model_name_or_path a/b --per_device_train_batch_size 8 --cutoff_len 512 --fp16
"""
SWIFT = "NNODES=2 NPROC_PER_NODE=8 swift sft --model a/b --per_device_train_batch_size 1\n"
TITAN = "srun torchrun --nnodes 4 --nproc_per_node 8 -m torchtitan.train --module llama3 --config llama3_8b\n"
RECOMPUTED = "python3 -m verl.trainer.main_ppo {}=full\n".format(
    "+actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity"
)
STAGES = """\
[parallelism]
tensor_parallel_degree = 8
pipeline_parallel_degree = 4
[training]
local_batch_size = {}
"""


NESTED = """\
if $A; then SIZE=1; else SIZE=2; fi
if [ $RANK == 0 ]; then
  PP=4
  if $B; then ARGS="--context-parallel-size 2"; fi
  torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size $PP {} $ARGS
fi
"""
REFERRED = "path: Qwen/Qwen3-14B\nactor_rollout_ref: {model: {path: '${path}'}, rollout: {n: '${absent}'}}\n"
PASSED = "bash run.sh actor_rollout_ref.rollout.n=4 data.train_batch_size=8\n"
HJSON = '{"train_batch_size": 32,\n "zero_optimization": {"stage": 1,\n },\n}\n'


@pytest.mark.parametrize(
    ("text", "stated", "absent", "listed"),
    [
        (LAUNCH.format("pretrain_gpt.py", "..."), {"layout.tp": 2}, "layout.sharding", "left out"),
        (LAUNCH.format("pretrain_gpt.py", "..."), {}, "workload.model.gated_ffn", "left out"),
        (LAUNCH.format("/opt/NeMo/x.py", ""), {"layout.framework": "nemo"}, "workload.model.tied_embeddings", ""),
        ("python NeMo/eval.py trainer.devices=1 tensor_model_parallel_size=1\n", {"layout.framework": "nemo"}, "", ""),
        (TOWERS, {"layout.tp": 1}, "workload.model.layers", "model.vision, model.text"),
        (PARTIAL, {"workload.model.ffn_hidden": 3072}, "workload.model.gated_ffn", "defaults of the recipe"),
        (DSTACK, {"layout.tp": 2, "workload.model": "mixtral-8x7b"}, "", ""),
        (OPEA, {"layout.tp": 4, "workload.model": "qwen3-14b", "layout.framework": "vllm"}, "", ""),
        (OLMO, {"workload.model.tied_embeddings": True}, "workload.model.ffn_hidden", "mlp_ratio: 4"),
        (PRINTED, {"layout.tp": 2, "workload.precision": "bf16", "workload.tokens": 10 * 16 * 1024}, "", ""),
        (SERVED.format(1), {"layout.tp": 8}, "", ""),
        (FLAGGED, {"layout.sharding": "zero1", "workload.attention": "flash"}, "", ""),
        (FEWER, {"layout.pp": 16}, "layout.nodes", "fewer than the 64"),
        (NEURON, {"layout.sharding": "zero1", "workload.model.kv_heads": 2}, "layout.framework", "NeuronX"),
        (LAUNCH.format("pretrain_ict.py", ""), {"layout.tp": 2}, "", "trains an encoder"),
        (LAUNCH.format("tools/run_text_generation_server.py", ""), {"layout.tp": 2}, "", "generates text"),
        (LAUNCH.format("inference.py", ""), {"layout.tp": 2}, "", "generates text"),
        (LAUNCH.format("./tasks/msdp/main.py", "--task MSDP-EVAL-F1"), {"layout.tp": 2}, "", "another task"),
        (LAUNCH.format("convert_ckpt.py", ""), {"layout.tp": 2}, "", "converts a checkpoint"),
        (LAUNCH.format("pretrain_gpt.py", "--attention-head-type multiquery"), {"workload.model.kv_heads": 1}, "", ""),
        (POLICY, {"workload.global_batch": 32, "workload.precision": "bf16"}, "layout.framework", "NeMo RL"),
        (
            FIREFLY,
            {"layout.micro_batch": 1, "workload.precision": "fp16"},
            "workload.trainable.method",
            "max_grad_norm",
        ),
        (FACTORY, {"workload.trainable.rank": 4, "layout.micro_batch": 8}, "workload.sequence_length", ""),
        (SCONTROL, {"cluster.accelerators_per_node": 8}, "cluster.nodes", "may have more"),
        (LAUNCH.format("pretrain_gpt.py", "--quick-geglu"), {"workload.model.gated_ffn": True}, "", ""),
        ("cd <PATH OF THE CODE>\n" + FACTORY, {"layout.micro_batch": 8}, "", ""),
        (SWIFT, {"layout.nodes": 2, "workload.trainable.method": "lora"}, "workload.global_batch", ""),
        (TITAN, {"layout.nodes": 4, "layout.framework": "torchtitan"}, "layout.tp", "llama3_8b: a separate file"),
        (RECOMPUTED, {"layout.recompute": "full"}, "", ""),
        (STAGES.format(1), {"layout.micro_batch": 1}, "", ""),
        (STAGES.format(2), {"layout.pp": 4}, "layout.micro_batch", "whose size is not stated"),
        (
            "TP=2\nif $A; then TP=2; fi\n" + LAUNCH.format("pretrain_gpt.py", "--pipeline-model-parallel-size $TP"),
            {"layout.pp": 2},
            "",
            "",
        ),
        (NESTED.format(""), {"layout.tp": 2, "layout.pp": 4}, "layout.cp", "depends on the test on line 4"),
        (NESTED.format("--micro-batch-size $SIZE"), {}, "layout.micro_batch", "depends on the test on line 1"),
        (
            'if [ $PP -eq 0 ]; then PP=1; fi\nCMD="torchrun pretrain_gpt.py --tensor-model-parallel-size 2 '
            '--pipeline-model-parallel-size $PP"\nsrun bash -c "$CMD"\n',
            {"layout.tp": 2},
            "layout.pp",
            "depends on the test on line 1",
        ),
        (REFERRED, {"workload.model": "qwen3-14b"}, "workload.rl.samples_per_prompt", ""),
        (PASSED, {"workload.rl.samples_per_prompt": 4}, "", "run.sh: a script of its own"),
        (HJSON, {"layout.sharding": "zero1", "workload.global_batch": 32}, "", ""),
        (LAUNCH.format("tasks/main.py", "--tokenizer-type BertWordPieceCase"), {"layout.tp": 2}, "", "an encoder"),
        ("trtllm-serve <exported checkpoint> --tp_size 8\n", {"layout.tp": 8}, "", "exported checkpoint"),
    ],
)
def test_a_fact_is_stated_or_listed(text: str, stated: dict[str, object], absent: str, listed: str) -> None:
    reading = read(text)
    found = given(reading)
    assert stated.items() <= found.items(), found
    assert absent not in found and listed in unknown(reading)
    assert "parameters_without_embeddings" not in counts(reading) or not absent


FIREWALL = """\
{"planned_values": {"root_module": {"resources": [
  {"type": "azurerm_firewall", "address": "a", "values": {"sku_name": "AZFW_VNet", "sku": "Standard"}}]}}}
"""
BLOCKS = "# Two clusters\n```\nSwitchName=s1 Nodes=a[1-4]\n```\ntext\n```\nSwitchName=s2 Nodes=b[1-8]\n```\n"
SWEEP = "# broadcast_perf\n\n| Size | Default (GB/s) | LL (GB/s) |\n| --- | --- | --- |\n| 1 MB | 4.5 | 0.7 |\n"
ROLES = "training:\n  overrides:\n    actor_rollout_ref:\n      rollout:\n        tensor_model_parallel_size: 2\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BLOCKS, "2 topologies in blocks of code on lines 3, 7"),
        (SWEEP, "no import format"),
        (FIREFLY.replace('"fp16"', '"task_type": "dpo", "fp16"'), "task_type"),
        (LAUNCH.format("pretrain_gpt.py", "") + "vllm serve a/b --tensor-parallel-size 2\n", "and training on line 1"),
        (ROLES, "roles of reinforcement learning"),
        (FIREWALL, "no machine"),
        (
            '{"model_type": "clip_text_model", "hidden_size": 8, "num_hidden_layers": 2}',
            "a spec describes only text decoders",
        ),
        ("ClusterName=a\nNodeName=n[1-32] CPUs=1\nPartitionName=p Nodes=ALL\n", "no node with accelerators"),
    ],
)
def test_what_is_no_single_machine_is_refused(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read(text)


def test_a_topology_of_a_page_is_chosen() -> None:
    assert given(read(BLOCKS, "slurm-topology", part=2))["cluster.nodes"] == 8


OPENRLHF = """\
ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --actor_num_nodes 2 --pretrain a/b --zero_stage 3 --bf16 \\
  --rollout_batch_size 64 --n_samples_per_prompt 8 --train_batch_size 128 --vllm_num_engines 4 {}
"""


@pytest.mark.parametrize(
    ("options", "stated", "listed"),
    [
        (
            "--advantage_estimator group_norm --colocate_all_models --vllm_tensor_parallel_size 2",
            {"rl.algorithm": "grpo", "rl.minibatches": 4, "rl.placement": "colocated", "rl.rollout.tp": 2},
            "",
        ),
        ("", {"rl.algorithm": "ppo", "precision": "bf16"}, ""),
        ("--init_kl_coef 0", {"rl.prompts_per_step": 64}, "no reference model"),
        ("--colocate_all_models --async_train --lora_rank 16", {"trainable.rank": 16}, "async_train"),
        ("--advantage_estimator reinforce_baseline --generate_max_len 9", {}, "only the longest is stated"),
    ],
)
def test_launches_of_openrlhf_state_their_samples(options: str, stated: dict[str, object], listed: str) -> None:
    reading = read(OPENRLHF.format(options))
    found = given(reading)
    assert {f"workload.{name}": value for name, value in stated.items()}.items() <= found.items(), found
    assert found["layout.sharding"] == "fsdp" and listed in unknown(reading)
    assert ("workload.rl.placement" in found) == (options.endswith("2")), found


SLIME = """\
ray job submit -- python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 4 --tensor-model-parallel-size 2 \\
  --hf-checkpoint /a --rollout-batch-size 32 --n-samples-per-prompt 8 --rollout-num-gpus-per-engine 2 {}
"""


@pytest.mark.parametrize(
    ("options", "stated", "listed"),
    [
        (
            "--advantage-estimator grpo --use-kl-loss --global-batch-size 64 --colocate",
            {"algorithm": "grpo", "minibatches": 4, "placement": "colocated", "rollout.tp": 2, "samples_per_prompt": 8},
            "",
        ),
        ("--advantage-estimator grpo --num-steps-per-rollout 2", {"minibatches": 2}, "no reference model"),
        ("--advantage-estimator ppo --use-opd --global-batch-size 48", {"algorithm": "ppo"}, "a teacher judges"),
        ("--sglang-dp-size 2 --rollout-max-response-len 512", {"prompts_per_step": 32}, "several degrees"),
        ("--sglang-mem-fraction-static 0.7", {"rollout.memory_fraction": 0.7, "rollout.framework": "sglang"}, ""),
        ("--sglang-mem-fraction-static ${MEM}", {"rollout.framework": "sglang"}, "no share between 0 and 1"),
    ],
)
def test_launches_of_slime_state_their_samples(options: str, stated: dict[str, object], listed: str) -> None:
    reading = read(SLIME.format(options))
    found = given(reading)
    assert {f"workload.rl.{name}": value for name, value in stated.items()}.items() <= found.items(), found
    assert found["workload.kind"] == "rl" and listed in unknown(reading)
    assert ("workload.rl.minibatches" in found) == ("minibatches" in stated)


def test_rollouts_of_a_data_set_are_not_reinforcement_learning() -> None:
    reading = read(SLIME.format("--loss-type sft_loss"))
    assert "workload.kind" not in given(reading) and "sft_loss" in unknown(reading)


OLDER = """\
python -m torch.distributed.launch --nproc_per_node 8 pretrain_gpt2.py --model-parallel-size 2 --batch-size 16 \\
  --num-layers 4 --hidden-size 64 --num-attention-heads 4
"""
CHAT = "deepspeed main.py --per_device_train_batch_size 4 --zero_stage 2 --deepspeed --offload --lora_dim 128\n"
ACTOR = "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size=2\n"
SHELL_IN_IMAGE = """\
docker run --gpus all vllm/vllm-openai:v0.8.3 /bin/bash
python3 -m vllm.entrypoints.openai.api_server \\
--model <where the model is> \\
--tensor-parallel-size 8
"""
VLLM_FILE = "model: openai/gpt-oss-120b\ngpu-memory-utilization: 0.95\nmax-model-len: 8192\nenforce-eager: false\n"
SGLANG_FILE = "model-path: Qwen/Qwen3-8B\ntp-size: 2\nmem-fraction-static: 0.8\n"
GROUP = """\
kind: LeaderWorkerSet
spec:
  leaderWorkerTemplate:
    size: 2
    leaderTemplate: {spec: {containers: [{command: [python3, -m, sglang.launch_server, --tp, "16", --nnodes,
      $(LWS_GROUP_SIZE), --moe-a2a-backend, deepep]}]}}
"""
SEVENTEENTH = (
    ("base_model: a/b\nmicro_batch_size: 1\nfsdp:\nfsdp_config:\n", {"layout.sharding": None}),
    ("base_model: a/b\nmicro_batch_size: 1\nfsdp_config: {reshard_after_forward: true}\n", {"layout.sharding": "fsdp"}),
    (OLDER, {"layout.tp": 2, "layout.micro_batch": 16}),
    (CHAT, {"workload.trainable.rank": 128, "layout.offload.optimizer": 1, "layout.sharding": "zero2"}),
    (CHAT.replace("--lora_dim 128", "--qlora True"), {"workload.trainable.method": "qlora"}),
    (ACTOR, {"layout.virtual_stages": 2}),
    (SHELL_IN_IMAGE, {"layout.tp": 8, "layout.framework": "vllm"}),
    (VLLM_FILE, {"workload.model": "gpt-oss-120b", "workload.serving.memory_fraction": 0.95}),
    (SGLANG_FILE, {"workload.model": "qwen3-8b", "layout.framework": "sglang", "layout.tp": 2}),
    (GROUP, {"layout.nodes": 2, "layout.ep": 16, "layout.dispatcher": "deepep"}),
)


@pytest.mark.parametrize(("text", "stated"), SEVENTEENTH)
def test_files_of_the_seventeenth_set_state_what_they_say(text: str, stated: dict[str, object]) -> None:
    found = given(read(text))
    assert {key: found.get(key) for key in stated} == stated


def test_a_shortened_list_of_ranks_is_not_the_number_of_ranks() -> None:
    listed = "\n".join(f"#  Rank  {n} Group  0 Pid 65 on host device  {n} [0000:75:00] AMD Instinct" for n in (0, 1))
    row = "8589934592 2147483648 float sum -1 41644 206.27 360.97 0 40903 210.01 367.51 0"
    heading = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
    reading = read(f"all_reduce_perf -g 8\n{listed}\n...\n{heading}\n{row}\n")
    entries = [each.value for each in reading.given if each.appended and isinstance(each.value, dict)]
    assert [(entry["ranks"], entry.get("nodes")) for entry in entries] == [(8, None)]


@pytest.mark.parametrize("kind", ["minimax_m1", "lfm2"])
def test_layers_that_no_key_describes_are_refused(kind: str) -> None:
    with pytest.raises(FormatError, match="in most layers"):
        read(f'{{"model_type": "{kind}", "num_hidden_layers": 4, "hidden_size": 64}}')


def test_a_server_of_maxtext_is_no_training_run() -> None:
    options = "model_name=llama2-7b ici_tensor_parallelism=4"
    with pytest.raises(FormatError, match="line 1: starts MaxText for inference"):
        read(f"python3 -m MaxText.maxengine_server base.yml {options}")
    assert given(read(f"python3 -m MaxText.train base.yml {options}"))["layout.tp"] == 4


def test_dotted_options_of_openrlhf_are_those_of_former_releases() -> None:
    dotted = (
        "--actor.num_nodes 2 --actor.num_gpus_per_node 8 --train.batch_size 128 --rollout.batch_size 128 "
        "--ds.zero_stage 3 "
        "--rollout.n_samples_per_prompt 8 --ds.param_dtype bf16 --algo.advantage.estimator group_norm "
        "--train.micro_batch_size 4 --actor.gradient_checkpointing_enable --algo.dynamic_filtering_enable"
    )
    reading = read(f"python3 -m openrlhf.cli.train_ppo_ray {dotted}\n")
    stated = {"layout.nodes": 2, "workload.rl.minibatches": 8, "layout.sharding": "fsdp", "workload.precision": "bf16"}
    assert (stated | {"workload.rl.algorithm": "grpo", "layout.recompute": "full"}).items() <= given(reading).items()
    assert "left out" in unknown(reading)


def test_a_job_that_writes_a_configuration_keeps_what_its_directives_ask_for() -> None:
    config = '{"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 2}}'
    job = f"#!/bin/bash\n#SBATCH -N 3\n#SBATCH --gres=gpu:4\ncat <<E > ds.json\n{config}\nE\npython x.py\n"
    found = given(read(job))
    assert (found["layout.micro_batch"], found["layout.sharding"]) == (2, "zero2")
    assert (found["layout.nodes"], found["cluster.accelerators_per_node"]) == (3, 4)


def test_adapters_of_a_recipe_are_not_taken_for_training_of_all_parameters() -> None:
    config = "train: {global_batch_size: 8, micro_batch_size: 1}\nmodel: {tensor_model_parallel_size: 2}\n"
    assert "workload.trainable" not in unknown(read(config))
    assert "workload.trainable" in unknown(read(config + "peft: {dim: 8}\n"))


def test_nics_with_rows_below_a_matrix_and_no_columns_are_counted() -> None:
    rows = "\n".join(f"GPU{n} {' '.join('X' if n == m else 'NV8' for m in range(2))} 0-31 0" for n in range(2))
    matrix = f"GPU0 GPU1 CPU Affinity NUMA Affinity\n{rows}\n"
    below = "NIC0 PIX NODE\nNIC1 SYS NODE\n"
    reading = read(f"{matrix}{below}\nLegend:\n\n  NIC0: mlx5_0\n")
    counts = {each.name: each.value for each in reading.counts}
    assert (counts["nics"], counts["rail_nics"], counts["NIC0"]) == (2, 1, "mlx5_0")
    assert given(reading)["cluster.scale_out.nics_per_node"] == 1
    cut = read(f"{matrix}NIC0 PIX\n")
    assert {each.name: each.value for each in cut.counts}["nics"] == 0


CUT_OFF = (
    ("python -m verl.trainer.main_ppo data.train_batch_size=256 \\\n  # trainer.x=2 \\\n"
     "  actor_rollout_ref.rollout.tensor_model_parallel_size=4 trainer.nnodes=2\n"),
    ("torchrun train.py --bf16 True \\\n  # --tf32 True \\\n  --per_device_train_batch_size 2 --lora_rank 8\n"),
)  # fmt: skip


@pytest.mark.parametrize("text", CUT_OFF)
def test_options_that_a_comment_cuts_off_their_launch_are_not_read_in_silence(text: str) -> None:
    assert "or a comment, the shell takes the options as another command" in unknown(read(text))


def test_references_of_a_file_of_a_group_lead_to_its_own_keys() -> None:
    model = "model:\n  encoder_seq_length: 4096\n  hidden_size: 1024\n  num_layers: 2\n  num_attention_heads: 8\n"
    more = (
        "  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 1\n  micro_batch_size: 1\n"
        "  global_batch_size: 8\n  ffn_hidden_size: ${multiply:4, ${.hidden_size}}\n"
        "  data:\n    seq_length: ${training.model.encoder_seq_length}\n"
    )
    found = given(read(f"trainer:\n  num_nodes: 2\n  devices: 8\n{model}{more}"))
    assert (found["workload.sequence_length"], found["workload.model.ffn_hidden"]) == (4096, 4096)
    other = more.replace("training.model.encoder", "data.model.encoder").replace("multiply", "power")
    left = given(read(f"data: {{a: 1}}\ntrainer:\n  num_nodes: 2\n  devices: 8\n{model}{other}"))
    assert "workload.model.ffn_hidden" not in left
    assert "workload.sequence_length" not in left


def test_a_launch_whose_replica_takes_every_accelerator_of_its_job_runs_on_all_nodes() -> None:
    job = (
        "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n"
        "ray job submit -- vllm serve a/b --tensor-parallel-size 8 --pipeline-parallel-size {}\n"
    )
    assert given(read(job.format(4)))["layout.nodes"] == 4
    assert "layout.nodes" not in given(read(job.format(2)))


def test_overrides_of_a_configuration_of_llama_factory_are_read() -> None:
    launch = "llamafactory-cli train examples/full.yaml \\\n  per_device_train_batch_size={} \\\n  bf16=true\n"
    reading = read(launch.format(8))
    found = given(reading)
    assert (found["layout.micro_batch"], found["workload.precision"]) == (8, "bf16")
    assert "a separate file: import it as well" in unknown(reading)
    with pytest.raises(FormatError, match="2 launches with different options"):
        read(launch.format(8) + launch.format(2))


def test_a_part_of_another_programs_configuration_is_no_engine() -> None:
    options = "gpu_memory_utilization: 0.5\nmax_num_seqs: 256\nmax_num_batched_tokens: 8192\n"
    assert given(read(options))["layout.framework"] == "vllm"
    with pytest.raises(FormatError):
        read(f"_target_: verl.workers.config.RolloutConfig\nname: vllm\n{options}")


def test_a_configuration_of_deepspeed_that_names_a_kind_of_model_is_one() -> None:
    routing = '"data_efficiency": {"data_routing": {"random_ltd": {"model_type": "decoder"}}}'
    text = f'{{"train_micro_batch_size_per_gpu": 2, "zero_optimization": {{"stage": 2}}, {routing}}}'
    assert given(read(text))["layout.sharding"] == "zero2"


def test_times_without_a_unit_in_their_names_are_listed() -> None:
    run = (
        '{"duration": 10.0, "completed": 4, "num_prompts": 4, "total_input_tokens": 4000, "total_output_tokens": 400, '
        '"max_concurrency": 2, "request_rate": "inf", "output_throughput": 40.0, "median_ttft": 23.5, "p99_tpot": 0.3}'
    )
    reading = read(run)
    assert "median_ttft, p99_tpot: times whose names state no unit" in unknown(reading)
    assert "median_ttft_seconds" not in counts(reading)


def test_types_of_weights_are_those_of_unquantized_models() -> None:
    launch = "vllm serve {} --dtype float16 {}\n"
    key = "workload.parameter_precision"
    assert given(read(launch.format("meta-llama/Llama-3.1-8B-Instruct", "")))[key] == "fp16"
    assert given(read(launch.format("Qwen/Qwen2.5-7B-Instruct-AWQ", "")))[key] == "int4"
    assert given(read(launch.format("meta-llama/Llama-3.1-8B-Instruct", "--quantization fp8")))[key] == "fp8"
    for model in ("a/b", "deepseek-ai/DeepSeek-V3"):
        reading = read(launch.format(model, ""))
        assert key not in given(reading)
        assert "dtype" in unknown(reading)
