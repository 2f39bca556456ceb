"""Python that states a layout: recipes whose functions have parameters, and calls that declare an engine."""

from __future__ import annotations

import textwrap

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.effort import each
from tests.exchange.imports import given, read, unknown

RECIPE = """
    from megatron.bridge.models.qwen import Qwen3ModelProvider14B


    def model_config(tensor_parallelism: int = 8, pipeline_parallelism: int = 1, dtype=None):
        return Qwen3ModelProvider14B(
            tensor_model_parallel_size=tensor_parallelism, pipeline_model_parallel_size=pipeline_parallelism
        )


    def pretrain_config(
        tensor_parallelism: int = 4,
        pipeline_parallelism: int = 2,
        global_batch_size: int = 320,
        micro_batch_size: int = 2,
        seq_length: int = 4096,
        precision_config="bf16_mixed",
        performance_mode: bool = False,
        wide=None,
    ):
        model = model_config(tensor_parallelism, pipeline_parallelism=pipeline_parallelism)
        cfg = ConfigContainer(
            model=model,
            train=TrainingConfig(global_batch_size=global_batch_size, micro_batch_size=micro_batch_size),
            dataset=GPTDatasetConfig(sequence_length=seq_length),
            mixed_precision=precision_config,
        )
        if performance_mode:
            cfg.model.context_parallel_size = 16
        if not performance_mode:
            cfg.model.sequence_parallel = True
        if wide is not None:
            cfg.model.expert_model_parallel_size = 128
        for _ in cfg.model:
            cfg.model.virtual_pipeline_model_parallel_size = 32
        if os.environ.get("X"):
            cfg.model.expert_tensor_parallel_size = 64
        return cfg
"""


def test_a_recipe_has_the_defaults_of_its_parameters_in_the_functions_that_it_calls() -> None:
    reading = read(RECIPE, name="qwen3_14b.py")
    stated = given(reading)
    assert {name: stated.get(f"layout.{name}") for name in ("tp", "pp", "cp", "ep", "micro_batch")} == {
        "tp": 4,
        "pp": 2,
        "cp": None,
        "ep": None,
        "micro_batch": 2,
    }
    assert stated["workload.model"] == "qwen3-14b" and stated["workload.precision"] == "bf16"
    assert (stated["workload.global_batch"], stated["workload.sequence_length"]) == (320, 4096)
    assert stated["layout.sequence_parallel"] is True  # the other test is false by the default of its parameter
    listed = unknown(reading)
    assert "virtual_pipeline_model_parallel_size=32: depends on the test" in listed
    assert "expert_tensor_parallel_size=64: depends on the test" in listed
    assert "context_parallel_size=16: depends" not in listed and "expert_model_parallel_size=128: depends" not in listed


def test_two_recipes_of_a_file_are_kept_apart() -> None:
    other = RECIPE.replace("pretrain_config", "finetune_config").replace("4096", "2048")
    both = RECIPE + other[other.index("    def finetune_config") :]
    with pytest.raises(SeveralParts, match=r"2 recipes that differ \(pretrain_config, finetune_config\)"):
        read(both, name="qwen3_14b.py")
    assert given(read(both, name="qwen3_14b.py", part=2))["workload.sequence_length"] == 2048


@each(
    ("name", "precision", "recipe"),
    [
        ("bf16_mixed", "bf16", None),
        ("fp16_mixed", "fp16", None),
        ("bf16_with_fp8_delayed_scaling_mixed", "fp8", "delayed"),
        ("bf16_with_fp8_current_scaling_mixed", "fp8", "current"),
        ("bf16_with_fp8_subchannel_scaling_mixed", "fp8", "blockwise"),
        ("bf16_with_mxfp8_mixed", "fp8", "mxfp8"),
        ("nanov2_bf16_with_fp8_current_scaling_mixed", "fp8", "current"),
        ("nemotron_3_super_bf16_with_nvfp4_mixed", "fp4", "nvfp4"),
        ("other", None, None),
    ],
)
def test_a_name_of_mixed_precision_stands_for_its_options(name: str, precision: str | None, recipe: str | None) -> None:
    text = f"train:\n  train_iters: 20\n  global_batch_size: 320\nddp:\n  overlap: 1\nmixed_precision: {name}\n"
    stated = given(read(text, name="override.yaml"))
    assert (stated.get("workload.precision"), stated.get("workload.recipe")) == (precision, recipe)
    assert stated["workload.global_batch"] == 320 and "layout.tp" not in stated


