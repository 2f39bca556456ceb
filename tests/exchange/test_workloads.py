"""Training configurations, recipes and launch lines state the layout; what they do not state stays unknown."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

MEGATRON = """\
    #!/bin/bash
    TP=8
    PP=${PP:-4}   # stages
    NNODES=64
    # --tensor-model-parallel-size 2
    torchrun --nproc_per_node 8 --nnodes $NNODES pretrain_gpt.py \\
      --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size $PP \\
      --num-layers-per-virtual-pipeline-stage 5 --sequence-parallel \\
      --num-layers 80 --hidden-size 8192 --num-attention-heads 64 \\
      --group-query-attention --num-query-groups 8 --ffn-hidden-size 28672 --swiglu \\
      --untie-embeddings-and-output-weights --vocab-size 128256 --max-position-embeddings 8192 \\
      --seq-length 8192 --micro-batch-size 1 --global-batch-size $((NNODES * 16)) --bf16 \\
      --use-distributed-optimizer --overlap-grad-reduce --recompute-granularity selective
    """


def test_a_megatron_launch_states_model_and_layout() -> None:
    reading = read(MEGATRON)
    keys = given(reading)
    assert {
        key: keys[f"layout.{key}"] for key in ("tp", "pp", "virtual_stages", "schedule", "nodes", "micro_batch")
    } == {
        "tp": 8,
        "pp": 4,
        "virtual_stages": 80 // (5 * 4),
        "schedule": "interleaved",
        "nodes": 64,
        "micro_batch": 1,
    }
    assert keys["layout.sharding"] == "zero1"
    assert keys["layout.recompute"] == "selective"
    assert keys["workload.global_batch"] == 1024
    assert (keys["workload.model.gated_ffn"], keys["workload.model.tied_embeddings"]) == (True, False)
    # Llama 3.1 70B: 80 layers of 855,654,400 with their norms, two tables of 128,256 × 8,192 and a norm
    assert counts(reading)["parameters"] == 80 * 855_654_400 + 2 * 128_256 * 8_192 + 8_192 == 70_553_706_496
    assert next(each.at.line for each in reading.given if each.path == ("layout", "tp")) == 7


def test_a_launch_without_a_distributed_optimizer_shards_nothing() -> None:
    assert given(read(MEGATRON.replace("--use-distributed-optimizer", "")))["layout.sharding"] == "none"


def test_a_variable_of_the_environment_stays_unknown() -> None:
    reading = read(MEGATRON.replace("PP=${PP:-4}", "true"))
    assert "layout.pp" not in given(reading)
    assert "pipeline_model_parallel_size: $PP" in unknown(reading)


def test_a_nemo_configuration_states_the_same() -> None:
    text = """\
        trainer: {num_nodes: 4, devices: 8, precision: bf16}
        model:
          tensor_model_parallel_size: 4
          pipeline_model_parallel_size: 2
          micro_batch_size: 1
          global_batch_size: 128
          encoder_seq_length: 4096
          activations_checkpoint_granularity: full
          optim: {name: distributed_fused_adam}
        """
    keys = given(read(text))
    assert (keys["layout.framework"], keys["layout.tp"], keys["layout.pp"], keys["layout.nodes"]) == ("nemo", 4, 2, 4)
    assert (keys["layout.sharding"], keys["layout.recompute"]) == ("zero1", "full")
    assert (keys["workload.precision"], keys["workload.global_batch"]) == ("bf16", 128)


RECIPE = """\
    from megatron.bridge import AutoBridge

    def {name}() -> ConfigContainer:
        cfg = _pretrain_common()
        cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Llama-3.1-8B").to_megatron_provider(load_weights=False)
        cfg.model.tensor_model_parallel_size = {tp}
        cfg.model.context_parallel_size = 2
        cfg.train.global_batch_size = 512
        return cfg
    """


def test_a_recipe_is_read_and_not_run() -> None:
    keys = given(read(RECIPE.format(name="llama", tp=4)))
    assert (keys["layout.tp"], keys["layout.cp"], keys["workload.global_batch"]) == (4, 2, 512)
    assert "layout.sharding" not in keys


def test_recipes_that_differ_are_a_question() -> None:
    two = "\n".join(RECIPE.format(name=name, tp=tp).replace("\n    ", "\n")[4:] for name, tp in (("a", 2), ("b", 8)))
    with pytest.raises(FormatError, match=r"holds 2 recipes that differ \(a, b\)"):
        read(two)
    assert given(read(two, part=2))["layout.tp"] == 8


PERFORMANCE = """\
    from nemo.collections.llm.recipes import llama31_70b
    from scripts.performance.helpers import set_primary_perf_configs

    def recipe(profile: bool = False):
      pretrain = llama31_70b.pretrain_recipe(performance_mode=True)
      num_nodes, gbs = 16, 256
      tp_size = 2
      pp_size = 4
      vp_size = 5
      ep_size = 1
      if profile:
        ep_size = 2
      mbs = 1
      pretrain = set_primary_perf_configs(pretrain, "pre_train", num_gpus_per_node=8, mbs=mbs, gbs=512,
        tp_size=tp_size, pp_size=pp_size, cp_size=2, vp_size=vp_size, ep_size=ep_size, compute_dtype="fp8",
        fp8_recipe="cs", use_mcore_fsdp=False)
      pretrain.data.seq_length = 8192
      return pretrain
    """


def test_a_recipe_that_changes_that_of_a_model_states_the_constants_of_its_names() -> None:
    keys = given(read(PERFORMANCE))
    assert {key: keys.get(f"layout.{key}") for key in ("framework", "tp", "pp", "cp", "virtual_stages", "ep")} == {
        "framework": "nemo",
        "tp": 2,
        "pp": 4,
        "cp": 2,
        "virtual_stages": 5,
        "ep": None,  # a branch assigns it again
    }
    assert (keys["layout.micro_batch"], keys["workload.global_batch"], keys["workload.sequence_length"]) == (
        1,
        512,
        8192,
    )
    assert (keys["workload.model"], keys["workload.precision"], keys["workload.recipe"]) == (
        "llama-3.1-70b",
        "fp8",
        "current",
    )
    assert "layout.sharding" not in keys


NEOX = """\
    {
      "pipe_parallel_size": 2, "model_parallel_size": 4,
      "num_layers": 32, "hidden_size": 4096, "intermediate_size": 32768, "num_attention_heads": 32,
      "seq_length": 4096, "max_position_embeddings": 4096, "no_weight_tying": true, # as in Llama
      "activation": "ACTIVATION", "mlp_multiple_of": 256,
      "zero_optimization": {"stage": 1}, "checkpoint_activations": true,
      "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8,
    }
    """


@pytest.mark.parametrize(("activation", "width", "gated"), [("swiglu", 11008, True), ("gelu", 32768, False)])
def test_neox_cuts_the_width_of_gated_networks(activation: str, width: int, gated: bool) -> None:
    """32768 × 2 / 3 = 21845 for both matrices, half of it is 10922, and 43 × 256 = 11008 is Llama's width."""
    reading = read(NEOX.replace("ACTIVATION", activation))
    keys = given(reading)
    assert (keys["workload.model.ffn_hidden"], keys["workload.model.gated_ffn"]) == (width, gated)
    assert (keys["layout.pp"], keys["layout.tp"], keys["layout.sharding"], keys["layout.recompute"]) == (
        2,
        4,
        "zero1",
        "full",
    )
    per_layer = 4 * 4096**2 + (3 if gated else 2) * 4096 * width + 2 * 4096
    assert counts(reading)["parameters_without_embeddings"] == 32 * per_layer + 4096
    assert "32 × 4" not in unknown(reading)
    assert "8 × 4 sequences" in unknown(reading)


