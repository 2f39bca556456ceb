"""What exports for TensorRT-LLM write, compared with the classes and options that its program reads them with."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from clusterspec.exchange.exporters.registry import exporter_of
from tests.effort import each
from tests.exchange.test_exporters import exported, pod
from tools.export_targets import engine_options_in
from tools.target_sources import Source, tensorrt_llm

PROGRAM = """
import click

@click.command("serve")
@click.argument("model")
@click.option("--tensor_parallel_size", "--tp_size", type=int, help="--not_an_option of it")
@click.option("--config", "--extra_llm_api_options", "extra_llm_api_options", type=str)
def serve(model, tensor_parallel_size, extra_llm_api_options): ...

@click.command("other")
@click.option("--other_option")
def other(other_option): ...
"""
ARGUMENTS = """
class CacheTransceiverConfig(StrictBaseModel):
    backend: Optional[Literal["UCX", "NIXL"]] = Field(default=None)

class KvCacheConfig(StrictBaseModel):
    dtype: str = "auto"

class BaseLlmArgs(StrictBaseModel):
    kv_cache_config: KvCacheConfig = Field()
    @property
    def parallel_config(self): ...

class Unrelated:
    field: int = 1
"""


class Given(Source):
    """A source of two files that the test gives."""

    def __init__(self) -> None:
        files = {"tensorrt_llm/llmapi/llm_args.py": ARGUMENTS, "tensorrt_llm/commands/serve.py": PROGRAM}
        self.repository, self.commit, self.text = "x/y", "0", cache(files.__getitem__)


def test_options_and_keys_are_those_of_the_program_and_of_its_classes() -> None:
    found = tensorrt_llm(Given(), set())
    assert {name: place.line for name, place in found.items()} == {
        "--tensor_parallel_size": 6,
        "--tp_size": 6,
        "--config": 7,
        "--extra_llm_api_options": 7,
        "kv_cache_config": 9,
        "kv_cache_config.dtype": 6,
        "cache_transceiver_config.backend": 3,
        "cache_transceiver_config.backend=UCX": 3,
        "cache_transceiver_config.backend=NIXL": 3,
    }
    assert Path(found["--config"].path).name == "serve.py"


def test_names_of_an_export_are_its_options_and_the_keys_of_its_files() -> None:
    text = (
        "cat > engine.yaml <<'EOF'\nkv_cache_config:\n  dtype: fp8\ncache_transceiver_config:\n  backend: NIXL\nEOF\n"
        "srun --mpi=pmix trtllm-llmapi-launch trtllm-serve x/y \\\n  --tp_size 8 \\\n"
        "  --config engine.yaml &\nwait --all\n"
    )
    assert engine_options_in(text) == {
        "--tp_size",
        "--config",
        "kv_cache_config",
        "kv_cache_config.dtype",
        "cache_transceiver_config",
        "cache_transceiver_config.backend",
        "cache_transceiver_config.backend=NIXL",
    }


WORK = """
workload: {{kind: serve, model: qwen3-32b, kv_precision: {}, serving: {{input_tokens: 1000, output_tokens: 1000}}}}
layout: {{software: {}, tp: 8}}
"""


@each(
    ("software", "precision", "written"),
    [
        ("vllm", "fp8", "--kv-cache-dtype fp8"),
        ("vllm", "int8", None),
        ("vllm", "bf16", ""),
        ("sglang", "fp8", "--kv-cache-dtype fp8_e4m3"),
        ("sglang", "nvfp4", None),
        ("trt-llm", "fp8", "dtype: fp8"),
        ("trt-llm", "nvfp4", "dtype: nvfp4"),
        ("trt-llm", "int8", None),
        ("trt-llm", "bf16", ""),
    ],
)
def test_the_precision_of_a_cache_is_written_or_named_as_left_out(
    software: str, precision: str, written: str | None
) -> None:
    design = pod(1, rest=WORK.format(precision, software))
    text, omitted = exported(software, design), exporter_of(software).write(design).omitted
    named = any(f"the cache of keys and values in {precision}" in each for each in omitted)
    assert named is (written is None)
    assert (written or "") in text and ("dtype" in text) is bool(written)
