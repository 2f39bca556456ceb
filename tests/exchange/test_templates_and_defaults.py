"""Scripts within configurations, sections that replace a shared one, adapters of LLM Foundry, loads without a rate."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import given, read, unknown

TEMPLATE = """\
    args:
      size: {size}
      nodes: 2
    cases:
      - {{task: a, length: 1024}}
      - {{task: b, length: 2048}}
    script: |-
      run_training --micro-batch-size=${{size}} --num-nodes ${{nodes}} \\
        --seq-length ${{length}}
    after:
      - nothing
    """


def test_a_script_in_a_configuration_takes_the_keys_of_its_file() -> None:
    reading = read(TEMPLATE.format(size=4), name="case.yaml")
    assert (given(reading)["layout.micro_batch"], given(reading)["layout.nodes"]) == (4, 2)
    assert "workload.sequence_length" not in given(reading)  # each case has another one
    assert "${length}" in unknown(reading)


SECTIONS = """\
    {shared}:
      global_batch_size: 16
    other:
      global_batch_size: {size}
    """


@pytest.mark.parametrize(
    ("shared", "size", "batch"), [("base", 32, None), ("base", 16, 16), ("train", 32, 16), ("defaults", 64, None)]
)
def test_a_section_that_others_replace_states_no_batch(shared: str, size: int, batch: int | None) -> None:
    text = SECTIONS.format(shared=shared, size=size)
    if batch is None:
        with pytest.raises(FormatError):
            read(text, name="runs.yaml")
    else:
        assert given(read(text, name="runs.yaml"))["workload.global_batch"] == batch


@pytest.mark.parametrize(("precision", "expected"), [("bf16", "bf16"), ("fp16", "fp16"), ("32", None), ("high", None)])
def test_the_precision_of_an_unknown_program_is_that_of_a_type_of_numbers(precision: str, expected: str | None) -> None:
    reading = read(f"micro_batch_size: 4\nprecision: {precision}\n", name="run.yaml")
    assert given(reading).get("workload.precision") == expected
    assert ("precision" in unknown(reading)) is (expected is None)


FOUNDRY = """\
    global_train_batch_size: 8
    model:
      name: hf_causal_lm
      peft_config:
        peft_type: {kind}
        r: 64
        {modules}
    """


@pytest.mark.parametrize(
    ("kind", "modules", "expected"),
    [
        ("LORA", "target_modules: [q_proj, k_proj, v_proj, o_proj]", ("lora", 64)),
        ("LORA", "lora_alpha: 8", (None, None)),  # PEFT has other modules for each model
        ("IA3", "target_modules: [q_proj]", (None, None)),
    ],
)
def test_adapters_of_llm_foundry_have_the_rank_of_peft(
    kind: str, modules: str, expected: tuple[object, object]
) -> None:
    reading = read(FOUNDRY.format(kind=kind, modules=modules), name="run.yaml")
    stated = given(reading)
    assert (stated.get("workload.trainable.method"), stated.get("workload.trainable.rank")) == expected
    assert ("state workload.trainable" in unknown(reading)) is (expected[0] is None)


@pytest.mark.parametrize(
    ("rate", "duration", "load"),
    [
        (1e9, 100.0, "closed"),  # 1000 requests within a microsecond
        (10.0, 110.0, "open"),  # 1000 requests within 100 of 110 seconds
        (1e4, 100.0, "open"),  # a tenth of a second is a thousandth of the run
        (2e4, 100.0, "closed"),
    ],
)
def test_a_rate_that_sends_all_requests_at_once_is_no_rate(rate: float, duration: float, load: str) -> None:
    figures = {"total_input_tokens": 1000, "total_output_tokens": 1000, "output_throughput": 10.0}
    run = figures | {"num_prompts": 1000, "request_rate": rate, "max_concurrency": 64, "duration": duration}
    reading = read(json.dumps(run), "load-test", "run.json")
    assert given(reading)["workload.serving.load"] == load
    assert given(reading).get("workload.serving.concurrency") == (64 if load == "closed" else None)
    assert ("at once" in unknown(reading)) is (load == "closed")


OPTIONS_BY_NAME = """\
    deployment:
      docker_image: {image}
      {command}
      app_args:
        {model}: Qwen/Qwen3-32B
        trust-remote-code: true
        verbose: false
        {degree}: 8
        {share}: 0.9
    """


@pytest.mark.parametrize(
    ("image", "command", "names", "engine"),
    [
        ("sglang:v0.5", "command: python3 -m sglang.launch_server", "model-path tp-size mem-fraction-static", "sglang"),
        ("vllm/vllm-openai:v0.9.2", "port: 8080", "model tensor-parallel-size gpu-memory-utilization", "vllm"),
    ],
)  # fmt: skip
def test_options_by_name_are_those_of_the_command_beside_them(
    image: str, command: str, names: str, engine: str
) -> None:
    model, degree, share = names.split()
    text = OPTIONS_BY_NAME.format(image=image, command=command, model=model, degree=degree, share=share)
    stated = given(read(text, name="deployment.yaml"))
    assert (stated["layout.framework"], stated["layout.tp"], stated["workload.model"]) == (engine, 8, "qwen3-32b")
    assert stated["workload.serving.memory_fraction"] == 0.9


SRUN = """\
    #!/bin/bash
    #SBATCH --nodes=2
    srun {image} bash -c "torchrun --nproc_per_node 8 --nnodes 2 train.py"
    """


@pytest.mark.parametrize(
    "image",
    [
        "--container-image=vllm/vllm-openai:v0.15.1",
        "--container-image vllm/vllm-openai:v0.15.1",
        "apptainer exec --nv vllm-openai.sif",
        "singularity exec docker://vllm/vllm-openai:v0.15.1",
    ],
)
def test_an_image_in_which_a_job_starts_a_program_of_its_own_serves_nothing(image: str) -> None:
    stated = given(read(SRUN.format(image=image), name="job.sh"))
    assert "workload.kind" not in stated
    assert stated["layout.nodes"] == 2


def test_an_engine_that_a_job_starts_in_an_image_serves() -> None:
    serves = "srun --container-image=vllm/vllm-openai:v0.15.1 vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4\n"
    assert given(read(f"#!/bin/bash\n{serves}", name="job.sh"))["layout.tp"] == 4
