from __future__ import annotations

import pytest

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from tests.cluster.resolving import assumed, clean, resolve_text
from tests.effort import each

CLUSTER = "cluster: {platform: dgx-h100, nodes: 2}\n"
DENSE = "layers: 10, hidden: 4096, heads: 32, vocab: 32000"


def workload(keys: str, cluster: str = CLUSTER) -> Workload:
    settled = clean(f"{cluster}workload: {{{keys}}}").workload
    assert settled is not None
    return settled


def model(keys: str) -> Model:
    return workload(f"model: {{{keys}}}, sequence_length: 4096, global_batch: 8").model


def test_defaults_are_documented_and_listed() -> None:
    design = clean(f"{CLUSTER}workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}}")
    expected = {
        "precision": "bf16",
        "parameter_precision": "bf16",
        "gradient_precision": "fp32",
        "optimizer": "adam",
        "attention": "flash",
    }
    assert design.workload is not None
    for key, value in expected.items():
        assert getattr(design.workload, key) == value
        assert assumed(design)[f"workload.{key}"] == value


def test_written_values_are_not_assumptions() -> None:
    keys = "model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, precision: fp8, optimizer: lion"
    design = clean(f"{CLUSTER}workload: {{{keys}}}")
    assert not {"workload.precision", "workload.optimizer"} & set(assumed(design))


TRAINED = "sequence_length: 4096, global_batch: 8"
SERVED = "serving: {input_tokens: 1000, output_tokens: 100, concurrency: 8}"


@each(
    ("keys", "platform", "expected"),
    [
        ("kind: serve, model: deepseek-v3", "dgx-h200", ("fp8", "fp8", "fp8")),
        ("kind: serve, model: deepseek-v3", "dgx-a100", ("bf16", "fp8", "fp8")),  # without peak in fp8
        ("kind: serve, model: deepseek-v3, precision: bf16", "dgx-h200", ("bf16", "bf16", "bf16")),
        ("kind: serve, model: deepseek-v3, parameter_precision: bf16", "dgx-h200", ("bf16", "bf16", "bf16")),
        ("kind: serve, model: deepseek-v4-pro, parameter_precision: fp8", "dgx-h200", ("fp8", "fp8", "mxfp4")),
        ("kind: serve, model: llama-3.1-8b, parameter_precision: fp8", "dgx-h200", ("fp8", "fp8", "fp8")),
        ("kind: serve, model: llama-3.1-8b, parameter_precision: int4", "dgx-h200", ("bf16", "int4", "int4")),
        ("kind: serve, model: llama-3.1-8b, parameter_precision: nvfp4", "dgx-b200", ("fp4", "nvfp4", "nvfp4")),
        ("kind: serve, model: llama-3.1-8b, parameter_precision: nvfp4", "dgx-h200", ("bf16", "nvfp4", "nvfp4")),
        ("kind: serve, model: llama-3.1-8b, parameter_precision: mxfp8", "dgx-b200", ("fp8", "mxfp8", "mxfp8")),
        ("kind: serve, model: llama-3.1-8b, parameter_precision: mxfp4", "dgx-b200", ("bf16", "mxfp4", "mxfp4")),
        ("kind: serve, model: kimi-k2.5, parameter_precision: mxfp4", "mi355x-ubb8", ("fp4", "mxfp4", "mxfp4")),
        ("kind: serve, model: kimi-k2.5, parameter_precision: mxfp4", "mi300x-ubb8", ("bf16", "mxfp4", "mxfp4")),
        ("kind: serve, model: gpt-oss-120b, parameter_precision: mxfp4", "mi355x-ubb8", ("bf16", "mxfp4", "mxfp4")),
        ("kind: serve, model: gpt-oss-120b", "dgx-h200", ("bf16", "bf16", "mxfp4")),
        ("kind: serve, model: gpt-oss-120b, precision: bf16", "dgx-h200", ("bf16", "bf16", "mxfp4")),
        ("kind: serve, model: gpt-oss-120b, parameter_precision: bf16", "dgx-h200", ("bf16", "bf16", "bf16")),
        ("kind: serve, model: kimi-k2.5, expert_parameter_precision: fp4", "dgx-b200", ("bf16", "bf16", "fp4")),
        ("kind: serve, model: llama-3.1-8b", "dgx-h200", ("bf16", "bf16", "bf16")),
        ("kind: train, model: deepseek-v3, sequence_length: 4096, global_batch: 64", "dgx-h200", ("bf16",) * 3),
    ],
)
def test_serving_loads_the_published_checkpoint_unless_the_spec_states_precisions(
    keys: str, platform: str, expected: tuple[str, str, str]
) -> None:
    more = SERVED if "serve" in keys else "optimizer: adam"
    found = workload(f"{keys}, {more}", f"cluster: {{platform: {platform}, nodes: 2}}\n")
    assert (found.precision, found.parameter_precision, found.expert_parameter_precision) == expected


