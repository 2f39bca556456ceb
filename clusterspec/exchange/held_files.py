"""Files that a text contains in addition to the launch that refers to them: in a ConfigMap, or in a here-document of a
script.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import dedent
from typing import TYPE_CHECKING

from clusterspec.exchange.documents import read_documents
from clusterspec.exchange.import_result import (
    FileLine,
    FormatError,
    ImportResult,
    InputFile,
    SeveralParts,
    SkippedPart,
    combined_result,
    without_comments,
)
from clusterspec.exchange.shell import script_of, variables_of
from clusterspec.exchange.workloads.container_scripts import script_of_containers
from clusterspec.exchange.workloads.jobs.pod_batches import with_batch_of_pods
from clusterspec.exchange.written_documents import here_documents
from clusterspec.logs.statements.required_words import first_match
from clusterspec.logs.text_lines import line_at
from clusterspec.records import replace
from clusterspec.source import value_at
from clusterspec.units import plural

if TYPE_CHECKING:
    from clusterspec.exchange.import_formats import ImportFormat

LAUNCHED = (
    *("maxtext", "megatron", "torchtitan", "verl", "easyr1", "skyrl", "torchtune", "litgpt", "colossalai", "neuronx"),
    *("openrlhf", "trainer"),
)
"""Formats of launches that objects of Kubernetes hold as commands of their containers."""
STARTED = ("serving", *LAUNCHED)
"""Formats of launches that are reported as also present in a text with the output of a tool."""
_SEPARATE = "a separate file"
_NAME = re.compile(r"(?:^|[\s/:=])([\w.-]{1,80}\.(?:toml|ya?ml|json))$")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w{0,60})")
_OBJECTS = re.compile(r"^kind[ \t]*:[ \t]*ConfigMap\b", re.MULTILINE)


def with_files_in_text(
    file: InputFile, launch: ImportResult, read: Callable[[InputFile], ImportResult | None]
) -> ImportResult:
    """A launch with the values of the files that it refers to and that its text contains. ``read`` reads such a file or
    returns None. Values that the launch itself states take precedence.
    """
    named = [part for part in launch.unknown if part.why.startswith(_SEPARATE) and _NAME.search(part.what)]
    if not named or not ("<<" in file.text or _OBJECTS.search(file.text)):
        return launch
    found, answered, open_ = list[ImportResult](), list[SkippedPart](), list[SkippedPart]()
    for part in named:
        name = _NAME.findall(part.what)[0]
        read_ones = [inner for held in _files_in_text(file, name) if (inner := _reading_of(held, read)) is not None]
        if not read_ones:
            continue
        answered.append(part)
        if why := _reason_unread(file, name, len({held.data.strip() for held in _files_in_text(file, name)})):
            open_.append(SkippedPart(part.what, why, part.at))
        else:
            found.append(read_ones[0])
    if not answered:
        return launch
    left = (*(part for part in launch.unknown if part not in answered), *open_)
    return combined_result([replace(launch, unknown=left), *found])


def _reading_of(held: InputFile, read: Callable[[InputFile], ImportResult | None]) -> ImportResult | None:
    try:
        return read(held)
    except (FormatError, SeveralParts):
        return None


def _reason_unread(file: InputFile, name: str, texts: int) -> str:
    """Why a file that a script writes is not read: there are several texts with the name, or it is written in a branch.
    Empty otherwise.
    """
    if texts > 1:
        return f"the text holds {texts} files of this name, which differ: import the one that the run takes"
    if _OBJECTS.search(file.text):
        return ""
    branches = {command.line: command.branch for command in script_of(file.text).commands if command.branch}
    found = (first for first, _ in _documents_named(file.text, name))
    tests = (branches.get(first, 0) for first in found)
    test = next((each for each in tests if each), 0)
    return f"written only if the test on line {test} is true, and the script does not decide that" if test else ""


def machine_with_launch(file: InputFile, found: ImportResult, kinds: Sequence[ImportFormat]) -> ImportResult:
    """The machine that Kubernetes objects request, with the first launch of the given formats in one of their
    containers, or in those of the chosen object. Values from the launch of a chosen object take precedence, since other
    objects may be added to it.
    """
    chosen = file.part is not None
    file = _chosen_object(file, found) if chosen else file
    several = None
    for given, kind in _texts_of_launches(file, kinds):
        try:
            if kind.matches(given):
                launch = kind.read_as_one_format(given)
                return with_batch_of_pods(file, combined_result([launch, found] if chosen else [found, launch]))
        except SeveralParts as choices:
            several = several or (kind.name, choices)
        except FormatError:
            continue
    return _with_unread_options(file, _with_open_choice(file, found, several))


def _texts_of_launches(file: InputFile, kinds: Sequence[ImportFormat]) -> Iterator[tuple[InputFile, ImportFormat]]:
    """The commands that containers of objects list as words, with each format, then the objects themselves."""
    if (script := script_of_containers(file)) is not None:
        yield from ((script, kind) for kind in kinds)
    yield from ((file, kind) for kind in kinds)


def _with_open_choice(file: InputFile, found: ImportResult, several: tuple[str, SeveralParts] | None) -> ImportResult:
    """A machine with a note on the launches of its objects, if several differ and none was read."""
    if several is None:
        return found
    name, choices = several
    listed = SkippedPart(f"launches of {name}", f"it {choices}", FileLine(file.name, 0))
    return replace(found, unknown=(*found.unknown, listed))


_STARTS = re.compile(
    r"\bvllm serve\b|\bvllm\.entrypoints|\bsglang\.launch_server\b|\btrtllm-serve\b|\btorchrun\b|\bpretrain_gpt\.py\b"
    r"|\bMaxText[./]\w{0,40}train"
)
"""Programs; every text with a launch names at least one of them."""


def with_launch_listed(file: InputFile, found: ImportResult, kinds: Iterable[ImportFormat]) -> ImportResult:
    """The result of a tool's output, with a note that the text also has a launch, which can be imported separately."""
    started = _STARTS.search(file.text)
    kind = next((each for each in kinds if each.matches(file) and _has_launch(each, file)), None) if started else None
    if started is None or kind is None:
        return found
    why = f"the text starts it: import it with the KIND {kind.name}"
    at = FileLine(file.name, file.line_at(started.start()))
    return replace(found, unknown=(*found.unknown, SkippedPart(started[0], why, at)))