TORCHTITAN = """\
    [model]
    name = "llama3"
    flavor = "70B"

    [training]
    local_batch_size = 8
    seq_len = 8192

    [parallelism]
    data_parallel_replicate_degree = 2
    data_parallel_shard_degree = 16
    tensor_parallel_degree = 8
    pipeline_parallel_degree = 2
    pipeline_parallel_schedule = "Interleaved1F1B"
    pipeline_parallel_microbatch_size = 1

    [activation_checkpoint]
    mode = "selective"
    """


def test_torchtitan_states_hybrid_sharding() -> None:
    reading = read(TORCHTITAN)
    assert given(reading) == {
        "layout.framework": "torchtitan",
        "layout.tp": 8,
        "layout.pp": 2,
        "workload.sequence_length": 8192,
        "workload.model": "llama-3.1-70b",
        "layout.sharding": "hsdp",
        "layout.shard_group": 16,
        "layout.dp": 32,
        "layout.micro_batch": 1,
        "layout.recompute": "selective",
        "layout.schedule": "interleaved",
    }
    assert next(each.at.line for each in reading.given if each.path == ("layout", "tp")) == 12


def test_deepspeed_states_its_stage_and_lists_what_is_automatic() -> None:
    config = {
        "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}},
        "bf16": {"enabled": True},
        "train_batch_size": 512,
        "train_micro_batch_size_per_gpu": "auto",
    }
    reading = read(json.dumps(config, indent=1))
    assert given(reading) == {
        "layout.framework": "deepspeed",
        "workload.global_batch": 512,
        "layout.sharding": "fsdp",
        "layout.offload.optimizer": 1,
        "workload.precision": "bf16",
    }
    assert "train_micro_batch_size_per_gpu: auto" in unknown(reading)


