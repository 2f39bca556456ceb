"""Configurations of DeepSpeed that a script writes before it launches (``cat <<EOF > ds_config.json``)."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FileLine, FormatError, ImportResult, InputFile, SkippedPart
from clusterspec.exchange.shell import script_of, variables_of
from clusterspec.exchange.workloads.megatron.programs import NO_TRAINING
from clusterspec.exchange.workloads.trainers.deepspeed import read_deepspeed
from clusterspec.exchange.written_documents import here_documents
from clusterspec.records import replace

_KEY = re.compile(r"\"(?:zero_optimization|train_micro_batch_size_per_gpu|train_batch_size)\"")
_VARIABLE = re.compile(r"(?P<quote>\"?)\$(?:\{(?P<held>[A-Za-z_]\w{0,60})\}|(?P<name>[A-Za-z_]\w{0,60}))(?P=quote)")
_LITERAL = re.compile(r"[-+]?[0-9.]{1,40}(?:[eE][-+]?[0-9]{1,3})?|true|false|null|\s{0,9}[\[{].*", re.DOTALL)
_USED = re.compile(r"deepspeed")
_SEPARATE = re.compile(r"deepspeed: |layout\.sharding$")
"""Entries that a reader of a launch lists if another file has the configuration."""
UNDECIDED = "written only where a test holds that the script does not decide: import the file that it uses"


def written_configurations(file: InputFile) -> list[InputFile]:
    """The DeepSpeed configurations that a script writes in any case, with their lines and its variables filled in."""
    tests = script_of(file.text).written if _writes_config(file) else {}
    found = [(line, body) for line, body in _bodies(file) if not tests.get(line)]
    if not found:
        return []
    values = {name: word.text for name, word in variables_of(file.text).items() if not word.branch}
    return [InputFile(file.name, ("\n" * line + _with_variables(body, values)).encode()) for line, body in found]


def _writes_config(file: InputFile) -> bool:
    return bool(_KEY.search(file.text)) and "<<" in file.text


def _bodies(file: InputFile) -> list[tuple[int, str]]:
    """The DeepSpeed configurations in the text of a script, each with the number of lines before it."""
    written = here_documents(file.text) if _writes_config(file) else ()
    return [(line, body) for line, body, _ in written if body.lstrip().startswith("{") and _KEY.search(body)]


def line_of_undecided(file: InputFile) -> int:
    """The line of the first DeepSpeed configuration that a script writes only where a test holds which it does not
    decide; 0 if there is none.
    """
    tests = script_of(file.text).written if _writes_config(file) else {}
    return next((line for line, _ in _bodies(file) if tests.get(line)), 0)


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
    """A launch, combined with the values of the DeepSpeed configuration that its script writes, if any. Batches and
    sharding of a program that does not train are not those of a training.
    """
    generates = any(part.why.endswith(NO_TRAINING) for part in launch.unknown)
    if generates or launch.value(("layout", "sharding")) is not None or not _USED.search(file.text):
        return launch
    found = written_configurations(file)
    if not found and (line := line_of_undecided(file)):
        part = SkippedPart("a configuration of DeepSpeed", UNDECIDED, FileLine(file.name, line))
        return replace(launch, unknown=(*launch.unknown, part))
    if len(found) != 1:
        return launch
    try:
        config = read_deepspeed(found[0])
    except FormatError:
        return launch
    stated = {each.path for each in launch.given}
    added = tuple(each for each in config.given if each.path not in stated)
    kept = tuple(each for each in launch.unknown if not _configuration_states(each, config))
    return replace(launch, given=(*launch.given, *added), unknown=(*kept, *config.unknown))


def _configuration_states(part: SkippedPart, config: ImportResult) -> bool:
    """Whether the configuration states a value that the launch left to it."""
    return bool(_SEPARATE.match(part.what)) and config.value(("layout", "sharding")) is not None
