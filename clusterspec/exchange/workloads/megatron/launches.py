"""Megatron-LM and NeMo: launch script arguments, configurations (YAML), and recipes, parsed but not executed."""

from __future__ import annotations

import re
from math import prod

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import (
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    excerpt,
)
from clusterspec.exchange.started_programs import shown_programs
from clusterspec.exchange.workloads.jobs.slurm_jobs import set_job_nodes
from clusterspec.exchange.workloads.keys import (
    Keys,
    boolean_value,
    flat_leaves,
    read_arguments,
    set_choice,
    set_counts,
)
from clusterspec.exchange.workloads.megatron import bridge
from clusterspec.exchange.workloads.megatron.forks import list_option_of_fork, option_of_fork, take_earlier_names
from clusterspec.exchange.workloads.megatron.layers import (
    OWN_GATES,
    list_latent_rank,
    set_default_width,
    set_expert_layers,
    set_experts,
    set_predicted_layers,
    set_wide_layers,
    set_window,
)
from clusterspec.exchange.workloads.megatron.pipeline import set_pipeline
from clusterspec.exchange.workloads.megatron.programs import (
    drop_data_of_conversion,
    is_of_others,
    keep_enabled_backend,
    launched_framework,
    list_model_provider,
    list_program,
    set_framework,
    take_environment,
)
from clusterspec.exchange.workloads.megatron.recipes import SHORT_NAMES, read_recipe
from clusterspec.exchange.workloads.megatron.recomputation import set_recomputation, take_no_recomputation
from clusterspec.exchange.workloads.megatron.training import (
    set_context_method,
    set_kernels,
    set_sequence_length,
    set_sharding,
    set_training,
)
from clusterspec.exchange.workloads.model_files.changed_models import set_named_model
from clusterspec.exchange.workloads.model_files.models import set_parameters
from clusterspec.exchange.workloads.overrides import file_keys, follow_references, overrides_of_launch
from clusterspec.exchange.workloads.reinforcement.slime import set_own_rollouts, set_rollouts
from clusterspec.exchange.workloads.unused_keys import list_unused

# Megatron-LM and NeMo: launch script arguments, NeMo configurations (YAML), Megatron-Bridge recipes (Python).
# Names and defaults: Megatron-LM, megatron/training/arguments.py; NeMo, examples/nlp/language_modeling/conf;
# Megatron-Bridge, src/megatron/bridge/recipes

MEGATRON = "megatron"
_LAYOUT = {
    "layout.tp": ("tensor_model_parallel_size",),
    "layout.pp": ("pipeline_model_parallel_size",),
    "layout.cp": ("context_parallel_size", "ds_sequence_parallel_size"),
    "layout.ep": ("expert_model_parallel_size", "moe_expert_parallel_size"),
    "layout.expert_tp": ("expert_tensor_parallel_size",),
    "layout.micro_batch": ("micro_batch_size",),
    "workload.global_batch": ("global_batch_size",),
}
_MODEL = {
    "workload.model.layers": ("num_layers",),
    "workload.model.hidden": ("hidden_size",),
    "workload.model.heads": ("num_attention_heads",),
    "workload.model.kv_heads": (
        *("num_query_groups", "num_key_value_heads", "num_kv_heads"),
        "num_attention_heads_kv",  # epfLLM/Megatron-LLM 806a8330, megatron/arguments.py, line 425
    ),
    "workload.model.head_dim": ("kv_channels",),
    "workload.model.ffn_hidden": ("ffn_hidden_size",),
    "workload.model.vocab": ("padded_vocab_size", "vocab_size"),
    "workload.model.max_sequence_length": ("max_position_embeddings",),
    "workload.model.experts_per_token": ("moe_router_topk", "moe.top_k"),
    "workload.model.expert_ffn_hidden": ("moe_ffn_hidden_size",),
    "workload.model.expert_latent": ("moe_latent_size",),
}
_OF_EXPERTS = {path: _MODEL[path] for path in _MODEL if "expert" in path}
_LATENT = {
    "workload.model.head_dim": ("qk_head_dim",),
    "workload.model.value_head_dim": ("v_head_dim",),
    "workload.model.latent_attention.q": ("q_lora_rank",),
    "workload.model.latent_attention.kv": ("kv_lora_rank",),
    "workload.model.latent_attention.rope": ("qk_pos_emb_head_dim",),
}
"""Keys of latent attention, which other attention ignores."""
_DEVICES = (
    *("trainer.devices", "nproc_per_node", "gpus_per_node", "num_gpus_per_node", "actor_num_gpus_per_node"),
    "devices",
)
_LAUNCHED = re.compile(r"--[a-z_-]{0,40}?model[-_]parallel[-_]size")
_SIZES = re.compile(r"--num-layers\b")
"""An option for the size of a model; a file may have such options without options of a layout."""
_OPTION_KEY = re.compile(r"^[ \t]*--(?:tensor|pipeline)-model-parallel-size[ \t]*:", re.MULTILINE)
_ROLES = ("actor_rollout_ref.", "critic.", "rollout.", "actor.", "algorithm.", "trainer.policy.")
_INNER_ROLES = (f".{_ROLES[0]}", ".rollout.", "models.policy_trainer.")  # the last is of ChatLearn
_OF_NEMO = re.compile(r"^(?:from nemo[ .]|import nemo(?:_run)?\b)", re.MULTILINE)
"""An import of NeMo, whose recipes are Python functions."""
_DEEPSPEED = re.compile(r"(?<![\w-])--deepspeed\b|^[ \t]*deepspeed\s|\bdeepspeed\s[^\n]{0,200}\.py\b", re.MULTILINE)
"""A launch by DeepSpeed, whose configuration states the sharding."""
_IS_CODE = re.compile(r"^[ \t]*(from|import|def|cfg\.)\b", re.MULTILINE)
_NOTHING_ASIDE = re.compile(r"(?!)")
_MARK = re.compile(r"(tensor|pipeline)[-_]model[-_]parallel[-_]size")


