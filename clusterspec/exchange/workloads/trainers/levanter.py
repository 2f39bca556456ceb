"""Training configurations of Levanter (YAML), which JAX runs.

Names and defaults: stanford-crfm/levanter as of 2025-08-15 (WhenWen/levanter ec65438b), src/levanter/trainer.py:
``train_batch_size`` counts the sequences of a step, ``per_device_parallelism`` those of one pass of a replica (-1: all
of them at once), ``model_axis_size`` the devices that share a layer where ``tensor_parallel_axes`` names axes;
parameters are sharded over the devices of a replica group, unless ``fsdp_axis`` is null. src/levanter/models: layers
are computed again (``gradient_checkpointing: true``) where the model states nothing; GPT-2 has networks of
``mlp_scale`` (4) times its width, and one table for embeddings and output. Earlier releases (dlwh/levanter-midi,
src/levanter/config.py and examples/gpt2_example.py) have ``learning_rate`` among the keys of the trainer, the same
defaults, and GPT-2 as the only model.
"""

from __future__ import annotations

import re

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.keys import Keys, boolean_value, flat_leaves, set_counts
from clusterspec.exchange.workloads.model_files.models import set_model, set_parameters
from clusterspec.exchange.workloads.run_tokens import set_tokens_of_steps
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter
from clusterspec.exchange.workloads.unused_keys import list_unused

LEVANTER = "levanter"
_MARKS = (
    re.compile(r"^trainer[ \t]*:", re.MULTILINE),
    re.compile(r"^[ \t]+(?:train_batch_size|num_train_steps|learning_rate)[ \t]*:", re.MULTILINE),
    re.compile(
        r"^[ \t]+(?:mp[ \t]*:[ \t]*[\"']?(?:p|params|c|compute|f32|bf)|tensor_parallel_axes|fsdp_axis"
        r"|per_device_parallelism)\b",
        re.MULTILINE,
    ),
)
_SIZES = {
    "workload.model.layers": ("num_layers",),
    "workload.model.hidden": ("hidden_dim",),
    "workload.model.heads": ("num_heads",),
    "workload.model.kv_heads": ("num_kv_heads",),
    "workload.model.head_dim": ("head_dim",),
    "workload.model.ffn_hidden": ("intermediate_dim",),
    "workload.model.vocab": ("vocab_size",),
}
_EXPERTS = {
    "workload.model.experts": ("n_routed_experts",),
    "workload.model.experts_per_token": ("num_experts_per_tok",),
    "workload.model.expert_ffn_hidden": ("intermediate_dim",),
    "workload.model.shared_experts": ("n_shared_experts",),
}
_GATED = frozenset({"llama", "mistral", "qwen", "qwen3", "olmo2", "gemma"})
_GPT = "gpt2"
_SPARSE = "mixtral"
_SCALE = 4
"""``mlp_scale`` of GPT-2 where the model states none."""
_TYPES = {
    **dict.fromkeys(("f32", "float32", "full"), "fp32"),
    **dict.fromkeys(("bf16", "bfloat16"), "bf16"),
    **dict.fromkeys(("f16", "float16", "half"), "fp16"),
}
_COMPUTE = re.compile(r"(?:^|,)[ ]{0,2}(?:c|compute)=(\w{1,10})")
_OPTIMIZERS = {"adam": "adamw", "muon": "muon", "lion": "lion", "adafactor": "adafactor"}
"""``adam`` decays weights apart from the gradient (src/levanter/optim/config.py)."""
_REPLICAS = ("trainer.replica_ici_axis_size", "trainer.replica_dcn_axis_size")
_EARLIER = "trainer.learning_rate"
"""A key of earlier releases, whose model is GPT-2."""
_OWN_AXES = ("trainer.axis_resources", "trainer.parameter_axis_resources")


def matches_levanter(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in _MARKS)


def read_levanter(file: InputFile) -> ImportResult:
    """The model, the batch and the layout of a run. Raises `FormatError` if it trains nothing."""
    builder, keys, yaml = ImportBuilder(LEVANTER, file.name), Keys(), read_yaml(file)
    for name, value, line in flat_leaves(yaml.mapping, yaml.line):
        if value is not None or name == "trainer.fsdp_axis":
            keys.put(name, value, line)
    batch = "trainer.train_batch_size"
    if not any(name.startswith(("optimizer.", "trainer.num_train_steps", _EARLIER)) for name in keys.values):
        raise FormatError("has a trainer of Levanter, but neither an optimizer nor steps of training")
    line = keys.line(batch, "trainer.num_train_steps", "model.type", _EARLIER)
    builder.set("workload.kind", "train", line)
    if batch not in keys.values:
        builder.unknown("workload.global_batch", "not stated: the default of the release", line)
    elif isinstance(keys.values[batch][0], list):
        keys.used.add(batch)
        builder.unknown("train_batch_size", "changes with the steps: state workload.global_batch", line)
    else:
        set_counts(keys, {"workload.global_batch": (batch,)}, builder)
    set_counts(keys, {"workload.sequence_length": ("train_seq_len", "model.seq_len", "model.max_seq_len")}, builder)
    set_counts(keys, {"layout.micro_batch": ("trainer.per_device_parallelism",)}, builder)
    set_tokens_of_steps(keys.integer("trainer.num_train_steps"), builder, keys.line("trainer.num_train_steps"))
    _set_model(keys, builder)
    _set_layout(keys, builder)
    _set_options(keys, builder)
    list_unused(keys, builder)
    return builder.reading()


