"""Models against what their authors published."""

from __future__ import annotations

import re

import pytest

from clusterspec.catalog.models import Model
from clusterspec.cost.parameters import model_weights
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
