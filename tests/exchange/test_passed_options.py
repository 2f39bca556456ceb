"""What wrappers pass on, quoted scripts hold, results tell of a server and other files state is read or listed."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

WRAPPED = """\
#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gres=gpu:h200:8
srun harness mpi-vllm --engine.model.repo=org/name \\
  --engine.cli=--tensor-parallel-size=4 \\
  --engine.cli=--enable-expert-parallel \\
  --engine.cli=--max-num-seqs=1024 \\
  --engine.cli=--max-model-len=32768 vllm serve org/name
"""


def test_options_in_options_of_a_wrapper_are_those_of_the_engine() -> None:
    reading = read(WRAPPED)
    keys = given(reading)
    assert (keys["layout.tp"], keys["layout.ep"], keys["workload.serving.max_sequences"]) == (4, 4, 1024)
    assert counts(reading)["max_model_len"] == 32768
    assert keys["cluster.accelerators_per_node"] == 8
    assert "accelerator h200: a name of the site" in unknown(reading)


@pytest.mark.parametrize(
    ("model", "tp"), [("org/name", 1), ("/engines/kimi", None), ("<engine>", None), ("./engine", None)]
)
def test_a_built_engine_of_tensorrt_llm_states_its_ranks_itself(model: str, tp: int | None) -> None:
    reading = read(f"trtllm-serve serve {model} --max_batch_size 64\n")
    assert given(reading).get("layout.tp") == tp
    assert ("layout.tp of" in unknown(reading)) is (tp is None)
    assert given(read(f"trtllm-serve {model} --tp_size 8\n"))["layout.tp"] == 8


def test_the_configuration_that_a_launch_of_maxtext_names_is_listed() -> None:
    launch = "python3 MaxText/train.py MaxText/configs/{} run_name=a ici_fsdp_parallelism=8\n"
    assert "models/gpu/llama2_7b.yml: a separate file" in unknown(read(launch.format("models/gpu/llama2_7b.yml")))
    assert ".yml" not in unknown(read(launch.format("base.yml")))


@pytest.mark.parametrize(
    "quoted",
    [
        "bash -lc $'docker run --label owner=<USER> \\\\\\n vllm serve org/name \\\\\\n --tensor-parallel-size 4\\n'",
        "bash -c 'docker run --label owner=<USER> vllm serve org/name --tensor-parallel-size 4'",
        'bash -c "docker run --label owner=<USER> vllm serve org/name --tensor-parallel-size 4"',
        "docker run --label owner=<USER> --note 'é' vllm serve org/name --tensor-parallel-size 4",
    ],
)
def test_a_placeholder_in_a_quoted_script_does_not_end_it(quoted: str) -> None:
    keys = given(read(f"{quoted}\n"))
    assert (keys["layout.framework"], keys["layout.tp"]) == ("vllm", 4)


def test_the_type_of_a_configuration_may_be_that_of_its_class() -> None:
    """Experts of Qwen3 have a width of their own, those of Mixtral the one that the file states."""
    sizes = {"num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8, "intermediate_size": 2048}
    experts = {"num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 1000}
    for name, width in (("Qwen3MoeForCausalLM", None), ("MixtralForCausalLM", 2048)):
        reading = read(json.dumps({"architectures": [name], **sizes, **experts}, indent=1), name="config.json")
        assert given(reading).get("workload.model.expert_ffn_hidden") == width, name
        assert ("has its own default" in unknown(reading)) is (width is None), name
        assert given(reading)["workload.model.experts"] == 8


def test_results_of_sglang_tell_of_its_server() -> None:
    result: dict[str, object] = {
        "completed": 10,
        "duration": 2.0,
        "request_throughput": 5.0,
        "output_throughput": 640.0,
    }
    result |= {"total_input_tokens": 10240, "total_output_tokens": 1280, "request_rate": "inf", "max_concurrency": 4}
    alone = read(json.dumps(result), "load-test")
    assert "layout.tp" not in given(alone) and "the client does not see the engine" in unknown(alone)
    cached = "/root/.cache/huggingface/hub/models--Qwen--Qwen3-32B/snapshots/0c35"
    server = {"model_path": cached, "tp_size": 4, "dp_size": 1, "pp_size": 2, "mem_fraction_static": 0.8387624}
    keys = given(read(json.dumps({**result, "server_info": server}), "load-test"))
    assert (keys["workload.model"], keys["layout.framework"]) == ("qwen3-32b", "sglang")
    assert (keys["layout.tp"], keys["layout.pp"]) == (4, 2)
    assert keys["workload.serving.memory_fraction"] == pytest.approx(0.8388)
    assert keys["workload.serving.concurrency"] == 4


def test_an_engine_of_rewards_is_no_layout_of_training() -> None:
    text = """
        reward_model:
          enable: false
          rollout:
            tensor_model_parallel_size: 2
    """
    with pytest.raises(FormatError, match="roles of reinforcement learning"):
        read(text, "megatron", name="rm_config.yaml")


def test_every_kind_of_training_of_a_page_is_among_its_choices() -> None:
    page = """
        deepspeed --module openrlhf.cli.train_sft --pretrain meta-llama/Llama-3.1-8B --train_batch_size 256

        python3 -m openrlhf.cli.train_ppo_ray --pretrain meta-llama/Llama-3.1-8B --rollout_batch_size 1024
    """
    with pytest.raises(SeveralParts, match=r"2 launches .* on lines 2, 4"):
        read(page)
    assert given(read(page, part=1))["workload.kind"] == "train"
    assert given(read(page, part=2))["workload.rl.prompts_per_step"] == 1024


def test_pods_that_claim_devices_are_not_called_pods_without() -> None:
    pod = """
        kind: Pod
        apiVersion: v1
        spec:
          containers: [{name: main, resources: {claims: [{name: gpu}]}}]
          resourceClaims: [{name: gpu, resourceClaimTemplateName: single}]
    """
    with pytest.raises(FormatError, match="claim devices"):
        read(pod, "kubernetes")


def test_adapters_of_nemo_have_the_kind_of_their_class() -> None:
    text = """
        strategy:
          tensor_model_parallel_size: 1
        model:
          peft:
            _target_: nemo.collections.llm.peft.{}
            dim: 32
    """
    keys = given(read(text.format("LoRA"), "megatron", name="salm.yaml"))
    assert (keys["workload.trainable.method"], keys["workload.trainable.rank"]) == ("lora", 32)
    other = read(text.format("CanonicalLoRA"), "megatron", name="salm.yaml")
    assert "workload.trainable.method" not in given(other) and "workload.trainable" in unknown(other)


def test_options_of_an_engine_may_name_its_model() -> None:
    text = """
        model_name: Qwen/Qwen3-32B
        tensor_parallel_size: 4
        kv_cache_config: {free_gpu_memory_fraction: 0.9}
        pytorch_backend_config: {use_cuda_graph: false}
    """
    reading = read(text, "trtllm-config", name="engine.yaml")
    assert given(reading)["workload.model"] == "qwen3-32b"
    assert given(reading)["workload.serving.captured_graphs"] is False
    assert "not in this file" not in unknown(reading)


PLACED = "python mason.py --num_nodes 8 --gpus 8 --image a/b {}accelerate launch --num_processes 8 finetune.py {}\n"
TRAINED = "--model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 1 --gradient_accumulation_steps 2"


def test_a_program_that_places_a_launch_itself_decides_its_nodes_and_ranks() -> None:
    reading = read(PLACED.format("-- ", TRAINED))
    found = given(reading)
    assert (found["workload.model"], found["layout.micro_batch"]) == ("llama-3.1-8b", 1)
    assert not {"layout.nodes", "workload.global_batch"} & found.keys()
    assert "ranks" not in counts(reading)
    assert "mason.py: starts the launch on nodes and devices that its own options count" in unknown(reading)


def test_a_launcher_or_a_program_without_counts_leaves_the_ranks_of_its_launch() -> None:
    for before in ("srun --nodes=2 -- ", "uv run -- ", "kubectl exec -it one -- ", ""):
        reading = read(f"{before}accelerate launch --num_processes 8 --num_machines 2 finetune.py {TRAINED}\n")
        assert counts(reading)["ranks"] == 8, before
        assert given(reading)["workload.global_batch"] == 1 * 2 * 8, before


CUT = """\
python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.tensor_model_parallel_size=4 \\
    data.train_batch_size=512 \\
    # a remark
    +actor_rollout_ref.actor.megatron.override_transformer_config.moe_z_loss_coeff=0.001 \\
    trainer.nnodes=2
