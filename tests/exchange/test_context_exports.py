"""Attention in exports: kernels of context parallelism in MaxText, and windows of some layers in Megatron-LM."""

from __future__ import annotations

import pytest

from clusterspec.exchange.exporters.registry import NotExportable, exporter_of
from tests.exchange.imports import given, read
from tests.exchange.test_exporters import source

GPUS, TPUS = "platform: dgx-h100, nodes: 8", "platform: tpu-v5p, nodes: 16"
WORK = "workload: {{model: {0}, sequence_length: 8192, global_batch: 256}}\nlayout: {{tp: 2, cp: {1}, {2}}}\n"


def keys(machine: str, model: str = "llama-3.1-8b", cp: int = 2, method: str = "ring") -> dict[str, str]:
    design = source(machine, WORK.format(model, cp, f"cp_method: {method}, sharding: fsdp"))
    content = str(exporter_of("maxtext").write(design).content)
    return dict(line.split(": ", 1) for line in content.splitlines() if not line.startswith("#"))


def test_gpus_attend_over_ranks_with_the_kernel_that_exchanges_keys() -> None:
    found = keys(GPUS)
    assert (found["attention"], found["packing"], found["context_parallel_strategy"]) == (
        "cudnn_flash_te",
        "false",
        "ring",
    )
    assert keys(GPUS, method="all-gather")["context_parallel_strategy"] == "all_gather"
    assert not {"attention", "packing"} & keys(GPUS, cp=1).keys()


def test_rings_of_tpus_need_their_own_kernel() -> None:
    found = keys(TPUS)
    assert (found["attention"], found["use_tokamax_splash"]) == ("flash", "true")
    assert "packing" not in found
    assert not {"attention", "use_tokamax_splash"} & keys(TPUS, method="all-gather").keys()


@pytest.mark.parametrize(
    ("machine", "model", "method"),
    [
        (GPUS, "llama-3.1-8b", "all-to-all"),
        (GPUS, "gpt-oss-20b", "ring"),
        (TPUS, "gpt-oss-20b", "ring"),
    ],
)
def test_exchanges_that_maxtext_refuses_are_not_written(machine: str, model: str, method: str) -> None:
    with pytest.raises(NotExportable):
        keys(machine, model, method=method)
    assert keys(TPUS, method="all-to-all")["context_parallel_strategy"] == "ulysses"


def test_an_exchange_of_heads_takes_the_length_in_its_order() -> None:
    found = keys(TPUS, method="all-to-all")
    assert found["context_parallel_load_balance"] == "false"
    assert (found["attention"], found["use_tokamax_splash"]) == ("flash", "true")


@pytest.mark.parametrize(("model", "cp"), [("llama-3.1-8b", 16), ("deepseek-v3", 2), ("gemma-3-1b", 2)])
def test_heads_that_the_ranks_do_not_divide_are_not_exchanged(model: str, cp: int) -> None:
    with pytest.raises(NotExportable):
        keys(TPUS, model, cp, "all-to-all")


@pytest.mark.parametrize(
    ("model", "skipped", "windows"),
    [
        ("gemma-3-27b", "6", 52),  # 62 layers, of which 6, 12 … 60 attend to all tokens
        ("gemma-2-27b", "2", 23),
        ("gpt-oss-20b", "2", 12),
        ("{base: gemma-2-27b, layers: 5, attention_window: {tokens: 4096, layers: 2}}", "'[1,0,1,0,0]'", 2),
    ],
)
def test_layers_without_a_window_keep_attending_to_all_tokens(model: str, skipped: str, windows: int) -> None:
    layout = "{ep: 4}" if model.startswith("gpt-oss") else "{tp: 2}"  # its experts have biases, which tp refuses
    work = f"workload: {{model: {model}, sequence_length: 8192, global_batch: 256}}\nlayout: {layout}\n"
    text = str(exporter_of("megatron").write(source(GPUS, work)).content)
    assert f"--window-attn-skip-freq {skipped} " in text
    assert given(read(text))["workload.model.attention_window.layers"] == windows


@pytest.mark.parametrize(
    ("model", "cp", "model_spec"),
    [
        ("gpt-oss-20b", 2, 'config.model_spec = model_registry("20b", attn_backend="flex")'),
        ("gpt-oss-20b", 1, ""),
        ("qwen3-14b", 2, ""),
        ("kimi-k2.5", 1, ""),
    ],
)
def test_torchtitan_attends_over_ranks_with_a_kernel_that_it_splits(model: str, cp: int, model_spec: str) -> None:
    """torchtitan b5bcd76c, models/common/decoder.py, line 176: FlexAttention alone; 0.3.0: full_dtensor.py, line 49."""
    design = source(GPUS, WORK.format(model, cp, "sharding: fsdp"))
    content = str(exporter_of("torchtitan").write(design).content)
    assert model_spec in content
    assert ("model_registry" in content) is bool(model_spec)


def test_a_configuration_of_torchtitan_with_an_encoder_of_images_has_no_context_parallelism() -> None:
    """torchtitan b5bcd76c, models/kimi_k2_7/parallelize.py, line 55."""
    design = source(GPUS, WORK.format("kimi-k2.5", 2, "sharding: fsdp"))
    with pytest.raises(NotExportable, match=r"no context parallelism for kimi-k2\.5"):
        exporter_of("torchtitan").write(design)