def matches_megatron(file: InputFile) -> bool:
    marks = (_MARK, bridge.MARK, SHORT_NAMES)
    return (
        any(mark.search(file.text) for mark in marks) or _holds_sizes(file.text) or bridge.is_configuration(file.text)
    )


def _holds_sizes(text: str) -> bool:
    """Whether a script gives the sizes of a model as options of Megatron."""
    return all(name in text for name in ("--num-layers", "--hidden-size", "--num-attention-heads"))


def read_megatron(file: InputFile) -> ImportResult:
    """The workload and layout of a launch. Raises `FormatError` if it has no size keys of Megatron."""
    builder = ImportBuilder(MEGATRON, file.name)
    keys, framework = _script_keys(file)
    if roles := [key for key in keys.values if key.startswith(_ROLES) or any(of in key for of in _INNER_ROLES)]:
        why = "sets the roles of reinforcement learning, each with a layout of its own: no single layout"
        raise FormatError(f"{why} ({excerpt(roles[0])})", keys.values[roles[0]][1])
    launched = keys.command.text if keys.command.words else file.text
    if framework == "megatron-core" and (keys.find("deepspeed") or _DEEPSPEED.search(launched)):
        framework = "megatron-deepspeed"
    take_earlier_names(keys)
    bridge.take_overrides(keys)
    bridge.take_mixed_precision(keys)
    performance = bridge.is_performance_launch(keys)
    if performance:
        bridge.name_long_options(keys)
        bridge.set_performance_keys(keys, builder)
    elif not (keys.find(*bridge.DEGREES, "num_layers") or bridge.leaves_degrees_open(keys, file.text)):
        why = "has no launch with size keys of Megatron (options in a variable alone start nothing)"
        raise NothingStarted(f"{why}: {programs}" if (programs := shown_programs(file.text)) else why)
    set_framework(keys, framework, builder)
    list_program(keys, builder)
    bridge.list_group(keys, builder)
    bridge.list_base(keys, builder)
    set_counts(keys, _LAYOUT, builder)
    _set_nodes(keys, builder)
    set_sequence_length(keys, builder)
    _set_network(keys, builder, framework, performance=performance)
    set_pipeline(keys, builder)
    _set_options(keys, builder)
    set_kernels(keys, builder)
    set_training(keys, builder)
    set_rollouts(keys, builder)
    set_own_rollouts(keys, builder)
    set_sharding(keys, builder, framework)
    set_job_nodes(file, keys, builder)
    devices = (*_DEVICES, "num_gpus") if framework == "megatron-deepspeed" else _DEVICES
    builder.count("ranks_per_node", keys.integer(*devices), keys.line(*devices))
    drop_data_of_conversion(builder)
    list_unused(keys, builder)
    set_parameters(builder, keys.line("num_layers"))
    return builder.reading()


