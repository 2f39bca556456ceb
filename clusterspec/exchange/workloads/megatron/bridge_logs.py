"""What the first rank of Megatron-Bridge prints of its run: the configuration, and the time of each step.

Source: NVIDIA-NeMo/Megatron-Bridge 067f987d, src/megatron/bridge/training/config.py, ``log_non_default_values``
(``  NAME: VALUE  (Mcore default: VALUE)`` under ``[SECTION]``), train.py, line 337, and utils/train_utils.py,
line 1050, whose line has no number of the step; the last rank prints the line of Megatron-LM, which has one.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, InputFile
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.standard import DECIMAL

STEP_MARK = "s GPU utilization: "
"""A text in every step line."""
STEP = re.compile(rf"\bStep Time : {DECIMAL}{STEP_MARK}{DECIMAL}(?:MODEL_)?TFLOP/s/GPU")
"""Earlier releases print ``TFLOP/s/GPU`` alone."""
BEGUN = re.compile(r"\bStarting training loop at iteration ([0-9]{1,9})\b")
_TITLE = "Configuration Summary (Non-Default Values vs Megatron Core)"
_SECTION = re.compile(r"(?:^|\s)\[([a-z_]{1,40})\](?: Non-default values \(vs Mcore (\w{1,60})\))?:\s{0,20}$")
_ENTRY = re.compile(r"(?:^|[\]:|)] ?) {2}([a-z]\w{1,80}): (\S.*)$")
_DEFAULT = "  (Mcore default: "
_END = re.compile(r"={60,80}\s{0,20}$")
_ENUM = re.compile(r"<\w{1,60}\.(\w{1,60}): .{0,60}>")
_WHOLE_SECTIONS = frozenset({"model", "ddp"})
_TAKEN = {
    "train": frozenset({"micro_batch_size", "global_batch_size", "rampup_batch_size"}),
    "dataset": frozenset({"seq_length", "sequence_length"}),
    "optimizer": frozenset({"optimizer", "optimizer_cpu_offload", "optimizer_offload_fraction"}),
}
"""What other sections state of the run; names of the layout in them are copies, some not yet filled in."""
_MODEL_DEFAULTS: dict[str, str | bool] = {
    "tensor_model_parallel_size": "1",
    "pipeline_model_parallel_size": "1",
    "context_parallel_size": "1",
    "sequence_parallel": False,
    "gated_linear_unit": False,
    "use_distributed_optimizer": False,
}
_EXPERT_DEFAULTS = {"expert_model_parallel_size": "1", "moe_router_topk": "2"}
_LATENT_DEFAULTS: dict[str, str | bool] = {
    "multi_latent_attention": True,
    "q_lora_rank": "512",
    "kv_lora_rank": "512",
    "qk_head_dim": "128",
    "qk_pos_emb_head_dim": "64",
    "v_head_dim": "128",
}
"""Defaults of Megatron-LM d98e8a64, megatron/core: transformer/transformer_config.py, model_parallel_config.py and
distributed/distributed_data_parallel_config.py.
"""
_TIED = "untie_embeddings_and_output_weights"


def is_log(text: str) -> bool:
    """Whether a text has a step, and the start of its run, without which a page may quote it with its launch."""
    begun = _TITLE in text or BEGUN.search(text) is not None
    return begun and STEP_MARK in text and STEP.search(text) is not None


def printed_configuration(file: InputFile) -> Keys | None:
    """The configuration that a log prints, with the defaults that it leaves out. Several have to agree; None if they
    differ, or if there is none of a decoder.
    """
    found = _configurations(file.plain) if _TITLE in file.text else []
    different = {str(sorted((name, value) for name, (value, _) in keys.values.items())) for keys in found}
    if len(different) != 1 or not {"num_layers", "hidden_size"} <= found[0].values.keys():
        return None
    keys = found[0]
    keys.undecided.append((_TIED, keys.line("num_layers"), keys.line("num_layers")))
    return keys


def _configurations(text: str) -> list[Keys]:
    found: list[Keys] = []
    section, open_, kinds = "", False, dict[str, str]()
    for number, line in enumerate(text.split("\n"), 1):
        if _TITLE in line[:400]:
            found.append(Keys())
            section, open_, kinds = "", True, {}
        elif open_ and len(line) < 400 and (match := _SECTION.search(line)):
            section, kinds[match[1]] = match[1], match[2] or ""
        elif open_ and section and len(line) < 400 and _END.search(line):
            open_ = False
            _add_defaults(found[-1], kinds)
        elif open_ and section and (match := _ENTRY.search(line[:6_000])):
            _take_setting(found[-1], section, match[1], match[2].partition(_DEFAULT)[0].strip(), number)
    return found if not open_ else []


def _take_setting(keys: Keys, section: str, name: str, value: str, line: int) -> None:
    """Take a setting; of a list, the words between its brackets."""
    if value == "None" or not (section in _WHOLE_SECTIONS or name in _TAKEN.get(section, ())):
        return
    if enum := _ENUM.fullmatch(value):
        value = enum[1]
    taken = {"True": True, "False": False}.get(value, value.strip("'\""))
    if name == "recompute_modules":
        keys.listed[name] = tuple(re.findall(r"\w{1,40}", value))
    keys.put(name, taken, line)


def _add_defaults(keys: Keys, kinds: dict[str, str]) -> None:
    """Add the values of Megatron Core that the listing leaves out."""
    line = keys.line("num_layers")
    defaults = dict(_MODEL_DEFAULTS)
    if keys.find("num_moe_experts"):
        defaults |= _EXPERT_DEFAULTS
    if kinds.get("model", "").startswith("MLA"):
        defaults |= _LATENT_DEFAULTS
    for name, value in defaults.items():
        if name not in keys.values:
            keys.put(name, value, line)


def list_unprinted(builder: ImportBuilder, line: int) -> None:
    """List the values of the model that Megatron-Bridge does not print with its configuration."""
    why = "the log prints fields of Megatron Core alone: import the model's config.json, or state them"
    builder.unknown("workload.model.vocab and tied_embeddings", why, line)