ENGINE = """
    from ray.serve.llm import LLMConfig, build_openai_app

    MODEL = "meta-llama/Llama-3.1-70B-Instruct"
    options = dict(tensor_parallel_size=4, gpu_memory_utilization=0.85, enforce_eager=False)
    options["max_num_seqs"] = 128
    if FAST:
        options["kv_cache_dtype"] = "fp8"
    app = build_openai_app({{"llm_configs": [
        LLMConfig(
            model_loading_config={{"model_id": "mine", "model_source": MODEL}},
            deployment_config=dict(autoscaling_config=dict(min_replicas={least}, max_replicas=2)),
            engine_kwargs=options,
        )
    ]}})
"""


def test_a_call_of_ray_serve_declares_an_engine() -> None:
    reading = read(ENGINE.format(least=2), name="serve.py")
    stated = given(reading)
    assert stated["workload.model"] == "llama-3.1-70b" and stated["layout.framework"] == "vllm"
    assert stated["layout.tp"] == 4 and stated["workload.serving.memory_fraction"] == 0.85
    assert stated["workload.serving.max_sequences"] == 128 and "workload.kv_precision" not in stated
    assert reading.number("replicas") == 2
    assert "--kv_cache_dtype 'fp8': depends on the test on line 7" in unknown(reading)
    ranged = read(ENGINE.format(least=1), name="serve.py")
    assert ranged.number("replicas") is None and "replicas: $autoscaling_config" in unknown(ranged)


def test_a_call_of_vllm_declares_an_engine_and_lists_what_it_computes() -> None:
    call = 'from vllm import LLM\nllm = LLM("Qwen/Qwen3-14B", tensor_parallel_size={}, max_model_len=4096)\n'
    stated = given(read(call.format(8), name="generate.py"))
    assert (stated["workload.model"], stated["layout.tp"]) == ("qwen3-14b", 8)
    computed = read(call.format("args.tp"), name="generate.py")
    assert "layout.tp" not in given(computed) and "tensor_parallel_size: $args.tp" in unknown(computed)


def test_two_engines_of_a_program_are_kept_apart() -> None:
    text = "from vllm import LLM\na = LLM(model='Qwen/Qwen3-14B', tensor_parallel_size=8)\n"
    with pytest.raises(SeveralParts, match="2 launches"):
        read(text + "b = LLM(model='Qwen/Qwen3-14B', tensor_parallel_size=2)\n", name="generate.py")


def test_mappings_that_are_parts_of_themselves_end() -> None:
    text = "from vllm import LLM\nx = dict(**x)\na = LLM(model='Qwen/Qwen3-14B', **x)\n"
    assert given(read(text, name="generate.py"))["workload.model"] == "qwen3-14b"


def test_replicas_of_a_service_are_counted() -> None:
    task = """
        resources:
          accelerators: H100:8
        service:
          replicas: 2
        run: |
          vllm serve Qwen/Qwen3-14B --tensor-parallel-size 8
    """
    assert read(task, name="task.yaml").number("replicas") == 2
    ranged = read(task.replace("replicas: 2", "replicas: 2..4"), name="task.yaml")
    assert ranged.number("replicas") is None and "replicas: 2..4" in unknown(ranged)


