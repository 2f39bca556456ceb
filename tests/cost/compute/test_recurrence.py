"""Layers of every kind do the work of their own weights, and a core or a recurrence of their own."""

from __future__ import annotations

import pytest

from clusterspec.catalog import Catalog
from clusterspec.cost import parameters, traffic
from clusterspec.cost.compute import Work, attention, recurrence
from clusterspec.cost.compute.layer import layer_parts
from clusterspec.cost.layer_tables import layer_name
from clusterspec.cost.layers import FeedForward, Layer, Mixer, model_layers
from tests.cost.compute.test_kernels import products, shard
from tests.effort import each, sampled

HYBRIDS = ("qwen3-next-80b-a3b", "nemotron-3-super", "granite-4.0-h-small", "kimi-k3")
WINDOWED = ("gemma-3-4b", "gemma-4-31b", "step-3.7-flash", "mimo-v2-flash", "gpt-oss-120b")
CHOOSING = ("deepseek-v3.2", "deepseek-v4-pro", "glm-5", "minimax-m3")


def work(model: str, layer: Layer, tp: int = 1) -> Work:
    share, software = shard({"model": model}, layer.mixer, tp=tp, ep=1)
    return sum(layer_parts(layer.network, share, software).values(), Work())


@each("model", sampled(sorted(Catalog.open().ids("model")), 300))
def test_all_layers_multiply_each_token_with_the_weights_that_it_passes(model: str) -> None:
    """All weights but the head and those of convolutions, which no GEMM computes: of a layer as many as a kernel has
    taps, for each number of its queries, keys and values. Compressed attention also has biases.
    """
    share, _ = shard({"model": model}, tp=1, ep=1)
    known = {layer: products(work(model, layer).forward) for layer in set(model_layers(share.model))}
    done = sum(known[layer] for layer in model_layers(share.model))
    left = share.model.hidden * share.model.vocab
    if linear := share.model.linear:
        widths = 2 * linear.key_heads * linear.key_head_dim + linear.value_heads * linear.value_head_dim
        left += linear.layers * linear.convolution * widths
    expected = 2 * (parameters.model_weights(share.model).multiplied_weights - left) * share.tokens
    assert done == pytest.approx(expected, rel=2e-4 if share.model.compressed else 1e-12)


@each("model", (*HYBRIDS, *WINDOWED, *CHOOSING))
def test_tensor_parallelism_divides_every_kind_of_layer(model: str) -> None:
    share, _ = shard({"model": model}, tp=1, ep=1)
    for layer in set(model_layers(share.model)) - {Layer(Mixer.NONE, FeedForward.NONE)}:
        one, two = (sum(k.flops for k in work(model, layer, tp).forward) for tp in (1, 2))
        assert one / 2 == pytest.approx(two, rel=0.08), layer


def test_a_recurrence_grows_with_its_tokens_and_attention_with_their_square() -> None:
    for mixer, factor in ((Mixer.LINEAR, 2), (Mixer.FULL, 4)):
        short, long = (
            shard({"model": "qwen3-next-80b-a3b", "sequence_length": length}, mixer, tp=1, ep=1)
            for length in (4096, 8192)
        )
        cores = [
            sum(k.flops for k in layer_parts(FeedForward.EXPERTS, *each)["core"].forward) for each in (short, long)
        ]
        assert cores[1] == pytest.approx(factor * cores[0])


def test_packed_documents_leave_the_state_between_ranks_as_it_is() -> None:
    """A rank's tokens end within one document of each sequence, however many the sequence packs."""
    states = []
    for work_ in ({}, {"document_tokens": 512}):
        of = {"model": "nemotron-3-super", "sequence_length": 8192, **work_}
        share, _ = shard(of, Mixer.LINEAR, tp=1, ep=1, cp=2)
        assert share.model.linear is not None
        states.append(recurrence.state_bytes(share, share.model.linear))
    assert states[0] == states[1] > 0


def test_mamba_2_reads_its_values_twice_and_its_states_in_32_bits() -> None:
    """8,192 tokens of 128 heads of 64 with states of 128 (Nemotron 3 Super): x, x and y are 3 x 8,192 numbers of 2 B
    for each token. One state of 64 x 128 x 128 for 128 tokens is as many numbers again: written and read in 4 B, and
    written and read in 2 B, it counts six times. Queries and keys of 8 groups add 2 x 1,024.
    """
    share, _ = shard({"model": "nemotron-3-super", "sequence_length": 8192}, Mixer.LINEAR, tp=1, ep=1, micro_batch=1)
    assert share.model.linear is not None
    core = recurrence.recurrence_core(share, share.model.linear).forward[0]
    assert core.traffic == 2 * 8192 * (3 * 8192 + 6 * 8192 + 2 * 1024)