def set_printed_arguments(keys: Keys, builder: ImportBuilder, framework: str) -> None:
    """Set the model and the layout that arguments state which Megatron-LM or Megatron-DeepSpeed prints at startup."""
    set_counts(keys, _LAYOUT, builder)
    set_sequence_length(keys, builder)
    _set_network(keys, builder, framework, performance=False)
    set_pipeline(keys, builder)
    _set_options(keys, builder)
    set_training(keys, builder)
    set_sharding(keys, builder, framework)


def _set_network(keys: Keys, builder: ImportBuilder, framework: str, *, performance: bool) -> None:
    """Set the model by its sizes or its name, and list parts that are not a single decoder. A ``performance`` launch
    has already set the model.
    """
    if pattern := keys.find("hybrid_override_pattern", "hybrid_layer_pattern", "hybrid_attention_ratio"):
        why = "its layers mix attention with other mixers in a pattern: import its config.json"
        builder.unknown(f"{pattern}: {excerpt(keys.get(pattern))}", why, keys.line(pattern))
    elif (mixer := keys.find("experimental_attention_variant", "linear_attention_type")) and not _is_sparse(keys):
        why = "layers with another mixer than the attention that their sizes describe: import its config.json"
        builder.unknown(f"{mixer}: {excerpt(keys.get(mixer))}", why, keys.line(mixer))
    elif encoder := keys.find("decoder_seq_length", "decoder_num_layers", "crossattn_emb_size"):
        builder.unknown(
            encoder,
            "a second length or stack: a decoder (T5), images before text, or a prompt of a video: no key describes it",
            keys.line(encoder),
        )
    elif len(owners := _owners(keys, "num_layers")) > 1:
        why = "sizes of several models, such as an encoder of images and one of text: no single model"
        builder.unknown(", ".join(owners[:4]), why, keys.line("num_layers"))
        keys.used |= {key for key in keys.values if key.rpartition(".")[0] in owners}
    elif keys.find("num_layers") and keys.find("hidden_size"):
        _set_model(keys, builder, framework)
        if images := keys.find("img_h"):
            why = "trains on images: an encoder of them, which these sizes do not have, has time and memory too"
            builder.unknown(images, why, keys.line(images))
        list_model_provider(keys, builder)
        for switch, of in (("use_checkpoint_args", "the checkpoint"), ("use_bridge", "the model that it converts")):
            if keys.is_on(switch):
                builder.unknown(switch, f"the sizes in {of} replace those of the launch", keys.line(switch))
    elif performance:
        pass
    elif keys.command.words and isinstance(named := keys.values.get("model", (None, 0))[0], str):
        keys.used.add("model")
        set_named_model(named, keys, builder, keys.line("model"))
    elif keys.find("model_recipe_name"):
        bridge.set_recipe_model(keys, builder)
    elif name := keys.get(*_NAMES):
        set_named_model(str(name).removesuffix(".yaml"), keys, builder, keys.line(*_NAMES))


_NAMES = (
    *("hf_path", "hf_model_id", "pretrained_model_name_or_path", "model_name"),
    *("modules.pre_trainer.model", "modules.post_trainer.model"),  # of Primus, the file of the model
)


def _is_sparse(keys: Keys) -> bool:
    """Whether the variant of attention is still attention: DeepSeek Sparse Attention, which leaves out tokens.

    The key is not marked as used.
    """
    return str(keys.values.get("experimental_attention_variant", ("", 0))[0]) == "dsa"


_NODES = {"layout.nodes": ("num_nodes", "nnodes", "actor_num_nodes")}


def _set_nodes(keys: Keys, builder: ImportBuilder) -> None:
    """Set the nodes, unless they have fewer ranks than the degrees need: then they belong to another launch."""
    names = _NODES["layout.nodes"]
    ranks = (keys.integer(*names) or 0) * (keys.integer(*_DEVICES) or 0)
    needed = prod(keys.integer(f"{axis}_parallel_size") or 1 for axis in ("tensor_model", "pipeline_model", "context"))
    if 0 < ranks < needed:
        why = f"its {ranks} ranks are fewer than the {needed} of the degrees"
        builder.unknown(f"nodes: {keys.integer(*names)}", why, keys.line(*names))
    else:
        set_counts(keys, _NODES, builder)


