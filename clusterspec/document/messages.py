"""Messages of schema violations, including keys that other programs use for a spec key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator
from typing import Any

from clusterspec.document import conforms
from clusterspec.document.conforms import Schema
from clusterspec.document.model import Document, text_at
from clusterspec.document.schema import (
    alternatives_text,
    letters_and_digits,
    near_words,
    nearest_words,
    one_line_text,
    snake_case,
)
from clusterspec.document.validation_error import (
    TYPES,
    ValidationError,
    coerced_text,
    example_line,
    kind_of,
    thousands_advice,
)
from clusterspec.finding import Fix, Problem, Replacement, Severity
from clusterspec.source import Path, dotted_path

# Names of spec keys in other programs: frameworks, schedulers, inventories

_KEYS = {
    "tp": "tensor tensor_parallel tensor_parallelism tensor_parallel_size tensor_parallel_degree "
    "tensor_model_parallel_size tp_size tp_degree ici_tensor_parallelism mp_size model_parallel_size",
    "pp": "pipeline pipeline_parallel pipeline_parallelism pipeline_parallel_size pipeline_parallel_degree "
    "pipeline_model_parallel_size pp_size pp_degree pipeline_stages num_stages stages",
    "dp": "data data_parallel data_parallelism data_parallel_size data_parallel_degree dp_size dp_degree replicas "
    "data_parallel_replicate_degree",
    "cp": "context context_parallel context_parallelism context_parallel_size context_parallel_degree cp_size "
    "cp_degree",
    "ep": "expert expert_parallel expert_parallelism expert_parallel_size expert_parallel_degree "
    "expert_model_parallel_size ep_size ep_degree",
    "expert_tp": "expert_tensor_parallel expert_tensor_parallel_size etp",
    "micro_batch": "micro_batch_size microbatch microbatch_size micro_bs mbs train_micro_batch_size_per_gpu "
    "per_device_train_batch_size device_batch_size local_batch_size",
    "virtual_stages": "virtual_pipeline virtual_pipeline_size virtual_pipeline_model_parallel_size vpp interleave "
    "virtual_stages_per_rank num_virtual_stages",
    "sharding": "zero zero_stage fsdp zero_optimization sharding_strategy data_parallel_sharding",
    "recompute": "activation_checkpointing activation_checkpoint gradient_checkpointing recompute_granularity remat "
    "activation_recompute recomputation activation_recomputation checkpointing",
    "sequence_parallel": "sp sequence_parallelism",
    "schedule": "pipeline_schedule pp_schedule",
    "dispatcher": "moe_dispatcher moe_token_dispatcher moe_token_dispatcher_type token_dispatcher all2all_backend",
    "gradient_sync": "no_sync sync_each_batch set_requires_gradient_sync requires_gradient_sync defer_fsdp_grad_sync",
    "captured_graphs": "cuda_graph cuda_graphs enable_cuda_graph",
    "framework": "engine training_framework",
    "sequence_length": "seq_len seq_length seqlen sequence_len max_seq_len max_sequence_length context_length "
    "context_len context block_size max_position_embeddings seq",
    "global_batch": "batch_size batch global_batch_size gbs train_batch_size global_bs batchsize",
    "precision": "dtype data_type torch_dtype compute_dtype datatype mixed_precision",
    "parameter_precision": "param_dtype parameter_dtype weight_dtype weights_precision",
    "gradient_precision": "grad_dtype gradient_dtype reduce_dtype grad_reduce_dtype",
    "kind": "task type mode job_type",
    "trainable": "lora adapter peft",
    "quantization": "quant quantisation quantization_method",
    "attention": "flash_attention attn attn_implementation attention_backend",
    "tokens": "train_tokens num_tokens total_tokens training_tokens",
    "expected_mfu": "mfu target_mfu",
    "model": "model_name llm architecture",
    "layers": "num_layers n_layers n_layer num_hidden_layers depth",
    "hidden": "hidden_size d_model n_embd embedding_size model_dim hidden_dim",
    "heads": "num_heads n_heads n_head num_attention_heads attention_heads",
    "kv_heads": "num_kv_heads n_kv_heads num_key_value_heads num_query_groups",
    "ffn_hidden": "ffn_hidden_size intermediate_size ffn_dim d_ff feed_forward",
    "vocab": "vocab_size vocabulary padded_vocab_size vocabulary_size",
    "experts": "num_experts n_experts n_routed_experts num_local_experts",
    "experts_per_token": "top_k topk moe_router_topk num_experts_per_tok moe_top_k",
    "nodes": "num_nodes n_nodes nnodes node_count machines hosts servers num_hosts",
    "accelerators_per_node": "gpus_per_node gpu_per_node ngpus_per_node nproc_per_node devices_per_node "
    "num_gpus_per_node chips_per_node accelerators_per_host gpus_per_host",
    "accelerators": "gpus num_gpus world_size gpu_count chips devices total_gpus",
    "accelerator": "gpu gpu_type device chip gpu_model accelerator_type",
    "platform": "machine_type instance_type instance server node_type",
    "spare_nodes": "spares hot_spares",
    "host_memory": "ram host_ram cpu_memory system_memory memory_per_node",
    "scale_up": "nvlink intra_node scaleup",
    "scale_out": "network fabric inter_node scaleout interconnection backend",
    "technology": "fabric network_type fabric_type network_technology",
    "nics_per_node": "num_nics nics nic_count hcas_per_node nic_per_node adapters_per_node",
    "nic_bandwidth": "nic_speed nic_rate link_speed port_speed nic_bw line_rate network_bandwidth ib_bandwidth",
    "oversubscription": "oversubscription_ratio blocking_factor blocking taper",
    "switch_ports": "radix ports switch_radix ports_per_switch",
    "bandwidth": "speed throughput",
    "input_tokens": "isl prompt_tokens prompt_length prompt_len max_prompt_length input_length input_len "
    "input_sequence_length",
    "output_tokens": "osl response_tokens response_length max_response_length completion_tokens max_new_tokens "
    "max_completion_length generation_length output_length output_len output_sequence_length max_tokens",
    "prompts_per_step": "rollout_batch_size num_prompts_per_step",
    "samples_per_prompt": "rollouts_per_prompt num_generations num_generations_per_prompt n_samples_per_prompt",
    "request_rate": "qps rps rate requests_per_second arrival_rate",
    "concurrency": "max_concurrency users concurrent_requests",
    "prefix_hit": "cache_hit cache_hit_rate prefix_cache_hit",
    "chunk_tokens": "max_num_batched_tokens chunked_prefill_size chunk_size",
    "max_sequences": "max_num_seqs max_running_requests max_batch_size",
    "memory_fraction": "gpu_memory_utilization mem_fraction_static kv_cache_free_gpu_mem_fraction",
    "speculative": "speculation speculative_decoding speculative_config",
    "disaggregated": "disaggregation pd_disaggregation",
    "attention_dp": "attention_data_parallel",
    "kv_precision": "kv_cache_dtype kv_dtype cache_dtype kv_cache_precision",
    "targets": "slo slos sla slas latency_targets",
    "currency": "money",
    "quoted_total": "total quote_total total_price",
    "tax": "vat sales_tax tax_rate",
    "term": "years lifetime depreciation",
    "node_hour": "rent hourly_rate hourly_price price_per_hour",
    "electricity": "electricity_price power_price kwh_price",
}
_LOCAL_KEYS = {
    "read": "bandwidth speed read_bandwidth read_bw read_rate",
    "write": "write_bandwidth write_bw write_rate",
    "capacity": "size",
    "medium": "type kind",
    "writes_per_day": "dwpd",
    "turns": "rounds num_turns requests_per_session",
    "think_time": "pause delay user_delay",
    "growth": "tokens_per_turn new_tokens growth_per_turn turn_tokens",
    "shared_prefix": "system_prompt system_prompt_tokens prefix_tokens",
    "between": "pools ends",
    "count": "number quantity units",
    "redundancy": "spares reserve",
    "interval": "every period frequency",
    "capacity_factor": "moe_capacity_factor expert_capacity_factor",
}
"""Names that users write for a key only inside its own mapping; elsewhere they mean something else."""
_WORDS = [(snake_case(alias), key) for key, aliases in _KEYS.items() for alias in aliases.split()]
_LOCAL_WORDS = [(alias, key) for key, aliases in _LOCAL_KEYS.items() for alias in aliases.split()]


def intended_key(word: str, known: Container[str] = ()) -> str:
    """The spec key that corresponds to a name of another program, one of ``known`` if several do; empty if there is
    none.

    >>> intended_key("tensor-model-parallel-size"), intended_key("gpusPerNode"), intended_key("colour")
    ('tp', 'accelerators_per_node', '')
    >>> intended_key("fabric"), intended_key("fabric", ["technology"])
    ('scale_out', 'technology')
    >>> intended_key("bandwidth"), intended_key("bandwidth", ["capacity", "read"])
    ('', 'read')
    """
    name = snake_case(word)
    found = [key for alias, key in _WORDS if alias == name]
    local = [key for alias, key in _LOCAL_WORDS if alias == name]
    return next((key for key in (*found, *local) if key in known), found[0] if found else "")


# Messages of validation errors; messages of jsonschema are never shown

_MAX_UNKNOWN = 40
"""Unknown keys of one mapping that get a finding each."""


def problems_of_error(error: Any, path: Path, document: Document, schema: Schema) -> Iterator[Problem]:
    """The problems that describe an error of the validator."""
    fault = ValidationError(error, path, document, schema, conforms.node_at(schema, path))
    if not path and error.validator == "type":
        yield _not_a_mapping_problem(fault)
    elif fault.value is None and path and isinstance(path[-1], str):
        yield _missing_value_problem(fault)
    else:
        yield from _MESSAGES.get(error.validator, _other_problems)(fault)


def _not_a_mapping_problem(fault: ValidationError) -> Problem:
    if fault.value is None:
        what = "the file is empty"
    else:
        what = f"the top level is {TYPES['array'] if isinstance(fault.value, list) else kind_of(fault.value)}"
    return Problem("unreadable-yaml", (), what, "a mapping of keys belongs there, such as `clusterspec: 1`")


def _missing_value_problem(fault: ValidationError) -> Problem:
    key = fault.path[-1]
    node = conforms.node_at(fault.schema, fault.path[:-1])
    if key in node.get("required", ()) or key in node.get("else", {}).get("required", ()):
        return fault.problem("missing-key", f"{fault.name} has no value", fault.advice)
    message = f"{fault.name} has no value and counts as absent"
    line = example_line(fault.path, fault.field)
    advice = (f"write a value, such as `{line}`, or " if line else "write a value, or ") + "delete the line"
    return Problem("wrong-type", fault.path, message, advice, severity=Severity.WARNING, at_key=True)


def _type_problems(fault: ValidationError) -> Iterator[Problem]:
    if isinstance(fault.value, dict | list):
        message = f"{fault.name} takes {fault.expected}, not {fault.written}"
    else:
        message = f"{fault.name} takes {fault.expected}, but {fault.written} is {kind_of(fault.value)}"
    text = coerced_text(fault.value, fault.field, text_at(fault.document, fault.path))
    if text is None:
        yield fault.problem("wrong-type", message, thousands_advice(fault.value, fault.field) or fault.advice)
    else:
        fix = Fix(f"write {text}", (Replacement(fault.path, text),), safe=True)
        yield fault.problem("wrong-type", message, f"write `{text}`", fix)


def _choice_problems(fault: ValidationError) -> Iterator[Problem]:
    choices = [str(choice) for choice in fault.limit]
    word = str(fault.value)
    synonyms = {letters_and_digits(one): choice for one, choice in fault.field.get("x-synonyms", {}).items()}
    synonym = synonyms.get(letters_and_digits(word))
    meant = (
        [synonym]
        if synonym
        else [one for one in nearest_words(word, choices) if _last_number(one) == _last_number(word)]
    )
    advice = f"the choices are {alternatives_text(choices)}"
    if meant:
        advice = f"did you mean {alternatives_text(meant)}? {advice[0].upper()}{advice[1:]}"
    remark = fault.field.get("x-remarks", {}).get(word.lower())
    advice = f"{advice}; {remark}" if remark else advice
    fix = Fix(f"write {meant[0]}", (Replacement(fault.path, meant[0]),)) if len(meant) == 1 else None
    yield fault.problem("unknown-choice", f"{fault.written} is not one of the choices of {fault.name}", advice, fix)


def _last_number(word: str) -> str:
    """The number that ends a word: `int4` and `int8` are similar to read, and no misspelling of one another."""
    return word[len(word.rstrip("0123456789")) :]


def _const_problems(fault: ValidationError) -> Iterator[Problem]:
    text = json.dumps(fault.limit)
    fix = Fix(f"write {text}", (Replacement(fault.path, text),))
    message = f"{fault.name} is {text}; {fault.written} is not supported"
    yield fault.problem("unknown-choice", message, f"write `{fault.path[-1]}: {text}`", fix)


def _unknown_key_problems(fault: ValidationError) -> Iterator[Problem]:
    known = fault.error.schema.get("properties", {})
    unknown = [key for key in fault.value if key not in known]
    for key in unknown[:_MAX_UNKNOWN]:
        yield _unknown_key_problem(fault, key, list(known))
    if len(unknown) > _MAX_UNKNOWN:
        key, rest = unknown[_MAX_UNKNOWN], len(unknown) - _MAX_UNKNOWN
        message = f"`{one_line_text(key)}` and {rest - 1} further keys are not known here"
        yield Problem("unknown-key", (*fault.path, key), message, at_key=True)


def _unknown_key_problem(fault: ValidationError, key: str, known: list[str]) -> Problem:
    path = (*fault.path, key)
    alias = intended_key(key, known)
    meant = [alias] if alias in known else nearest_words(key, known)
    where = f"a key of `{dotted_path(fault.path)}`" if fault.path else "a key of the top level"
    mappings_with_key = _mappings_with_key(fault, alias or key, fault.value[key])
    sure = bool(meant) and not alias and len(near_words(key, known)) == 1
    if not meant and not mappings_with_key:
        meant = _overlapping_keys(key, known)
    fix = None
    if by_percentile := _line_by_percentile(fault, key):
        return Problem("unknown-key", path, f"`{key}` is not {where}", f"write `{by_percentile}`", at_key=True)
    if len(meant) == 1 and meant[0] not in fault.value:
        fix = Fix(f"write {meant[0]}", (Replacement(path, meant[0], key=True),), safe=sure)
    if alias and not meant and mappings_with_key:
        advice = f"write `{alias}` {'in' if mappings_with_key[0][0] == '`' else 'at'} {mappings_with_key[0]}"
    elif meant:
        advice = f"did you mean {alternatives_text(meant)}?"
    elif mappings_with_key:
        advice = f"it belongs to {' or '.join(mappings_with_key)}"
    else:
        advice = f"the keys here are {', '.join(sorted(known))}"
    return Problem("unknown-key", path, f"`{one_line_text(key)}` is not {where}", advice, at_key=True, fix=fix)


_PERCENTILE = re.compile(r"(?P<key>[a-z_]+)_(?P<last>p[0-9]+)|(?P<first>p[0-9]+)_(?P<rest>[a-z_]+)")


def _line_by_percentile(fault: ValidationError, key: str) -> str:
    """The line for a key that names a percentile, such as `ttft_p99` or `p99_ttft`; empty for other keys."""
    match = _PERCENTILE.fullmatch(snake_case(key))
    if match is None or isinstance(fault.value[key], dict | list):
        return ""
    name, percentile = match["key"] or match["rest"], match["last"] or match["first"]
    node = conforms.node_at(fault.schema, (*fault.path, name))
    if conforms.child_node(node, fault.schema, percentile) is None:
        return ""
    return f"{name}: {{{percentile}: {one_line_text(fault.value[key])}}}"


def _overlapping_keys(key: str, known: list[str]) -> list[str]:
    """The keys whose words begin the words of an unknown key, or begin with them: `prefix_hit` of `prefix_hit_rate`."""
    given = f"{snake_case(key)}_"
    return [each for each in known if given.startswith(f"{each}_") or f"{each}_".startswith(given)][:3]


def _mappings_with_key(fault: ValidationError, key: str, value: Any) -> list[str]:
    """The first two mappings of the schema that have a key with such a value, for use in a sentence.

    A scalar of another type means something else: the number in `procurement.prices.accelerator: 30000` is not the
    accelerator of `cluster`. A mapping where a scalar belongs (`nics: {per_node: 8}`) is another form of the same.
    """
    homes = conforms.mappings_with_key(fault.schema, key)
    found = [home for home in homes if _has_type(value, conforms.node_at(fault.schema, (*home, key)), fault.schema)]
    found = found or (homes if isinstance(value, dict) else [])
    return [f"`{dotted_path(home)}`" if home else "the top level" for home in found[:2]]


def _has_type(value: Any, node: Any, root: Any) -> bool:
    """Whether a value has a type that a node of the schema allows."""
    types = [branch["type"] for branch in conforms.node_branches(node, root) if "type" in branch]
    return not types or any(conforms.conforms(value, {"type": allowed}, root) for allowed in types)


def _missing_key_problems(fault: ValidationError) -> Iterator[Problem]:
    for key in fault.limit:
        if key not in fault.value:
            path = (*fault.path, key)
            node = conforms.node_at(fault.schema, path)
            where = f" in `{dotted_path(fault.path)}`" if fault.path else ""
            line = example_line(path, node) or f"{key}: …"
            about = f" ({node['description'].rstrip('.')})" if "description" in node else ""
            rule = node.get("x-rule", "missing-key")
            yield Problem(rule, path, f"`{key}` is missing{where}", f"write `{line}`{about}")


def _bound_problems(fault: ValidationError) -> Iterator[Problem]:
    low, exclusive = "inimum" in fault.error.validator, "exclusive" in fault.error.validator
    limit = f"{fault.limit:,}" if isinstance(fault.limit, int) else f"{fault.limit:g}"
    message = f"{fault.written} is {'less' if low else 'more'} than {fault.name} can be"
    side = "more" if low else "less"
    advice = f"write a number {side} than {limit}" if exclusive else f"write {limit} or {side}"
    yield fault.problem("wrong-type", message, advice)


def _length_problems(fault: ValidationError) -> Iterator[Problem]:
    what = "item" if isinstance(fault.value, list) else "character"
    what += "s" if len(fault.value) != 1 else ""
    if not fault.value:
        yield fault.problem("wrong-type", f"{fault.name} is empty", fault.advice)
        return
    word = "at least" if "min" in fault.error.validator else "at most"
    message = f"{fault.name} has {len(fault.value):,} {what}, and takes {word} {fault.limit:,}"
    yield fault.problem("wrong-type", message, fault.advice)


def _duplicate_item_problems(fault: ValidationError) -> Iterator[Problem]:
    for number, item in enumerate(fault.value):
        if item in fault.value[:number]:
            message = f"{fault.name} holds `{one_line_text(item)}` twice"
            yield Problem("wrong-type", (*fault.path, number), message, "keep each item once")
            return


def _pattern_problems(fault: ValidationError) -> Iterator[Problem]:
    code = fault.field.get("x-synonyms", {}).get(str(fault.value).lower())
    if code is not None:
        fix = Fix(f"write {code}", (Replacement(fault.path, code),))
        message = f"{fault.written} is not what {fault.name} takes: {_format_description(fault.field)}"
        yield fault.problem("wrong-type", message, f"write `{fault.path[-1]}: {code}`", fix)
        return
    what = f": {_format_description(fault.field)}" if _format_description(fault.field) else ""
    yield fault.problem("wrong-type", f"{fault.written} is not what {fault.name} takes{what}", fault.advice)


def _format_description(field: Schema) -> str:
    """The schema's description of the format of a value."""
    return str(field.get("x-form", ""))


