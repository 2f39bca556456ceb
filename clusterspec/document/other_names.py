"""Names that frameworks, schedulers, inventories and people use for keys of a spec."""

from __future__ import annotations

from collections.abc import Container, Iterable

from clusterspec.document.name_words import MEASURES, common_word_share, significant_words
from clusterspec.document.schema import snake_case


def _line_advice(line: str) -> str:
    """The advice to write a line; ``line`` begins with the path of its key.

    >>> _line_advice("layout.overlap: {tp: true}")
    'write `overlap: {tp: true}` in `layout`'
    """
    path, _, value = line.partition(": ")
    mapping, _, key = path.rpartition(".")
    return f"write `{key}: {value}` in `{mapping}`"


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
    "expert_tp": "expert_tensor_parallel expert_tensor_parallel_size etp moe_tp moe_tensor_parallel_size",
    "micro_batch": "micro_batch_size microbatch microbatch_size micro_bs mbs train_micro_batch_size_per_gpu "
    "per_device_train_batch_size device_batch_size local_batch_size",
    "virtual_stages": "interleaving interleaved interleaving_factor virtual_pipeline virtual_pipeline_size "
    "virtual_pipeline_model_parallel_size vpp interleave virtual_stages_per_rank num_virtual_stages",
    "sharding": "zero zero_stage fsdp zero_optimization sharding_strategy data_parallel_sharding",
    "recompute": "ac activation_checkpointing activation_checkpoint gradient_checkpointing recompute_granularity "
    "remat activation_recompute recomputation activation_recomputation checkpointing",
    "sequence_parallel": "sp sequence_parallelism",
    "schedule": "pipeline_schedule pp_schedule",
    "dispatcher": "moe_dispatcher moe_token_dispatcher moe_token_dispatcher_type token_dispatcher all2all_backend",
    "gradient_sync": "no_sync sync_each_batch set_requires_gradient_sync requires_gradient_sync defer_fsdp_grad_sync",
    "recompute_layers": "recompute_num_layers activations_checkpoint_num_layers",
    "fused_experts": "use_transformer_engine_op_fuser",
    "captured_graphs": "cuda_graph cuda_graphs enable_cuda_graph",
    "framework": "engine training_framework",
    "sequence_length": "max_length cutoff_len context_window max_context training_sequence_length seq_len "
    "seq_length seqlen sequence_len max_seq_len max_sequence_length context_length context_len context block_size "
    "max_position_embeddings seq",
    "global_batch": "sequences_per_step batch_size batch global_batch_size gbs train_batch_size global_bs batchsize",
    "precision": "amp autocast dtype data_type torch_dtype compute_dtype datatype mixed_precision",
    "parameter_precision": "param_dtype parameter_dtype weight_dtype weights_precision",
    "gradient_precision": "grad_dtype gradient_dtype reduce_dtype grad_reduce_dtype",
    "kind": "phase task type mode job_type",
    "trainable": "finetuning fine_tuning finetune fine_tune peft_config lora_config adapters lora adapter peft",
    "quantization": "quant quantisation quantization_method",
    "attention": "flash_attention attn attn_implementation attention_backend",
    "tokens": "train_tokens num_tokens total_tokens training_tokens",
    "expected_mfu": "mfu target_mfu",
    "optimizer": "optim optimiser",
    "mtu": "jumbo_frames jumbo",
    "distance": "cable_length cable_lengths",
    "cable_type": "cabling",
    "subnet_manager": "sm ufm opensm",
    "budget": "total_power it_load max_power power_limit site_power",
    "stock": "spare_parts parts_stock",
    "mean_time_between_failures": "job_mtbf cluster_mtbf mtbf_job",
    "restart_time": "recovery_time",
    "document_tokens": "packing document_length",
    "rl": "rlhf reinforcement_learning grpo ppo dapo post_training",
    "serving": "inference serve server",
    "offload": "offloading cpu_offload cpu_offloading zero_offload",
    "software": "version release framework_version software_version",
    "load_balancing": "adaptive_routing routing ecmp packet_spraying",
    "flow_control": "lossless congestion_control dcqcn congestion",
    "collective_library": "nccl nccl_version rccl rccl_version",
    "in_network_reduction": "sharp nvls",
    "leaf_switches": "leaf_count num_leaves num_leafs",
    "spine_switches": "spine_count num_spines",
    "core_switches": "core_count num_cores super_spines",
    "host": "cpu cpus processor processors sockets host_cpu",
    "prices": "unit_prices",
    "dataset_tokens": "dataset_size dataset_length corpus_tokens",
    "out_of_band": "bmc bmc_network management management_network oob oob_network",
    "frontend": "front_end frontend_network in_band inband",
    "storage": "parallel_fs nas storage_network filesystem file_system parallel_filesystem shared_storage",
    "accelerator_cap": "power_cap power_limit gpu_power_limit gpu_power_cap",
    "checkpoint_interval": "ckpt_interval save_interval checkpoint_every checkpoint_period",
    "failures": "failure_rate failure_rates afr annual_failure_rate",
    "node_idle": "idle_power node_idle_power",
    "rack_limit": "density rack_density rack_power per_rack rack_budget",
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
    "platform": "sku system_type machine_type instance_type instance server node_type",
    "spare_nodes": "spares hot_spares",
    "host_memory": "ram host_ram cpu_memory system_memory memory_per_node",
    "scale_up": "nvlink intra_node scaleup",
    "scale_out": "compute_fabric backend_fabric cluster_network network fabric inter_node scaleout interconnection "
    "backend",
    "technology": "fabric network_type fabric_type network_technology",
    "nics_per_node": "num_nics nics nic_count hcas_per_node nic_per_node adapters_per_node",
    "nic_bandwidth": "nic_speed nic_rate link_speed port_speed nic_bw line_rate network_bandwidth ib_bandwidth",
    "oversubscription": "oversubscription_ratio blocking_factor blocking taper",
    "switch_ports": "radix ports switch_radix ports_per_switch",
    "bandwidth": "speed throughput",
    "input_tokens": "isl prompt_tokens prompt_length prompt_len max_prompt_length input_length input_len "
    "input_sequence_length",
    "output_tokens": "generated_tokens osl response_tokens response_length max_response_length completion_tokens "
    "max_new_tokens max_completion_length generation_length output_length output_len output_sequence_length "
    "max_tokens",
    "prompts_per_step": "rollout_batch_size num_prompts_per_step",
    "samples_per_prompt": "rollouts_per_prompt num_generations num_generations_per_prompt n_samples_per_prompt",
    "request_rate": "qps rps rate requests_per_second arrival_rate",
    "concurrency": "active_users simultaneous_users max_concurrency users concurrent_requests",
    "prefix_hit": "hit_rate prefix_caching enable_prefix_caching prefix_hit_ratio cache_hit cache_hit_rate "
    "prefix_cache_hit",
    "chunk_tokens": "max_num_batched_tokens chunked_prefill_size chunk_size",
    "max_sequences": "max_batch max_num_seqs max_running_requests max_batch_size",
    "memory_fraction": "gpu_memory_utilization mem_fraction_static kv_cache_free_gpu_mem_fraction",
    "speculative": "num_speculative_tokens draft_tokens gamma draft_model speculation speculative_decoding "
    "speculative_config",
    "disaggregated": "pd_ratio prefill_decode_ratio disaggregation pd_disaggregation",
    "attention_dp": "attention_data_parallel",
    "kv_precision": "kv_cache kv_cache_dtype kv_dtype cache_dtype kv_cache_precision",
    "targets": "latency latencies objectives slo slos sla slas latency_targets",
    "currency": "money",
    "quoted_total": "total_cost grand_total total quote_total total_price",
    "tax": "vat sales_tax tax_rate",
    "term": "lease lease_term years lifetime depreciation",
    "node_hour": "rent hourly_rate hourly_price price_per_hour",
    "electricity": "power_cost electricity_price power_price kwh_price",
    "quote": "line_items bill_of_materials bom quote_lines",
    "payment": "payment_terms payment_schedule",
    "support": "service_contract maintenance_contract support_contract",
    "as_of": "quote_date price_date prices_as_of",
    "rollout": "actor inference_engine rollout_engine sampler",
    "reference": "ref ref_policy reference_policy",
    "reward": "verifier",
    "critic": "value_model",
    "max_staleness": "off_policy_steps max_off_policy_steps asynchrony",
    "weight_sync": "weight_transfer weight_update",
    "cache_tiers": "kv_offload kv_offloading kv_cache_offload lmcache hicache",
    "session": "conversations conversation chat",
    "cold_start": "startup_time engine_start_time",
    "expert_load": "expert_balance expert_imbalance",
    "redundant_experts": "eplb num_redundant_experts",
    "expert_ffn_hidden": "moe_intermediate_size moe_ffn_hidden_size expert_hidden_size",
    "head_dim": "kv_channels head_size",
    "attention_window": "sliding_window",
    "tied_embeddings": "tie_word_embeddings",
    "moe_layers": "num_moe_layers",
    "latent_attention": "mla",
    "ttft": "time_to_first_token",
    "tpot": "time_per_output_token",
    "itl": "inter_token_latency",
    "end_to_end": "e2e e2el e2e_latency",
    "gpudirect_rdma": "gdr",
    "supplies": "psu psus power_supply",
    "repair_time": "mttr",
    "stage_layers": "first_stage_layers last_stage_layers",
    "shard_group": "fsdp_group fsdp_group_size hsdp_shard_size hsdp_group",
}
_LOCAL_KEYS = {
    "clusterspec": "version spec_version schema_version format_version",
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
    "model": "parameters params num_params param_count model_params",
    "concurrency": "batch batch_size",
    "technology": "type kind protocol rdma link_layer link_type standard",
    "interconnect": "type kind technology generation",
    "nic_bandwidth": "bandwidth speed rate",
    "oversubscription": "ratio",
    "tiers": "layers stages num_tiers switch_levels",
    "domain": "size gpus accelerators domain_size nvlink_domain world_size",
    "node": "per_node node_power watts_per_node server system",
    "feeds": "ups redundancy",
    "goodput": "availability uptime",
    "leaf_switch": "leaf switch switches",
    "spine_switch": "spine",
    "transceiver": "optic optics transceivers module modules",
    "leaf_switches": "leaf leafs leaves",
    "spine_switches": "spine spines",
    "core_switches": "core cores",
    "budget": "limit",
    "nodes": "size count",
    "quote": "lines items",
    "part": "item description product article name sku part_number model",
    "quantity": "qty count amount number pieces pcs units",
    "unit_price": "price_per_unit unit_cost price_each each list_price cost_per_unit",
    "price": "total line_total amount cost line_price extended_price total_price",
    "warranty": "guarantee",
    "support": "maintenance",
    "delivery": "ship_date shipping shipment",
    "rollout": "generation generator",
    "arrivals": "traffic burst burstiness",
    "scaling": "autoscaling autoscaler",
    "trace": "trace_file",
    "placement": "colocate colocated",
    "voltage": "volts",
}
"""Names that users write for a key inside its own mapping. Elsewhere they mean something else."""
_LINES = {
    "layout.sharding: zero1": "distributed_optimizer use_distributed_optimizer",
    "layout.sharding: fsdp": "fully_shard full_shard use_fsdp",
    "layout.sharding: hsdp": "hsdp use_hsdp hybrid_shard",
    "layout.fused_kernels: true": "compile torch_compile use_torch_compile",
    "layout.cp_method: all-to-all": "ulysses ulysses_degree ulysses_sequence_parallel_size",
    "layout.cp_method: ring": "ring_attention ring_degree",
    "layout.offload: {optimizer: 1}": "offload_optimizer optimizer_offload optimizer_cpu_offload",
    "layout.offload: {activations: 1}": "offload_activations activation_offload activation_offloading",
    "layout.overlap: {tp: true}": "async_tp tp_comm_overlap tp_overlap enable_async_tensor_parallel",
    "layout.overlap: {dp: true}": "overlap_grad_reduce overlap_param_gather dp_overlap",
    "layout.overlap: {ep: true}": "ep_overlap overlap_moe_expert_parallel_comm two_batch_overlap",
    "layout.framework: vllm": "vllm vllm_version",
    "layout.framework: sglang": "sglang sglang_version",
    "layout.framework: megatron-core": "megatron megatron_version",
    "layout.framework: deepspeed": "deepspeed deepspeed_config",
    "workload.attention: flash": "flash_attention flash_attn use_flash_attn",
    "workload.precision: fp8": "fp8 use_fp8 enable_fp8",
    "workload.precision: bf16": "bf16 bfloat16",
    "workload.trainable: {method: lora, rank: 16}": "lora_rank lora_r lora_alpha",
    "workload.trainable: {method: qlora, rank: 16}": "qlora load_in_4bit",
    "cluster.scale_out.technology: infiniband-ndr": "infiniband ib",
    "cluster.scale_out.technology: roce-v2": "ethernet roce rocev2",
    "cluster.accelerator: {like: h100-sxm-80gb, memory: 80 GB}": "hbm gpu_memory vram hbm_capacity",
    "cluster.power.cooling: liquid": "dlc direct_liquid_cooling liquid_cooled liquid_cooling",
    "layout.stage_layers: [16, 16, 16, 16]": "pipeline_layout layers_per_stage pipeline_split decoder_first_pipeline",
    "procurement.electricity: 0.1": "kwh energy energy_price energy_cost",
    "procurement.prices.node_hour: 98.32": "hour hourly",
    "cluster.accelerator: {like: h100-sxm-80gb, power: 700 W}": "tdp gpu_power",
}
"""Lines that state what users state by these names; the values are examples."""
_TOLD = {
    "state the whole run in tokens (`tokens` in `workload`): steps × global_batch × sequence_length": "steps max_steps "
    "train_steps num_steps training_steps total_steps train_iters iterations epochs num_epochs num_train_epochs",
    "state the tokens of the run (`tokens` in `workload`); `estimate` prints the time they take": "duration deadline "
    "training_days training_time train_days max_days",
    "state the sequences of a step over all replicas (`global_batch` in `workload`): micro_batch × dp × accumulation "
    "steps": "gradient_accumulation gradient_accumulation_steps grad_accum grad_accumulation grad_accum_steps "
    "accumulation_steps accumulate_grad_batches num_microbatches num_micro_batches microbatches",
    "state sequences (`global_batch` in `workload`): the tokens of a step / sequence_length": "batch_size_tokens "
    "tokens_per_batch batch_tokens global_batch_tokens tokens_per_step batch_size_in_tokens",
    "state the ranks of one shard (`shard_group` in `layout`, with `sharding: hsdp`); the replicas follow from "
    "it": "dp_replicate dp_shard replicate shard data_parallel_shard_degree dp_replicate_degree dp_shard_degree",
    "write the degrees (`tp`, `pp`, `cp`, `ep`, `dp`) as keys of `layout`": "parallelism parallel parallelization mesh "
    "device_mesh parallel_config",
    "state the price of each part (`prices` in `procurement`), or what was offered (`quote` and `quoted_total`)": (
        "price cost costs capex"
    ),
    "name the machine (`platform` in `cluster`); `clusterspec catalog list platform` lists machines": "cloud "
    "provider region zone instance_family location availability_zone datacenter",
    "state how many nodes one rack holds (`nodes_per_rack` in `cluster.power`)": "racks num_racks rack_count",
    "state the ratio of downlinks to uplinks (`oversubscription`), and the links ordered (`links`)": "uplinks "
    "downlinks uplinks_per_leaf downlinks_per_leaf",
    "state requests a second (`request_rate` in `workload.serving`)": "requests_per_minute rpm qpm requests_per_hour",
    "a request is as long as its prompt and its answer: `input_tokens` and `output_tokens`": "max_model_len "
    "max_context_length context_size",
    "state the rent of a node (`node_hour` in `procurement.prices`): accelerators of a node × rent of one": "gpu_hour "
    "accelerator_hour price_per_gpu_hour gpu_hourly",
    "state what was ordered: `leaf_switches` and `spine_switches` in `cluster.scale_out`": "switches num_switches "
    "switch_count number_of_switches",
    "state the prediction layers of the model (`multi_token_prediction` in `workload.model`), or what a serving step "
    "drafts (`speculative` in `workload.serving`)": "mtp mtp_layers num_nextn_predict_layers",
    "state the layers with experts (`moe_layers` in `workload.model`); the others are dense": "num_dense_layers "
    "first_k_dense_replace n_dense_layers",
    "state the sizes of latent attention (`latent_attention` in `workload.model`)": "kv_lora_rank q_lora_rank "
    "qk_rope_head_dim qk_nope_head_dim",
    "state the sizes of the state-space layers (`linear_attention` in `workload.model`)": "mamba_layers ssm_state_size "
    "mamba_num_heads mamba_head_dim",
    "state the engines of each kind (`prefill` and `decode` in `workload.serving.disaggregated`)": "prefill_engine "
    "prefill_engines prefill_workers prefill_replicas decode_engine decode_engines decode_workers decode_replicas",
    "no figure depends on it: delete it, or keep it in `description`": "learning_rate lr weight_decay warmup "
    "warmup_steps seed dropout clip_grad lr_scheduler tokenizer driver driver_version cuda cuda_version os kernel "
    "scheduler slurm kubernetes container image owner team contact project tags labels",
}
"""Advice for names whose values a spec states in another form, or not at all."""
_WORDS = [(snake_case(alias), key) for key, aliases in _KEYS.items() for alias in aliases.split()]
_LOCAL_WORDS = [(alias, key) for key, aliases in _LOCAL_KEYS.items() for alias in aliases.split()]
_ADVICE = {
    **{alias: text for text, aliases in _TOLD.items() for alias in aliases.split()},
    **{alias: _line_advice(line) for line, aliases in _LINES.items() for alias in aliases.split()},
}


