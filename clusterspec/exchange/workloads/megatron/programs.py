"""Launches and configurations with Megatron's names that are not the training of a decoder by Megatron-LM."""

from __future__ import annotations

import re
from itertools import pairwise

from clusterspec.exchange.import_result import ImportBuilder, excerpt
from clusterspec.exchange.shell import Command, variables_of
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.exchange.workloads.launcher_options import take_rank_variables, take_swift_environment
from clusterspec.exchange.workloads.trainers.deepspeed import set_adapter

_GENERATES = re.compile(
    r"text_generation|generate_(?:samples|text)|_inference\b|inference_server|run_\w{1,20}_server"
    r"|^(?:inference|generate|evaluat(?:e|ion))(?:_\w{1,40})?\.py$"
)
NO_TRAINING = "it does not state a layout of training"
CONVERSION = f"converts a checkpoint: {NO_TRAINING}"
_TASK = re.compile(r"(?:^|/)tasks/(?:\w{1,30}/)?main\.py$")
_CONVERTS = re.compile(
    r"^convert(?:_\w{1,40})?\.py$|^(?:merge|split|reshard)_\w{0,20}(?:partitions?|ckpts?|checkpoints?)\.py$|^checkpoint_util\.py$|(?:_to_|2)(?:hf|huggingface|megatron|mcore|mg|nemo)(?:_\w{1,40})?\.py$"
)
_TARGETS = ("target_tensor", "target_pipeline", "target_expert")
"""Degrees of the checkpoint that a conversion writes (tools/checkpoint/convert.py of Megatron-LM)."""
_ENCODERS = re.compile(
    r"(?:^|[/_])(?:bert|ict|biencoder|vit|vision|retro)(?=[_.])|_(?:bert|ict|vision\w{0,20}|retro)\.py$"
)
_NEMO = re.compile(r"(?<![a-z])nemo(?:[_-]?2)?(?![a-z])", re.IGNORECASE)
"""The name of NeMo in the program of a launch."""
NEURON = "distributed_strategy.tensor_model_parallel_size"
"""A key of NeuronX Distributed Training, which took the form of its configurations from NeMo."""
_BACKENDS = ("policy.dtensor_cfg", "policy.megatron_cfg")
"""Training backends of NeMo RL, one of which is enabled (NVIDIA-NeMo/RL, examples/configs)."""
CASTS = ("XLA_USE_BF16", "XLA_DOWNCAST_BF16")
"""Variables with which Torch-XLA computes floats of 32 bits in bf16 (AWS Neuron 2.28.1, Migration From ``XLA_USE_BF16``
/``XLA_DOWNCAST_BF16``, https://awsdocs-neuron.readthedocs-hosted.com).
"""
_OTHER_STAGES = {
    *("dpo", "kto", "ppo", "rm"),
    *("simpo", "orm", "prm", "trl_ppo", "ray_ppo", "ray_grpo", "ray_online_dpo"),
}
"""Stages that are not supervised training: of LLaMA-Factory (also in ROLL's mcore_adapter), and of MindSpeed-LLM, which
had the name ModelLink (aeeeeeep/ModelLink, modellink/training/arguments.py, line 395, read 2026-11-28; the second line
as recalled)."""
_OF_POLICY = {
    "train_global_batch_size": "global_batch_size",
    "train_micro_batch_size": "micro_batch_size",
    "precision": "trainer.precision",
    "model_name": "model_name",
}


def list_program(keys: Keys, builder: ImportBuilder) -> None:
    """List as unknown a program that does not only train this model."""
    of_fork = keys.command.words or keys.find("finetuning_type", "use_mca")
    if str(keys.values.get("stage", ("",))[0]) in _OTHER_STAGES and of_fork:
        why = "trains with a reference, rewards or pairs of answers: work that these keys do not describe"
        builder.unknown(f"stage: {keys.get('stage')}", why, keys.line("stage"))
    if loss := keys.find("rlhf_type"):
        why = "trains on samples that it generates, or pairs of answers: work that these keys do not describe"
        builder.unknown(f"rlhf_type: {excerpt(keys.get(loss))}", why, keys.line(loss))
    tuned = keys.find("tuner_type", "train_type")
    if tuned and str(keys.get(tuned)) == "lora" and keys.integer("lora_rank"):
        modules = [name for name in keys.words("target_modules") if name != "all-linear"]
        set_adapter("lora", keys.integer("lora_rank"), modules, builder, keys.line("lora_rank"))
    elif tuned and str(keys.get(tuned)) != "full":
        why = "not all parameters are trained: state workload.trainable"
        builder.unknown(f"{tuned}: {excerpt(keys.get(tuned))}", why, keys.line(tuned))
    if str(keys.values.get("MODE", ("",))[0]) == "inference":  # of tests/functional_tests of Megatron-LM
        builder.unknown("MODE: inference", f"generates text: {NO_TRAINING}", keys.line("MODE"))
    if noise := keys.find("vae_scale", "vae_latent_mode", "timestep_sampling_strategy"):
        builder.unknown(noise, "a model of images or videos: a spec describes only text decoders", keys.line(noise))
    program = _program(keys)
    if program is None:
        return
    name = program.text.rpartition("/")[2]
    if _GENERATES.search(name):
        builder.unknown(name, f"generates text: {NO_TRAINING}", program.line)
    elif _TASK.search(program.text) and keys.find("task"):
        builder.unknown(f"{name} --task", "an evaluation or another task, not the training of this model", program.line)
    elif _CONVERTS.search(name) or any(each.startswith(_TARGETS) for each in keys.values):
        builder.unknown(name, CONVERSION, program.line)
    elif _ENCODERS.search(name) or str(keys.get("tokenizer_type")).startswith("Bert"):
        builder.unknown(name, "trains an encoder: a spec describes only text decoders", program.line)