def _has_launch(kind: ImportFormat, file: InputFile) -> bool:
    """Whether a format can read a launch, or several to choose from, in a text."""
    try:
        return bool(kind.read_as_one_format(file).given)
    except SeveralParts:
        return True
    except FormatError:
        return False


def _chosen_object(file: InputFile, found: ImportResult) -> InputFile:
    """A file with only the object from which a result was read, on its original lines."""
    line = min((each.at.line for each in found.given or found.counts if each.at.line), default=0)
    marks = [number for number, text in enumerate(file.lines, 1) if text.rstrip() == "---"]
    start = max((mark for mark in marks if mark < line), default=0)
    end = min((mark for mark in marks if mark > line), default=len(file.lines) + 1)
    kept = "\n" * start + "\n".join(file.lines[start : end - 1])
    return InputFile(file.name, kept.encode()) if line else file


_OPTION = re.compile(r"(?<![^\s\"',\[])--(?P<name>[A-Za-z][\w.-]{1,60})(?=[\s=\"',\\\]]|$)", re.MULTILINE)
_UNRELATED = frozenset({"allow-run-as-root", "help", "no-cache-dir", "version", "upgrade", "yes"})
MOST_OPTIONS = 60
_PYTHON_FILE = re.compile(r"(?<![\w.-])([\w-][\w.-]{0,60}\.py)\b")


def _with_unread_options(file: InputFile, found: ImportResult) -> ImportResult:
    """A machine with the note that no options of container commands were read."""
    text = without_comments(file.text)
    matches = [match for match in _OPTION.finditer(text) if match["name"] not in _UNRELATED]
    if not matches:
        return found
    names = list(dict.fromkeys(match["name"] for match in matches))
    shown = ", ".join(names[:MOST_OPTIONS]) + (", …" if len(names) > MOST_OPTIONS else "")
    programs = ", ".join(list(dict.fromkeys(_PYTHON_FILE.findall(text)))[:3])
    why = f"of commands that no reader knows{f' ({programs})' if programs else ''}: not read: {shown}"
    line = FileLine(file.name, line_at(text, matches[0].start("name")))
    return replace(found, unknown=(*found.unknown, SkippedPart(plural(len(names), "option"), why, line)))