def test_axolotl_names_the_model_and_its_adapters() -> None:
    text = """\
        base_model: meta-llama/Llama-3.1-8B-Instruct
        sequence_len: 4096
        micro_batch_size: 2
        tensor_parallel_size: 2
        dp_shard_size: 4
        bf16: true
        adapter: lora
        lora_r: 8
        lora_target_modules: [q_proj, v_proj, lm_head]
        """
    reading = read(text)
    keys = given(reading)
    assert keys["workload.model"] == "llama-3.1-8b"
    assert (keys["layout.tp"], keys["layout.sharding"], keys["layout.dp"]) == (2, "fsdp", 4)
    assert (keys["workload.trainable.method"], keys["workload.trainable.rank"]) == ("lora", 8)
    assert keys["workload.trainable.modules"] == ["attention"]
    assert "adapters of lm_head" in unknown(reading)


def test_axolotl_states_the_strategy_of_fsdp() -> None:
    for line, sharding in (
        ("fsdp: [full_shard, auto_wrap]", "fsdp"),
        ("fsdp: [shard_grad_op]", "zero2"),
        ("fsdp_config: {fsdp_sharding_strategy: HYBRID_SHARD}", "hsdp"),
        ("fsdp_config: {reshard_after_forward: false}", "zero2"),
        ("fsdp_config: {offload_params: true}", "fsdp"),
        ("fsdp: [hybrid_shard_zero2, auto_wrap]", None),
        ("fsdp_config: {fsdp_sharding_strategy: custom}", None),
        ("fsdp_config: {reshard_after_forward: sometimes}", None),
    ):
        reading = read(f"base_model: a/b\nmicro_batch_size: 1\n{line}\n")
        assert given(reading).get("layout.sharding") == sharding, line
        assert ("memory of the host" in unknown(reading)) is ("offload" in line), line
        unread = any(word in unknown(reading) for word in ("hybrid_shard_zero2", "custom", "sometimes"))
        assert unread is (sharding is None), line


LLAMA_FACTORY = """\
    model_name_or_path: meta-llama/Llama-3.1-8B
    stage: sft
    finetuning_type: lora
    lora_target: q_proj,v_proj
    cutoff_len: 4096
    per_device_train_batch_size: 2
    gradient_accumulation_steps: 4
    bf16: true
    """


def test_llama_factory_states_what_it_trains_and_the_length_only_where_sequences_are_packed() -> None:
    reading = read(LLAMA_FACTORY)
    keys = given(reading)
    assert (keys["workload.trainable.rank"], keys["workload.trainable.modules"]) == (8, ["attention"])
    assert (keys["layout.micro_batch"], keys["layout.recompute"], keys["workload.precision"]) == (2, "full", "bf16")
    assert "workload.sequence_length" not in keys and "workload.sequence_length" in unknown(reading)
    assert given(read(LLAMA_FACTORY.replace("bf16", "packing: true\n    bf16")))["workload.sequence_length"] == 4096
    full = LLAMA_FACTORY.replace("lora\n", "full\n").replace("    lora_target: q_proj,v_proj\n", "")
    assert "workload.trainable.method" not in given(read(full))
    listed = read(LLAMA_FACTORY.replace("q_proj,v_proj", "[q_proj, up_proj]"))
    assert given(listed)["workload.trainable.modules"] == ["attention", "ffn"]
    for line in ("lora_rank: ${RANK}", "quantization_bit: 3", "fsdp: hybrid_shard_zero2"):
        other = read(f"{LLAMA_FACTORY}{line}\n")
        assert line.split()[1] in unknown(other), line
        assert ("workload.trainable.rank" in given(other)) is ("rank" not in line), line
        assert "layout.sharding" not in given(other), line
    with pytest.raises(FormatError, match=r"line 9: .*use_dora"):
        read(f"{LLAMA_FACTORY}use_dora: true\n")
    for line, why in (("stage: dpo", "several models"), ("finetuning_type: freeze", "cannot describe")):
        name = line.partition(":")[0]
        text = "\n".join(line if row.strip().startswith(name) else row.strip() for row in LLAMA_FACTORY.splitlines())
        with pytest.raises(FormatError, match=why):
            read(text)