_OF_DATA = frozenset({"micro_batch", "global_batch", "sequence_length", "max_sequence_length", "tokens"})


def drop_data_of_conversion(builder: ImportBuilder) -> None:
    """Drop the batches and lengths of a conversion, which reads no data: programs only require these options."""
    if any(each.why == CONVERSION for each in builder.unknowns):
        builder.given[:] = [each for each in builder.given if each.path[-1] not in _OF_DATA]


def take_environment(keys: Keys, text: str) -> None:
    """Take what variables of a script or command decide: the ranks of ms-swift's ``megatron``, and casts to bf16."""
    if keys.command.words and keys.command.words[0].text == "megatron":
        take_swift_environment(keys.values, keys.command, text)
    elif _is_primus(keys.command):
        take_rank_variables(("NNODES", "GPUS_PER_NODE"), keys.values, keys.command, text)
    for name, word in variables_of(text).items() if "XLA_" in text else ():
        if name in CASTS and word.text == "1" and not word.branch:
            keys.put(name, word.text, word.line)


def _is_primus(command: Command) -> bool:
    """Whether Primus starts on this node, whose ranks are variables (AMD-AGI/Primus fd1eeabb, examples/run_pretrain.sh,
    runner/helpers/envs/base_env.sh).
    """
    words = [word.text.rpartition("/")[2] for word in command.words[:6]]
    return (words[:1] == ["primus-cli"] and "direct" in words) or "run_pretrain.sh" in words[:2]


def list_model_provider(keys: Keys, builder: ImportBuilder) -> None:
    """List the model that a program builds from parts, whatever the sizes of its launch (Megatron-LM d98e8a64,
    examples/mimo/train.py, line 60; ``gpt``, ``mamba`` and ``hybrid`` of other programs take the sizes).
    """
    provider = str(keys.values.get("model_provider", ("gpt", 0))[0])
    if provider not in {"gpt", "mamba", "hybrid"}:
        why = "builds its own model, whose parts and sizes its code states"
        builder.unknown(f"model_provider: {excerpt(provider)}", why, keys.line("model_provider"))
        keys.used.add("model_provider")


def keep_enabled_backend(keys: Keys) -> None:
    """Keep only the keys of the enabled backend of a NeMo RL configuration, and rename its batch sizes to the backend's
    names.
    """
    if not all(f"{backend}.enabled" in keys.values for backend in _BACKENDS):
        return
    off = [backend for backend in _BACKENDS if not keys.is_on(f"{backend}.enabled")]
    for name in [name for name in keys.values if name.startswith(tuple(f"{each}." for each in off))]:
        if not name.endswith(".enabled"):
            del keys.values[name]
    for name, other in _OF_POLICY.items():
        if (found := keys.values.pop(f"policy.{name}", None)) is not None:
            value, line = found
            keys.put(other, "bf16" if value == "bfloat16" else value, line)


def set_framework(keys: Keys, framework: str, builder: ImportBuilder) -> None:
    """Set the framework, unless the catalog lacks it."""
    line = keys.line("tensor_model_parallel_size", "num_layers")
    if keys.find(NEURON):
        builder.unknown("layout.framework", "NeuronX Distributed Training, which the catalog does not have", line)
    elif keys.is_on("policy.dtensor_cfg.enabled"):
        builder.unknown("layout.framework", "NeMo RL with DTensor, which the catalog does not have", line)
    elif framework == "megatron-core" and (program := _program(keys)) and _is_foreign(keys, program):
        why = "a program with options of its own, some of them named as Megatron's: state the framework"
        builder.unknown(f"layout.framework of {program.text[-60:]}", why, program.line)
    else:
        builder.set("layout.framework", framework, line)


def launched_framework(keys: Keys) -> str:
    """The framework of the program that a launch starts, by its name."""
    program = _program(keys)
    return "nemo" if program is not None and _NEMO.search(program.text) else "megatron-core"


_OF_MACHINE = frozenset({"num_nodes", "num_gpus", "devices", "gpus", "precision"})
"""Options that programs of Megatron-LM do not accept: torchrun sets their nodes, and a flag their precision."""


def is_of_others(keys: Keys) -> bool:
    """Whether a launch starts a program whose options have other defaults than Megatron-LM."""
    words, program = keys.command.words, _program(keys)
    at = next((n for n, word in enumerate(words) if word is program), len(words))
    options = (word.text for word in words[at:] if word.text.startswith("--"))
    given = {option.lstrip("-").partition("=")[0].replace("-", "_") for option in options}
    return not given.isdisjoint(_OF_MACHINE)


_OF_MEGATRON = re.compile(r"megatron|(?:^|/)pretrain_\w{1,40}\.py$", re.IGNORECASE)


def _is_foreign(keys: Keys, program: Word) -> bool:
    """Whether a launch names no program of Megatron-LM, and gives its program options that those do not take."""
    return is_of_others(keys) and not any(_OF_MEGATRON.search(word.text) for word in (program, *keys.command.words[:3]))


def _program(keys: Keys) -> Word | None:
    """The Python file or module that a launch starts; None if it names none."""
    words = keys.command.words
    script = next((word for word in words if word.text.endswith(".py")), None)
    return script or next((after for word, after in pairwise(words) if _is_module(word, after)), None)


def _is_module(option: Word, name: Word) -> bool:
    """Whether two words start a module of Python that a path names (``-m examples.inference.gpt.run``)."""
    return option.text == "-m" and "." in name.text and not name.text.startswith(("torch.", "deepspeed."))