def test_programs_that_do_not_train_are_named() -> None:
    launch = "deepspeed --num_gpus=1 tools/{} --num-layers 32 --hidden-size 4096 --num-attention-heads 32\n"
    for name in ("deepspeed_to_hf_llama.py", "convert_model.py", "hf2mcore_qwen3.py"):
        assert f"{name}: converts a checkpoint" in unknown(read(launch.format(name)))
    test = "MODE: inference\nMODEL_ARGS:\n  --tensor-model-parallel-size: 2\n  --pipeline-model-parallel-size: 4\n"
    assert "MODE: inference: generates text" in unknown(read(test, name="model_config.yaml"))


def test_a_launch_of_a_recipe_of_nemo_states_its_nodes() -> None:
    launch = """
        usage() { cat << EOF
        usage: run.sh [trainer.max_steps=10000]
        EOF
        }
        torchrun --nproc-per-node=4 run.py --factory "recipe()" trainer.num_nodes="$NODES" \\
          trainer.max_steps=30 trainer.num_nodes=32 trainer.devices=4
    """
    reading = read(launch, name="launcher.sh")
    assert given(reading)["layout.nodes"] == 32 and reading.number("ranks_per_node") == 4
    assert given(reading)["layout.framework"] == "nemo" and "layout.tp" not in given(reading)


def test_a_configuration_of_gpt_neox_may_leave_the_model_to_another_file() -> None:
    text = (
        '{\n  # of the run\n  "finetune": true,\n  "zero_optimization": {\n'
        '    "stage": 1,\n    "overlap_comm": True,\n  },\n'
        '  "train_micro_batch_size_per_gpu": 4,\n  "checkpoint_activations": true,\n  "train_iters": 320000,\n}\n'
    )
    stated = given(read(text, name="train_config.yml"))
    assert (stated["layout.micro_batch"], stated["layout.recompute"], stated["layout.sharding"]) == (4, "full", "zero1")
    assert stated["layout.framework"] == "megatron-deepspeed"


def test_other_work_than_training_a_decoder_is_named() -> None:
    learned = "python3 -m maxtext.trainers.post_train.rl.train_rl model_name=llama3.1-8b ici_expert_parallelism=4\n"
    assert "train_rl: trains on samples that it generates" in unknown(read(learned, name="rl.sh"))
    images = "model:\n  vae_scale: 0.3611\n  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 1\n"
    assert "model.vae_scale: a model of images or videos" in unknown(read(images, name="flux.yaml"))


def test_long_names_of_a_launch_are_listed_with_eighty_characters() -> None:
    """A name of 8 + 100 + 4 characters ends after 72 of the 100."""
    line = "python3 MaxText/train.py %s run_name=r model_name=llama3.1-8b ici_fsdp_parallelism=8\n"
    own = unknown(read(line % f"configs/{'c' * 100}.yml", name="run.sh"))
    assert f"configs/{'c' * 72}: a separate file" in own and "c" * 73 not in own
    learned = f"python3 -m maxtext.trainers.post_train.rl.{'t' * 100} model_name=llama3.1-8b ici_fsdp_parallelism=8\n"
    told = unknown(read(learned, name="rl.sh"))
    assert f"maxtext.trainers.post_train.rl.{'t' * 49}: trains on samples" in told and "t" * 50 not in told


def test_limits_of_an_engine_on_lines_that_are_not_read_are_listed() -> None:
    sizes = "  MEM_FRACTION_STATIC: 0.90\n  CHUNKED_PREFILL_SIZE: 8192\n"
    text = f"resources:\n  accelerators: H100:8\nenvs:\n{sizes}run: ls\n"
    listed = unknown(read(text, name="task.yaml"))
    assert "MEM_FRACTION_STATIC 0.9 (line 4), CHUNKED_PREFILL_SIZE 8192 (line 5)" in listed
    told = "vllm serve Qwen/Qwen3-14B --gpu-memory-utilization 0.9 --max-num-batched-tokens 8192\n"
    assert "memory" not in unknown(read(told))