@pytest.mark.parametrize(
    ("keys", "block"),
    [
        (f"kind: serve, model: {{{DENSE}}}, precision: fp8, recipe: blockwise", 128),
        (f"kind: serve, model: {{{DENSE}}}, precision: fp8, recipe: current", 0),
        (f"kind: serve, model: {{{DENSE}}}, precision: fp8", 0),
        (f"kind: train, model: {{{DENSE}}}, precision: fp8, recipe: blockwise, {TRAINED}", 0),
        ("kind: serve, model: deepseek-v3, precision: fp8, recipe: current", 128),  # of its checkpoint
    ],
)
def test_engines_load_blocks_of_weights_that_share_a_scale_by_the_recipe(keys: str, block: int) -> None:
    more = f", {SERVED}" if "serve" in keys else ""
    assert workload(f"{keys}{more}", "cluster: {platform: dgx-h200, nodes: 2}\n").model.fp8_block == block


@pytest.mark.parametrize("absent", ["model", "sequence_length", "global_batch"])
def test_missing_keys_of_a_workload_are_reported_once(absent: str) -> None:
    keys = {"model": "llama-3.1-8b", "sequence_length": "8192", "global_batch": "64"}
    written = ", ".join(f"{key}: {value}" for key, value in keys.items() if key != absent)
    design, problems = resolve_text(f"{CLUSTER}workload: {{{written}}}")
    assert [(problem.rule, problem.path) for problem in problems] == [("missing-key", ("workload", absent))]
    assert design.workload is None and design.cluster is not None


def test_serving_needs_no_batch() -> None:
    design = clean(f"{CLUSTER}workload: {{kind: serve, model: llama-3.1-8b, sequence_length: 8192}}")
    assert design.workload is not None and design.workload.global_batch == 1
    assert assumed(design)["workload.global_batch"] == 1


def test_an_unreadable_key_is_not_reported_as_missing() -> None:
    _, problems = resolve_text(f"{CLUSTER}workload: {{model: llama-3.1-8b, sequence_length: many, global_batch: 64}}")
    assert "missing-key" not in {problem.rule for problem in problems}


def test_the_peak_is_that_of_the_precision() -> None:
    keys = "model: llama-3.1-8b, sequence_length: 8192, global_batch: 64"
    by_precision = {
        name: workload(f"{keys}, precision: {name}").peak for name in ("bf16", "fp16", "fp8", "tf32", "fp32")
    }
    values = {name: peak.value for name, peak in by_precision.items() if peak is not None}
    assert values["fp16"] == values["bf16"] == 989.4e12
    assert values["fp8"] == pytest.approx(2 * values["bf16"], rel=0.01)
    assert values["tf32"] == pytest.approx(values["bf16"] / 2, rel=0.01)
    assert values["fp32"] < values["tf32"]


@pytest.mark.parametrize(
    ("machine", "precision", "peak"),
    [
        ("platform: dgx-a100", "fp8", None),
        ("accelerator: tpu-v5p", "fp16", None),  # its matrix units take bf16, not fp16
        ("accelerator: tpu-v5p", "bf16", 459e12),
        ("accelerator: gaudi2", "fp16", 432e12),  # executed, and no peak of its own
    ],
)
def test_a_precision_that_the_part_lacks_has_no_peak(machine: str, precision: str, peak: float | None) -> None:
    keys = f"model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, precision: {precision}"
    found = workload(keys, f"cluster: {{{machine}, nodes: 2}}\n").peak
    assert (found.value if found else None) == peak