def _set_model(keys: Keys, builder: ImportBuilder) -> None:
    """Set the sizes of a decoder by its type, or the checkpoint whose configuration replaces them."""
    started, default = keys.get("initialize_from_hf"), _GPT if _EARLIER in keys.values else ""
    kind = str(keys.get("model.type") or default)
    own = Keys({name: held for name, held in keys.values.items() if name.startswith("model.")})
    if keys.is_on("use_hf_model_config"):
        keys.used |= own.values.keys()
        if isinstance(started, str):
            set_model(started, builder, keys.line("initialize_from_hf"))
        else:
            why = "the run starts from a checkpoint, whose model it does not name: state it"
            builder.unknown("workload.model", why, keys.line("use_hf_model_config"))
        return
    line = keys.line("model.type", "model.num_layers")
    if not own.values and isinstance(named := keys.get("model_name_or_path"), str):  # of examples/alpaca/alpaca.py
        set_model(named, builder, keys.line("model_name_or_path"))
        return
    if kind not in {*_GATED, _GPT, _SPARSE}:
        keys.used |= own.values.keys()
        builder.unknown(f"model {excerpt(kind)}", "not a decoder whose network is known: state workload.model", line)
        return
    if own.find("num_layers", "hidden_dim") is None:
        builder.unknown(f"model {kind}", "its sizes are the defaults of its type in the release: state them", line)
        return
    set_counts(own, {**_SIZES, **_EXPERTS} if kind == _SPARSE else _SIZES, builder)
    if kind == _SPARSE:
        builder.given[:] = [each for each in builder.given if each.path[-1] != "ffn_hidden"]
    builder.set("workload.model.gated_ffn", kind != _GPT, line)
    if kind == _GPT:
        width, scale = own.integer("hidden_dim"), own.integer("mlp_scale") or _SCALE
        builder.set("workload.model.ffn_hidden", width * scale if width else None, own.line("hidden_dim"))
        builder.set("workload.model.kv_heads", own.integer("num_heads"), own.line("num_heads"))
        builder.set("workload.model.tied_embeddings", True, line)
    elif isinstance(tied := own.get("tie_word_embeddings"), bool):
        builder.set("workload.model.tied_embeddings", tied, own.line("tie_word_embeddings"))
    sizes = () if kind == _GPT else ("num_layers", "hidden_dim", "intermediate_dim", "num_heads", "num_kv_heads")
    if absent := [name for name in sizes if own.find(name) is None]:
        builder.unknown(", ".join(absent), f"not stated: the default of {kind} in the release", line)
    keys.used |= own.used
    set_parameters(builder, own.line("num_layers"))


def _set_layout(keys: Keys, builder: ImportBuilder) -> None:
    """Set tensor parallelism, sharding and recomputation."""
    shared, line = keys.integer("trainer.model_axis_size"), keys.line("trainer.model_axis_size")
    axes = keys.get("trainer.tensor_parallel_axes")
    if shared == 1 or (shared and axes):
        builder.set("layout.tp", shared, line)
    elif shared:
        why = "devices that share layers along axes that the configuration does not name in tensor_parallel_axes"
        builder.unknown(f"model_axis_size: {shared}", why, line)
    if own := next((name for name in keys.values if name.startswith(_OWN_AXES) and keys.values[name][0]), None):
        builder.unknown(own, "places parameters by axes of its own: state layout.sharding", keys.line(own))
    elif "trainer.fsdp_axis" in keys.values and keys.get("trainer.fsdp_axis") is None:
        builder.set("layout.sharding", "none", keys.line("trainer.fsdp_axis"))
    else:
        groups = [keys.integer(name) or 1 for name in _REPLICAS if keys.find(name)]
        copies = next((name for name in _REPLICAS if (keys.integer(name) or 1) > 1), "")
        names = ("trainer.train_batch_size", "trainer.num_train_steps", "trainer.per_device_parallelism", "trainer.mp")
        where = keys.line(copies or "trainer.fsdp_axis", *names)
        builder.set("layout.sharding", "hsdp" if max(groups, default=1) > 1 else "fsdp", where)
    stated = keys.get("model.gradient_checkpointing")
    again = True if stated is None else boolean_value(stated)
    where = keys.line("model.gradient_checkpointing") or keys.line("model.type", _EARLIER)
    if again is None:
        builder.unknown(f"gradient_checkpointing: {excerpt(stated)}", "keeps or offloads some tensors", where)
    elif where:
        builder.set("layout.recompute", "full" if again else "none", where)


def _set_options(keys: Keys, builder: ImportBuilder) -> None:
    """Set precision, optimizer and adapters."""
    policy, line = str(keys.get("trainer.mp") or ""), keys.line("trainer.mp")
    compute = _COMPUTE.search(policy)
    precision = _TYPES.get(compute[1] if compute else policy)
    builder.set("workload.precision", precision, line)
    if policy and precision is None:
        builder.unknown(f"mp: {excerpt(policy)}", "no value of workload.precision corresponds to it", line)
    optimizer = str(keys.get("optimizer.type") or "")
    builder.set("workload.optimizer", _OPTIMIZERS.get(optimizer), keys.line("optimizer.type"))
    if optimizer and optimizer not in _OPTIMIZERS:
        builder.unknown(
            f"optimizer {excerpt(optimizer)}", "no value of workload.optimizer", keys.line("optimizer.type")
        )
    if rank := keys.integer("lora.r"):
        modules = keys.get("lora.target_modules")
        names = [str(each) for each in modules] if isinstance(modules, list) else []
        set_adapter("lora", rank, names, builder, keys.line("lora.r"))
    if "reference_model_path" in keys.values:
        why = "trains with a reference model, whose passes are not part of this workload"
        builder.unknown("reference_model_path", why, keys.line("reference_model_path"))
