"""Drafted tokens, spare experts and roles of engines; a distillation, adapters by patterns, and batches by replicas."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import given, read, unknown

MTP = "deepseek_mtp"
CONFIG = """vllm serve x/y --speculative-config '{"method": "METHOD", "num_speculative_tokens": 3}'"""
SGLANG = "sglang serve --model-path x/y --speculative-num-steps 3 --speculative-num-draft-tokens 4 "


@pytest.mark.parametrize(
    ("launch", "method"),
    [
        (CONFIG.replace("METHOD", MTP), "mtp"),
        (CONFIG.replace("METHOD", "eagle3"), "eagle"),
        (CONFIG.replace("METHOD", "draft_model"), "draft-model"),
        (CONFIG.replace('"method": "METHOD", ', ""), None),
        (f"{SGLANG}--speculative-algorithm NEXTN", "mtp"),
        (f"{SGLANG}--speculative-algorithm EAGLE --speculative-draft-model-path x/z", "eagle"),
        (f"{SGLANG}--speculative-algorithm STANDALONE", "draft-model"),
        (SGLANG, None),
    ],
)
def test_what_drafts_the_tokens_is_named(launch: str, method: str | None) -> None:
    found = given(read(launch))
    assert found["workload.serving.speculative.tokens"] == 3
    assert found.get("workload.serving.speculative.method") == method


BALANCED = "enable_attention_dp: true\ntensor_parallel_size: 8\nattention_dp_config: {enable_balance: SWITCH}\n"
DELAYED = "sglang serve --model-path x/y --tp 8 --dp 8 --enable-dp-attention "


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (BALANCED.replace("SWITCH", "true, timeout_iters: 9"), 9),
        (BALANCED.replace("SWITCH", "true"), 50),
        (BALANCED.replace("SWITCH", "false, timeout_iters: 9"), None),
        (f"{DELAYED}--enable-prefill-delayer --prefill-delayer-max-delay-passes 12", 12),
        (f"{DELAYED}--enable-prefill-delayer", 30),
        (f"{DELAYED}--prefill-delayer-max-delay-passes 12", None),
    ],
)
def test_prompts_are_held_for_the_stated_steps_or_those_of_the_program_where_the_switch_is_on(
    text: str, steps: int | None
) -> None:
    assert given(read(text)).get("workload.serving.hold_steps") == steps


def test_a_draft_that_no_method_has_is_listed_and_a_tree_sets_no_tokens() -> None:
    assert "speculative decoding by suffix" in unknown(read(CONFIG.replace("METHOD", "suffix")))
    tree = read("sglang serve --model-path x/y --speculative-algorithm NGRAM --speculative-num-draft-tokens 4")
    assert "drafts form a tree" in unknown(tree)
    assert "workload.serving.speculative.tokens" not in given(tree)


@pytest.mark.parametrize(
    "option",
    [
        """--eplb-config '{"num_redundant_experts": 32, "window_size": 1000}'""",
        "--eplb-config.num_redundant_experts 32",
        "--num-redundant-experts 32",
    ],
)
def test_vllm_states_its_redundant_experts(option: str) -> None:
    launch = f"vllm serve deepseek-ai/DeepSeek-V3 --enable-expert-parallel --enable-eplb {option}"
    assert given(read(launch))["workload.serving.redundant_experts"] == 32


POD = """apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: modelserver
          START
          args:
            - "Qwen/Qwen3-32B"
            - "--tensor-parallel-size=4"
            - "--max-num-batched-tokens=8192"
            - "--max-num-seqs=512"
            - "--block-size=128"
            - "--kv-transfer-config"
            - '{"kv_connector": "NixlConnector", "kv_role": "kv_both"}'