def _files_in_text(file: InputFile, name: str) -> Iterator[InputFile]:
    """The files with a name; each begins with empty lines so that its lines keep their numbers."""
    if _OBJECTS.search(file.text):
        for yaml in read_documents(file):
            text = value_at(yaml.value, "data", name) if yaml.mapping.get("kind") == "ConfigMap" else None
            if isinstance(text, str):
                yield InputFile(file.name, ("\n" * yaml.line("data", name) + text).encode())
    for first, body in _documents_named(file.text, name):
        yield InputFile(file.name, ("\n" * first + dedent(body)).encode())


def _documents_named(text: str, name: str) -> Iterator[tuple[int, str]]:
    """The here-documents of a script that are written to a file with a name, which is given directly or by a variable
    (``> "$CONFIG"``); each with the index of its first line.
    """
    lines = text.split("\n")
    written = [(first, body, lines[first - 1][:500]) for first, body, _ in here_documents(text)]
    held = variables_of(text) if any("$" in opened for _, _, opened in written) else {}
    pattern = re.compile(rf"(?:^|[\s/\"'>]){re.escape(name)}(?![\w.-])")
    for first, body, opened in written:
        named = [held[each].text for each in _VARIABLE.findall(opened) if each in held]
        if any(pattern.search(each) for each in (opened, *named)):
            yield first, body


_FULL_NODE = 8
"""Number of accelerators of a usual node. A pod that requests fewer may share a node with other pods."""
_PART = re.compile(r"^[^#\n]{0,200}?(?<![\w.])(nvidia\.com/mig-[\w.]{1,40})[\"']?[ \t]*:", re.MULTILINE)
"""A request for slices of accelerators (MIG)."""
_REQUEST = re.compile(
    r"^[^#\n]{0,200}?(?<![\w.])((?:nvidia|amd)\.com/gpu)[\"']?[ \t]*:[ \t]*[\"']?([1-9][0-9]{0,3})\b", re.MULTILINE
)
_RESOURCES = re.compile(r"(?:^(?![ \t]*#)|[{,\"])[^#\n]{0,80}?\bresources[\"']?[ \t]*:", re.MULTILINE)
"""The key of the resources of a container."""
_OF_POD = re.compile(r"(?:nvidia|amd|habana|intel)\.(?:com|ai)/\S{1,40}[\"']?[ \t]*:|\bgpu[\"']?[ \t]*:")


def with_pods_named(file: InputFile, found: ImportResult) -> ImportResult:
    """A result with notes on slices of accelerators and on unused requests, and a note if the accelerators of a node
    are only those of a pod because the pod requests fewer than usual nodes have.
    """
    value = next((each for each in found.given if each.path == ("cluster", "accelerators_per_node")), None)
    told = value or any("accelerators" in part.what or part.what.startswith("layout.nodes") for part in found.unknown)
    open_ = found.kind.startswith("serving") and not told and ".com/gpu" in file.text
    requests = list(_REQUEST.finditer(file.text)) if open_ else []
    if slices := first_match(_PART, file.text):
        why = "parts of accelerators (MIG): a spec has whole ones"
        listed = SkippedPart(slices[1], why, _file_line(file, slices))
    elif len({request[2] for request in requests}) == 1:
        why = "asked for by a container, whose node the file does not describe: state cluster.accelerators_per_node"
        listed = SkippedPart(f"{requests[0][1]}: {requests[0][2]}", why, _file_line(file, requests[0]))
    elif value and isinstance(value.value, int) and value.value < _FULL_NODE and _is_of_pod(file, value.at.line):
        why = "of a pod: a node may have more, and hold several pods"
        listed = SkippedPart(f"cluster.accelerators_per_node: {value.value}", why, value.at)
    else:
        return found
    return replace(found, unknown=(*found.unknown, listed))


def _file_line(file: InputFile, match: re.Match[str]) -> FileLine:
    return FileLine(file.name, file.line_at(match.start(1)))


def _is_of_pod(file: InputFile, line: int) -> bool:
    """Whether the line, or one of the 200 lines after it, has resources of a pod."""
    lines = file.text.split("\n")
    near = "\n".join(lines[max(0, line - 1) : line + 200])
    return bool(_RESOURCES.search(file.text) and _OF_POD.search(near))
