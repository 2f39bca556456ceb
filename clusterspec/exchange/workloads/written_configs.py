"""Configurations of DeepSpeed that a script writes before it launches (``cat <<EOF > ds_config.json``)."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportResult, InputFile, SkippedPart
from clusterspec.exchange.shell import variables_of
from clusterspec.exchange.workloads.deepspeed import read_deepspeed
from clusterspec.exchange.written_documents import here_documents
from clusterspec.records import replace

_KEY = re.compile(r"\"(?:zero_optimization|train_micro_batch_size_per_gpu|train_batch_size)\"")
_VARIABLE = re.compile(r"(?P<quote>\"?)\$(?:\{(?P<held>[A-Za-z_]\w{0,60})\}|(?P<name>[A-Za-z_]\w{0,60}))(?P=quote)")
_LITERAL = re.compile(r"[-+]?[0-9.]{1,40}(?:[eE][-+]?[0-9]{1,3})?|true|false|null|\s{0,9}[\[{].*", re.DOTALL)
_USED = re.compile(r"deepspeed")
_SEPARATE = re.compile(r"deepspeed: |layout\.sharding$")
"""Entries that a reader of a launch lists if another file has the configuration."""


def written_configurations(file: InputFile) -> list[InputFile]:
    """The DeepSpeed configurations that a script writes, with their lines and with its variables filled in."""
    if not _KEY.search(file.text) or "<<" not in file.text:
        return []
    written = [(line, body) for line, body, _ in here_documents(file.text) if body.lstrip().startswith("{")]
    found = [(line, body) for line, body in written if _KEY.search(body)]
    if not found:
        return []
    values = {name: word.text for name, word in variables_of(file.text).items() if not word.branch}
    return [InputFile(file.name, ("\n" * line + _with_variables(body, values)).encode()) for line, body in found]


def _with_variables(text: str, values: dict[str, str]) -> str:
    """A JSON text with variables filled in; one without a known value is its name as text, and words without quotes are
    text, as hjson reads them.

    >>> _with_variables('{"a": {"b": $N}, "c": "$M", "d": ${K}, "e": $M}', {"N": "2", "M": "x"})
    '{"a": {"b": 2}, "c": "x", "d": "$K", "e": "x"}'
    """

    def value(match: re.Match[str]) -> str:
        name = match["held"] or match["name"]
        held = values.get(name, "$")
        if "$" in held or "\n" in held or '"' in held:
            return f'"${name}"'
        quote = match["quote"] or ("" if _LITERAL.fullmatch(held) else '"')
        return f"{quote}{held}{quote}"

    return _VARIABLE.sub(value, text)


def with_written_configuration(file: InputFile, launch: ImportResult) -> ImportResult:
    """A launch, combined with the values of the DeepSpeed configuration that its script writes, if any."""
    if launch.value(("layout", "sharding")) is not None or not _USED.search(file.text):
        return launch
    found = written_configurations(file)
    if len(found) != 1:
        return launch
    try:
        config = read_deepspeed(found[0])
    except FormatError:
        return launch
    stated = {each.path for each in launch.given}
    added = tuple(each for each in config.given if each.path not in stated)
    kept = tuple(each for each in launch.unknown if not _is_answered(each, config))
    return replace(launch, given=(*launch.given, *added), unknown=(*kept, *config.unknown))


def _is_answered(part: SkippedPart, config: ImportResult) -> bool:
    """Whether the configuration states a value that the launch left to it."""
    return bool(_SEPARATE.match(part.what)) and config.value(("layout", "sharding")) is not None