def test_a_window_may_have_heads_of_its_own() -> None:
    share, _ = shard({"model": "gemma-4-31b"}, Mixer.WINDOW, tp=1)
    assert (share.model.head_dim, share.kv_heads, share.model.shared_kv) == (256, 16, False)
    full, _ = shard({"model": "gemma-4-31b"}, tp=1)
    assert (full.model.head_dim, full.kv_heads, full.model.shared_kv) == (512, 4, True)
    assert attention.unmasked_pairs(share) < attention.unmasked_pairs(full)


@pytest.mark.parametrize("model", CHOOSING)
def test_choosing_keys_makes_long_sequences_cheaper(model: str) -> None:
    share, software = shard({"model": model, "sequence_length": 131072}, tp=1, ep=1)
    whole_core = attention.attention_core(share, (4.5, 5.5)).forward
    chosen = layer_parts(FeedForward.EXPERTS, share, software)["core"].forward
    assert sum(k.flops for k in chosen) < 0.75 * sum(k.flops for k in whole_core)


def test_context_parallelism_passes_states_on_whatever_the_length() -> None:
    sizes = []
    for length in (8192, 16384):
        share, _ = shard({"model": "qwen3-next-80b-a3b", "sequence_length": length}, Mixer.LINEAR, tp=1, cp=2, ep=1)
        (gather,) = traffic.context_forward_transfers(share, "ring", 0.0)
        assert gather.collective == "all-gather"
        sizes.append(gather.size)
    assert sizes[0] == sizes[1] == 2 * 4 * 32 * 128 * 128


CHOSEN_FROM = {
    "glm-5.1": 512 + 64 + 128,  # the latent, its rotary part, and a key of the index
    "deepseek-v4-pro": (30 * (512 + 128) / 4 + 31 * 512 / 128) / 61,  # one entry for 4 tokens, or for 128
}


@pytest.mark.parametrize("model", CHOSEN_FROM)
@pytest.mark.parametrize("method", ["ring", "all-to-all", "all-gather"])
def test_ranks_that_choose_keys_gather_what_all_heads_read(model: str, method: str) -> None:
    share, _ = shard({"model": model, "sequence_length": 131072}, tp=1, cp=32, ep=1)
    (gather,) = traffic.context_forward_transfers(share, method, 0.0)
    assert gather.collective == "all-gather"
    assert gather.size == pytest.approx(131072 * CHOSEN_FROM[model] * 2)


def test_nothing_is_exchanged_around_a_layer_that_mixes_no_tokens() -> None:
    share, _ = shard({"model": "nemotron-3-super"}, Mixer.NONE, tp=2, cp=2, ep=1)
    assert traffic.context_forward_transfers(share, "ring", 0.0) == ()
    assert traffic.tensor_forward_transfers(share, {}) == traffic.tensor_backward_transfers(share, {}) == ()


def test_experts_of_their_own_width_take_narrower_rows() -> None:
    share, software = shard({"model": "nemotron-3-super"}, Mixer.NONE, tp=1, ep=1)
    parts = layer_parts(FeedForward.EXPERTS, share, software)
    assert set(parts) == {"norms", "router", "dispatch", "experts"}
    names = [kernel.name for kernel in parts["experts"].forward]
    assert "into experts" in names
    assert "out of experts" in names


def test_layers_are_called_by_what_they_hold() -> None:
    assert layer_name(Layer(Mixer.FULL, FeedForward.DENSE), one_mixer=True) == "dense_layer"
    assert layer_name(Layer(Mixer.LINEAR, FeedForward.EXPERTS), one_mixer=False) == "linear_expert_layer"
    assert layer_name(Layer(Mixer.LINEAR, FeedForward.NONE), one_mixer=False) == "linear_layer"
    assert layer_name(Layer(Mixer.NONE, FeedForward.EXPERTS), one_mixer=False) == "expert_layer"


@pytest.mark.parametrize("tp", [1, 2])
def test_a_convolution_reads_and_writes_queries_keys_and_values(tp: int) -> None:
    """16 key heads and 32 value heads of 128: 2 × 2,048 + 4,096 channels of 2 B, in and out, for each of the tokens."""
    share, _ = shard({"model": "qwen3-next-80b-a3b"}, Mixer.LINEAR, tp=tp, ep=1)
    assert share.model.linear is not None
    work = recurrence.convolution_work(share, share.model.linear)
    channels = (2 * 16 * 128 + 32 * 128) / tp
    assert work.forward[0].traffic == 2 * 2 * channels * share.tokens
    assert work.backward[0].traffic == 3 * 2 * channels * share.tokens, "also a gradient"