"""


def test_options_that_a_remark_cuts_off_are_no_second_launch() -> None:
    reading = read(CUT)
    found = given(reading)
    assert (found["workload.rl.rollout.tp"], found["workload.rl.prompts_per_step"]) == (4, 512)
    assert "layout.nodes" not in found
    assert "the shell takes the options as another command" in unknown(reading)
    with pytest.raises(SeveralParts, match="2 launches"):
        read(CUT + CUT.replace("size=4", "size=2"))
    cut = (
        "vllm serve a/b --tensor-parallel-size 4 \\\n  # a remark\n  --max-num-seqs 8 --served-model-name vllm-serve\n"
    )
    assert "workload.serving.max_sequences" not in given(read(cut))


def test_a_launch_without_degrees_is_read_where_a_remark_names_their_options() -> None:
    found = given(
        read(
            "# For model parallel, set --model-parallel-size $MP_SIZE --DDP-impl torch\n"
            "python -m torch.distributed.launch --nproc_per_node 4 --nnodes 1 pretrain_gpt2.py \\\n"
            "  --num-layers 4 --hidden-size 512 --num-attention-heads 16 --batch-size 32\n"
        )
    )
    assert (found["workload.model.layers"], found["layout.micro_batch"], found["layout.nodes"]) == (4, 32, 1)
    assert "layout.tp" not in found


OPTIONS = """\
cat > extra.yaml <<EOF
enable_attention_dp: false
max_batch_size: {}
kv_cache_config:
  free_gpu_memory_fraction: 0.8
