"""Precisions of states and gradients, kernels of attention and messages between stages in exported launches."""

from __future__ import annotations

import pytest

from clusterspec.exchange.exporters.registry import exporter_of
from tests.exchange.test_exporters import source

WORK = "workload: {{model: llama-3.1-8b, sequence_length: 4096, global_batch: 512{}}}\n"


def launch(kind: str, layout: str, work: str = "", cluster: str = "platform: dgx-h100, nodes: 8") -> tuple[str, str]:
    """The launch of a design, and what it omits."""
    text = f"{WORK.format(work)}layout: {{{layout}}}\n"
    found = exporter_of(kind).write(source(cluster, text))
    return str(found.content), "\n".join(found.omitted)


@pytest.mark.parametrize(
    ("states", "sharding", "flags"),
    [
        ("{moments: bf16}", "zero1", "--use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16"),
        ("{master: fp16}", "zero1", "--use-precision-aware-optimizer --main-params-dtype fp16"),
        ("{master: fp32, moments: fp32}", "zero1", ""),  # the default
        ("{moments: bf16}", "none", None),  # core/optimizer/__init__.py, line 1057: refused
        ("{master: bf16}", "zero1", None),  # arguments.py, line 3673: no choice
    ],
)
def test_megatron_keeps_optimizer_states_in_the_precisions_of_the_design(
    states: str, sharding: str, flags: str | None
) -> None:
    text, omitted = launch("megatron", f"tp: 2, sharding: {sharding}, optimizer_states: {states}")
    words = " ".join(text.replace("\\", " ").split())
    assert ("precision-aware" in text) is bool(flags)
    assert flags is None or flags in words
    assert ("optimizer_states" in omitted) is (flags is None)


@pytest.mark.parametrize(
    ("stages", "overlap", "flag", "omitted"),
    [
        ("pp: 4, virtual_stages: 2", "true", False, False),  # the default of virtual stages
        ("pp: 4, virtual_stages: 2", "false", True, False),
        ("pp: 2, virtual_stages: 2", "false", False, True),  # arguments.py, line 1005: asserted
        ("pp: 4", "true", False, True),
        ("pp: 4", "false", False, False),
    ],
)
def test_messages_between_stages_overlap_with_virtual_stages_alone(
    stages: str, overlap: str, flag: bool, omitted: bool
) -> None:
    text, left = launch("megatron", f"tp: 2, {stages}, overlap: {{pp: {overlap}}}")
    assert ("--no-overlap-p2p-communication" in text) is flag
    assert ("overlap.pp" in left) is omitted


@pytest.mark.parametrize(
    ("work", "layout", "line", "omitted"),
    [
        ("gradient_precision: bf16", "tp: 1", "grad_dtype: bfloat16", ""),
        ("attention: plain", "tp: 1", "attention: dot_product", ""),
        ("attention: flash", "tp: 1", "", "attention flash"),  # on GPUs Transformer Engine has that kernel
        ("attention: plain", "tp: 1, cp: 2", "attention: cudnn_flash_te", "attention plain"),
        ("optimizer: adamw", "tp: 1", "", ""),
    ],
)
def test_maxtext_takes_gradients_and_kernels_that_the_design_states(
    work: str, layout: str, line: str, omitted: str
) -> None:
    text, left = launch("maxtext", f"{layout}, sharding: fsdp", f", {work}")
    assert line in text.split("\n") if line else "attention:" not in text and "grad_dtype" not in text
    assert ("attention" in left.replace("normalization, position embedding", "")) is bool(omitted)
    assert omitted in left