def _script_keys(file: InputFile) -> tuple[Keys, str]:
    if _OPTION_KEY.search(file.text):  # a YAML mapping of options, as in tests/functional_tests of Megatron-LM
        keys, yaml = Keys(), read_yaml(file)
        for name, value, line in flat_leaves(yaml.mapping, yaml.line):
            keys.put(name.rpartition(".--")[2].removeprefix("--") if "--" in name else name, value, line)
        return keys, "megatron-core"
    if bridge.FACTORY.search(file.text):
        keys = overrides_of_launch(file, bridge.FACTORY, bridge.OF_RUN.fullmatch)
        bridge.take_factory(keys)
        return keys, "nemo"
    launches = () if bridge.BUILT.search(file.text) else (_LAUNCHED, bridge.LAUNCH, _SIZES)
    named = [each for each in launches if each.search(file.text) and (each is not _SIZES or _holds_sizes(file.text))]
    for launch in named:
        keys = read_arguments(file, launch)
        if keys.command.words or launch is named[-1]:  # a remark alone may name the options of a layout
            take_environment(keys, file.text)
            return keys, launched_framework(keys)
    script = re.match(r"#!.{0,60}sh\b", file.text)
    if not script and _IS_CODE.search(file.text) and "(" in file.text:
        return read_recipe(file), "nemo" if _OF_NEMO.search(file.text) else "megatron-core"
    if not script and re.search(r"^[ \t]*\"?[\w.]++\"?\s*:", file.text, re.MULTILINE):
        keys = file_keys(file, with_null=True)
        follow_references(keys)
        keep_enabled_backend(keys)
        take_no_recomputation(keys)
        keys.values = {name: held for name, held in keys.values.items() if held[0] is not None}
        return keys, "nemo" if keys.find("trainer.devices", "trainer.num_nodes") else "megatron-core"
    keys = overrides_of_launch(file, _MARK, _NOTHING_ASIDE.fullmatch)
    take_environment(keys, file.text)
    return keys, "nemo" if keys.find("trainer.devices", "trainer.num_nodes") else "megatron-core"


def _owners(keys: Keys, name: str) -> list[str]:
    """The mappings that state a key of a name, such as ``model.vision`` and ``model.text``."""
    return [key.rpartition(".")[0] for key in keys.values if key.rpartition(".")[2] == name]


_GATES = (*OWN_GATES, "t5_swiglu")
"""Options of a gated network (``--quick-geglu``: NVIDIA/Megatron-LM, megatron/training/argument_utils.py;
``--t5-swiglu``: OpenGPTX/Megatron-LM f8d245d0, megatron/model/transformer.py, line 123).
"""
_ACTIVATIONS = ("activation", "activation_func", "glu_activation")
"""Options that name the activation; all of ``--glu-activation`` are gated (bigscience-workshop/Megatron-DeepSpeed
00ae4676, megatron/model/glu_activations.py).
"""
_UNTIED, _TIED = "untie_embeddings_and_output_weights", "share_embeddings_and_output_weights"


