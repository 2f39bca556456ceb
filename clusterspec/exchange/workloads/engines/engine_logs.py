"""Options that engines print when they start, in logs.

vLLM prints the options that differ from their defaults, and the configuration of the engine (0.33.0:
vllm/entrypoints/common/startup.py, line 96; vllm/v1/engine/core.py, line 140); earlier releases (0.6) and SGLang print
all options (0.5.9: sglang/srt/entrypoints/engine.py, line 1031). SGLang may print ``chunked_prefill_size`` after its
division among the groups of attention (0.5.9: sglang/srt/server_args.py, line 2117).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.exchange.import_result import InputFile
from clusterspec.exchange.workloads.engines.declared_options import started_keys
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.logs.text_lines import line_at

_MARKS = ("non-default args: {", "args: Namespace(", "LLM engine (", "server_args=ServerArgs(")
_PRINTED = re.compile(
    r"^(?P<before>[^\"'`#\n]{0,400}?)(?:(?P<options>non-default args: \{)|(?P<all>\bargs: Namespace\()"
    r"|(?P<sglang>server_args=ServerArgs\()"
    r"|Initializing an? (?:V[01] )?LLM engine \(v?[^()\n]{1,60}\) with config: )(?P<values>[^\n]{1,100000})",
    re.MULTILINE,
)
_CHUNKS = re.compile(r"\bChunked prefill is enabled with max_num_batched_tokens=([1-9][0-9]{1,7})\b")
"""The tokens of a step, as the engine decided them (0.18.0: vllm/config/scheduler.py, line 231)."""
_OWN_PROCESS = re.compile(r"\((?!(?:APIServer|ApiServer|EngineCore)[\w ]{0,30}pid=)[A-Za-z]\w{0,60} pid=")
"""The name of a process that is no server of the engine, such as a worker that generates for a trainer."""
_TRAINS = re.compile(
    r"\b(?:grad_norm|learning_rate|train_runtime|per_device_train_batch_size|ppo_mini_batch_size)\b|\bactor/\w"
)
"""Words of the log of a trainer, whose engine generates samples."""
_CLOSED = {"(": ")", "[": "]", "{": "}"}
_TEXT = re.compile(r"\[?([\"'])([^\"'\\]{0,1000})\1\]?")
_NUMBER = re.compile(r"-?[0-9]{1,15}|-?[0-9]{0,15}\.[0-9]{1,15}")
_OF_ENGINE = {
    "model": "model",
    "dtype": "dtype",
    "max_seq_len": "max_model_len",
    "tensor_parallel_size": "tensor_parallel_size",
    "pipeline_parallel_size": "pipeline_parallel_size",
    "data_parallel_size": "data_parallel_size",
    "enforce_eager": "enforce_eager",
}
"""Configuration values of a vLLM engine, with the options that set them."""
_DEGREES = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
_OF_PROCESS = frozenset({"node_rank", "host", "port", "nccl_port", "dist_init_addr", "base_gpu_id", "random_seed"}) | {
    "seed",
    "api_server_count",
    "data_parallel_rank",
    "data_parallel_start_rank",
    "data_parallel_address",
}
"""Options that differ between the nodes or processes of one engine."""


def prints_engine(file: InputFile) -> bool:
    """Whether a text is the log of an engine that prints its options."""
    return next(_option_lines(file.text), None) is not None


def engines_of_log(file: InputFile) -> list[tuple[str, Keys]]:
    """The engines that print their options in a log; an engine on several nodes appears once."""
    engines: list[tuple[str, Keys]] = []
    for match in _option_lines(file.text):
        name, line = "sglang" if match["sglang"] else "vllm", file.line_at(match.start("values"))
        values = dict(_printed_values(match["values"], of_dictionary=bool(match["options"])))
        if not (match["sglang"] or match["options"] or match["all"]):
            _add_configuration(engines, values, line)
            continue
        keys = _keys_of(values, line)
        if all(_shared_options(keys) != _shared_options(other) or name != engine for engine, other in engines):
            engines.append((name, keys))
    _add_chunks(engines, file.text)
    return engines


def _add_chunks(engines: list[tuple[str, Keys]], text: str) -> None:
    """Add the tokens of a step that the log states to its only engine, unless its options have them."""
    stated = {match[1]: match for match in _CHUNKS.finditer(text)}
    if len(engines) == len(stated) == 1 and engines[0][1].find("max_num_batched_tokens") is None:
        ((tokens, match),) = stated.items()
        engines[0][1].put("max_num_batched_tokens", int(tokens), line_at(text, match.start()))


def _option_lines(text: str) -> Iterator[re.Match[str]]:
    """The lines of a log in which a separate engine prints its options."""
    if any(mark in text for mark in _MARKS) and not _TRAINS.search(text):
        yield from (match for match in _PRINTED.finditer(text) if not _OWN_PROCESS.search(match["before"]))


def _add_configuration(engines: list[tuple[str, Keys]], values: dict[str, str], line: int) -> None:
    """Add the degrees of a configuration to the options printed before it, or take it for a separate engine."""
    own = {_OF_ENGINE[name]: value.removeprefix("torch.") for name, value in values.items() if name in _OF_ENGINE}
    keys = _keys_of(own, line)
    before = engines[-1][1] if engines else Keys()
    if before.values.get("model", ("",))[0] == keys.values.get("model", (None,))[0]:
        for name in _DEGREES:
            if name in keys.values and name not in before.values:
                before.put(name, *keys.values[name])
    elif all(_shared_options(keys) != _shared_options(other) for _, other in engines):
        engines.append(("vllm", keys))


def _shared_options(keys: Keys) -> list[tuple[str, str]]:
    """The options that all processes of an engine have."""
    options = {name: str(value) for name, (value, _) in keys.values.items() if name not in _OF_PROCESS}
    return sorted((name, value) for name, value in options.items() if name not in _DEGREES or value != "1")


def _keys_of(values: dict[str, str], line: int) -> Keys:
    keys = started_keys("printed options", line)
    keys.printed = True
    if served := values.pop("model_tag", ""):
        values["model"] = served
    for name, shown in values.items():
        if shown not in {"None", "False", "'null'", "'none'", "{}", "[]", "''"}:
            keys.put(name, _value_of(shown), line)
    return keys


def _value_of(shown: str) -> str | int | float | bool:
    if shown == "True":
        return True
    if match := _TEXT.fullmatch(shown):
        return match[2]
    if _NUMBER.fullmatch(shown):
        return float(shown) if "." in shown else int(shown)
    return shown.replace("'", '"')


def _printed_values(text: str, *, of_dictionary: bool) -> Iterator[tuple[str, str]]:
    """The names and values of a dictionary, or of arguments, as Python prints them; up to the bracket that ends them,
    without the last where the line is cut off.
    """
    mark = re.compile(r"\s{0,4}'(\w{1,80})': ?" if of_dictionary else r"\s{0,4}(\w{1,80})=")
    start, inner, quote = 0, [], ""
    for at, character in enumerate(text):
        if quote:
            quote = "" if character == quote and text[at - 1] != "\\" else quote
        elif character in "\"'":
            quote = character
        elif character in _CLOSED:
            inner.append(_CLOSED[character])
        elif inner and character == inner[-1]:
            inner.pop()
        elif not inner and character in ",)}":
            if name := mark.match(text, start, at):
                yield name[1], text[name.end() : at].strip()
            start = at + 1
            if character != ",":
                return
