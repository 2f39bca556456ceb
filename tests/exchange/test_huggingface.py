"""Hugging Face configurations: the sizes give the number of parameters that the weights have."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_attention_heads": 64,
    "num_hidden_layers": 80,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
MIXTRAL = {
    "architectures": ["MixtralForCausalLM"],
    "model_type": "mixtral",
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 32000,
    "max_position_embeddings": 32768,
}
DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_act": "silu",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "num_attention_heads": 128,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "tie_word_embeddings": False,
    "vocab_size": 129280,
    "num_nextn_predict_layers": 1,
    "quantization_config": {"quant_method": "fp8"},
}
NEOX_20B = {
    "architectures": ["GPTNeoXForCausalLM"],
    "model_type": "gpt_neox",
    "hidden_act": "gelu_fast",
    "hidden_size": 6144,
    "intermediate_size": 24576,
    "num_attention_heads": 64,
    "num_hidden_layers": 44,
    "vocab_size": 50432,
    "tie_word_embeddings": False,
    "max_position_embeddings": 2048,
}
GEMMA = {
    "architectures": ["Gemma2ForCausalLM"],
    "model_type": "gemma2",
    "hidden_activation": "gelu_pytorch_tanh",
    "hidden_size": 3584,
    "intermediate_size": 14336,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "num_hidden_layers": 42,
    "vocab_size": 256000,
    "sliding_window": 4096,
}
QWEN = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_act": "silu",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "num_hidden_layers": 48,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "sliding_window": None,
    "use_sliding_window": False,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
}


@pytest.mark.parametrize(
    ("config", "published", "tolerance"),
    [
        (LLAMA, 70_553_706_496, 0),
        (MIXTRAL, 46_702_792_704, 0),
        (DEEPSEEK, 671_026_404_352, 0),
        (NEOX_20B, 20_554_567_680, 3e-4),  # biases and norms' biases are not counted
        (GEMMA, 9_241_705_984, 1e-4),  # without its norms after blocks
        (QWEN, 30_532_122_624, 1e-6),  # norms of queries and keys
    ],
    ids=["llama", "mixtral", "deepseek", "neox", "gemma", "qwen"],
)
def test_the_sizes_give_the_parameters_of_the_weights(config: object, published: int, tolerance: float) -> None:
    reading = read(json.dumps(config, indent=2))
    assert reading.kind == "huggingface"
    assert counts(reading)["parameters"] == pytest.approx(published, rel=tolerance or 1e-12)


def test_latent_attention_and_experts_are_told_apart_by_layer() -> None:
    keys = given(read(json.dumps(DEEPSEEK)))
    assert keys["workload.model.latent_attention.kv"] == 512
    assert (keys["workload.model.head_dim"], keys["workload.model.moe_layers"]) == (128, 58)
    assert keys["workload.model.multi_token_prediction.layers"] == 1
    assert keys["workload.parameter_precision"] == "fp8"


def test_layers_that_predict_tokens_have_the_network_of_the_other_layers() -> None:
    path = "workload.model.multi_token_prediction"
    for config, network in ((DEEPSEEK, "experts"), (LLAMA | {"num_nextn_predict_layers": 2}, "dense")):
        keys = given(read(json.dumps(config)))
        assert keys[f"{path}.ffn"] == network
        assert keys[f"{path}.layers"] == config["num_nextn_predict_layers"]
    assert f"{path}.layers" not in given(read(json.dumps(LLAMA | {"num_nextn_predict_layers": 0})))


@pytest.mark.parametrize(
    ("config", "changes", "experts"),
    [
        (QWEN, {"decoder_sparse_step": 2}, 24),  # layers 2, 4, …, 48
        (QWEN, {"decoder_sparse_step": 5}, 9),  # layers 5, 10, …, 45
        (QWEN, {"decoder_sparse_step": 0}, 48),
        (QWEN, {"decoder_sparse_step": 2, "mlp_only_layers": [0, 1, 3]}, 22),  # numbered from 0: two had experts
        (QWEN, {"decoder_sparse_step": None, "mlp_only_layers": [0, 1, 3]}, 45),
        (DEEPSEEK, {"moe_layer_freq": 2}, 29),  # layers 4, 6, …, 60 of those numbered from 0 to 60
        (DEEPSEEK, {"moe_layer_freq": [0, 0, *[1] * 59]}, 59),
        (DEEPSEEK, {"first_k_dense_replace": 0}, 61),
        (DEEPSEEK, {"first_k_dense_replace": 62}, 61),  # more than there are
        (DEEPSEEK, {"first_k_dense_replace": 60}, 1),
    ],
)
def test_the_layers_with_experts_are_those_of_the_pattern(
    config: dict[str, object], changes: dict[str, object], experts: int
) -> None:
    told = {key: value for key, value in (config | changes).items() if value is not None}
    assert given(read(json.dumps(told))).get("workload.model.moe_layers", told["num_hidden_layers"]) == experts


def test_windows_of_some_layers_are_counted() -> None:
    keys = given(read(json.dumps(GEMMA)))
    assert keys["workload.model.attention_window.tokens"] == 4096
    assert keys["workload.model.attention_window.layers"] == 21
    assert keys["workload.model.tied_embeddings"] is True
    listed = GEMMA | {"layer_types": ["sliding_attention"] * 35 + ["full_attention"] * 7}
    assert given(read(json.dumps(listed)))["workload.model.attention_window.layers"] == 35


BASIC = {"model_type": "other", "hidden_size": 64, "num_hidden_layers": 12, "num_attention_heads": 8, "vocab_size": 100}
MODEL = "workload.model."
FALCON: dict[str, object] = {"ffn_hidden": 256, "gated_ffn": False, "tied_embeddings": True}
"""What the type alone says: four times the hidden size, without a gate."""
ATTENTION: list[tuple[dict[str, object], dict[str, object]]] = [  # keys of a configuration, and what the model then has
    # full attention has two heads of 128, windows four of 64; keys serve as values
    (
        {
            **{"global_head_dim": 128, "num_global_key_value_heads": 2, "head_dim": 64, "num_key_value_heads": 4},
            **{"attention_k_eq_v": True, "sliding_window": 512, "sliding_window_pattern": 6},
        },
        {
            **{"kv_heads": 2, "head_dim": 128, "shared_kv": True},
            **{"attention_window.kv_heads": 4, "attention_window.head_dim": 64},
            **{"attention_window.tokens": 512, "attention_window.layers": 10},
        },
    ),
    # twelve layers: two plain, six compressed by 4 and four by 128; what follows is of the prediction of tokens
    (
        {
            **{"compress_ratios": [0, 0, *[4, 128] * 4, 4, 4, 0], "q_lora_rank": 32, "qk_rope_head_dim": 16},
            **{"o_groups": 4, "o_lora_rank": 24, "sliding_window": 128, "head_dim": 96, "num_key_value_heads": 1},
            **{"index_topk": 512, "index_n_heads": 64, "index_head_dim": 48},
        },
        {
            **{"compressed_attention.light_ratio": 4, "compressed_attention.light_layers": 6},
            **{"compressed_attention.heavy_ratio": 128, "compressed_attention.heavy_layers": 4},
            **{"compressed_attention.q": 32, "compressed_attention.rope": 16, "compressed_attention.window": 128},
            **{"compressed_attention.output_groups": 4, "compressed_attention.output_rank": 24},
            **{"kv_heads": 1, "head_dim": 96, "attention_window.tokens": 128, "attention_window.layers": 2},
            **{"sparse_attention.tokens": 512, "sparse_attention.index_heads": 64, "sparse_attention.index_dim": 48},
            **{"sparse_attention.layers": 6},
        },
    ),
    (
        {
            "head_dim": 32,
            "linear_attn_config": {"kda_layers": [1, 2, 3, 5], "num_heads": 8, "head_dim": 16}
            | {"short_conv_kernel_size": 4},
        },
        {
            **{"linear_attention.kind": "kimi-delta", "linear_attention.layers": 4, "linear_attention.key_heads": 8},
            **{"linear_attention.value_heads": 8, "linear_attention.key_head_dim": 16},
            **{"linear_attention.value_head_dim": 16, "linear_attention.gate_rank": 16},
            **{"linear_attention.convolution": 4, "head_dim": 32},
        },
    ),
    # every fourth layer has full attention
    (
        {"full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 32},
        {
            **{"linear_attention.kind": "gated-delta", "linear_attention.layers": 9},
            **{"linear_attention.key_heads": 16, "linear_attention.value_heads": 32},
        },
    ),
    # four blocks of Mamba, two of attention, five dense and one of experts
    (
        {"hybrid_override_pattern": "M-M-M-M-*-*E"},
        {
            **{"linear_attention.kind": "mamba-2", "linear_attention.layers": 4},
            **{"attention_layers": 2, "ffn_layers": 6},
        },
    ),
    (
        {"hybrid_override_pattern": "M*-"},
        {
            **{"linear_attention.kind": "mamba-2", "linear_attention.layers": 1},
            **{"attention_layers": 1, "ffn_layers": 1},
        },
    ),
    (
        {"layer_types": ["linear_attention", "full_attention"]},
        {"linear_attention.kind": "gated-delta", "linear_attention.layers": 1},
    ),
    ({"sliding_window": 512, "use_sliding_window": False, "layer_types": ["sliding_attention"] * 12}, {}),
    ({"sliding_window": 512, "layer_types": ["sliding_attention"] * 12}, {"attention_window": 512}),
    ({"sliding_window": 512, "layer_types": ["full_attention"] * 12}, {}),
    ({"sliding_window": 512, "model_type": "mistral"}, {"attention_window": 512, "gated_ffn": True}),
    ({"sliding_window": 512}, {}),  # of layers that are not stated
    ({"num_key_value_heads": 4, "head_dim": 32}, {"kv_heads": 4, "head_dim": 32}),
    ({"multi_query": True}, {"kv_heads": 1}),
    ({"multi_query": True, "n_head_kv": 4}, {"kv_heads": 4}),
    ({"multi_query": True, "n_head_kv": 4, "model_type": "falcon"}, {"kv_heads": 1} | FALCON),
    (
        {"multi_query": True, "n_head_kv": 4, "model_type": "falcon", "new_decoder_architecture": True},
        {"kv_heads": 4} | FALCON,
    ),
]


@each(("keys", "model"), ATTENTION)
def test_attention_has_the_heads_layers_and_windows_that_a_configuration_states(
    keys: dict[str, object], model: dict[str, object]
) -> None:
    plain, found = (given(read(json.dumps(BASIC | more), "huggingface")) for more in ({}, keys))
    assert {name: value for name, value in found.items() if plain.get(name) != value} == {
        MODEL + name: value for name, value in model.items()
    }


def test_the_language_model_among_others_is_read() -> None:
    config = {
        "architectures": ["LlavaForConditionalGeneration"],
        "model_type": "llava",
        "text_config": LLAMA,
        "vision_config": {"hidden_size": 1},
    }
    reading = read(json.dumps(config))
    assert counts(reading)["parameters"] == 70_553_706_496
    assert "image or audio components" in unknown(reading)


def test_a_published_count_that_differs_is_listed() -> None:
    named = LLAMA | {"_name_or_path": "meta-llama/Llama-3.1-70B", "num_hidden_layers": 40}
    assert "the catalog cites 70,554,000,000 for llama-3.1-70b" in unknown(read(json.dumps(named)))
    assert "cites" not in unknown(read(json.dumps(named | {"num_hidden_layers": 80})))


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"model_type": "t5", "num_layers": 12, "d_model": 768}, "an encoder and a decoder"),
        ({"model_type": "bert", "num_hidden_layers": 12, "hidden_size": 768}, "an encoder"),
        (LLAMA | {"block_configs": [{}]}, "layers that differ from each other"),
        (LLAMA | {"architectures": ["LlamaForSequenceClassification"]}, "is of architecture"),
        ({"model_type": "llama", "hidden_size": 8}, "has neither the layers nor the hidden size"),
        ({"model_type": "mamba", "num_hidden_layers": 4, "hidden_size": 8}, "state-space layers alone"),
    ],
)
def test_what_a_spec_cannot_describe_is_refused_by_name(config: object, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read(json.dumps(config), "huggingface")


def test_an_index_of_weights_counts_its_tensors() -> None:
    weights = {f"model.layers.{n}.mlp.weight": "a.safetensors" for n in range(6)}
    reading = read(json.dumps({"metadata": {"total_size": 1234}, "weight_map": weights}))
    assert (counts(reading)["tensors"], counts(reading)["bytes"], counts(reading)["layers"]) == (6, 1234, 6)


def test_a_configuration_with_segment_embeddings_is_an_encoder() -> None:
    text = '{"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 30522%s}'
    with pytest.raises(FormatError, match="type_vocab_size"):
        read(text % ', "type_vocab_size": 2', "huggingface")
    decoder = text % ', "type_vocab_size": 2, "is_decoder": true'
    assert given(read(decoder, "huggingface"))["workload.model.layers"] == 24


@pytest.mark.parametrize(
    ("kind", "action", "gated"),
    [
        ("llama", "", True),
        ("mistral", "gelu", True),
        ("qwen3", "", True),
        ("apertus", "xielu", False),
        ("nemotron", "relu2", False),
        ("unheard", "silu", True),
        ("unheard", "", None),
        ("unheard", "xielu", None),
    ],
)
def test_the_class_says_whether_its_network_has_a_gate(kind: str, action: str, gated: bool | None) -> None:
    """`LlamaMLP` has gate, up and down whatever its activation; that of Apertus has no gate."""
    reading = read(json.dumps({**LLAMA, "model_type": kind, "hidden_act": action or None}, indent=2))
    assert given(reading).get("workload.model.gated_ffn") == gated


TENSORS = {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized"}
QUARK = {"quant_method": "quark", "layer_quant_config": {}}


@each(
    "stated, precision",
    [
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, None),
        ({"quant_method": "modelopt", "quant_algo": "FP8_PB_WO"}, "fp8"),
        (TENSORS | {"config_groups": {"a": {"weights": {"num_bits": 4, "type": "float"}}}}, "nvfp4"),
        (TENSORS | {"config_groups": {"a": {"format": "mxfp4-pack-quantized", "weights": {"num_bits": 4}}}}, "mxfp4"),
        (TENSORS | {"format": "float", "config_groups": {"a": {"weights": {"num_bits": 8, "type": "float"}}}}, "fp8"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "a": {"weights": {"num_bits": 8, "type": "float"}},
                    "b": {"weights": {"num_bits": 4, "type": "int"}},
                },
            },
            None,
        ),
        (TENSORS | {"config_groups": {"a": {"weights": None}}}, None),
        (QUARK | {"global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}}}, "mxfp4"),
        (QUARK | {"global_quant_config": {"weight": {"dtype": "fp4", "group_size": 16}}}, None),
        (
            QUARK | {"layer_quant_config": {"a": {}}, "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}},
            None,
        ),
    ],
)
def test_quantized_weights_are_stated_where_all_layers_have_one_precision(
    stated: dict[str, object], precision: str | None
) -> None:
    reading = read(json.dumps(LLAMA | {"quantization_config": stated}))
    assert given(reading).get("workload.parameter_precision") == precision
    assert ("does not determine the precision" in unknown(reading)) is (precision is None)
