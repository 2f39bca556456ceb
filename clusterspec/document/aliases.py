"""Names of spec keys in other programs: frameworks, schedulers, inventories.

Megatron-LM, DeepSpeed, torchtitan, Hugging Face and vLLM name the same quantities differently. If an unknown key is
one of their names, the message suggests the key of the spec.
"""

from __future__ import annotations

from clusterspec.document.nearest import plain

_KEYS = {
    "tp": "tensor_parallel tensor_parallelism tensor_parallel_size tensor_parallel_degree tensor_model_parallel_size "
    "tp_size tp_degree ici_tensor_parallelism mp_size model_parallel_size",
    "pp": "pipeline_parallel pipeline_parallelism pipeline_parallel_size pipeline_parallel_degree "
    "pipeline_model_parallel_size pp_size pp_degree pipeline_stages num_stages stages",
    "dp": "data_parallel data_parallelism data_parallel_size data_parallel_degree dp_size dp_degree replicas "
    "data_parallel_replicate_degree",
    "cp": "context_parallel context_parallelism context_parallel_size context_parallel_degree cp_size cp_degree",
    "ep": "expert_parallel expert_parallelism expert_parallel_size expert_parallel_degree "
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
    "framework": "engine training_framework",
    "sequence_length": "seq_len seq_length seqlen sequence_len max_seq_len max_sequence_length context_length "
    "context_len context block_size max_position_embeddings seq",
    "global_batch": "batch_size batch global_batch_size gbs train_batch_size global_bs batchsize",
    "precision": "dtype data_type torch_dtype compute_dtype datatype mixed_precision",
    "parameter_precision": "param_dtype parameter_dtype weight_dtype weights_precision",
    "gradient_precision": "grad_dtype gradient_dtype reduce_dtype grad_reduce_dtype",
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
    "scale_up": "nvlink intra_node scaleup",
    "scale_out": "network fabric inter_node scaleout interconnection backend",
    "nics_per_node": "num_nics nics nic_count hcas_per_node nic_per_node adapters_per_node",
    "nic_bandwidth": "nic_speed nic_rate link_speed port_speed nic_bw line_rate network_bandwidth",
    "oversubscription": "oversubscription_ratio blocking_factor blocking taper",
    "switch_ports": "radix ports switch_radix ports_per_switch",
    "bandwidth": "speed throughput",
    "currency": "money",
    "electricity": "electricity_price power_price kwh_price",
}
_WORDS = {plain(alias): key for key, aliases in _KEYS.items() for alias in aliases.split()}


def meant_by(word: str) -> str:
    """The spec key that corresponds to a name of another program; empty if there is none.

    >>> meant_by("tensor-model-parallel-size"), meant_by("gpusPerNode"), meant_by("colour")
    ('tp', 'accelerators_per_node', '')
    """
    return _WORDS.get(plain(word), "")
