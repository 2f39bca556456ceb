"""Commands that start a program, by themselves or in a container, rather than print, find or wrap one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, pairwise

from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.shell import Command, is_finder
from clusterspec.exchange.shell_text import script_in
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.container_runs import CONTAINERS, engine_at_entry, engine_of_image
from clusterspec.logs.text_lines import line_at

_NO_LAUNCHERS = {
    "echo",
    "printf",
    "kill",
    "ps",
    "awk",
    "sed",
    "which",
    "pip",
    "pip3",
}
"""Programs that print, find or stop a launch named in their arguments instead of starting it."""
_IMAGE_TOOLS = CONTAINERS | {"apptainer", "singularity", "enroot", "skopeo", "crane", "buildah"}
_IMAGE_STEPS = frozenset(
    {
        *("pull", "build", "push", "tag", "import", "inspect", "save", "load", "copy", "export", "history"),
        *("rm", "rmi", "stop", "kill", "logs", "wait", "ps", "images", "cp", "cache"),
    }
)
"""Commands of these tools that fetch, build or move an image, or look after a container, and start nothing."""
_OF_OBJECTS = frozenset({"image", "container", "buildx", "system", "manifest", "builder"})
"""Kinds of objects that docker and podman name before a command, as in `docker image pull`."""


_CONDITIONAL = re.compile(r"\$\{[A-Za-z_]\w{0,60}:?\+[^}\n]{0,200}(?:--|\$)[^}\n]{0,200}\}")
_APPENDED = re.compile(
    r"^[ \t]{0,80}(?P<list>[A-Za-z_]\w{0,60})"
    r"(?:\+=\([ \t]{0,9}[\"']?|\+=[\"'][ \t]{1,9}|=[\"']\$\{?(?P=list)\}?[ \t]{1,9})"
    r"(?P<word>\$(?:\{(?P<held>[A-Za-z_]\w{0,60})(?::?-)?\}|(?P<name>[A-Za-z_]\w{0,60})))(?=[\s\"')])",
    re.MULTILINE,
)
"""A variable with words of its own that a line appends to a list of options: no value of an option before it."""
_HOLDS_OPTIONS = re.compile(r"(?:args|arguments|flags|opts|options|params|extra)(?:_str|_string)?$", re.IGNORECASE)
"""The usual ends of names of variables that hold options; others may hold files, or items of a loop."""
_USED = re.compile(r"\$\{?(\w{1,60})")
MOST_LINES = 200
"""Largest number of lines of a command that are looked at for words that depend on a variable."""


def conditional_words(file: InputFile, first: int) -> list[tuple[str, int]]:
    """The words, with their lines, that a command has only where a variable is set: ``${EXTRA:+--option}``, and
    ``$EXTRA`` where a branch appends it to options of the command. ``first`` is the first line of the command.
    """
    found: list[tuple[str, int]] = []
    start = max(first, 1) - 1
    try:
        lines = file.lines[start : start + MOST_LINES]
    except FormatError:  # a line longer than any of a script
        return found
    used = set[str]()
    for number, line in enumerate(lines, max(first, 1)):
        found += [(match[0], number) for match in _CONDITIONAL.finditer(line)]
        used |= set(_USED.findall(line))
        if not line.rstrip().endswith("\\"):
            break
    return found + [each for name, each in _appended_words(file.text) if name in used]


@lru_cache(maxsize=4)  # a text may hold thousands of launches
def _appended_words(text: str) -> tuple[tuple[str, tuple[str, int]], ...]:
    """The variables that lines append to lists of options, as ``${NAME}`` with the line, each with its list.

    >>> _appended_words('A=(--tp 2)\\n[ -n "$MORE_ARGS" ] && \\\\\\n  A+=(${MORE_ARGS:-})\\nA+=(--port $P)')
    (('A', ('${MORE_ARGS}', 3)),)
    """
    return tuple(
        (match["list"], (f"${{{match['held'] or match['name']}}}", line_at(text, match.start("word"))))
        for match in islice(_APPENDED.finditer(text), MOST_LINES)
        if _HOLDS_OPTIONS.search(match["held"] or match["name"])
    )


def is_launch(command: Command, launch: re.Pattern[str]) -> bool:
    """Whether a command is a launch itself, not a wrapper of a quoted script that holds one (``bash -c "…"``)."""
    if is_finder(command) or _program_of(command) in _NO_LAUNCHERS or _only_prints(command):
        return False
    if _opens_shell(command) or _handles_image(command):
        return False
    held = any(launch.search(script) for word in command.words if (script := script_in(word.text)) is not None)
    return not held and bool(launch.search(_without_image(command).text))


_IMAGE_OPTION = re.compile(r"--container-image(?:=.*)?", re.DOTALL)


def _without_image(command: Command) -> Command:
    """A command without the image in which it starts a program of its own, which the image does not start: that of
    Pyxis (``srun --container-image``) and of ``apptainer exec``.
    """
    words = list(command.words)
    texts = [word.text.rpartition("/")[2] for word in words[:8]]
    at = next((n for n, text in enumerate(texts) if text in _EXECUTORS), None)
    if at is not None and "exec" in texts[at + 1 : at + 3]:
        image = next((n for n, word in enumerate(words[at + 2 :], at + 2) if _IMAGE.fullmatch(word.text)), None)
        words = [word for n, word in enumerate(words) if n != image]
    found = next((n for n, word in enumerate(words) if _IMAGE_OPTION.fullmatch(word.text)), None)
    if found is not None:
        del words[found : found + (1 if "=" in words[found].text else 2)]
    return command._replace(words=tuple(words))


_EXECUTORS = frozenset({"apptainer", "singularity"})
_IMAGE = re.compile(r"docker://\S{1,300}|\S{1,300}\.(?:sif|simg|img|sqsh)")


OUTPUT = re.compile(r"\$\((?!\()[^)]{0,200}\)?|`[^`]{0,200}`")
"""The output of a command in place of words; not inside a word, such as a folder."""


def fills_launch(array: Command, launch: re.Pattern[str]) -> bool:
    """Whether an array of a script holds the words of a launch, aside from commands whose output fills it."""
    return bool(launch.search(" ".join(word.text for word in array.words if not word.text.startswith(("$(", "`")))))


GAP = r"(?:[ \t]|\\\n){1,200}"
"""Between two words of one command: blanks, and ends of lines that a backslash continues."""


def program_in_variable(program: str) -> str:
    """The end of a pattern, for the command ``serve`` of a program that a variable or another command names.

    >>> pattern = re.compile("vllm serve" + program_in_variable("vllm"))
    >>> [bool(pattern.search(each)) for each in ('"${VLLM_BIN}" serve', "$(command -v vllm) serve", "$PORT serve")]
    [True, True, False]
    """
    variable = rf"\$\{{?\w{{0,40}}{program}\w{{0,40}}(?::-[^}}\n]{{0,200}})?\}}?"
    return rf"|(?i:{variable}|\b{program}\))[\"']?{GAP}serve\b"


_AS_ANOTHER = frozenset({"sudo", "doas"})
_TAKING_A_VALUE = frozenset({"-u", "-g", "-p", "-C", "-h", "-U", "-D", "-R", "-T", "-r", "-t", "--user", "--group"})
"""Options of sudo whose value is the next word (sudo(8))."""


def _program_of(command: Command) -> str:
    """The name of the program that a command starts, after `sudo` and its options."""
    words = command.words
    return words[min(_after_sudo(command), len(words) - 1)].text.rpartition("/")[2]


def _after_sudo(command: Command) -> int:
    """The index of the first word after `sudo`, its options and the variables that it sets; 0 without it."""
    words = [word.text for word in command.words]
    at = 0
    if words and words[0].rpartition("/")[2] in _AS_ANOTHER:
        at = 1
        while at < len(words) and (words[at].startswith("-") or "=" in words[at]):
            at += 2 if words[at] in _TAKING_A_VALUE else 1
    return at


SHELLS = frozenset({"bash", "sh", "zsh"})


def in_container(command: Command) -> Command:
    """The command of a container whose entry point is an engine (``docker run --entrypoint vllm …``), or an engine that
    its arguments show; it may follow `sudo`.
    """
    after = command._replace(words=command.words[_after_sudo(command) :])
    words = [word.text for word in after.words]
    if not words or words[0] not in CONTAINERS:
        return command
    return engine_at_entry(after) or engine_of_image(after) or command


def _handles_image(command: Command) -> bool:
    """Whether a command fetches, builds or moves an image, or looks after a container (``apptainer pull IMAGE``)."""
    words = [word.text for word in command.words[:8]]
    at = next((n for n, word in enumerate(words[:3]) if word.rpartition("/")[2] in _IMAGE_TOOLS), None)
    if at is None:
        return False
    steps = (word for word in words[at + 1 :] if word not in _OF_OBJECTS and not word.startswith("-"))
    return next(steps, "") in _IMAGE_STEPS


def _only_prints(command: Command) -> bool:
    """Whether a command prints the options or the release of a program instead of starting it."""
    return command.words[-1].text in {"--help", "--version"}


def _opens_shell(command: Command) -> bool:
    """Whether a command only opens a shell in a container (``docker run … IMAGE bash``, ``--entrypoint bash``)."""
    words = [word.text for word in command.words if word.text.isprintable() and word.text]
    runs = "run" in words and any(word in CONTAINERS for word in words[: words.index("run")])
    entry = re.search(r"--entrypoint[ =](?:\S{0,80}/)?(\w+)", " ".join(words))
    return runs and (words[-1].rpartition("/")[2] in SHELLS or bool(entry and entry[1] in SHELLS and "-c" not in words))


_REST = re.compile(r"--[A-Za-z]|\+{0,2}[A-Za-z_]\w{0,100}(?:\.\w{1,100}){1,20}=")
"""The beginning of an option or override, with which no command begins."""


_NEAR = 20
"""Lines of comments that may cut off a part of a launch; options further below belong to another container."""


def severed_part(command: Command, commands: Sequence[Command]) -> Command | None:
    """The command that consists only of options because a comment, or a line without a backslash, cuts them off a
    launch: the command after the launch, or the launch itself if its program is in the command before.
    """
    for before, after in pairwise(commands):
        if command is not before and command is not after:
            continue
        near = 0 <= after.line - max(word.line for word in before.words) <= _NEAR
        rest = near and bool(_REST.match(after.words[0].text))
        if rest and (before is command or (after is command and any(_REST.match(each.text) for each in before.words))):
            return after
    return None


def whole_launches(commands: Sequence[Command], launch: re.Pattern[str]) -> list[Command]:
    """The commands that ``launch`` finds, without options that a comment separates from their command."""
    found = [each for each in commands if launch.search(each.text)]
    starts = {id(each) for each in found if not _REST.match(each.words[0].text)}
    if len(starts) in {0, len(found)}:
        return found
    cut = {id(severed_part(a, (a, b))) for a, b in pairwise(commands) if id(a) in starts}
    return [each for each in found if id(each) not in cut]


_BEFORE_MODEL = frozenset({"serve", "trtllm-serve"})


_SEVERAL_VALUES = frozenset({"--served-model-name", "--lora-modules", "--api-key", "--middleware", "--allowed-origins"})
"""Options of the server that take several words."""


def positional_model(command: Command) -> Word | None:
    """The word after ``serve`` or ``trtllm-serve``, unless it is an option or the output of a command; else a path or
    repository after the value of an option.
    """
    pairs = pairwise(command.words)
    after = (word for before, word in pairs if before.text.split("/")[-1] in _BEFORE_MODEL and word.text != "serve")
    named = next((word for word in after if not (word.text.startswith("-") or OUTPUT.fullmatch(word.text))), None)
    return named or _after_value(command.words)


def _after_value(words: Sequence[Word]) -> Word | None:
    """The path or repository that follows an option with its value, among the options of ``serve``."""
    start = next((n for n, word in enumerate(words) if word.text.split("/")[-1] in _BEFORE_MODEL), len(words))
    for option, value, word in zip(words[start:], words[start + 1 :], words[start + 2 :], strict=False):
        stated = option.text.startswith("--") and "=" not in option.text and not value.text.startswith("-")
        if stated and option.text not in _SEVERAL_VALUES and re.fullmatch(r"(?!-)[\w.$~{}-]*/[\w./$~{}-]+", word.text):
            return word
    return None


_REPOSITORY = re.compile(r"\w[\w.-]{0,95}/[\w.-]{1,96}")


def engine_path(command: Command) -> str:
    """The model that ``trtllm-serve`` starts if it is not the name of a repository; a path may lead to a built engine
    (tensorrt_llm/commands/serve.py: "model name | HF checkpoint path | TensorRT engine path").
    """
    named = positional_model(command)
    return named.text if named and not _REPOSITORY.fullmatch(named.text) else ""


_ROLLOUT_SERVER = re.compile(r"\btrl[ ]vllm-serve\b|\btrl\.scripts\.vllm_serve\b")
_TRAINING = re.compile(
    r"\b(?:accelerate[ ]launch|torchrun|torch\.distributed\.(?:run|launch)|deepspeed[ ]|trl[ ](?!vllm)[a-z]"
    r"|\w{0,40}train\w{0,40}\.py)"
)


def without_rollout_servers(text: str) -> str:
    """A text without the names of TRL's servers (trl/scripts/vllm_serve.py) where it also trains, which they serve.

    >>> without_rollout_servers("trl vllm-serve --model a\\naccelerate launch b.py")
    ' --model a\\naccelerate launch b.py'
    >>> without_rollout_servers("trl vllm-serve --model a")
    'trl vllm-serve --model a'
    """
    return _ROLLOUT_SERVER.sub("", text) if _TRAINING.search(text) else text
