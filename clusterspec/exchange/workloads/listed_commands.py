"""Commands that a YAML document or a Python file holds as lists of words, and the scripts among them.

A container of Kubernetes starts ``command`` and ``args``, one of Compose ``entrypoint`` and ``command``; what they
leave out is the entry point of the image. SkyPilot starts ``run`` with the variables ``envs``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from shlex import split as shell_split
from typing import Any

from clusterspec.exchange.documents import Yaml, read_documents
from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.pages import is_page_or_script
from clusterspec.exchange.shell import Command, script_of
from clusterspec.exchange.shell_words import Word
from clusterspec.source import value_at

Path = tuple[str | int, ...]


def listed_commands(file: InputFile) -> list[Command]:
    """The lists of words, one argument each, that a YAML document or a Python file holds."""
    inspected = bool(_INSPECTED.match(file.text))
    if not inspected and not _LISTED.search(file.text):
        return []
    try:
        documents = read_documents(file)
    except FormatError:
        return []
    if inspected:
        return [command for each in documents for command in _inspected_commands(each)]
    return [command for each in documents for command in _listed_commands_in(each, each.value, ())]


_INSPECTED = re.compile(r"\s{0,9}\[\s{0,9}\{\s{0,9}\"Id\"\s{0,9}:(?:[^\n]{0,400}\n){1,4}[^\n]{0,400}\"Args\"\s{0,9}:")
"""The beginning of the JSON of ``docker inspect`` and ``podman inspect`` of containers."""


def _inspected_commands(yaml: Yaml) -> Iterator[Command]:
    """The processes of inspected containers: their program and its arguments, with all variables filled in."""
    for number, container in enumerate(yaml.value if isinstance(yaml.value, list) else ()):
        if isinstance(container, dict):
            program = _listed_words(yaml, container.get("Path"), (number, "Path"))
            if words := [*program, *_listed_words(yaml, container.get("Args"), (number, "Args"))]:
                yield Command(tuple(words))


def refuse_broken_objects(file: InputFile) -> None:
    """Raise `FormatError`, with the line, if a file of Kubernetes objects is no YAML, so that no command is read."""
    if re.search(r"^apiVersion[ \t]*:", file.text, re.MULTILINE) and not is_page_or_script(file.text):
        read_documents(file)


_LISTED = re.compile(
    r"(?:^|[{,])[ \t]*(?:-[ \t]+)?\"?(?:args|arguments|\w{0,40}(?:command|cmd)|commands|entrypoint"
    r"|\w{1,40}[_-](?:args|arguments|options|flags))\"?[ \t]*:"
    r"|\A(?s:.*)^run[ \t]*:[ \t]*[|>]",
    re.MULTILINE,
)
_IMAGES = ("image", "docker_image", "container_image")
"""Keys of the image of a container, of Kubernetes and Compose and of configurations of sites."""
_OWN_SERVER = re.compile(r"(?:\S{0,200}/)?vllm-openai(?:[:@]\S{0,200})?")
"""Images whose entry point is ``vllm serve``, before 0.11 the server module (vllm-project/vllm, docker/Dockerfile)."""
OWN_BUILD = re.compile(r"(?:\S{0,200}/)?(?:[\w.-]{1,80}-)?vllm(?:-[\w.-]{1,80})?(?:[:@]\S{0,200})?")
"""Images that a site builds on those and names after the engine: their options show that they keep the entry point."""
_OPTIONS = re.compile(r"(?:^|\s)--(?:model|tensor-parallel-size)(?:[ =]|$)")
_MODEL = re.compile(r"-|\$\{\w+\}(?=\s|$)|[A-Za-z0-9][\w.-]{0,80}/[\w.-]{1,120}(?=\s|$)")
"""The first argument of an image whose entry point is the server: an option, or a model."""
_PATH = re.compile(
    r"/\S{1,300}(?<!\.sh)(?<!\.py)\s+--(?:max-model-len|max-num-\w[\w-]*|gpu-memory-utilization|tensor-parallel-size|dtype"
    r"|served-model-name|quantization|host|port|trust-remote-code|enforce-eager)\b"
)
"""A path of a model, as an option of the server behind it shows."""
_NAMED = re.compile(r"\w{1,40}_(?:command|cmd)")
"""Keys of a command as text, such as ``server_cmd``."""
_TWO_DOLLARS = re.compile(r"\$\$(?=[A-Za-z_{(])")
_DEFAULTED = re.compile(r"\$\{\w+:?-([^${}]*)\}")


def _listed_commands_in(yaml: Yaml, value: Any, path: Path) -> Iterator[Command]:
    """The commands of a YAML value. The entries of one mapping form one command; scripts among its words are read too.

    ``commands`` of dstack are lines of one script.
    """
    if isinstance(value, dict):
        yield from _script_lines(yaml, value, path)
        yield from container_commands(yaml, value, path)
        if not path and isinstance(value.get("run"), str) and {"resources", "envs", "setup"} & value.keys():
            yield from _commands_in(Word(value["run"], yaml.text_line("run")), container_variables(yaml, value, ()))
        for key, text in value.items():
            if isinstance(text, str) and _NAMED.fullmatch(str(key)):
                yield from _commands_in(Word(text, yaml.text_line(*path, key)), container_variables(yaml, value, path))
            elif isinstance(text, list) and _NAMED.fullmatch(str(key)):
                yield from _engine_of_options(yaml, value, (*path, key))
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _listed_commands_in(yaml, inner, (*path, key))


def _engine_of_options(yaml: Yaml, value: dict[str, Any], path: Path) -> Iterator[Command]:
    """The launch of vLLM by a list of its options, next to the model that it serves (``server_cmd``).

    Source: vllm-project/vllm-ascend, tests/e2e/nightly/single_node/models/configs.
    """
    model, words = value.get("model"), _listed_words(yaml, value.get(str(path[-1])), path)
    if not isinstance(model, str) or not words or not words[0].text.startswith("--"):
        return
    if not ENGINE_OPTIONS.isdisjoint(word.text.partition("=")[0] for word in words):
        line = yaml.text_line(*path[:-1], "model")
        yield Command((Word("vllm", line), Word("serve", line), Word(model, line), *words))


def container_commands(yaml: Yaml, value: dict[str, Any], path: Path) -> Iterator[Command]:
    """The command that a container starts, with variables filled in, and the commands of scripts among its words."""
    sets = container_variables(yaml, value, path)
    words = [with_variables(_with_defaults(word, value), sets) for word in _container_words(yaml, value, path)]
    image = next((str(value[name]) for name in _IMAGES if value.get(name)), "None")
    if "services" in yaml.mapping:  # Compose writes a dollar sign twice that the shell shall see
        words = [word._replace(text=_TWO_DOLLARS.sub("$", word.text)) for word in words]
    if words and _starts_server(image, words):
        started = "vllm serve"
        if len(words) == 1:  # one text
            words = [words[0]._replace(text=f"{started} {words[0].text}")]
        else:
            words = [*(Word(each, words[0].line) for each in started.split()), *words]
    elif _passes_to_server(image, words):
        words = [words[0], *(Word(each, words[0].line) for each in ("vllm", "serve")), *words[1:]]
    if words:
        yield Command(tuple(words))
    for word in words:
        if re.search(r"\s--?[A-Za-z]", word.text):
            yield from _commands_in(word, sets)


def _starts_server(image: str, words: list[Word]) -> bool:
    """Whether the words are arguments of a server that the image itself starts."""
    if image == "None":  # a patch of a container, whose options are those of vLLM alone
        own = {word.text.partition("=")[0] for word in words} & ENGINE_OPTIONS
        return len(own) > 1 and bool(_MODEL.match(words[0].text))
    given = " ".join(word.text for word in words)
    if _OWN_SERVER.fullmatch(image):
        return bool(_PATH.match(given) or _MODEL.match(words[0].text))
    image = _DEFAULTED.sub(r"\1", image)
    return given.startswith("-") and bool(OWN_BUILD.fullmatch(image) and _OPTIONS.search(given))


ENGINE_OPTIONS = frozenset(
    {"--max-model-len", "--max-num-seqs", "--max-num-batched-tokens", "--gpu-memory-utilization"}
)
"""Options that vLLM alone has."""


def _passes_to_server(image: str, words: list[Word]) -> bool:
    """Whether a container with an image of vLLM starts its own script with options that the script passes to the
    server.
    """
    if len(words) < 2 or not re.fullmatch(r"\S{1,200}\.sh", words[0].text):
        return False
    return bool(OWN_BUILD.fullmatch(image)) and not ENGINE_OPTIONS.isdisjoint(word.text for word in words[1:])


def _container_words(yaml: Yaml, value: dict[str, Any], path: Path) -> list[Word]:
    """The words that a container starts; text next to an entry point, or to options by name, is split into words."""
    found: list[Word] = []
    text = value.get("command") or ""
    if isinstance(text, str) and (options := list(_mapped_options(yaml, value, path))):
        words = _listed_words(yaml, text, (*path, "command")) if text else []
        return [*(Word(each, word.line) for word in words for each in _split_words(word.text)), *options]
    for key in ("entrypoint", "command", "cmd", "args", "arguments"):
        words = _listed_words(yaml, value.get(key), (*path, key))
        if value.get("entrypoint") and isinstance(value.get(key), str):
            words = [Word(each, word.line) for word in words for each in _split_words(word.text)]
        found += words
    return found


_ARGUMENTS = re.compile(r"(?:\w{1,40}[_-])?(?:args|arguments|options|flags)")
"""Keys of options by name."""


def _mapped_options(yaml: Yaml, value: dict[str, Any], path: Path) -> Iterator[Word]:
    """The options of a command that the mapping around it holds by name (``app_args: {tp-size: 8}``)."""
    for key, options in value.items():
        if not isinstance(options, dict) or not _ARGUMENTS.fullmatch(str(key)):
            continue
        for name, stated in options.items():
            line = yaml.line(*path, key, name)
            if stated is not None and stated is not False and isinstance(stated, str | int | float):
                yield Word(f"--{str(name).lstrip('-')}", line)
                if stated is not True:
                    yield Word(str(stated), line)


def _split_words(text: str) -> list[str]:
    try:
        return shell_split(text)
    except ValueError:  # a quote that is not closed
        return [text]


def _commands_in(word: Word, sets: dict[str, str]) -> Iterator[Command]:
    """The commands of a script in one word, after the variables that its container sets."""
    before = "".join(f"{name}={quote(text)}; " for name, text in sets.items() if name.isidentifier())
    for found in script_of(before + word.text).commands:
        yield Command(tuple(_word_on_line(each, word.line) for each in found.words))


_OF_CHARTS = ("extraEnv", "extraEnvs", "envVars", "extraEnvVars")
"""Names that charts give to the variables of a container."""


def container_variables(yaml: Yaml, value: dict[str, Any], path: Path) -> dict[str, str]:
    """The variables of a container: a list of names and values, or of ``NAME=value``, or a mapping; with the size of
    the group that a LeaderWorkerSet gives its pods.
    """
    found: dict[str, str] = {}
    for key in ("env", "environment", "envs", *_OF_CHARTS):
        sets = value.get(key)
        if isinstance(sets, dict):
            found |= {str(name): str(text) for name, text in sets.items() if isinstance(text, str | int | float)}
        for each in sets if isinstance(sets, list) else ():
            if isinstance(each, dict) and isinstance(each.get("value"), str | int | float):
                found[str(each.get("name"))] = str(each["value"])
            elif isinstance(each, str) and "=" in each:
                name, _, text = each.partition("=")
                found[name] = text
    group = value_at(yaml.value, "spec", "leaderWorkerTemplate", "size")
    if yaml.mapping.get("kind") == "LeaderWorkerSet" and isinstance(group, int):
        found.setdefault("LWS_GROUP_SIZE", str(group))
    return {name: text for name, text in found.items() if text and "${" not in text}


_NAMES = re.compile(r"\{([a-z_]{1,60})\}")


def _with_defaults(word: Word, value: dict[str, Any]) -> Word:
    """A word of a recipe of sparkrun with each ``{name}`` filled in from its ``defaults`` and its ``model``.

    Source: spark-arena/sparkrun at 0041b8fb, src/sparkrun/core/recipe.py, ``render_command``, read 2026-11-25.
    """
    defaults = value.get("defaults")
    if not isinstance(defaults, dict):
        return word
    given = {"model": value.get("model"), **defaults}
    plain = {name: str(text) for name, text in given.items() if isinstance(text, str | int | float)}
    return word._replace(text=_NAMES.sub(lambda match: plain.get(match[1], match[0]), word.text))


def with_variables(word: Word, sets: dict[str, str]) -> Word:
    """A word with Kubernetes' ``$(NAME)`` replaced, and with the default of a variable that makes up the whole word."""
    text = re.sub(r"\$\((\w+)\)", lambda match: sets.get(match[1], match[0]), word.text)
    return word._replace(text=_DEFAULTED.sub(r"\1", text) if not re.search(r"\s", text) else text)


def _script_lines(yaml: Yaml, value: dict[str, Any], path: Path) -> Iterator[Command]:
    """The commands of a list of script lines, after the variables set by ``env`` in the same mapping."""
    lines = _listed_words(yaml, value.get("commands"), (*path, "commands"))
    if not isinstance(value.get("commands"), list) or not lines:
        return
    sets = container_variables(yaml, value, path).items()
    assigned = [Word(f"{name}={quote(text)}", lines[0].line) for name, text in sets if name.isidentifier()]
    lines = [*assigned, *lines]
    script = script_of("\n".join(word.text.replace("\n", " ") for word in lines))
    yield from (
        Command(tuple(word._replace(line=lines[min(word.line, len(lines)) - 1].line) for word in each.words))
        for each in script.commands
    )


def _listed_words(yaml: Yaml, value: Any, path: Path) -> list[Word]:
    if isinstance(value, str):
        return [Word(value, yaml.text_line(*path))]
    listed = enumerate(value) if isinstance(value, list) else ()
    return [Word(str(item), yaml.text_line(*path, n)) for n, item in listed if isinstance(item, str | int | float)]


def _word_on_line(word: Word, line: int) -> Word:
    return word._replace(line=word.line + line - 1)