def _set_model(keys: Keys, builder: ImportBuilder, framework: str) -> None:
    """Set the sizes of the model. Options that a launch omits have the defaults of Megatron-LM; keys that a recipe of
    NeMo or Megatron-Bridge omits have the values of the model that it changes.
    """
    latent = keys.is_on("multi_latent_attention") or (keys.find("kv_lora_rank") and keys.find("qk_pos_emb_head_dim"))
    plain = {path: names for path, names in _MODEL.items() if not latent or path != "workload.model.head_dim"}
    dense = not keys.find("num_experts", "num_moe_experts", "moe.num_experts") and not keys.is_undecided("num_experts")
    if dense and framework != "nemo":  # what a configuration states of experts holds for none
        plain = {path: names for path, names in plain.items() if path not in _OF_EXPERTS}
        keys.asked |= {name for names in _OF_EXPERTS.values() if (name := keys.find(*names))}
        keys.used |= keys.asked
    set_counts(keys, plain | _LATENT if latent else plain, builder)
    list_latent_rank(keys, builder)
    set_experts(keys, builder)
    line = keys.line("num_layers")
    single = str(keys.get("attention_head_type")) == "multiquery"  # of bigcode-project/Megatron-LM
    grouped = keys.is_on("group_query_attention")
    if single or (grouped and keys.find("num_query_groups") is None):
        builder.set("workload.model.kv_heads", 1, keys.line("group_query_attention", "attention_head_type"))
    elif not keys.find(*_MODEL["workload.model.kv_heads"]) and (other := option_of_fork(keys, "kv_heads")):
        list_option_of_fork(keys, "kv_heads", other, builder)
    activation = str(keys.get(*_ACTIVATIONS) or "").lower()
    gated = keys.is_on(*_GATES, "bias_swiglu_fusion") or "glu" in activation
    recipe = keys.find("model.num_layers", "model.hidden_size") is not None
    decided = framework != "nemo" and not (keys.has_elided_options or recipe or is_of_others(keys))
    if not (gated or activation) and (other := option_of_fork(keys, "gated_ffn")):
        list_option_of_fork(keys, "gated_ffn", other, builder)
    elif gated or activation or _states_gate(keys) or (decided and not keys.is_open(*_GATES)):
        builder.set("workload.model.gated_ffn", gated, keys.line(*_GATES, *_ACTIVATIONS) or line)
    tied, untied = boolean_value(keys.get(_TIED)), boolean_value(keys.get(_UNTIED))
    at = keys.line(_UNTIED, _TIED) or line
    stated = tied is not None or untied is not None
    if not stated and (other := option_of_fork(keys, "tied_embeddings", (_UNTIED, _TIED))):
        list_option_of_fork(keys, "tied_embeddings", other, builder)
    elif stated or (decided and not keys.is_open(_UNTIED, _TIED)):
        builder.set("workload.model.tied_embeddings", tied if tied is not None else not untied, at)
    if not decided and not (stated and (gated or activation) and keys.find("ffn_hidden_size")):
        why = "not stated in full: what is left out has the defaults of the recipe or of the omitted part"
        builder.unknown("workload.model", why, line)
    elif keys.find("ffn_hidden_size") is None:
        set_default_width(keys, builder, gated)
    shared, expert = keys.integer("moe_shared_expert_intermediate_size"), keys.integer("moe_ffn_hidden_size")
    if shared and expert and shared % expert == 0:
        builder.set("workload.model.shared_experts", shared // expert, keys.line("moe_shared_expert_intermediate_size"))
    set_predicted_layers(keys, builder)
    set_wide_layers(keys, builder)
    if match := re.match(r"\(?\s*([0-9]{1,9})\s*,", str(keys.get("window_size") or "")):
        set_window(keys, int(match[1]) + 1, builder)
    if not dense:
        set_expert_layers(keys, builder)


def _states_gate(keys: Keys) -> bool:
    """Whether a configuration states the gate itself, by a field that is true or false."""
    return boolean_value(keys.get("gated_linear_unit")) is not None


def _set_options(keys: Keys, builder: ImportBuilder) -> None:
    """Set sequence parallelism, overlap, recomputation, context-parallel method and dispatcher."""
    for path, names in (
        ("layout.sequence_parallel", ("sequence_parallel",)),
        ("layout.overlap.dp", ("overlap_grad_reduce",)),
        ("layout.overlap.ep", ("overlap_moe_expert_parallel_comm",)),
        ("layout.overlap.tp", ("tp_comm_overlap", "ub_tp_comm_overlap")),
    ):
        found = boolean_value(keys.get(*names))
        if found is not None:
            value = ("full" if found else "none") if path == "layout.overlap.tp" else found
            builder.set(path, value, keys.line(*names))
    set_recomputation(keys, builder)
    if keys.is_on("optimizer_cpu_offload"):
        share = str(keys.get("optimizer_offload_fraction") or "1.0")
        if re.fullmatch(r"[01](\.[0-9]{1,6})?|\.[0-9]{1,6}", share):
            builder.set("layout.offload.optimizer", float(share), keys.line("optimizer_cpu_offload"))
    elif keys.is_on("cpu_optimizer"):  # Megatron-DeepSpeed: DeepSpeedCPUAdam or Adam of PyTorch, states in host memory
        builder.set("layout.offload.optimizer", 1, keys.line("cpu_optimizer"))
    if keys.is_on("use_tp_pp_dp_mapping"):
        builder.set("layout.order", ["tp", "cp", "ep", "pp", "dp"], keys.line("use_tp_pp_dp_mapping"))
    set_context_method(keys, builder)
    flexible = str(keys.get("moe_token_dispatcher_type")) == "flex" and keys.find("moe_flex_dispatcher_backend")
    set_choice(
        keys,
        "layout.dispatcher",
        ("moe_flex_dispatcher_backend",) if flexible else ("moe_token_dispatcher_type",),
        {"alltoall": "all-to-all", "flex": "deepep", "deepep": "deepep", "hybridep": "hybrid"},
        builder,
    )