def test_a_written_peak_has_precedence_and_is_dense() -> None:
    keys = "model: llama-3.1-8b, sequence_length: 8192, global_batch: 64"
    dense = workload(f"{keys}, peak_flops: 800 TFLOP/s dense").peak
    sparse = workload(f"{keys}, peak_flops: 1600 TFLOP/s sparse").peak
    assert dense is not None and sparse is not None
    assert dense.value == sparse.value == 800e12


def test_derived_sizes_of_an_inline_model_are_filled() -> None:
    described = model(f"{DENSE}, ffn_hidden: 16384")
    assert (described.head_dim, described.kv_heads) == (128, 32)
    assert (described.experts, described.moe_layers) == (0, 0)
    assert model(f"{DENSE}, head_dim: 64").head_dim == 64


def test_experts_are_in_every_layer_and_as_wide_as_written() -> None:
    mixture = model(f"{DENSE}, ffn_hidden: 14336, experts: 8, experts_per_token: 2")
    assert (mixture.moe_layers, mixture.expert_ffn_hidden) == (10, 14336)
    sizes = "ffn_hidden: 14336, experts: 8, experts_per_token: 2, expert_ffn_hidden: 2048, moe_layers: 9"
    partly = model(f"{DENSE}, {sizes}")
    assert (partly.moe_layers, partly.dense_layers, partly.expert_ffn_hidden) == (9, 1, 2048)


def test_latent_attention_and_routing_are_taken_over() -> None:
    keys = "ffn_hidden: 1, latent_attention: {q: 1536, kv: 512, rope: 64}, routing: {max_nodes: 4}"
    latent = model(f"{DENSE}, {keys}")
    assert latent.latent and (latent.latent_q, latent.latent_kv, latent.latent_rope) == (1536, 512, 64)
    assert latent.routing_max_nodes == 4


def test_a_gate_is_assumed_by_the_width() -> None:
    plain = clean(f"{CLUSTER}workload: {{model: {{{DENSE}, ffn_hidden: 16384}}, sequence_length: 1, global_batch: 1}}")
    gated = clean(f"{CLUSTER}workload: {{model: {{{DENSE}, ffn_hidden: 14336}}, sequence_length: 1, global_batch: 1}}")
    assert assumed(plain)["workload.model.gated_ffn"] is False
    assert assumed(gated)["workload.model.gated_ffn"] is True


def test_a_base_keeps_what_is_not_changed() -> None:
    base = workload("model: llama-3.1-70b, sequence_length: 1, global_batch: 1").model
    fewer = model("base: llama-3.1-70b, layers: 8")
    assert (fewer.layers, fewer.hidden, fewer.vocab) == (8, base.hidden, base.vocab)
    assert base.parameters is not None and fewer.parameters is None
    assert model("base: llama-3.1-70b") == base


def test_a_base_of_experts_keeps_its_dense_layers() -> None:
    whole = workload("model: deepseek-v3, sequence_length: 1, global_batch: 1").model
    cut = model("base: deepseek-v3, layers: 16")
    assert cut.dense_layers == whole.dense_layers == 3
    assert cut.moe_layers == 13


def test_missing_sizes_of_a_model_are_reported() -> None:
    design, problems = resolve_text(
        f"{CLUSTER}workload: {{model: {{layers: 4, hidden: 64}}, sequence_length: 1, global_batch: 1}}"
    )
    assert {problem.path[-1] for problem in problems} == {"heads", "vocab"}
    assert design.workload is None


def test_a_workload_needs_no_layout_and_a_layout_no_workload() -> None:
    alone = clean(f"{CLUSTER}workload: {{model: llama-3.1-8b, sequence_length: 1, global_batch: 1}}")
    assert alone.workload is not None and alone.layout is None
    other = clean(f"{CLUSTER}layout: {{tp: 8}}")
    assert other.workload is None and other.layout is not None
    assert other.layout.micro_batches is None and other.layout.stage_layers == ()


def test_an_invalid_cluster_does_not_hide_findings_about_the_workload() -> None:
    design, problems = resolve_text(
        "cluster: {platform: dgx-h100}\nworkload: {model: llama-3.1-8b, sequence_length: 1, global_batch: 1}"
    )
    assert [problem.path for problem in problems] == [("cluster", "nodes")]
    assert design.cluster is None
    assert design.workload is not None and design.workload.peak is None