def test_a_configuration_of_mlperf_states_the_layout_and_the_batch_of_all_replicas() -> None:
    text = """\
        source $(dirname ${BASH_SOURCE[0]})/config_common.sh
        export DGXNNODES=128
        export DGXNGPU=4
        export MINIBS=72
        export TENSOR_MODEL_PARALLEL=2
        export PIPELINE_MODEL_PARALLEL=8
        export INTERLEAVED_PIPELINE=8
        export CONTEXT_PARALLEL=2
        """
    keys = given(read(text))
    assert {name: keys[f"layout.{name}"] for name in ("tp", "pp", "cp", "virtual_stages", "nodes")} == {
        "tp": 2,
        "pp": 8,
        "cp": 2,
        "virtual_stages": 8,
        "nodes": 128,
    }
    assert keys["workload.global_batch"] == 72 * (128 * 4 // (2 * 8 * 2)) == 1152
    assert "config_common.sh" in unknown(read(text))
    assert "workload.global_batch" not in given(read(text.replace("export CONTEXT_PARALLEL=2", "")))
    assert "MINIBS=x: not a count" in unknown(read(text.replace("MINIBS=72", "MINIBS=x")))
    with pytest.raises(FormatError, match="no layout of a transformer"):
        read("export DGXNNODES=1\nexport DGXNGPU=8\nexport BATCHSIZE=56\n")


def test_maxtext_multiplies_its_meshes_and_leaves_what_it_works_out() -> None:
    text = """\
        base_emb_dim: 4096
        base_num_query_heads: 32
        base_num_kv_heads: 8
        base_num_decoder_layers: 32
        base_mlp_dim: 14336
        head_dim: 128
        mlp_activations: ["silu", "linear"]
        vocab_size: 128256
        logits_via_embedding: false
        per_device_batch_size: 2
        max_target_length: 8192
        ici_tensor_parallelism: 4
        dcn_pipeline_parallelism: 2
        ici_context_parallelism: -1
        ici_fsdp_parallelism: -1
        """
    reading = read(text)
    keys = given(reading)
    assert (keys["layout.tp"], keys["layout.pp"]) == (4, 2)
    assert "layout.sharding" not in keys  # dcn_data_parallelism takes what is left: one copy or several
    assert "layout.cp" not in keys
    assert "ici_context_parallelism: -1" in unknown(reading)
    assert counts(reading)["parameters"] == 8_030_261_248  # Llama 3.1 8B


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "vllm serve deepseek-ai/DeepSeek-V3 -tp 8 --data-parallel-size 2 --enable-expert-parallel",
            {"layout.framework": "vllm", "layout.tp": 8, "layout.attention_dp": 2, "layout.ep": 16},
        ),
        (
            "vllm serve meta-llama/Llama-3.1-8B -tp 2 -dp 4 --max-num-seqs 128",
            {"layout.tp": 2, "layout.dp": 4, "workload.serving.max_sequences": 128},
        ),
        (
            "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp 16 --dp 8 --enable-dp-attention",
            {"layout.framework": "sglang", "layout.tp": 2, "layout.attention_dp": 8, "workload.model": "deepseek-r1"},
        ),
        (
            "trtllm-serve nvidia/Llama-3.1-70B-Instruct-FP8 --tp_size 8 --max_num_tokens 8192",
            {"layout.framework": "trt-llm", "layout.tp": 8, "workload.serving.chunk_tokens": 8192},
        ),
    ],
)
def test_launch_lines_of_engines_state_a_serving_layout(line: str, expected: dict[str, object]) -> None:
    keys = given(read(line + "\n"))
    assert keys["workload.kind"] == "serve"
    assert {key: keys.get(key) for key in expected} == expected


def test_data_parallelism_of_an_unknown_model_is_left_open() -> None:
    reading = read("vllm serve me/unheard-of --data-parallel-size 4\n")
    assert not {"layout.dp", "layout.attention_dp"} & set(given(reading))
    assert "replicas of a dense model, or attention of one with experts" in unknown(reading)


LAUNCHES = """\
    vllm serve meta-llama/Llama-3.1-70B-Instruct --tensor-parallel-size 8
    vllm serve deepseek-ai/DeepSeek-V3 --data-parallel-size 8 --enable-expert-parallel
    """


def test_two_launch_lines_are_never_joined() -> None:
    with pytest.raises(
        FormatError, match=r"holds 2 launches with different options, on lines 1, 2: choose .* --part N"
    ):
        read(LAUNCHES)
    first, second = given(read(LAUNCHES, part=1)), given(read(LAUNCHES, part=2))
    assert (first["workload.model"], first["layout.tp"]) == ("llama-3.1-70b", 8) and "layout.ep" not in first
    assert (second["workload.model"], second["layout.ep"]) == ("deepseek-v3", 8)
    with pytest.raises(FormatError, match="has 2 launches, and --part 3 is none of them"):
        read(LAUNCHES, part=3)