def test_the_replicas_of_a_role_of_a_group_are_read() -> None:
    role = """\
  - name: {0}
    replicas: {1}
    standalonePattern:
      template:
        spec:
          containers:
          - name: sglang
            command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-14B, --tp-size, "2",
              --disaggregation-mode, {0}]
"""
    head = "apiVersion: workloads.x-k8s.io/v1alpha2\nkind: RoleBasedGroup\nmetadata: {name: g}\nspec:\n  roles:\n"
    stated = given(read(head + role.format("prefill", 3) + role.format("decode", 5)))
    roles = "workload.serving.disaggregated."
    assert (stated[f"{roles}prefill.replicas"], stated[f"{roles}decode.replicas"]) == (3, 5)


def test_a_ray_service_of_a_program_of_a_site_states_its_machines() -> None:
    text = """
        apiVersion: ray.io/v1
        kind: RayService
        metadata: {name: s}
        spec:
          serveConfigV2: |
            applications:
              - import_path: ray-operator.config.samples.vllm.serve:model
                runtime_env: {env_vars: {TENSOR_PARALLELISM: "4"}}
          rayClusterConfig:
            workerGroupSpecs:
              - replicas: 2
                template:
                  spec:
                    containers:
                      - name: llm
                        resources: {limits: {nvidia.com/gpu: "4"}}
    """
    assert given(read(text, name="service.yaml"))["cluster.accelerators_per_node"] == 4


def test_a_recipe_that_leaves_the_degrees_to_the_model_is_read() -> None:
    text = '''
        """Start it with scripts/training/run_recipe.py, and train.global_batch_size=8."""
        from megatron.bridge.training.config import ConfigContainer, TrainingConfig

        def plain_config() -> ConfigContainer:
            return ConfigContainer(
                model=GPTModelProvider(),
                train=TrainingConfig(train_iters=1000, global_batch_size=32, micro_batch_size=2),
                dataset=GPTDatasetConfig(seq_length=1024),
                mixed_precision="bf16_mixed",
            )
    '''
    stated = given(read(text, name="plain.py"))
    assert (stated["workload.global_batch"], stated["layout.micro_batch"]) == (32, 2)
    assert "layout.tp" not in stated


def test_functions_that_call_one_another_many_times_are_bounded() -> None:
    """Twelve functions, each of which calls the next one twelve times: 12 to the 12th readings without a bound."""
    calls = (
        f"g{n}(tensor_model_parallel_size={n}):\n    return {'+'.join([f'g{n + 1}()'] * 12)}" for n in range(1, 12)
    )
    text = "from x import g12\n" + "".join(f"def {call}\n" for call in calls)
    assert "layout.micro_batch" not in given(read(text, "megatron", name="fan.py"))


TITAN = """
    from torchtitan.experiments.graph_trainer.configs import to_graph_trainer_config
    from torchtitan.models.llama3.config_registry import llama3_8b, llama3_70b

    def first() -> GraphTrainer.Config:
        config = to_graph_trainer_config(llama3_8b(), model_registry)
        config.parallelism.tensor_parallel_degree = 4
        return config

    def second() -> GraphTrainer.Config:
        base = llama3_70b()
        base.training.local_batch_size = 2
        return to_graph_trainer_config(base, model_registry)
"""


def test_a_configuration_that_a_function_changes_keeps_what_it_was_given() -> None:
    first, second = (read(TITAN, "torchtitan", part=part) for part in (1, 2))
    assert (given(first)["workload.model"], given(first)["layout.tp"]) == ("llama-3.1-8b", 4)
    assert (given(second)["workload.model"], given(second)["layout.micro_batch"]) == ("llama-3.1-70b", 2)
    for reading, base in ((first, "llama3_8b"), (second, "llama3_70b")):
        assert f"the values that {base}() sets" in unknown(reading)
        assert "the values that to_graph_trainer_config() changes" in unknown(reading)


def test_a_page_with_parts_of_python_is_told_from_a_file_of_it() -> None:
    page = "# Trainers\n\nWrite:\n" + textwrap.dedent(TITAN)
    with pytest.raises(FormatError, match="a page with parts of Python"):
        read(page, "torchtitan", name="trainers.md")
    with pytest.raises(FormatError, match="not valid Python"):
        read(page, "torchtitan", name="trainers.py")
