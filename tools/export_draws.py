"""Random designs for exporters, in addition to the fixed ones of `tools.export_targets`: any model, several machines,
and layouts of which the exporters refuse those that cannot run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.exchange.exporters.registry import NotExportable, exporter_of
from tools.export_targets import TARGETS, design_of

PLATFORMS = (
    *("dgx-a100", "dgx-h100", "dgx-h200", "hgx-h20", "dgx-b200", "dgx-b300", "gb200-nvl72", "gb300-nvl72"),
    *("mi300x-ubb8", "mi355x-ubb8", "aws-p5-48xlarge", "gcp-a3-megagpu-8g"),
)
TPUS = ("tpu-v5e", "tpu-v5p", "tpu-v6e")
"""Further machines for MaxText."""
NODES = (2, 4, 8, 16, 18, 32, 64)
PRECISIONS = (
    *("bf16", "bf16", "fp16", "fp8"),
    *("fp8, recipe: mxfp8", "fp8, recipe: tensorwise", "fp8, recipe: blockwise"),
)
WORK = (
    *("", "", "attention: flash", "attention: plain", "gradient_precision: fp32", "gradient_precision: bf16"),
    *("optimizer: sgd", "optimizer: muon", "optimizer: adafactor", "tokens: 524288000"),
)
PARTS = {
    "tp": ("1", "1", "2", "4", "8"),
    "pp": ("1", "1", "1", "2", "4", "8"),
    "cp": ("1", "1", "1", "2", "4"),
    "ep": ("", "", "4", "8", "16"),
    "virtual_stages": ("", "", "", "2", "4"),
    "sharding": ("none", "zero1", "zero1", "zero2", "fsdp", "hsdp, shard_group: 16", "hsdp, shard_group: 32"),
    "recompute": ("none", "selective", "full", "[norm]", "[attention, norm]", "[mlp]"),
    "micro_batch": ("1", "1", "2", "4"),
    "offload": ("", "", "", "", "{optimizer: 0.5}", "{optimizer: 1}"),
    "overlap": ("", "", "", "{dp: true}", "{tp: full}", "{ep: true}", "{dp: false}", "{pp: true}"),
    "dispatcher": ("", "", "", "", "deepep", "all-to-all", "all-gather"),
    "capacity_factor": ("", "", "", "", "1", "1.25"),
    "loss": ("", "", "fused", "chunked", "plain"),
    "captured_graphs": ("", "", "", "true", "false"),
    "schedule": ("", "", "", "", "1f1b", "interleaved", "zero-bubble", "dualpipe", "gpipe"),
    "order": ("", "", "", "", "", "[tp, cp, ep, pp, dp]"),
    "sequence_parallel": ("", "", "", "true", "false"),
}
"""Values of the keys of a layout, the empty one for a key that is absent."""
SERVED = {
    "speculative": ("", "", "", "{tokens: 1, acceptance: 0.8}", "{tokens: 3, acceptance: 0.6, method: ngram}"),
    "max_sequences": ("", "", "64", "512"),
    "chunk_tokens": ("", "", "2048", "16384"),
    "captured_graphs": ("", "", "", "false"),
    "memory_fraction": ("", "", "0.8"),
    "redundant_experts": ("", "", "", "16"),
    "receive_interval": ("", "", "", "4"),
    "hold_steps": ("", "", "", "30"),
}
LENGTHS = (
    "input_tokens: 1000, output_tokens: 1000",
    "input_tokens: {mean: 1000, p99: 3000, max: 4000}, output_tokens: {mean: 300, p99: 900, max: 1000}",
)
STORED = (
    "",
    "",
    "parameter_precision: fp8",
    "kv_precision: fp8",
    "parameter_precision: nvfp4",
    "parameter_precision: fp16",
)
ENGINE = {
    "tp": ("1", "2", "4", "8", "8", "16"),
    "pp": ("1", "1", "1", "2"),
    "attention_dp": ("", "", "", "8", "16"),
    "ep": ("", "", "8", "16"),
    "dispatcher": ("", "", "", "deepep"),
    "overlap": ("", "", "", "{ep: true}"),
}


def drawn_outputs(kind: str, number: int, seed: int) -> Iterator[str]:
    """The output of an exporter for a number of random designs that it accepts; fewer where it refuses most."""
    target, source = TARGETS[kind], random.Random(seed)
    exporter, models = exporter_of(kind.partition(" ")[0]), Catalog.open().ids("model")
    left = number
    for _ in range(40 * number):
        if not left:
            return
        spec = _served(source, models, target.software) if target.software else _training_spec(source, kind, models)
        try:
            yield str(exporter.write(design_of.__wrapped__(spec)).content)
        except NotExportable:
            continue
        left -= 1


def _mapping(source: random.Random, parts: dict[str, tuple[str, ...]]) -> str:
    chosen = {key: source.choice(values) for key, values in parts.items()}
    return ", ".join(f"{key}: {value}" for key, value in chosen.items() if value)


def _training_spec(source: random.Random, kind: str, models: tuple[str, ...]) -> str:
    work = [
        f"model: {source.choice(models)}, sequence_length: {source.choice((2048, 4096, 8192, 32768))}",
        f"global_batch: {source.choice((256, 512, 960, 1024))}, precision: {source.choice(PRECISIONS)}",
        source.choice(WORK),
    ]
    platform = source.choice((*PLATFORMS, *TPUS) if kind == "maxtext" else PLATFORMS)
    return _spec(platform, source.choice(NODES), ", ".join(filter(None, work)), _mapping(source, PARTS))


def _served(source: random.Random, models: tuple[str, ...], software: tuple[str, ...]) -> str:
    serving = ", ".join(filter(None, (source.choice(LENGTHS), "concurrency: 64", _mapping(source, SERVED))))
    work = f"kind: serve, model: {source.choice(models)}, serving: {{{serving}}}"
    work = ", ".join(filter(None, (work, source.choice(STORED))))
    layout = f"software: {source.choice(software)}, {_mapping(source, ENGINE)}"
    return _spec(source.choice(PLATFORMS), source.choice((2, 4, 8)), work, layout)


def _spec(platform: str, nodes: int, work: str, layout: str) -> str:
    cluster = f"{{platform: {platform}, nodes: {nodes}}}"
    return f"clusterspec: 1\ncluster: {cluster}\nworkload: {{{work}}}\nlayout: {{{layout}}}\n"