def test_a_launch_inside_a_wrapper_or_a_page_is_one_launch() -> None:
    launch = "vllm serve Qwen/Qwen3-32B --tensor-parallel-size 8"
    page = "The engine's launch:\n\n```bash\n{}\n```\nmore's `text`\n"
    for text in (
        f'bash -c "{launch}"',
        f"srun -N 2 --container-image=vllm bash -lc '{launch}'",
        f'xpk workload create --command="export A=1 && {launch}" --name run',
        page.format(launch),
        page.format(f"$ {launch}").replace("bash", "console"),
        page.format("print('vllm serve --tensor-parallel-size 2')").replace("bash", "python") + page.format(launch),
    ):
        assert given(read(text, "serving"))["layout.tp"] == 8, text
    with pytest.raises(SeveralParts, match="on lines 4, 10"):
        read(page.format(launch) + page.format(launch.replace("8", "4")), "serving")


def test_the_nodes_of_one_launch_are_one_launch() -> None:
    line = "python -m sglang.launch_server --model-path x/Llama-3.1-8B --tp 16 --nnodes 2 --node-rank {}\n"
    assert given(read(line.format(0) + line.format(1)))["layout.tp"] == 16


def test_the_last_flag_of_an_array_is_read() -> None:
    text = """\
        MODEL_ARGS=(
          --num-layers 32 --hidden-size 4096 --num-attention-heads 32
        )
        PARALLEL=(--tensor-model-parallel-size ${TP:-2}
          --use-distributed-optimizer)
        TRAINING=(
          --micro-batch-size 1
          --bf16
        )
        torchrun pretrain_gpt.py ${MODEL_ARGS[@]} "${PARALLEL[@]}" ${TRAINING[@]}
        """
    keys = given(read(text))
    assert (keys["layout.tp"], keys["layout.sharding"], keys["workload.precision"]) == (2, "zero1", "bf16")


def test_an_option_of_an_undecided_branch_is_listed_and_not_stated() -> None:
    text = """\
        ARGS="--tensor-model-parallel-size 4 --num-layers 32"
        if [ "$1" = big ]; then
          ARGS="$ARGS --pipeline-model-parallel-size 8"
        fi
        torchrun pretrain_gpt.py $ARGS --sequence-parallel
        """
    reading = read(text)
    assert "layout.pp" not in given(reading)
    assert "depends on the test on line 2" in unknown(reading)
    chosen = """\
        if [ "$1" = sharded ]; then
          DO=" --use-distributed-optimizer"; N=4
        else
          DO=" "; N=8
        fi
        run="torchrun pretrain_gpt.py --num-layers 32 --hidden-size 64 $DO --tensor-model-parallel-size $N $TEXT"
        echo $run
        eval $run  # one launch, whose options the last branch does not decide
        """
    keys = given(read(chosen))
    assert "workload.model.layers" in keys and not {"layout.sharding", "layout.tp"} & set(keys)


def test_a_program_other_than_those_of_megatron_may_shard_by_default() -> None:
    line = "python3 {} --tensor-model-parallel-size 2 --num-layers 8 --hidden-size 64 --num-attention-heads 4\n"
    assert given(read(line.format("pretrain_gpt.py")))["layout.sharding"] == "none"
    reading = read(line.format("train.py"))
    assert "layout.sharding" not in given(reading) and "layout.sharding" in unknown(reading)
    sizes = "MODEL_ARGS=(\n --num-layers 8 --hidden-size 64\n --num-attention-heads 4\n)\n"
    assert given(read(sizes))["workload.model.hidden"] == 64


