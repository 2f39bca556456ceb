"""Layers of every kind are counted once, in an order that pipelines can cut."""

from __future__ import annotations

import pytest

from clusterspec.catalog.models import LinearAttention, Model, Window
from clusterspec.cost.layers import FeedForward, Layer, Mixer, model_layers, stage_chunks
from clusterspec.cost.mixers import full_attention_weights, recurrence_weights, window_attention_weights
from tests.catalog.shipped import CATALOG
from tests.cost.memory.designs import layout, model
from tests.effort import each

FULL, WINDOW, LINEAR, NONE = Mixer.FULL, Mixer.WINDOW, Mixer.LINEAR, Mixer.NONE
MODELS = [CATALOG.model(name) for name in CATALOG.ids("model")]


def delta(count: int) -> LinearAttention:
    return LinearAttention("gated-delta", count, 4, 8, 64, 64)


def mixers(of: Model) -> list[Mixer]:
    return [layer.mixer for layer in model_layers(of)]


def test_the_full_layer_ends_each_period() -> None:
    assert mixers(model(linear=delta(6))) == [LINEAR, LINEAR, LINEAR, FULL] * 2
    assert mixers(model(window=Window(128, 6))) == [WINDOW, WINDOW, WINDOW, FULL] * 2
    assert mixers(model(window=Window(128, 8))) == [WINDOW] * 8


def test_a_window_and_a_recurrence_share_the_layers_out() -> None:
    assert mixers(model(linear=delta(4), window=Window(128, 2))) == [LINEAR, WINDOW, LINEAR, FULL] * 2


def test_blocks_that_do_one_thing_hold_either_mixing_or_a_network() -> None:
    """Nemotron-H: of eight layers three recurrent, one with attention and four with experts."""
    of = model(
        linear=delta(3), stated_attention_layers=1, stated_ffn_layers=4, experts=4, experts_per_token=1,
        expert_ffn_hidden=64, moe_layers=4,
    )  # fmt: skip
    assert all((layer.mixer is NONE) != (layer.network is FeedForward.NONE) for layer in model_layers(of))
    assert mixers(of).count(LINEAR) == 3
    assert mixers(of).count(FULL) == 1
    assert [layer.network for layer in model_layers(of)].count(FeedForward.EXPERTS) == 4


@each("of", MODELS)
def test_every_layer_of_the_catalog_holds_what_its_entry_counts(of: Model) -> None:
    order = model_layers(of)
    assert len(order) == of.layers
    assert Layer(NONE, FeedForward.NONE) not in order
    counted = {kind: mixers(of).count(kind) for kind in (FULL, WINDOW, LINEAR)}
    assert counted == {FULL: of.full_layers, WINDOW: of.window_layers, LINEAR: of.linear_layers}
    networks = [layer.network for layer in order]
    assert (networks.count(FeedForward.DENSE), networks.count(FeedForward.EXPERTS)) == (of.dense_layers, of.moe_layers)


@pytest.mark.parametrize("pp", [1, 3, 4])
def test_stages_hold_each_kind_of_layer_once(pp: int) -> None:
    of = model(layers=12, linear=delta(6), window=Window(64, 4))
    chunks = [chunk for held in stage_chunks(of, layout(of, pp=pp)) for chunk in held]
    assert sum(chunk.linear_layers for chunk in chunks) == 6
    assert sum(chunk.window_layers for chunk in chunks) == 4
    assert sum(chunk.full_layers for chunk in chunks) == 2
    assert sum(chunk.dense_layers for chunk in chunks) == sum(chunk.layers for chunk in chunks) == 12


def heads_of(of: Model) -> list[int]:
    """The numbers of heads that tensor parallelism divides; one latent or shared vector has no heads of its own."""
    heads = [of.heads, *([] if of.latent or of.compressed else [of.kv_heads])]
    heads += [of.linear.key_heads] if of.linear else []
    return [*heads, *([of.window.heads, of.window.kv_heads] if of.window else [])]


def test_the_shards_of_a_mixer_are_its_weights_on_one_rank() -> None:
    """Two ranks hold half of the sharded weights each, and all of the others; an odd number of heads is not divided."""
    even = [of for of in MODELS if not any(number % 2 for number in heads_of(of))]
    assert any(of.compressed for of in even) and any(of.latent for of in even)
    assert {of.linear.kind for of in MODELS if of.linear} == {of.linear.kind for of in even if of.linear}
    for of in even:
        for weights in (full_attention_weights, window_attention_weights, recurrence_weights):
            one, two = weights(of), weights(of, 2)
            assert two.copied == one.copied and 2 * two.cut == pytest.approx(one.cut), (of.id, weights.__name__)
