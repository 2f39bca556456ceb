"""Options that change the memory or the time of a run and that no reader imports, each listed with what it changes.

The names are those of the argument parsers, data classes and schemas of Megatron-LM d98e8a64, Transformers 5.24,
TRL 1.16, Axolotl 0.19, LLaMA-Factory, MaxText, vLLM 0.33.0, SGLang 0.5.23, DeepSpeed 0.19.6 (edaa7221), Accelerate 1.15
(16cb6eb8) and TensorRT-LLM (``TorchLlmArgs``), read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.workloads.keys import positive_integer_of
from clusterspec.units import plural

_DEGREES = "degrees of another role, or of a kind for which layout has no key"
_CHANGES = (
    (
        r"(?:\w{1,40}_)?(?:tensor|pipeline|context|expert|data|sequence)_(?:model_)?parallel(?:ism)?(?:_size|_degree)?"
        r"|(?:decode|prefill)_context_parallel_size|hyper_parallel_cp_size|hierarchical_context_parallel_sizes"
        r"|(?:dcp|attn_cp|moe_dp|moe_dense_tp|shared_experts_tp|dwdp|sglang_tp|vllm_tp)_size"
        r"|(?:expert_)?(?:gtp_weight_remat_size|tensor_parallel_num_weight_shards)|(?:ici|dcn)_\w{1,40}_parallelism"
        r"|moe_cluster_parallel_size|cluster_size|pp_partition|cp_config\.\w{1,40}|dwdp_config\.\w{1,40}",
        _DEGREES,
    ),
    (
        r"kv_cache_memory_bytes|num_gpu_blocks_override|max_total_tokens|num_cache_blocks"
        r"|kv_cache_config\.(?:max_tokens|max_gpu_total_bytes)",
        "sets the size of the KV cache itself, in place of a share of memory",
    ),
    (
        r"enable_lora|lora_config|peft_cache_config|max_loras|max_lora_rank|lora_paths|lora_modules|max_loras_per_batch|max_loaded_loras",
        "adapters of the engine take memory and time: a plan has no key for them",
    ),
    (
        r"enable_dbo|ubatch_size|enable_(?:two|single)_batch_overlap",
        "halves of a batch hide communication: a plan of an engine has no key for it",
    ),
    (
        r"enable_hierarchical_cache|hicache_\w{1,40}|enable_lmcache|enable_flexkv|host_cache_size|kv_connector_config",
        "blocks of the KV cache may be in host memory or on a disk (workload.serving.cache_tiers)",
    ),
    (
        r"enable_eplb|init_expert_location|expert_placement_strategy|moe_config\.load_balancer",
        "moves or copies experts between ranks: see workload.serving.redundant_experts and expert_load",
    ),
    (
        r"hf_overrides|json_model_override_args|(?:overrides_of_)?model_(?:config|kwargs)_overrides?|overrides_of_model_\w{1,10}"
        r"|heterogeneous_layers_config_\w{1,20}|attention_output_gate|model_override_args",
        "changes the model that the sizes or the name describe",
    ),
    (
        r"te_precision_config_file|(?:fp8|fp4)_param(?:_gather)?|main_(?:grads|params)_dtype|exp_avg(?:_sq)?_dtype|params_dtype"
        r"|training\.dtype|mu_dtype|weight_dtype|pure_bf16|quantize_moe_experts|grad_accum_dtype|mamba_ssm_cache_dtype|model_quantization_config|optim_target_modules",
        "sets the precision of weights, gradients or states of the optimizer (layout.optimizer_states)",
    ),
    (
        r"curriculum_learning\.enabled|data_efficiency\.enabled|enable_rampup_batch_size|auto_find_batch_size|per_device_batch_size_start|num_pipeline_microbatches"
        r"|steps_per_generation|generation_batch_size|num_tokens_per_(?:microbatch_per_dp_rank|train_step)",
        "changes the batches: what the file states of them may not hold in all steps",
    ),
    (
        r"unfrozen_parameters|freeze_\w{1,40}|lisa_\w{1,40}|relora\w{0,40}|train_only_\w{1,40}|trainable_\w{1,40}",
        "trains a part of the parameters: workload.trainable has no such value",
    ),
    (
        r"zero_quantized_\w{1,40}|zeropp_loco_param|(?:seq_parallel_)?communication_data_type|use_low_precision_moe_combine"
        r"|allreduce_strategy",
        "changes the bytes or the algorithm of a collective",
    ),
    (
        r"partition_activations|cpu_checkpointing|activation_checkpoint_interval|number_checkpoints",
        "changes which activations a rank keeps, and where (layout.recompute, layout.offload.activations)",
    ),
    (
        r"sparse_attention(?:_config)?|max_attention_window|progressive_layer_drop\.enabled|compression_training",
        "leaves out a part of the layers or of the attention",
    ),
    (
        r"batch_wait_(?:timeout_ms|timeout_iters|max_tokens_ratio)|max_beam_width",
        "changes which requests form a step, or how many sequences a request has",
    ),
    (
        r"hybrid_engine\.enabled|zenflow|deepcompile|compile\.deepcompile|torch_compile_config",
        "changes how the engine runs a step: a plan has no key for it",
    ),
    (
        r"zero_hpz_partition_size|zenflow\.\w{1,40}|use_custom_fsdp|megatron_lm_use_custom_fsdp|outer_dp_sharding_strategy|shard_optimizer_over_data|hybrid_context_parallel|use_2d_fsdp_sharding"
        r"|reshard_after_forward",
        "changes what ranks share (layout.sharding, layout.shard_group)",
    ),
)
_PATTERNS = tuple((re.compile(rf"(?:.*\.)?(?:{names})(?P<inner>\.[\w.]{{1,200}})?"), why) for names, why in _CHANGES)
_OFF = frozenset(
    {"false", "0", "1", "-1", "none", "null", "no", "off", "", "[]", "{}", "auto", "default", "float32", "fp32"}
)
MOST_LISTED = 12
"""Largest number of options that are named for one reason."""


def list_bearing(values: Mapping[str, tuple[Any, int]], unused: Iterable[str], builder: ImportBuilder) -> list[str]:
    """List the unused options that change a run, one entry for each reason; the names of the other unused options."""
    others, found = [], dict[str, list[str]]()
    for name in unused:
        off = not isinstance(values[name][0], bool) and str(values[name][0]).strip().lower() in _OFF
        why = None if off or values[name][0] is False else _change_of(name, values[name][0])
        if why is None:
            others.append(name)
        else:
            found.setdefault(why, []).append(name)
    for why, names in found.items():
        shown = ", ".join(_shown_option(name, values[name][0]) for name in names[:MOST_LISTED])
        line = values[names[0]][1]
        if len(names) == 1:
            builder.unknown(shown, f"not imported: {why}", line)
        else:
            more = ", …" if len(names) > MOST_LISTED else ""
            builder.unknown(plural(len(names), "option"), f"not imported: {shown}{more}: {why}", line)
    return others


def _change_of(name: str, value: Any) -> str | None:
    """What an option changes; None for one of no effect on memory and time, and for a degree that is no number."""
    found = next(((match, why) for pattern, why in _PATTERNS if (match := pattern.fullmatch(name))), None)
    if found is None or (found[1] is _DEGREES and (found[0]["inner"] or not _is_degree(value))):
        return None
    return found[1]


def _is_degree(value: Any) -> bool:
    return positive_integer_of(value) is not None or str(value).startswith("$")


def _shown_option(name: str, value: Any) -> str:
    return name if value is True else f"{name}: {excerpt(str(value))}"