def test_what_no_command_starts_and_what_has_another_meaning_is_not_stated() -> None:
    comment = "# python -m sglang.launch_server --tp 8\npython -m sglang.bench_serving --backend sglang\n"
    with pytest.raises(FormatError, match="no command that starts"):
        read(comment)
    free = "trtllm-serve x/Llama-3.1-70B --tp_size 4 --kv_cache_free_gpu_memory_fraction 0.8\n"
    assert "workload.serving.memory_fraction" not in given(read(free)) and "weights leave" in unknown(read(free))
    twice = "model:\n  tensor_model_parallel_size: 2\n  encoder_seq_length: 65536\n  data:\n    seq_length: 4096\n"
    assert "workload.sequence_length" not in given(read(twice)) and "4096 on line 5" in unknown(read(twice))
    for line in (
        "python -m sglang.launch_server --model x --tp $TP\n",
        "vllm serve x --tp $TP --enable-expert-parallel\n",
    ):
        assert not {"layout.tp", "layout.ep"} & set(given(read(line))), line
    swift = "megatron sft --model Qwen/Qwen3-32B --tensor_model_parallel_size 8 --micro_batch_size 1\n"
    assert (keys := given(read(swift)))["workload.model"] == "qwen3-32b" and keys["layout.tp"] == 8
    stages = MEGATRON_LINE.format("--pipeline-model-parallel-size 4 --decoder-last-pipeline-num-layers 5")
    assert given(read(stages))["layout.stage_layers"] == [9, 9, 9, 5]


def test_arguments_in_a_list_of_yaml_are_read() -> None:
    text = """\
        apiVersion: v1
        kind: Pod
        spec:
          containers:
            - image: vllm/vllm-openai:v0.11.0
              command: ["vllm", "serve", "Qwen/Qwen3-235B-A22B"]
              args:
                - --tensor-parallel-size
                - "4"
                - --enable-expert-parallel
        """
    reading = read(text, "vllm")
    keys = given(reading)
    assert (keys["workload.model"], keys["layout.tp"], keys["layout.ep"]) == ("qwen3-235b-a22b", 4, 4)
    assert next(each.at.line for each in reading.given if each.path == ("layout", "tp")) == 8


MEGATRON_LINE = "torchrun pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 32 {}\n"


@pytest.mark.parametrize(
    ("flags", "sharding"),
    [
        ("--deepspeed --zero-stage=3", "fsdp"),
        ("--deepspeed --zero-stage 1", "zero1"),
        ("--deepspeed --deepspeed_config ds.json", None),
        ("--use-distributed-optimizer", "zero1"),
        ("--bf16", "none"),
    ],
)
def test_sharding_left_to_another_library_is_not_none(flags: str, sharding: str | None) -> None:
    assert given(read(MEGATRON_LINE.format(flags))).get("layout.sharding") == sharding


@pytest.mark.parametrize(
    ("flags", "dispatcher"),
    [
        ("--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep", "hybrid"),
        ("--moe-token-dispatcher-type flex --moe-flex-dispatcher-backend deepep", "deepep"),
        ("--moe-token-dispatcher-type flex", "deepep"),
        ("--moe-token-dispatcher-type alltoall --moe-flex-dispatcher-backend hybridep", "all-to-all"),
    ],
)
def test_the_backend_of_a_flexible_dispatcher_decides(flags: str, dispatcher: str) -> None:
    assert given(read(MEGATRON_LINE.format(flags)))["layout.dispatcher"] == dispatcher


TITAN_LINE = "torchrun -m torchtitan.train --parallelism.tensor_parallel_degree 2 --model.flavor 8B {}\n"
TRAINER_LINE = "torchrun train.py --per_device_train_batch_size 1 --model_name_or_path meta-llama/Llama-3.1-8B {}\n"


@pytest.mark.parametrize(
    ("line", "flags", "stated"),
    [
        (MEGATRON_LINE, "--cuda-graph-impl transformer_engine", {"captured_graphs": True}),
        (MEGATRON_LINE, "--cuda-graph-impl none", {"captured_graphs": False}),
        (MEGATRON_LINE, "--enable-cuda-graph", {"captured_graphs": True}),
        (MEGATRON_LINE, "--cross-entropy-loss-fusion", {"loss": "fused"}),
        (MEGATRON_LINE, "--bf16", {}),
        (TITAN_LINE, "--compile.enable", {"fused_kernels": True}),
        (TITAN_LINE, "", {}),
        (TRAINER_LINE, "--torch_compile True", {"fused_kernels": True}),
        (TRAINER_LINE, "--use_liger_kernel True", {"fused_kernels": True, "loss": "chunked"}),
    ],
)
def test_kernels_and_the_loss_are_what_a_launch_states(line: str, flags: str, stated: dict[str, object]) -> None:
    keys = given(read(line.format(flags)))
    names = ("fused_kernels", "captured_graphs", "loss")
    assert {name: keys[f"layout.{name}"] for name in names if f"layout.{name}" in keys} == stated


def test_a_pattern_of_unlike_layers_is_no_transformer() -> None:
    reading = read(MEGATRON_LINE.format("--hidden-size 4096 --num-attention-heads 32 --hybrid-override-pattern M-M*-"))
    assert not any(key.startswith("workload.model") for key in given(reading))
    assert "hybrid_override_pattern: M-M*-" in unknown(reading)


