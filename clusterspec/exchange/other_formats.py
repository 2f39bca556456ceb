"""Files of formats without a reader: a description, the program that they start, and the settings that they state."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import LIST, FormatError, InputFile, excerpt
from clusterspec.exchange.left_unread import stated_settings
from clusterspec.exchange.started_programs import shown_programs
from clusterspec.logs.statements.required_words import first_match

_APART = (
    ("an input of ROCm cvs, with sweeps of its own: import the log of a run", r"/\{user-id\}[/\"]|\"\{user-id\}\""),
    (
        "a form for issues, whose placeholders are examples",
        r"^body[ \t]*:[ \t]*\n[ \t]*- type[ \t]*:[ \t]*[\"']?(?:markdown|input|textarea|dropdown|checkboxes)\b",
    ),
    (
        "a scenario of llm-d-benchmark: import what it renders",
        r"^scenario[ \t]*:[ \t]*\n(?:.*\n){0,200}?[ \t]+vllmCommon[ \t]*:",
    ),
    (
        "a recipe of vLLM-Omni, which serves models of images, sound and video in stages",
        r"^omni[ \t]*:[ \t]*\n(?:[ \t]+[^\n]*\n|[ \t]*\n){0,60}?[ \t]+tasks[ \t]*:",
    ),
    ("a configuration of MaxDiffusion, which trains models of images", r"^[ \t]*framework[ \t]*:[ \t]*maxdiffusion\b"),
)
"""Formats whose files look like those of another format, each with a pattern that recognizes it."""
_OTHERS = (
    ("a launch of SageMaker HyperPod recipes: import the recipe that it names", r"\bmain\.py[ \t\\\n]+recipes="),
    (
        "a part of a recipe of SageMaker HyperPod, for several scales: import one of its recipes",
        r"^scale_config[ \t]*:",
    ),
    ("a job of the HyperPod CLI, whose own program its options start", r"^training_cfg[ \t]*:|^cluster_type[ \t]*:"),
    ("a configuration of MaxText for inference", r"^base_config[ \t]*:[ \t]*[\"']?inference/"),
    ("settings of llm-d-benchmark: import what it renders", r"\bLLMDBENCH_[A-Z_]{3,60}="),
    ("a configuration of prime-rl", r"^\[(?:orchestrator|trainer\.model|inference\.model)\]|\bprime_rl\b"),
    ("a launch of RL2", r"\bRL2\.trainer\b"),
    ("a configuration of Fast-LLM", r"\bfast-llm train\b|^[ \t]*fast_llm_config\b"),
    ("a launch of ColossalAI", r"\bcolossalai run\b"),
    (
        "a launch of OpenRLHF without engines (train_ppo), whose trainer generates the samples itself",
        r"\bopenrlhf\.cli\.train_ppo\b(?!_)",
    ),
    ("a launch of oat", r"\boat\.experiment\.\w"),
    ("a build of an engine of TensorRT-LLM: import the config.json that it writes", r"^[^#\n]{0,200}\btrtllm-build\b"),
    ("a launch of LMDeploy", r"\blmdeploy serve\b"),
    ("a launch of llama.cpp or Ollama", r"\bllama-server\b|\bollama (?:run|serve)\b"),
    (
        "a configuration of Slurm whose nodes are in the files that it includes: import those",
        r"^[ \t]*(?i:include)[ \t]+[\w./-]{0,100}(?:node|partition|slurm)[\w./-]{0,100}\.(?:conf|cfg)\b",
    ),
    (
        "a configuration of Slurm that names no node (NodeName=…): import the file that does",
        r"^[ \t]*(?i:SlurmctldHost|ControlMachine)[ \t]*=",
    ),
    ("a launch of GPT-NeoX: import the configurations that it names", r"\bdeepy\.py\b(?=[^\n]{0,200}\.ya?ml\b)"),
    ("a template of AWS CloudFormation", r"^[ \t]*[\"']?AWSTemplateFormatVersion\b"),
)
_SEEMS = (
    (
        "an experiment of Determined AI, whose own program its entry point starts",
        r"\bdetermined\.launch\.|^[ \t]+slots_per_trial[ \t]*:",
    ),
    (
        "a network of LIBRA, whose bandwidths LIBRA computes",
        r"^NpusCount[ \t]*:",
    ),
    ("a workflow of GitHub Actions", r"^[ \t]+runs-on[ \t]*:"),
    ("a playbook of Ansible", r"^-[ \t]+hosts[ \t]*:"),
    ("an environment of conda", r"^channels[ \t]*:[ \t]*\n[ \t]*-"),
    ("a task of lm-evaluation-harness", r"^[ \t]*doc_to_(?:text|target)[ \t]*:"),
    ("a configuration of Prometheus", r"^scrape_configs[ \t]*:"),
    ("a dashboard of Grafana", r"^[ \t]*\"gridPos\"[ \t]*:"),
    ("a sweep of Weights & Biases, with several values", r"^method[ \t]*:[ \t]*[\"']?(?:bayes|grid|random)\b"),
    ("an adapter of PEFT: import the launch that trains it", r"\"peft_type\"[ \t]*:"),
    ("params.json of Llama's own code: import config.json of the model", r"\"(?:multiple_of|norm_eps)\"[ \t]*:"),
    ("a configuration of a tokenizer", r"\"(?:tokenizer_class|added_tokens_decoder)\"[ \t]*:"),
    (
        "options of FSDP alone: import the configuration of Accelerate that has distributed_type",
        r"^[ \t]*fsdp_(?:sharding_strategy|version)[ \t]*:",
    ),
    (
        "a configuration that Hydra joins with others: import what it composes (--cfg job)",
        r"^defaults[ \t]*:[ \t]*\n[ \t]*-[ \t]",
    ),
)
"""What a file that no reader takes seems to be."""
_PROGRAM = re.compile(
    r"^[^#\n]{0,300}?\b(?:torchrun|python3?|accelerate[ \t]+launch|deepspeed|uv[ \t]+run)\b(?:[^\n]|(?<=\\)\n){0,600}?"
    r"(?:[ \t]-m[ \t]+(?P<module>[A-Za-z_][\w.]{1,100})|[ \t]\"?(?P<file>[^\s\"';|&]{1,160}\.py)\b)",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"\A#!.{0,60}\b(?:ba|z|da|k)?sh\b")
"""The first line of a shell script."""


def refuse_look_alikes(file: InputFile) -> None:
    """Raise `FormatError` for files of a format without a reader that look like files of another format."""
    _refuse(file, _APART)


def refuse_others(file: InputFile) -> None:
    """Raise `FormatError` for files of a known format without a reader."""
    _refuse(file, _OTHERS)


def unknown_format_error(file: InputFile) -> FormatError:
    """The error for a file that matches no format, with the program that it starts and the layout settings that it
    states.
    """
    told, why, at = [], "matches no import format (`clusterspec import --list` lists them)", 0
    if not file.uncommented.strip():
        return FormatError("holds only comments")
    if seeming := next(((what, match) for what, mark in _SEEMS if (match := _first_match(mark, file.text))), None):
        why, at = f"has no reader: it is {seeming[0]}", file.line_at(seeming[1].start())
    if _SCRIPT.search(file.head) and (programs := shown_programs(file.text)):
        told.append(programs)
    elif started := _PROGRAM.search(file.text):
        kind = "module" if started["module"] else "file"
        line = file.line_at(started.start(kind))
        told.append(f"it starts {excerpt(started[kind].rpartition('/')[2])} (line {line})")
    if stated := stated_settings(file.text, 2):
        told.append(stated)
    if not told and not at and (names := _outer_keys(file.text)):
        told.append(f"its keys are {excerpt(', '.join(names), LIST)}")
    return FormatError(f"{why}: {', '.join(told)}" if told else why, at)


_OUTER = re.compile(
    r"^(?:\[(?P<section>[A-Za-z][\w.-]{0,40})\]|(?P<key>[A-Za-z][\w.-]{0,40})[ \t]{0,8}(?::(?=\s)|=))", re.M
)
_OUTER_OF_JSON = re.compile(r"^(?P<indent>[ \t]{1,8})\"(?P<key>[^\"\n]{1,40})\"[ \t]*:", re.MULTILINE)


def _outer_keys(text: str) -> tuple[str, ...]:
    """The first five outer keys of a mapping or sections of a file; empty for other texts.

    >>> _outer_keys("Topology: [Ring]\\nNpusCount: [8]\\n  inner: 1"), _outer_keys('{\\n  "a": {\\n    "b": 1}}')
    (('Topology', 'NpusCount'), ('a',))
    """
    if text.lstrip()[:1] == "{":
        found = [(len(match["indent"]), match["key"]) for match in _OUTER_OF_JSON.finditer(text)]
        return tuple(dict.fromkeys(key for indent, key in found if indent == found[0][0]))[:5]
    return tuple(dict.fromkeys(match["section"] or match["key"] for match in _OUTER.finditer(text)))[:5]


def _first_match(mark: str, text: str) -> re.Match[str] | None:
    return first_match(re.compile(mark, re.MULTILINE), text)


def _refuse(file: InputFile, table: tuple[tuple[str, str], ...]) -> None:
    for what, mark in table:
        if match := _first_match(mark, file.text):
            raise FormatError(f"has no reader: it is {what}", file.line_at(match.start()))
