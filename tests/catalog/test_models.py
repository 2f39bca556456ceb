"""Models against what their authors published."""

from __future__ import annotations

import re

import pytest

from clusterspec.catalog.models import CompressedAttention, Model, TokenPrediction
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


def is_remainder(model: Model) -> bool:
    """Whether the parameters of encoders are the checkpoint's parameter count less that of the text model."""
    facts = CATALOG.raw_entry("model", model.id).facts
    return "encoder_parameters" in facts and "less the text model computed from its sizes" in (
        facts["encoder_parameters"].note or ""
    )


@each("model", [model for model in MODELS if is_remainder(model)])
def test_encoders_have_what_the_text_leaves_of_the_sum(model: Model) -> None:
    """Command A+: 218,750,277,872 less 218,255,069,184 of the text are 495 million."""
    assert model.parameters is not None
    assert model.encoder_parameters is not None
    left = model.parameters.value - model_weights(model).total
    assert abs(left - model.encoder_parameters.value) <= 0.5e6


@each("model", [model for model in MODELS if model.active_parameters])
def test_active_parameters_are_those_published(model: Model) -> None:
    """Some authors leave out the embedding table, which is looked up and not multiplied, and some the head too."""
    assert model.active_parameters is not None
    counted = model_weights(model)
    without = counted.active_weights - counted.embedding
    whole = (counted.active_weights, without, without - counted.head)
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


def is_worked_out(model: Model, fact: str) -> bool:
    """Whether a fact was worked out from the checkpoint's parameter count."""
    found = CATALOG.raw_entry("model", model.id).facts.get(fact)
    return found is not None and found.note == "worked out from the checkpoint's parameter count"


def distance(model: Model) -> float:
    """How far an entry is from what its authors count, in parameters."""
    assert model.parameters is not None
    return abs(described(model) - model.parameters.value)


@each("model", [model for model in MODELS if is_worked_out(model, "tied_embeddings")])
def test_the_sum_decides_whether_the_head_is_the_embedding(model: Model) -> None:
    """Qwen3 4B 2507: 4,022,468,096 less 4,022,458,880 with one table; the second has 388,956,160."""
    other = replace(model, tied_embeddings=not model.tied_embeddings)
    assert distance(model) < distance(other) / 2


@pytest.mark.parametrize(("name", "heads"), [("granite-4.0-h-micro", 64), ("granite-4.0-h-tiny", 48)])
def test_the_sum_decides_the_recurrence(name: str, heads: int) -> None:
    """One group of keys, four taps and heads of 64 leave of the sum what an entry does not count: in each of 36 layers
    a norm of the inner width, a bias for each channel of the convolution, and three numbers for each head.
    """
    model = CATALOG.model(name)
    assert model.linear is not None and model.parameters is not None
    for fact in ("key_heads", "convolution", "value_head_dim"):
        assert is_worked_out(model, f"linear_attention.{fact}")
    inner = 64 * heads
    assert model.parameters.value - model_weights(model).total == 36 * (inner + (inner + 2 * 128) + 3 * heads)


UNKNOWN_PREDICTION = (
    *("gemma-4-12b", "gemma-4-26b-a4b", "gemma-4-31b", "intern-s1", "mistral-large-3", "mistral-medium-3.5"),
    *("mistral-large-4", "mistral-small-4", "muse-glimmer-30b", "muse-spark-open", "nemotron-3-nano-omni"),
)
"""Models of which no source says whether their weights have layers of multi-token prediction. Gemma 4 has an assistant
of its own for it."""


def test_entries_say_whether_a_model_predicts_several_tokens() -> None:
    """A new entry states its layers of multi-token prediction, 0 if it has none, or is named as unknown."""
    unknown = [model.id for model in MODELS if model.prediction is None and not model.no_prediction_weights]
    assert sorted(unknown) == sorted(UNKNOWN_PREDICTION)


@pytest.mark.parametrize(
    ("name", "layers", "drafts"),
    [
        ("mimo-7b", 1, True),
        ("mimo-v2-flash", 3, True),
        ("step-3.5-flash", 3, True),
        ("glm-4.7-flash", 1, True),
        ("minimax-m2", 3, False),  # its weights are not released
        ("minimax-m2.7", 3, False),
        ("kimi-k2", 0, False),
        ("glm-4.5v", 0, False),
        ("llama-3.1-70b", 0, False),
    ],
)
def test_models_draft_with_the_layers_that_their_weights_hold(name: str, layers: int, drafts: bool) -> None:
    model = CATALOG.model(name)
    assert (model.prediction.layers if model.prediction else 0, model.drafts) == (layers, drafts)
    assert model.no_prediction_weights is not drafts


def test_weights_without_layers_of_prediction_leave_no_room_for_one() -> None:
    """The tensors of a model that is known to have none add up to less than half of one such layer more, or less, than
    its entry describes. Rounded counts say nothing of it.
    """
    for model in MODELS:
        fact = CATALOG.raw_entry("model", model.id).facts.get("multi_token_prediction.layers")
        if fact is None or fact.value != 0 or fact.note != "the tensors add up without any":
            continue
        assert model.parameters is not None
        if float(model.parameters.value) % 1e6 == 0:
            continue
        kind = "experts" if model.experts else "dense"
        layer = model_weights(replace(model, prediction=TokenPrediction(1, kind))).prediction
        assert abs(described(model) - model.parameters.value) < layer / 2, model.id


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


@each(("light", "heavy", "mean"), [(1, 0, 10.0), (0, 1, 40.0), (1, 1, 25.0), (2, 1, 20.0), (0, 0, 0.0)])
def test_the_mean_of_compressed_layers_is_over_their_numbers(light: int, heavy: int, mean: float) -> None:
    part = CompressedAttention(
        q=1, rope=1, output_groups=1, output_rank=1, light_ratio=4, light_layers=light, heavy_ratio=128,
        heavy_layers=heavy, window=8,
    )  # fmt: skip
    assert part.mean_over_layers(10.0, 40.0) == mean