def test_references_of_a_configuration_are_followed() -> None:
    text = """\
        trainer: {devices: 8, num_nodes: 4}
        model:
          tensor_model_parallel_size: 4
          encoder_seq_length: 8192
          data: {seq_length: "${model.encoder_seq_length}"}
          micro_batch_size: ${.start}
          start: 2
        """
    keys = given(read(text))
    assert (keys["workload.sequence_length"], keys["layout.micro_batch"]) == (8192, 2)


MAXTEXT = """\
    base_emb_dim: 4096
    base_num_query_heads: 32
    base_num_decoder_layers: 32
    head_dim: 128
    kv_lora_rank: 512
    qk_nope_head_dim: 128
    per_device_batch_size: {batch}
    ici_tensor_parallelism: {tp}
    attention_type: {attention}
    """


@pytest.mark.parametrize(
    ("batch", "tp", "micro"),
    [("2", "4", 8), ("0.25", "4", 1), ("0.25", "8", 2), ("0.25", "2", None), ("1", "-1", None)],
)
def test_maxtext_counts_sequences_on_every_device(batch: str, tp: str, micro: int | None) -> None:
    reading = read(MAXTEXT.format(batch=batch, tp=tp, attention="global"))
    assert given(reading).get("layout.micro_batch") == micro
    assert ("per_device_batch_size" in unknown(reading)) == (micro is None)


@pytest.mark.parametrize(("attention", "latent"), [("global", None), ("mla", 512)])
def test_keys_of_latent_attention_hold_for_latent_attention_alone(attention: str, latent: int | None) -> None:
    keys = given(read(MAXTEXT.format(batch=1, tp=1, attention=attention)))
    assert keys.get("workload.model.latent_attention.kv") == latent


@pytest.mark.parametrize(
    ("converters", "precision", "recipe"),
    [
        ('["float8"]', "fp8", None),
        ('["quantize.linear.float8"]', "fp8", None),
        ('["quantize.linear.mx"]', "fp8", "mxfp8"),
        ('["quantize.grouped_mm.float8"]', "fp8", None),
        ("[]", None, None),
    ],
)
def test_converters_of_torchtitan_have_a_precision(converters: str, precision: str | None, recipe: str | None) -> None:
    text = TORCHTITAN.replace('flavor = "70B"', f'flavor = "70B"\n    converters = {converters}')
    keys = given(read(text))
    assert (keys.get("workload.precision"), keys.get("workload.recipe")) == (precision, recipe)


REGISTRY = """\
    from torchtitan.components.quantization import Float8LinearConverter
    from torchtitan.trainer import Trainer
    from . import model_registry


    def llama3_8b() -> Trainer.Config:
        model_spec = model_registry("8B")
        return Trainer.Config(
            hf_assets_path="./assets/hf/Llama-3.1-8B",
            model_spec=model_spec,
            training=TrainingConfig(num_tokens_per_microbatch_per_dp_rank=2 * 8192, max_context_length=8192),
            parallelism=ParallelismConfig(tensor_parallel_degree=4),
            activation_checkpoint=FullAC.Config(),
        )


    def llama3_8b_float8() -> Trainer.Config:
        config = llama3_8b()
        config.model_spec = model_registry("8B", converters=[Float8LinearConverter.Config()])
        config.parallelism.context_parallel_degree = 2
        if config.compile.enable:
            config.training.steps = 5
        return config
    """


def test_a_registry_of_torchtitan_keeps_its_configurations_apart() -> None:
    with pytest.raises(SeveralParts, match="1 llama3_8b, 2 llama3_8b_float8"):
        read(REGISTRY)
    keys = given(read(REGISTRY, part=1))
    assert (keys["workload.model"], keys["layout.tp"], keys["layout.micro_batch"]) == ("llama-3.1-8b", 4, 2)
    assert (keys["layout.recompute"], keys.get("layout.cp"), keys.get("workload.precision")) == ("full", None, None)
    second = read(REGISTRY, part=2)
    keys = given(second)
    assert (keys["layout.tp"], keys["layout.cp"], keys["workload.precision"]) == (4, 2, "fp8")
    assert "depends on the test" in unknown(second)


def test_a_micro_batch_of_maxtext_does_not_depend_on_accumulated_passes() -> None:
    words = "python train.py base.yml model_name=llama3-70b per_device_batch_size=0.5 gradient_accumulation_steps=8 "
    mesh = "ici_tensor_parallelism=4 ici_fsdp_parallelism=2 dcn_data_parallelism=16 dcn_fsdp_parallelism=1"
    keys = given(read(words + mesh, "maxtext"))
    assert (keys["layout.micro_batch"], keys["layout.dp"], keys["workload.global_batch"]) == (2, 32, 512)
    assert (keys["layout.sharding"], keys["layout.shard_group"]) == ("hsdp", 2)


