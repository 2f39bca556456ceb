"""Containers of NVIDIA NIM that a manifest, a Compose file or a script runs: their model and the engine's degrees.

Variables: NIM for LLMs 2.0.11, Advanced Configuration ("NIM_* variables that map to active-backend arguments",
docs.nvidia.com/nim/large-language-models/2.0.11/reference/advanced-configuration.html, read 2026-11-29). Their image is
named after the model; other services of NIM (embeddings, speech) have images of the same registry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from clusterspec.exchange.documents import Yaml, read_documents
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.shell import Command, script_of
from clusterspec.exchange.workloads.container_scripts import mappings_in
from clusterspec.exchange.workloads.keys import Keys
from clusterspec.exchange.workloads.model_files.models import catalog_model
from clusterspec.source import value_at

_REGISTRY = "nvcr.io/nim/"
_IMAGE = re.compile(r"nvcr\.io/nim/[\w.-]{1,60}/(?P<model>[\w.-]{1,100}?)(?::[\w.$\{\}-]{1,60})?")
_RUNNERS = frozenset({"docker", "podman", "nerdctl", "singularity", "apptainer"})
VARIABLES = {
    "NIM_TENSOR_PARALLEL_SIZE": "tensor",
    "NIM_PIPELINE_PARALLEL_SIZE": "pipeline",
    "NIM_MODEL_NAME": "model",
    "NIM_MAX_MODEL_LEN": "max_model_len",
}
_DEFAULTED = re.compile(r"\$\{\w{1,60}:?-([^}$]{0,80})\}")
Path = tuple[str | int, ...]
_DEGREES = ("tensor", "pipeline")


def image_model(image: Any) -> str | None:
    """The model of an image of one model; None of others.

    >>> image_model("nvcr.io/nim/meta/llama-3.1-70b-instruct:1.8.0"), image_model("nvcr.io/nim/nvidia/llm-nim:1.12")
    ('llama-3.1-70b-instruct', None)
    """
    match = _IMAGE.fullmatch(str(image or ""))
    return match["model"] if match and not match["model"].startswith("llm-nim") else None


def runs_nim(file: InputFile) -> bool:
    """Whether a file runs a container of NIM for a model of the catalog, or with degrees of an engine."""
    return _REGISTRY in file.uncommented and bool(nim_containers(file))


def nim_containers(file: InputFile) -> list[Keys]:
    """What the containers of language models state, each once."""
    found = [keys for keys in (*_of_documents(file), *_of_commands(file)) if _is_language_model(keys)]
    different = {tuple((name, value[0]) for name, value in keys.values.items()): keys for keys in reversed(found)}
    return list(different.values())[::-1]


def _is_language_model(keys: Keys) -> bool:
    return keys.find(*_DEGREES) is not None or catalog_model(str(keys.get("model"))) is not None


def _of_documents(file: InputFile) -> Iterator[Keys]:
    """The containers of the objects and services of a file."""
    if not re.search(r"^[ \t-]*image[ \t]*:", file.text, re.MULTILINE):
        return
    try:
        documents = read_documents(file)
    except FormatError:
        return
    for yaml in documents:
        for value, path in mappings_in(yaml.mapping, ()):
            if _IMAGE.fullmatch(str(value.get("image"))):
                yield _keys_of(
                    str(value["image"]), yaml.line(*path, "image"), dict(container_variables_of(yaml, value, path))
                )


def container_variables_of(yaml: Yaml, value: Mapping[str, Any], path: Path) -> Iterator[tuple[str, tuple[str, int]]]:
    """The variables of a container, each with its value and line; one with a default in the text has that."""
    for key in ("env", "environment"):
        stated = value.get(key)
        for at, each in stated.items() if isinstance(stated, dict) else enumerate(stated or ()):
            name, text = str(at), each
            if isinstance(stated, list):
                pair = str(each).partition("=") if isinstance(each, str) else ()
                name, text = (pair[0], pair[2]) if pair else (str(value_at(each, "name")), value_at(each, "value"))
            if isinstance(text, str | int | float) and (filled := _DEFAULTED.sub(r"\1", str(text))):
                yield name, (filled, yaml.line(*path, key, at))


def _of_commands(file: InputFile) -> Iterator[Keys]:
    """The containers that the commands of a script run."""
    try:
        commands = script_of(file.text).commands if re.search(r"\b(?:run|exec)\s", file.text) else ()
    except FormatError:
        return
    for command in commands:
        image = next((word for word in command.words if _IMAGE.fullmatch(word.text.removeprefix("docker://"))), None)
        if image is not None and command.words[0].text.rpartition("/")[2] in _RUNNERS:
            yield _keys_of(image.text.removeprefix("docker://"), image.line, passed_variables(command))


def passed_variables(command: Command) -> dict[str, tuple[str, int]]:
    """The variables that a command passes to a container with their values."""
    found = {}
    for before, word in pairwise(command.words):
        inline = re.fullmatch(r"(?:--env=|-e)(\w+=.*)", word.text)
        pair = word.text if before.text in {"-e", "--env"} else inline[1] if inline else ""
        name, _, value = pair.partition("=")
        if value:
            found[name] = (value.strip("\"'"), word.line)
    return found


def _keys_of(image: str, line: int, variables: Mapping[str, tuple[str, int]]) -> Keys:
    """The keys of one container."""
    keys = Keys()
    if model := image_model(image):
        keys.put("model", model, line)
    for name, (value, at) in variables.items():
        if name in VARIABLES:
            keys.put(VARIABLES[name], value, at)
        elif name == "NIM_USE_SGLANG" and value == "1":
            keys.put("engine", "sglang", at)
    keys.put("image", image, line)
    return keys
