"""Arguments that Megatron-LM prints at the start of a run, each on a line ``name ..... value``.

Source: NVIDIA/Megatron-LM d98e8a64, megatron/training/arguments.py, ``_print_args``. All arguments are printed, also
those that other ones turn off, with the values after the checks at startup.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.exchange.workloads.megatron.launches import set_printed_arguments
from clusterspec.logs.text_lines import line_at

_MARK = re.compile(r"-{10,120} (end of )?arguments -{10,120}")
_ENTRY = re.compile(r"(?:^|[:\]] ) {1,8}([a-z]\w{1,80}) \.{0,60} ?(\S.{0,300}?)\s*$")
_ONLY = re.compile(r"\['?(\w{1,40})'?\]")
"""A list of one word or number."""
_OFF = frozenset({"None", "False", "[]", "0", "0.0"})
_PADDED = re.compile(r"> padded vocab \(size: [0-9]{1,9}\) with [0-9]{1,9} dummy tokens \(new size: ([0-9]{1,9})\)")
"""The vocabulary that the tokenizer gives, where the arguments state none (megatron/core/tokenizers/utils,
``build_tokenizer``).
"""
_STAGE = re.compile(r"\bzero_optimization_stage \.{2,60} ([0-3])\b")
_NEEDS = (
    (re.compile(r"num_query_groups"), "group_query_attention"),
    (re.compile(r"moe_\w+|expert_\w+"), "num_experts"),
    (re.compile(r"\w{1,5}_lora_rank|qk_(?:pos_emb_)?head_dim|v_head_dim"), "multi_latent_attention"),
    (re.compile(r"recompute_(?:method|num_layers|modules)"), "recompute_granularity"),
    (re.compile(r"cp_comm_type"), "context_parallel_size"),
)
"""Arguments that hold only where another one is on, or above 1; without it they have their defaults."""
_ASIDE = re.compile(r"encoder_\w+|decoder_\w+|img_[hw]|train_iters|train_samples|num_experts_\w+|rl_\w+|inference_\w+")
"""Arguments derived from others, of a planned run that the log may cut short, or of other modes."""


def printed_arguments(file: InputFile) -> Keys | None:
    """The arguments that are on. Several listings have to agree; None if they differ, or if there is none."""
    found: list[Keys] = []
    open_ = False
    padded: dict[str, int] = {}
    text = file.plain
    if "arguments -" not in text:
        return None
    for number, line in enumerate(text.split("\n"), 1):
        if vocabulary := _PADDED.search(line[:600]):
            padded.setdefault(vocabulary[1], number)
        if mark := _MARK.search(line[:400]):
            open_ = mark[1] is None
            if open_:
                found.append(Keys())
        elif open_ and (match := _ENTRY.search(line[:600])):
            only = _ONLY.fullmatch(match[2])
            found[-1].put(match[1], True if match[2] == "True" else only[1] if only else match[2], number)
    different = {str([(name, value) for name, (value, _) in keys.values.items()]) for keys in found}
    if len(different) != 1 or not found[0].find("num_layers"):
        return None
    keys = _without_defaults(found[0])
    _take_stage_of_deepspeed(file, keys)
    if len(padded) == 1 and not keys.find("padded_vocab_size"):
        keys.put("padded_vocab_size", *next(iter(padded.items())))
    return keys


def _take_stage_of_deepspeed(file: InputFile, keys: Keys) -> None:
    """Take the stage of ZeRO that DeepSpeed prints, which decides; the argument of Megatron-DeepSpeed may differ.

    Source: deepspeedai/DeepSpeed, deepspeed/runtime/config.py (``print``).
    """
    printed = {match[1]: line_at(file.plain, match.start()) for match in _STAGE.finditer(file.plain)}
    if len(printed) == 1:
        keys.put("zero_stage", *printed.popitem())
    elif printed:
        keys.put("zero_stage", "$zero_stage", keys.line("zero_stage") or min(printed.values()))


def _without_defaults(keys: Keys) -> Keys:
    """The arguments without those that are off, and without those that depend on an argument which is off."""
    on = {name for name, (value, _) in keys.values.items() if str(value) not in _OFF}
    lacking = [pattern for pattern, switch in _NEEDS if switch not in on or str(keys.values[switch][0]) == "1"]
    kept = Keys()
    for name, (value, line) in keys.values.items():
        held = name in on and not any(pattern.fullmatch(name) for pattern in lacking) and not _ASIDE.fullmatch(name)
        none = name == "recompute_modules" and value == "[]" and "recompute_granularity" in on
        if none:
            kept.put(name, value, line)
        elif held or name == "use_distributed_optimizer":
            kept.put(name, value if held else False, line)
    return kept


def reading_of_arguments(keys: Keys, file: InputFile, kind: str, framework: str) -> ImportResult:
    """The model and the layout of printed arguments."""
    builder = ImportBuilder(kind, file.name)
    set_printed_arguments(keys, builder, framework)
    why = "arguments of the listing that are on or have a value: not imported"
    builder.unknown(f"{len(keys.unused_names())} others", why, keys.line("num_layers"))
    return builder.reading()