AXES: list[tuple[str, str | None, int | None, int | None]] = [  # axes; sharding, its group, and replicas
    ("ici_fsdp_parallelism=1 dcn_data_parallelism=1", "fsdp", None, 1),
    ("ici_fsdp_parallelism=1 dcn_data_parallelism=4", "none", None, 4),
    ("ici_fsdp_parallelism=1 dcn_data_parallelism=4 shard_optimizer_over_data=True", "zero1", None, 4),
    ("ici_fsdp_parallelism=1 dcn_data_parallelism=1 ici_expert_parallelism=4", "none", None, 4),
    ("ici_fsdp_parallelism=8 dcn_data_parallelism=1", "fsdp", None, 8),
    ("ici_fsdp_parallelism=4 ici_fsdp_transpose_parallelism=2 dcn_data_parallelism=1", "fsdp", None, 8),
    ("ici_fsdp_parallelism=8 dcn_data_parallelism=4", "hsdp", 8, 32),
    ("ici_fsdp_parallelism=8 dcn_data_parallelism=2 ici_expert_parallelism=2", "hsdp", 16, 32),
    ("dcn_data_parallelism=4", "hsdp", None, None),  # fsdp takes the devices that are left
    ("ici_fsdp_parallelism=8", None, None, None),  # data takes the slices that are left
    ("ici_tensor_parallelism=4", None, None, None),
]


@pytest.mark.parametrize(("axes", "sharding", "group", "replicas"), AXES)
def test_the_axes_of_maxtext_say_who_shards_and_who_copies(
    axes: str, sharding: str | None, group: int | None, replicas: int | None
) -> None:
    words = f"python3 -m MaxText.train base.yml model_name=llama3.1-8b per_device_batch_size=1 {axes}"
    found = given(read(words, "maxtext"))
    names = ("layout.sharding", "layout.shard_group", "layout.dp")
    assert tuple(found.get(name) for name in names) == (sharding, group, replicas)


def test_windows_of_megatron_are_of_all_layers_or_of_those_that_are_not_skipped() -> None:
    """Tokens before one and itself; of 12 layers each fourth is skipped, or the fifth and the tenth, or the zeros."""
    words = "torchrun pretrain_gpt.py --num-layers 12 --hidden-size 64 --num-attention-heads 8 --window-size 127,0 "
    base = "workload.model.attention_window"
    for option, window in (
        ("", {base: 128}),
        ("--window-attn-skip-freq 4", {f"{base}.tokens": 128, f"{base}.layers": 9}),
        ("--window-attn-skip-freq 5", {f"{base}.tokens": 128, f"{base}.layers": 10}),
        ("--window-attn-skip-freq '[1,1,0]*4'", {f"{base}.tokens": 128, f"{base}.layers": 8}),
        ("--window-attn-skip-freq $N", {}),
    ):
        found = given(read(words + option))
        assert {key: value for key, value in found.items() if key.startswith(base)} == window, option


def test_megatron_reads_stages_modules_and_groups() -> None:
    words = (
        "torchrun --nnodes 8 --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 4 "
        "--pipeline-model-parallel-size 4 --num-layers 14 --hidden-size 4096 --num-attention-heads 32 "
        "--pipeline-model-parallel-layout 'Et*3|(tttt|)*2t*3L' --recompute-granularity selective "
        "--recompute-modules layernorm moe_act --use-megatron-fsdp --num-distributed-optimizer-instances 2"
    )
    keys = given(read(words))
    assert keys["layout.stage_layers"] == [3, 4, 4, 3]
    assert keys["layout.recompute"] == ["norm", "activation"]
    hostile = words.replace("Et*3|(tttt|)*2t*3L", "(tttttttttt)*9999" * 500)
    assert "more than 10,000 layers" in unknown(read(hostile))
    assert (keys["layout.sharding"], keys["layout.shard_group"]) == ("hsdp", 2)  # 64 ranks / 4 / 4 / 2 copies
    words = words.replace("selective", "full --recompute-method block --recompute-num-layers 3")
    some, every = given(read(words)), given(read(words.replace("layers 3", "layers 4")))
    assert (some["layout.recompute"], some["layout.recompute_layers"]) == ("full", 3), "14 layers on 4 stages"
    assert (every["layout.recompute"], every.get("layout.recompute_layers")) == ("full", None)
