"""Models against what their authors published."""

from __future__ import annotations

import re

import pytest

from clusterspec.catalog.models import Model
from clusterspec.cost.parameters import model_weights
from clusterspec.records import replace
from tests.catalog.shipped import CATALOG
from tests.effort import each

MODELS = [CATALOG.model(name) for name in CATALOG.ids("model")]


def name_of(model: Model) -> str:
    return model.id


def rounding(name: str, fact: str) -> float:
    """Half a unit of the last digit published, or half a per cent where that is more, as a share."""
    written = str(CATALOG.raw_entry("model", name).facts[fact].value)
    digits = re.match(r"\d+(?:\.(\d+))?", written)
    assert digits is not None
    half: float = 0.5 * 10 ** -len(digits[1] or "")
    return max(0.005, half / float(digits[0]))


def described(model: Model) -> float:
    """What the entry describes of what its authors count."""
    counted = model_weights(model)
    encoders = model.encoder_parameters.value if model.encoder_parameters else 0.0
    return counted.total + encoders + (counted.prediction if model.parameters_with_prediction else 0.0)


@each("model", MODELS)
def test_parameters_are_those_published(model: Model) -> None:
    assert model.parameters is not None
    off = abs(described(model) / model.parameters.value - 1)
    excused = "parameters" in CATALOG.raw_entry("model", model.id).exceptions
    assert excused == (off > rounding(model.id, "parameters"))


@pytest.mark.parametrize("model", [model for model in MODELS if model.active_parameters], ids=name_of)
def test_active_parameters_are_those_published(model: Model) -> None:
    """Some authors leave out the embedding table, which is looked up and not multiplied, and some the head too."""
    assert model.active_parameters is not None
    counted = model_weights(model)
    without = counted.active - counted.embedding
    whole = (counted.active, without, without - counted.head)
    off = min(abs(value / model.active_parameters.value - 1) for value in whole)
    excused = "active_parameters" in CATALOG.raw_entry("model", model.id).exceptions
    assert excused == (off > rounding(model.id, "active_parameters"))


@each("model", MODELS)
def test_the_shape_of_a_model_is_possible(model: Model) -> None:
    assert model.heads % model.kv_heads == 0
    assert model.latent or model.head_dim * model.heads >= model.hidden / 2
    assert model.moe_layers <= model.layers
    assert model.experts_per_token <= model.experts
    assert (model.experts > 0) == (model.moe_layers > 0)


def test_layers_are_counted_by_kind() -> None:
    """Qwen3-Next: 48 layers, three of four with a linear recurrence, all with experts; Gemma 3 4B: 34, of which five of
    six with a window."""
    hybrid, windowed = CATALOG.model("qwen3-next-80b-a3b"), CATALOG.model("gemma-3-4b")
    assert hybrid.linear is not None and windowed.window is not None
    counts = (hybrid.linear_layers, hybrid.attention_layers, hybrid.window_layers, hybrid.full_layers)
    assert (hybrid.layers, *counts, hybrid.ffn_layers, hybrid.moe_layers, hybrid.dense_layers) == (
        *(48, 36, 12, 0, 12, 48, 48, 0),
    )
    assert (windowed.linear_layers, windowed.attention_layers, windowed.window_layers, windowed.full_layers) == (
        *(0, 34, 29, 5),
    )
    for layers in (48, 60):
        recurrent = replace(hybrid, linear=replace(hybrid.linear, layers=layers))
        assert (recurrent.attention_layers, recurrent.full_layers) == (0, 0)
    few = replace(windowed, stated_attention_layers=20)
    assert (few.window_layers, few.full_layers) == (20, 0), "a window is one of attention"
    assert replace(hybrid, stated_ffn_layers=50).dense_layers == 2
    assert replace(hybrid, stated_ffn_layers=40).dense_layers == 0


def test_widths_that_an_entry_leaves_out_have_their_defaults() -> None:
    experts = CATALOG.model("qwen3-next-80b-a3b")
    assert (experts.shared_experts, experts.shared_width, experts.expert_width) == (1, 512, 2048)
    assert replace(experts, shared_experts=3).shared_width == 3 * 512
    assert replace(experts, shared_experts=2, shared_expert_ffn_hidden=700).shared_width == 1400
    assert replace(experts, expert_latent=1024).expert_width == 1024
    assert (replace(experts, value_head_dim=0).value_width, replace(experts, value_head_dim=64).value_width) == (
        256,
        64,
    )
    assert (replace(experts, gated_ffn=True).ffn_matrices, replace(experts, gated_ffn=False).ffn_matrices) == (3, 2)
    assert (replace(experts, latent_kv=0).latent, replace(experts, latent_kv=1).latent) == (False, True)