def intended_key(word: str, keys: Container[str] = ()) -> str:
    """The spec key for a name from another program, preferably one of ``keys``; empty if there is none. Names are
    compared by their significant words: `effective_batch_size` as `batch_size`.

    >>> intended_key("tensor-model-parallel-size"), intended_key("gpusPerNode"), intended_key("colour")
    ('tp', 'accelerators_per_node', '')
    >>> intended_key("fabric"), intended_key("fabric", ["technology"])
    ('scale_out', 'technology')
    >>> intended_key("bandwidth"), intended_key("bandwidth", ["capacity", "read"])
    ('', 'read')
    >>> intended_key("effective_batch_size"), intended_key("expertParallelismDegree")
    ('global_batch', 'ep')
    """
    name = snake_case(word)
    found = [key for alias, key in _WORDS if alias == name]
    local = [key for alias, key in _LOCAL_WORDS if alias == name]
    words = significant_words(name)
    if words and name not in _KEYS and not any(key in keys for key in (*found, *local)):
        found += [key for alias, key in _WORDS if significant_words(alias) == words]
    return next((key for key in (*found, *local) if key in keys), found[0] if found else "")


def similar_keys(word: str, keys: Iterable[str], least: float = 0.5) -> list[str]:
    """The known keys that share the most words with a name, by their own name or by one from another program. Empty if
    they share less than ``least`` of the words of both, or if the names measure different things.

    >>> similar_keys("prefix_hit_rate", ["prefix_hit", "request_rate"]), similar_keys("gpus_per_server", ["nodes"])
    (['prefix_hit'], [])
    >>> similar_keys("prompts", ["input_tokens"]), similar_keys("prompt_token_count", ["input_tokens"])
    ([], ['input_tokens'])
    """
    given = significant_words(snake_case(word))
    names = {key: (key, *_KEYS.get(key, "").split()) for key in keys}
    alike = {
        key: [each for each in of_key if significant_words(each) & MEASURES == given & MEASURES]
        for key, of_key in names.items()
    }
    shares = {
        key: max((common_word_share(given, each) for each in of_key), default=0.0) for key, of_key in alike.items()
    }
    most = max(shares.values(), default=0.0)
    return [key for key, share in shares.items() if share == most >= least]


def advice_for_name(word: str) -> str:
    """The advice for a name whose value a spec states in another form, or not at all; empty for other names.

    >>> advice_for_name("use_distributed_optimizer"), advice_for_name("sharded_optimizer")
    ('write `sharding: zero1` in `layout`', '')
    """
    name = snake_case(word)
    if name in _ADVICE or name in _KEYS:
        return _ADVICE.get(name, "")
    words = significant_words(name)
    return next((text for alias, text in _ADVICE.items() if words and significant_words(alias) == words), "")
