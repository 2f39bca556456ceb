"""Models that a text downloads into the directory from which its launch loads them.

Options: ``hf download`` and ``huggingface-cli download`` of huggingface_hub (``src/huggingface_hub/cli/download.py``),
its functions ``snapshot_download`` and ``hf_hub_download``, ``modelscope download`` (modelscope,
``modelscope/cli/download.py``), and ``git clone`` of a repository of the hub.
"""

from __future__ import annotations

import re
from itertools import islice

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, combined_result
from clusterspec.exchange.shell import script_of
from clusterspec.exchange.started_programs import LARGEST_SCRIPT
from clusterspec.exchange.workloads.model_files.models import set_model, set_served_model
from clusterspec.logs.text_lines import line_at
from clusterspec.records import replace

_NAME = r"(?P<name>[A-Za-z0-9][\w.-]{0,60}/[\w.-]{1,100})"
_INTO = r"(?P<into>[\w./~-]{1,200})(?![\w./${~-])"
_WORDS = r"(?:\s{1,40}[^\s;&|]{1,200}){0,16}?\s{1,40}"
_MARKS = re.compile(r"[\"',\[\]\\]|(?<=\s)-(?=\s)")
"""What separates the words of a command in a list of YAML or JSON, or its lines in a script."""
_DOWNLOADS = tuple(
    re.compile(each)
    for each in (
        rf"\b(?:hf|huggingface-cli)\s{{1,40}}download{_WORDS}{_NAME}{_WORDS}--local[-_]dir[=\s]{{1,40}}{_INTO}",
        rf"\bmodelscope\s{{1,40}}download{_WORDS}(?:--model[=\s])?{_NAME}{_WORDS}--local[-_]dir[=\s]{{1,40}}{_INTO}",
        rf"\bsnapshot_download\((?:\s*repo_id\s*=)?\s*{_NAME}[^()]{{0,300}}?\blocal_dir\s*=\s*{_INTO}",
        rf"\bgit\s{{1,40}}clone{_WORDS}https://(?:huggingface\.co|hf\.co)/{_NAME}\s{{1,40}}{_INTO}",
    )
)
MOST_DOWNLOADS = 20
_UNKNOWN = re.compile(r"model (?P<path>\.{0,2}~?/?[\w./~-]{1,200})")


def with_downloaded_model(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch whose model is a directory, with the model that the same text downloads into that directory."""
    open_part = next((each for each in found.unknown if _UNKNOWN.fullmatch(each.what)), None)
    if open_part is None or found.value(("workload", "model")) is not None or not _may_download(file.text):
        return found
    directory = _plain_path(open_part.what.removeprefix("model "))
    stated = {name: line for name, into, line in _downloads(file) if _plain_path(into) == directory}
    if len(stated) != 1:
        return found
    (name, line), builder = next(iter(stated.items())), ImportBuilder(found.kind, file.name)
    if found.value(("workload", "kind")) == "serve":
        quantized = found.value(("workload", "parameter_precision")) is not None
        set_served_model(name, builder, line, quantized=quantized)
    else:
        set_model(name, builder, line)
    kept = tuple(each for each in found.unknown if each is not open_part)
    return combined_result([replace(found, unknown=kept), builder.reading()])


def _may_download(text: str) -> bool:
    return len(text) <= LARGEST_SCRIPT and any(
        mark in text for mark in ("download", "https://huggingface.co/", "https://hf.co/")
    )


def _plain_path(path: str) -> str:
    return path.removeprefix("./").rstrip("/")


def _downloads(file: InputFile) -> list[tuple[str, str, int]]:
    """The models that a text downloads, each with its directory and line.

    >>> text = b"M=Qwen/Qwen3-8B\\nhf download $M --local-dir /models/m --max-workers 8\\n"
    >>> _downloads(InputFile("a.sh", text))
    [('Qwen/Qwen3-8B', '/models/m', 2)]
    >>> _downloads(InputFile("a.yaml", b'args: ["download", "Qwen/Qwen3-8B", "--local-dir", "/m"]\\n'))
    []
    >>> _downloads(InputFile("a.yaml", b'args: ["hf", "download", "Qwen/Qwen3-8B", "--local-dir", "/m"]\\n'))
    [('Qwen/Qwen3-8B', '/m', 1)]
    """
    texts = [(_MARKS.sub(" ", file.text), 0)]
    if not file.name.endswith((".yaml", ".yml", ".json", ".py", ".md")):
        try:
            commands = script_of(file.text).commands
        except FormatError:
            commands = ()
        texts = [(each.text, each.line) for each in commands if _may_download(each.text)]
    return [
        (match["name"], match["into"], line or line_at(text, match.start()))
        for text, line in texts
        for pattern in _DOWNLOADS
        for match in islice(pattern.finditer(text), MOST_DOWNLOADS)
    ]
