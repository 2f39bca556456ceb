"""Flawed designs, the findings that they must get, and sound designs that narrowly miss the flaw."""

from __future__ import annotations

from dataclasses import dataclass

MOE = "workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}\n"
DENSE = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}\n"
POD = "cluster: {platform: dgx-h100, nodes: 8}\n"


@dataclass(frozen=True)
class Verdict:
    """A flawed spec, the finding it must get, and a sound one that must not get it."""

    rule: str
    flawed: str
    key: str
    severity: str
    remedy: str
    """A part of the help."""
    sound: str
    says: str = ""
    """A part of the message: figures worked out by hand."""


def layout(text: str, work: str = DENSE, cluster: str = POD) -> str:
    return f"{cluster}{work}layout: {{{text}}}\n"


def own(model: str, rest: str = "sequence_length: 4096, global_batch: 256") -> str:
    return f"workload:\n  model: {{{model}}}\n  {rest.replace(', ', chr(10) + '  ')}\n"


LLAMA = "layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn_hidden: 14336, vocab: 128256, gated_ffn: true"
FP8 = "sequence_length: 4096, global_batch: 256, precision: fp8"
MXFP8 = FP8 + ", parameter_precision: mxfp8"


def ffn(width: int) -> str:
    return LLAMA.replace("14336", str(width))