EOF
"""
SERVED = "trtllm-serve Qwen/Qwen3-8B --tp_size 2 --extra_llm_api_options extra.yaml\n"


def test_a_file_that_a_script_writes_in_one_way_is_read_with_its_launch() -> None:
    for written in (OPTIONS.format(16), f"if true; then\n{OPTIONS.format(16)}fi\n", OPTIONS.format(16) * 2):
        assert given(read("#!/bin/bash\n" + written + SERVED))["workload.serving.max_sequences"] == 16, written


def test_a_file_that_a_script_writes_in_a_branch_or_in_two_ways_is_not_read() -> None:
    two = f'if [ "$1" = a ]; then\n{OPTIONS.format(16)}else\n{OPTIONS.format(8)}fi\n'
    for written, why in (
        (f'if [ "$1" = a ]; then\n{OPTIONS.format(16)}fi\n', "written only if the test on line 2 is true"),
        (two, "the text holds 2 files of this name, which differ"),
    ):
        reading = read("#!/bin/bash\n" + written + SERVED)
        assert "workload.serving.max_sequences" not in given(reading)
        assert given(reading)["layout.tp"] == 2
        assert why in unknown(reading)


def test_runs_of_an_engine_without_a_server_have_its_layout() -> None:
    for started, framework in (
        ("vllm bench throughput --model Qwen/Qwen3-8B --input-len 100 --tensor-parallel-size 2", "vllm"),
        ("vllm bench latency --model Qwen/Qwen3-8B --tensor-parallel-size 2", "vllm"),
        ("python -m sglang.bench_one_batch --model-path Qwen/Qwen3-8B --tp 2", "sglang"),
        ("python -m sglang.bench_offline_throughput --model-path Qwen/Qwen3-8B --tp 2", "sglang"),
    ):
        found = given(read(started + "\nvllm bench serve --model Qwen/Qwen3-8B --num-prompts 9\n"))
        stated = found["layout.framework"], found["layout.tp"], found["workload.model"]
        assert stated == (framework, 2, "qwen3-8b"), started


def test_a_job_that_names_a_framework_and_starts_none_of_it_is_read_by_its_directives() -> None:
    job = (
        "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\n"
        'ARGS="--per_device_train_batch_size 1 --bf16"\necho "$ARGS"\nsrun python grpo.py\n'
    )
    found = given(read(job))
    assert (found["layout.nodes"], found["cluster.accelerators_per_node"]) == (4, 8)
    assert "layout.micro_batch" not in found
    with pytest.raises(FormatError, match="no command with options of the Hugging Face Trainer"):
        read(job.replace("#SBATCH --gpus-per-node=8\n", ""))
