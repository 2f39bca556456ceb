"""Recipes of SageMaker HyperPod: machines and a configuration of verl, or of its own trainer ``llm_finetuning_aws``.

Fields: aws/sagemaker-hyperpod-recipes 26319955, recipes_collection/recipes (``trainer`` of the job, ``training_config``
of the framework that ``run.model_type`` names; the own trainer has names of OpenRLHF); read 2026-11-26.
"""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.import_result import (
    SENTENCE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    combined_result,
    excerpt,
)
from clusterspec.exchange.machines.links import match_instance
from clusterspec.exchange.workloads.keys import Keys, flat_leaves, set_counts, set_switch
from clusterspec.exchange.workloads.model_files.models import set_model
from clusterspec.exchange.workloads.reinforcement.samples import list_cut_length
from clusterspec.exchange.workloads.reinforcement.verl import matches_verl, read_verl
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter, set_fsdp_words
from clusterspec.exchange.workloads.trainers.hyperpod_adapter import (
    is_adapter_configuration,
    read_adapter_configuration,
)
from clusterspec.exchange.workloads.unused_keys import list_unused
from clusterspec.source import value_at

HYPERPOD_RECIPE = "hyperpod-recipe"
_ROOT = re.compile(r"^training_config[ \t]*:[ \t]*(?:#.*)?$", re.MULTILINE)
_RUN = re.compile(r"^run[ \t]*:", re.MULTILINE)
_KIND = re.compile(r"^[ \t]+model_type[ \t]*:[ \t]*[\"']?(?P<kind>[\w.:-]{1,60})", re.MULTILINE)
_OWN = "llm_finetuning_aws"
_ARGUMENTS, _MODEL, _FSDP = "training_args.", "model_config.", "training_args.strategy.fsdp_config."
_COUNTS = {
    "layout.micro_batch": (f"{_ARGUMENTS}micro_train_batch_size",),
    "workload.global_batch": (f"{_ARGUMENTS}train_batch_size",),
    "layout.cp": (f"{_ARGUMENTS}ring_attn_size",),
}


def matches_hyperpod_recipe(file: InputFile) -> bool:
    return all(mark.search(file.text) for mark in (_ROOT, _RUN, _KIND)) or is_adapter_configuration(file.text)


def read_hyperpod_recipe(file: InputFile) -> ImportResult:
    """The nodes of a recipe with the run of its configuration. Raises `FormatError` for models that are not published,
    and for pairs of answers.
    """
    if is_adapter_configuration(file.text):
        return read_adapter_configuration(file, HYPERPOD_RECIPE)
    yaml, builder = read_yaml(file), ImportBuilder(HYPERPOD_RECIPE, file.name)
    kind, line = str(value_at(yaml.value, "run", "model_type")), yaml.line("run", "model_type")
    nodes, ranks = (value_at(yaml.value, "trainer", name) for name in ("num_nodes", "devices"))
    builder.set("layout.nodes", nodes if isinstance(nodes, int) else None, yaml.line("trainer", "num_nodes"))
    builder.count("ranks_per_node", ranks if isinstance(ranks, int) else None, yaml.line("trainer", "devices"))
    _set_machine(yaml, builder)
    if kind == _OWN:
        _set_own_run(yaml, builder)
        return builder.reading()
    inner = _framework_configuration(file, yaml)
    if kind != "verl" or not matches_verl(inner):
        raise FormatError(f"trains {excerpt(kind)}: only verl and {_OWN} are read", line)
    return combined_result([builder.reading(), read_verl(inner)])


def _set_machine(yaml: Yaml, builder: ImportBuilder) -> None:
    """Set the platform if the recipe allows one type of instance; list several."""
    stated, line = value_at(yaml.value, "instance_types"), yaml.line("instance_types")
    types = [str(each) for each in stated] if isinstance(stated, list) else []
    if len(types) == 1:
        found = match_instance(types[0].removeprefix("ml."), "aws", Catalog.open().ids("platform"))
        builder.set("cluster.platform", found, line)
    elif types:
        builder.unknown("cluster.platform", f"one of {excerpt(', '.join(types), SENTENCE)}", line)


def _framework_configuration(file: InputFile, yaml: Yaml) -> InputFile:
    """The configuration of the framework, on the lines that it has in the recipe."""
    lines = file.text.split("\n")
    start = yaml.line("training_config")
    body = []
    for each in lines[start:]:
        if each.strip() and not each.startswith((" ", "#")):
            break
        body.append(each)
    width = next((len(each) - len(each.lstrip()) for each in body if each.strip() and each.lstrip()[0] != "#"), 0)
    inner = "\n".join(each[width:] for each in body)
    return InputFile(file.name, ("\n" * start + inner).encode())


def _set_own_run(yaml: Yaml, builder: ImportBuilder) -> None:
    """Set the run of the own trainer."""
    keys = Keys()
    for name, value, line in flat_leaves(yaml.value["training_config"], yaml.line, ("training_config",)):
        if value is not None and value != "":
            keys.put(name.removeprefix("training_config."), value, line)
    trainer = f"{_ARGUMENTS}trainer_type"
    if str(keys.get(trainer) or "sft") != "sft":
        raise FormatError(f"trains with {excerpt(keys.get(trainer))}: supervised training only", keys.line(trainer))
    builder.set("workload.kind", "train", keys.line(trainer, f"{_ARGUMENTS}train_batch_size"))
    name = f"{_MODEL}model_name_or_path"
    if isinstance(named := keys.get(name), str):
        set_model(named, builder, keys.line(name))
    set_counts(keys, _COUNTS, builder)
    length, line = keys.integer(f"{_ARGUMENTS}max_len"), keys.line(f"{_ARGUMENTS}max_len")
    if length and keys.is_on(f"{_ARGUMENTS}packing_samples"):
        builder.set("workload.sequence_length", length, line)
    elif length:
        list_cut_length("max_len", length, builder, line)
    set_switch(keys, "layout.recompute", (f"{_ARGUMENTS}gradient_checkpointing",), builder, ("none", "full"))
    if strategy := keys.get(f"{_FSDP}sharding_strategy"):
        builder.set("layout.framework", "fsdp", keys.line(f"{_FSDP}sharding_strategy"))
        set_fsdp_words((str(strategy).lower(),), builder, keys.line(f"{_FSDP}sharding_strategy"))
    rank = next(
        (each for each in keys.values if re.fullmatch(r"model_config\.peft_config\.(?:r|lora_r|rank)", each)), ""
    )
    if rank and (size := keys.integer(rank)):
        words = keys.words(f"{_MODEL}peft_config.target_modules")
        set_adapter("lora", size, [] if words in ((), ("all-linear",)) else list(words), builder, keys.line(rank))
    list_unused(keys, builder)