def _alternative_problems(fault: ValidationError) -> Iterator[Problem]:
    context = fault.error.context
    if context and all(inner.validator == "required" for inner in context):
        either = [
            alternatives_text([key for key in inner.validator_value if key not in fault.value]) for inner in context
        ]
        advice = f"write {', or '.join(dict.fromkeys(either))}"
        yield fault.problem("missing-key", f"{fault.name} lacks a key", advice)
    else:
        yield from _type_problems(fault)


def _excluded_key_problems(fault: ValidationError) -> Iterator[Problem]:
    keys = fault.limit.get("required") if isinstance(fault.limit, dict) else None
    message = (
        f"{' and '.join(f'`{key}`' for key in keys)} exclude each other" if keys else f"{fault.name} cannot be this"
    )
    yield fault.problem("wrong-type", message, "keep one of them" if keys else "")


def _other_problems(fault: ValidationError) -> Iterator[Problem]:
    yield fault.problem("wrong-type", f"{fault.written} is not what {fault.name} takes", fault.advice)


_MESSAGES: dict[str, Callable[[ValidationError], Iterator[Problem]]] = {
    "type": _type_problems,
    "enum": _choice_problems,
    "const": _const_problems,
    "additionalProperties": _unknown_key_problems,
    "required": _missing_key_problems,
    "uniqueItems": _duplicate_item_problems,
    "pattern": _pattern_problems,
    "anyOf": _alternative_problems,
    "oneOf": _alternative_problems,
    "not": _excluded_key_problems,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _bound_problems),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), _length_problems),
}