"""


def test_a_patch_of_a_container_has_the_options_of_its_engine() -> None:
    found = given(read(POD.replace("NAME", "decode").replace("          START\n", "")))
    assert (found["layout.framework"], found["workload.model"], found["layout.tp"]) == ("vllm", "qwen3-32b", 4)
    assert found["workload.serving.max_sequences"] == 512


@pytest.mark.parametrize(("names", "split"), [(("x-prefill", "x-decode"), True), (("one", "two"), False)])
def test_deployments_that_are_named_by_a_role_have_it(names: tuple[str, str], split: bool) -> None:
    pods = [POD.replace("NAME", name).replace("START", "command: [vllm, serve]") for name in names]
    text = "---\n".join(pods)
    if not split:
        with pytest.raises(SeveralParts, match="may each prefill or decode"):
            read(text)
    found = given(read(text, part=None if split else 1))
    roles = "workload.serving.disaggregated."
    assert (found.get(f"{roles}prefill.tp"), found.get(f"{roles}decode.tp")) == ((4, 4) if split else (None, None))
    assert found.get(f"{roles}transfer.block_tokens") == (128 if split else None)


def test_options_of_another_container_are_no_part_of_a_launch() -> None:
    proxy = "      initContainers:\n        - name: proxy\n          args: [--port=8000, --connector=nixlv2]\n"
    pods = [
        POD.replace("NAME", name).replace("START", "command: [vllm, serve]") + proxy for name in ("prefill", "decode")
    ]
    apart = "\n" * 20
    assert "a line without a backslash" not in unknown(
        read(f"{pods[0]}---\n{apart}{pods[1]}".replace("      init", apart + "      init"))
    )


DISTILLATION = """base_config: "base.yml"
teacher_overrides: {model_name: qwen3-32b}
student_overrides: {model_name: qwen3-8b, override_model_config: OVERRIDES, base_num_query_heads: 16}
ici_fsdp_parallelism: 8
per_device_batch_size: 2
max_target_length: 4096
"""


@pytest.mark.parametrize(("changed", "model"), [("True", None), ("False", "qwen3-8b")])
def test_a_distillation_of_maxtext_trains_the_student(changed: str, model: str | None) -> None:
    reading = read(DISTILLATION.replace("OVERRIDES", changed))
    assert given(reading).get("workload.model") == model
    assert "teacher qwen3-32b" in unknown(reading)
    assert ("with sizes of its own (base_num_query_heads 16)" in unknown(reading)) is (model is None)


RECIPE = """step_scheduler: {global_batch_size: 64, local_batch_size: 2}
model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained, pretrained_model_name_or_path: x/y}
distributed: {strategy: fsdp2, tp_size: 1}
peft: {_target_: nemo_automodel.components._peft.lora.PeftConfig, dim: 8, WORDS}
"""


@pytest.mark.parametrize(
    ("words", "modules"),
    [
        ("target_modules: '*_proj'", ["attention", "ffn"]),
        ("target_modules: ['*q_proj', '*.v_proj']", ["attention"]),
        ("match_all_linear: true", ["attention", "ffn"]),
        ("target_modules: ['*router']", None),
        ("alpha: 32", None),
    ],
)
def test_patterns_name_the_modules_of_adapters(words: str, modules: list[str] | None) -> None:
    reading = read(RECIPE.replace("WORDS", words))
    found = given(reading)
    assert (found["workload.trainable.method"], found["workload.trainable.rank"]) == ("lora", 8)
    assert found.get("workload.trainable.modules") == modules
    assert ("the modules of the adapters" in unknown(reading)) is (modules is None)


TRAIN = "train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2 --gradient_accumulation_steps 4 "


@pytest.mark.parametrize(
    ("launch", "batch"),
    [
        (f"torchrun --nnodes 2 --nproc_per_node 8 {TRAIN}", 128),
        (f"torchrun --nproc_per_node 8 {TRAIN}", 64),
        (f"srun torchrun --nproc_per_node 8 {TRAIN}", None),
        (f"#SBATCH --nodes=4\ntorchrun --nproc_per_node 8 {TRAIN}", None),
        (f"torchrun --nproc_per_node 8 $LAUNCH_ARGS {TRAIN}", None),
        (f"NPROC_PER_NODE=8 swift sft {TRAIN}", 64),
        (f"NNODES=2 NPROC_PER_NODE=8 swift sft {TRAIN}", 128),
        (f"accelerate launch --num_processes 4 {TRAIN}", 32),
        (f"accelerate launch --num_processes 4 {TRAIN}--sequence_parallel_size 2", 16),
        (f"torchrun --nnodes 2 --nproc_per_node 8 {TRAIN}--tensor_parallel_size 2", None),
        (f'torchrun --nnodes 2 --nproc_per_node 8 {TRAIN}"$@"', None),
    ],
)
def test_replicas_of_a_trainer_give_its_batch(launch: str, batch: int | None) -> None:
    reading = read(launch)
    assert given(reading).get("workload.global_batch") == batch
    assert ("workload.global_batch" in unknown(reading)) is (batch is None)


def test_a_form_for_issues_states_nothing() -> None:
    form = (
        "name: Case\nbody:\n  - type: textarea\n    attributes:\n      placeholder: |\n        vllm serve x/y --tp 8\n"
    )
    with pytest.raises(FormatError, match="a form for issues"):
        read(form)


def test_a_scenario_of_llm_d_benchmark_is_rendered_first() -> None:
    scenario = "scenario:\n  - name: a\n    common:\n      vllmCommon: {x: 1}\n    command: vllm serve x/y --tp 8\n"
    with pytest.raises(FormatError, match="import what it renders"):
        read(scenario)


BRIDGE = """TP=1
ARGS="train.micro_batch_size=1 model.tensor_model_parallel_size=$TP model.pipeline_model_parallel_size=8"
CMD="uv run python scripts/training/run_recipe.py"
CMD="$CMD --recipe qwen3_8b_finetune_config"
CMD="$CMD --peft_scheme lora $ARGS"
srun --nodes=2 bash -c "$CMD"
"""


def test_a_recipe_that_a_script_joins_keeps_its_model_and_adapters() -> None:
    reading = read(BRIDGE)
    assert (given(reading)["workload.model"], given(reading)["layout.pp"]) == ("qwen3-8b", 8)
    assert "its adapters: state workload.trainable" in unknown(reading)
    assert "its adapters" not in unknown(read(BRIDGE.replace("--peft_scheme lora", "--peft_scheme none")))


SIZES = "pretrain_vlm.py --tensor-model-parallel-size 2 --num-layers 8 --hidden-size 512 --num-attention-heads 8 "


def test_sizes_that_another_model_replaces_are_named() -> None:
    assert "use_bridge" in unknown(read(f"torchrun {SIZES}--use-bridge --bridge-hf-model x/y --micro-batch-size 1"))
    assert "use_bridge" not in unknown(read(f"torchrun {SIZES}--micro-batch-size 1"))
    video = (
        "model:\n  tensor_model_parallel_size: 1\n  num_layers: 40\n  hidden_size: 5120\n  crossattn_emb_size: 5120\n"
    )
    reading = read(video)
    assert "workload.model.layers" not in given(reading)
    assert "a prompt of a video" in unknown(reading)


def test_arguments_of_ms_swift_in_json_are_of_a_trainer() -> None:
    text = '{"model": "Qwen/Qwen3-8B", "model_type": "qwen3", "per_device_train_batch_size": 2,\n "bf16": true}'
    reading = read(text)
    assert (reading.kind, given(reading)["layout.micro_batch"]) == ("trainer", 2)


def test_an_option_that_many_branches_give_is_listed_once() -> None:
    branches = "".join(f'  m{n}) EXTRA="--tool-call-parser p{n} --enforce-eager" ;;\n' for n in range(6))
    reading = read(f'case "$MODEL" in\n{branches}esac\nvllm serve x/y --tensor-parallel-size 2 $EXTRA\n')
    assert given(reading)["layout.tp"] == 2
    undecided = [part for part in reading.unknown if "depends on the test" in part.why]
    assert [part.what for part in undecided] == ["--tool-call-parser p0, p1, p2, …", "--enforce-eager"]
