"""The model of a configuration of MaxText: its name in MaxText, else its sizes and parts.

MaxText, commit e591f30c: ``src/maxtext/configs/models``, with the defaults of ``src/maxtext/configs/base.yml``;
compared with the catalog on 2026-11-28.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm

from clusterspec.catalog.models import Block, Model
from clusterspec.cluster.model import Workload
from clusterspec.exchange.documents import yaml_scalar
from clusterspec.exchange.exporters.registry import NotExportable

MODELS = {
    "llama-2-7b": "llama2-7b",
    "llama-2-13b": "llama2-13b",
    "llama-2-70b": "llama2-70b",
    "llama-3-8b": "llama3-8b",
    "llama-3-70b": "llama3-70b",
    "llama-3.1-8b": "llama3.1-8b",
    "llama-3.1-70b": "llama3.1-70b",
    "llama-3.1-405b": "llama3.1-405b",
    "llama-3.3-70b": "llama3.3-70b",
    "llama-4-scout": "llama4-17b-16e",
    "llama-4-maverick": "llama4-17b-128e",
    "mistral-7b": "mistral-7b",
    "mixtral-8x7b": "mixtral-8x7b",
    "mixtral-8x22b": "mixtral-8x22b",
    "deepseek-v2-lite": "deepseek2-16b",
    "deepseek-v2": "deepseek2-236b",
    "deepseek-v3": "deepseek3-671b",
    "deepseek-v3.2": "deepseek3.2-671b",
    "kimi-k2": "kimi-k2-1t",
    "gemma-7b": "gemma-7b",
    "gemma-2-2b": "gemma2-2b",
    "gemma-2-9b": "gemma2-9b",
    "gemma-2-27b": "gemma2-27b",
    "gemma-3-4b": "gemma3-4b",
    "gemma-3-12b": "gemma3-12b",
    "gemma-3-27b": "gemma3-27b",
    "gemma-4-26b-a4b": "gemma4-26b",
    "gemma-4-31b": "gemma4-31b",
    "qwen2.5-1.5b": "qwen2.5-1.5b",
    "qwen2.5-7b": "qwen2.5-7b",
    "qwen2.5-14b": "qwen2.5-14b",
    "qwen3-0.6b": "qwen3-0.6b",
    "qwen3-1.7b": "qwen3-1.7b",
    "qwen3-4b": "qwen3-4b",
    "qwen3-8b": "qwen3-8b",
    "qwen3-14b": "qwen3-14b",
    "qwen3-32b": "qwen3-32b",
    "qwen3-30b-a3b": "qwen3-30b-a3b",
    "qwen3-235b-a22b": "qwen3-235b-a22b",
    "qwen3-coder-480b-a35b": "qwen3-480b-a35b",
    "qwen3-next-80b-a3b": "qwen3-next-80b-a3b",
    "qwen3.5-35b-a3b": "qwen3.5-35b-a3b",
    "qwen3.5-397b-a17b": "qwen3.5-397b-a17b",
    "gpt3-175b": "gpt3-175b",
    "gpt-oss-20b": "gpt-oss-20b",
    "gpt-oss-120b": "gpt-oss-120b",
    "olmo-3-7b": "olmo3-7b",
    "olmo-3-32b": "olmo3-32b",
}
"""Names in MaxText of models in the catalog (types.py, line 216)."""
_DESCRIBED = {"gpt3-175b", "mistral-7b", "mixtral-8x22b", "qwen2.5-14b", "qwen3-30b-a3b", "qwen3-235b-a22b"}
"""Models that are described by their facts, since MaxText has another release under the name (rotary base, vocabulary,
epsilon; for GPT-3 also the optimizer). Keys after ``model_name`` would have no effect, since the file of the model is
read later (pyconfig.py, line 477).
"""


def decoder_of(model: Model, name: str) -> str:
    """The decoder of MaxText that a configuration uses; ``name`` is the catalog id of an unchanged model, else
    empty.
    """
    return _named_decoder(model, name) if name in MODELS else _decoder_block(model)


def model_lines(tp: int, work: Workload, name: str, omitted: list[str]) -> Iterator[str]:
    model, length = work.model, work.sequence_length
    if name in MODELS and name not in _DESCRIBED:
        yield f"model_name: {MODELS[name]}"
        return
    if model.linear or model.sparse or model.compressed or model.window or model.shared_kv or model.expert_latent:
        raise NotExportable("MaxText has no model with these layers, and its keys cannot describe them")
    yield f"decoder_block: {_decoder_block(model)}"
    if model.block is None:
        omitted.append(
            f"normalization, position embedding{' and router' if model.experts else ''}, not stated: "
            f"those of {_decoder_block(model)} apply"
        )
    vocabulary = model.vocab if model.vocab % tp == 0 else -(-model.vocab // lcm(tp, 128)) * lcm(tp, 128)
    if vocabulary != model.vocab:  # JAX divides the table of embeddings over the tensor axis in equal parts
        omitted.append(f"the vocabulary of {model.vocab:,}: padded to {vocabulary:,}, which tp {tp} divides")
    yield from (
        f"base_emb_dim: {model.hidden}",
        f"base_num_query_heads: {model.heads}",
        f"base_num_kv_heads: {model.kv_heads}",
        f"head_dim: {model.head_dim}",
        f"base_mlp_dim: {_dense_width(model)}",
        f"base_num_decoder_layers: {model.layers}",
        f"vocab_size: {vocabulary}",
        f"logits_via_embedding: {str(model.tied_embeddings).lower()}",
        f"mlp_activations: {'[silu, linear]' if model.gated_ffn else '[gelu]'}",
        "enable_dropout: false",
    )
    if model.tied_embeddings:  # layers/decoders.py: by default such logits are divided by the root of the width
        yield "normalize_embedding_logits: false"
    if model.latent:
        yield from (
            "attention_type: mla",
            f"q_lora_rank: {model.latent_q}",
            f"kv_lora_rank: {model.latent_kv}",
            f"qk_nope_head_dim: {model.head_dim}",
            f"qk_rope_head_dim: {model.latent_rope}",
            f"v_head_dim: {model.value_width}",
        )
    if model.experts:
        yield from _expert_lines(model)
    if model.block is not None:
        yield from _block_lines(model, model.block, omitted)
        yield from _position_lines(model.block, max(model.max_sequence_length or 0, length), omitted)


def _dense_width(model: Model) -> int:
    """The width of dense layers. If all layers have experts, it is the width of the experts, as MaxText requires
    (types.py, line 3901).
    """
    return model.expert_ffn_hidden if model.experts and model.moe_layers == model.layers else model.ffn_hidden


def _named_decoder(model: Model, name: str) -> str:
    """The decoder of a model that MaxText defines by name (configs/models, ``decoder_block``)."""
    known = MODELS[name]
    if known.startswith(("llama2", "llama3")):
        return "llama2"
    if known.startswith(("deepseek", "kimi")):
        return "deepseek"
    family = known.partition("-")[0]
    return f"{family}_moe" if family == "qwen3" and model.experts else family


def _block_lines(model: Model, block: Block, omitted: list[str]) -> Iterator[str]:
    """Biases, norms of heads and the router, which are all off by default (configs/base.yml, lines 278 to 298, 395 and
    1221). Biases and groups of the router are applied where the name of a model begins with deepseek3 or 4
    (layers/moe.py, line 740).
    """
    if block.qk_norm and not model.latent:
        yield "use_qk_norm: true"
    if block.norm_place != "before":
        omitted.append("norms after attention and feed-forward network: this decoder normalizes before them")
    if block.qk_norm and model.norm_across_heads:
        omitted.append("one norm of queries and keys over all heads: MaxText normalizes each head")
    if block.bias == "qkv":
        yield "attention_bias: true"
    if not model.experts:
        return
    if _decoder_block(model) == "deepseek":
        yield f"routed_score_func: {block.router or 'softmax'}"
        if block.router_scale is not None:
            yield f"routed_scaling_factor: {block.router_scale:g}"
    elif block.router == "sigmoid":
        omitted.append("sigmoid scores of the router: MaxText has them with its DeepSeek decoder")
    if block.expert_bias or block.router_groups:
        omitted.append("biases and groups of the router: MaxText has them for models that it names deepseek3")


def _decoder_block(model: Model) -> str:
    """The decoder of MaxText with the parts of a model."""
    if model.block is not None and model.block.norm == "layer":
        return "gpt3"
    if model.latent or (model.experts and (model.shared_experts or model.moe_layers < model.layers)):
        return "deepseek"
    if model.block is not None and model.block.qk_norm:
        return "qwen3_moe" if model.experts else "qwen3"
    if model.block is not None and model.block.bias == "qkv":
        return "qwen2"
    return "mixtral" if model.experts else "llama2"


def _expert_lines(model: Model) -> Iterator[str]:
    yield f"num_experts: {model.experts}"
    yield f"num_experts_per_tok: {model.experts_per_token}"
    yield f"base_moe_mlp_dim: {model.expert_ffn_hidden}"
    if model.shared_experts:
        if model.shared_expert_ffn_hidden not in {0, model.expert_ffn_hidden}:
            raise NotExportable("MaxText gives shared experts the width of the routed ones")
        yield f"shared_experts: {model.shared_experts}"
    if model.layers != model.moe_layers:
        yield f"first_num_dense_layers: {model.layers - model.moe_layers}"


def _position_lines(block: Block, length: int, omitted: list[str]) -> Iterator[str]:
    if block.norm_epsilon is not None:
        yield f"normalization_layer_epsilon: {yaml_scalar(block.norm_epsilon)}"
    if block.positions == "learned":  # base.yml, line 1010: without it there are none
        yield f"trainable_position_size: {length}"
    if block.positions == "rope":
        yield f"rope_max_timescale: {block.rope_base}"
    if block.rope_fraction not in {None, 1.0}:  # configs/types.py, line 4196
        omitted.append(f"rotation of {block.rope_fraction:g} of each head: MaxText has it with the Qwen3-Next decoder")
    if block.rope_scaling:
        yield f"rope_type: { {'llama3': 'llama3.1'}.get(block.rope_scaling, block.rope_scaling) }"
    if block.rope_scaling == "llama3" and block.rope_scaling_factor not in {
        None,
        8.0,
    }:  # layers/embeddings.py, line 648
        omitted.append(f"rotary scaling by {block.rope_scaling_factor:g}: MaxText scales by 8")
    if block.rope_scaling == "yarn" and block.rope_scaling_factor is not None:
        yield f"rope_factor: {block.rope_scaling_factor:g}"
        yield f"original_max_position_embeddings: {block.rope_original_length}"