ELEMENTS = [  # elements that a memory-bound kernel moves for a token, forward and backward, by hand
    # two norms, each with its residual: x and its sum are read, both and the norm written: 2 × 5 × 4,096
    ("llama-3.1-8b", "norms and residuals", 40960, 40960),
    # 32 + 8 heads of 128 are read and written
    ("llama-3.1-8b", "rotary embedding", 2 * 40 * 128, 2 * 40 * 128),
    # gate and up are read and their product is written; backward reads all three and writes two gradients
    ("llama-3.1-8b", "feed-forward activation", 3 * 14336, 5 * 14336),
    ("gpt-oss-120b", "norms and residuals", 10 * 2880, 10 * 2880),
    ("gpt-oss-120b", "experts activation", 3 * 4 * 2880, 5 * 4 * 2880),
    ("gpt-oss-120b", "expert choice", 6 * 128, 6 * 128),
    ("deepseek-v3.2", "expert choice", 6 * 256, 6 * 256),
    ("deepseek-v3.2", "experts activation", 3 * 8 * 2048, 5 * 8 * 2048),
    ("deepseek-v3.2", "shared experts activation", 3 * 2048, 5 * 2048),
    ("qwen3-next-80b-a3b", "experts activation", 3 * 10 * 512, 5 * 10 * 512),
    # queries and keys of 2,048 and values of 4,096 pass the convolution
    ("qwen3-next-80b-a3b", "convolution", 2 * 8192, 3 * 8192),
    ("qwen3-next-80b-a3b", "gated norm", 3 * 4096, 5 * 4096),
    # a gate of 16 × 256 elements, and as many outputs read and written
    ("qwen3-next-80b-a3b", "attention gate", 3 * 4096, 6 * 4096),
    # squared ReLU without a gate: 22 experts of 2,688 and a shared one of 5,376
    ("nemotron-3-super", "experts activation", 2 * 22 * 2688, 3 * 22 * 2688),
    ("nemotron-3-super", "shared experts activation", 2 * 5376, 3 * 5376),
]
COPIED = {"qwen3-next-80b-a3b": 2 * (10 + 1) * 2048, "gpt-oss-120b": 2 * (4 + 1) * 2880, "deepseek-v3.2": 2 * 9 * 7168}
"""Elements of a token that is copied to each of its experts and back: the token and its copies, read and written."""
SUMMED = {  # elements of the weights whose gradient is added to that of other micro-batches
    ("llama-3.1-8b", "query, key, value"): 4096 * (32 + 2 * 8) * 128,
    ("llama-3.1-8b", "attention output"): 4096 * 4096,
    ("llama-3.1-8b", "feed-forward in"): 2 * 4096 * 14336,
    ("qwen3-next-80b-a3b", "experts in"): 512 * 2 * 2048 * 512,
    ("qwen3-next-80b-a3b", "router"): 512 * 2048,
    ("gpt-oss-120b", "experts out"): 128 * 2880 * 2880,
    ("nemotron-3-super", "into experts"): 4096 * 1024,
}


def test_memory_bound_kernels_move_the_bytes_worked_out_by_hand() -> None:
    """Bytes of a token by kernel, in the passes of the software over fused ones; a sum of gradients reads and writes
    four bytes a weight."""
    moved: dict[tuple[str, str], tuple[float, float]] = {}
    for model in {model for model, *_ in ELEMENTS}:
        share, _ = shard({"model": model}, tp=1, ep=1)
        for layer in dict.fromkeys(model_layers(share.model)):
            done = work(model, layer)
            both = ({one.name: one.traffic for one in kernels} for kernels in (done.forward, done.backward))
            forward, backward = both
            moved |= {(model, name): (forward.get(name, 0.0), backward[name]) for name in backward}
    tokens, width = share.tokens, share.width
    passes = moved["llama-3.1-8b", "norms and residuals"][0] / (tokens * width * 40960)
    assert 1 <= passes < 2
    for model, name, *elements in ELEMENTS:
        assert moved[model, name] == pytest.approx([passes * tokens * width * each for each in elements]), (model, name)
    for model, copied in COPIED.items():
        assert moved[model, "dispatch and combine"] == pytest.approx([tokens * width * copied] * 2), model
    for (model, name), weights in SUMMED.items():
        assert moved[model, f"{name}: weight gradient: sum"][1] == pytest.approx(8 * weights), (model, name)
