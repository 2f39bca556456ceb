"""Programs that a script starts and for which there is no reader; messages name them to state what the script does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.exchange.import_result import TITLE, FormatError, excerpt
from clusterspec.exchange.shell import Command, script_of
from clusterspec.records import NamedTuple

LARGEST_SCRIPT = 256 << 10
"""Maximum characters of a script; a longer text is data."""
MOST_PROGRAMS = 3
MOST_OPTIONS = 12
_SHELLS = frozenset({"bash", "sh", "source", "."})
_LAUNCHERS = frozenset({"torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch"})
"""Python modules that start another program."""
_TOOLS = frozenset(
    {"pip", "venv", "unittest", "pytest", "json.tool", "http.server", "ensurepip", "compileall", "build"}
)
"""Python modules that prepare or test, and do not train."""
_FILE = re.compile(r"[\w.-]{1,80}\.(?P<kind>py|sh|bash)")
_CONFIGURATION = re.compile(r"[\w.-]{1,100}\.(?:ya?ml|json|toml)")
_TRAIN = frozenset({"train", "sft", "rlhf", "pretrain", "finetune", "run"})
"""Subcommands of programs that read their settings from a file (``llamafactory-cli train FILE``)."""
_OPTION = re.compile(r"--?(?P<name>[A-Za-z][\w.-]{1,60})(?:=.*)?", re.DOTALL)


class StartedProgram(NamedTuple):
    """A program, its kind (``file``, ``script``, ``module``, ``configuration``), and the options after it."""

    name: str
    what: str
    line: int
    options: tuple[str, ...]

    def __str__(self) -> str:
        if self.what == "script":
            return f"{self.name} (line {self.line}): import that script"
        if self.what == "configuration":
            return f"{self.name} (line {self.line}): import that file"
        names = ", ".join(f"--{name}" for name in self.options[:MOST_OPTIONS])
        names += ", …" if len(self.options) > MOST_OPTIONS else ""
        return f"{self.name} (line {self.line}, {f'with {names}' if names else 'without options'})"


def started_programs(text: str) -> list[StartedProgram]:
    """The programs that a script starts, each once, at most three. Empty if the text is too long or cannot be parsed.

    >>> [str(each) for each in started_programs("srun torchrun --nnodes=2 a/train.py --batch 8 --lr=1\\n")]
    ['train.py (line 1, with --batch, --lr)']
    >>> [str(each) for each in started_programs("bash tools/run.sh 1\\nx-cli train a/b.yaml\\n")]
    ['run.sh (line 1): import that script', 'x-cli with b.yaml (line 2): import that file']
    """
    if len(text) > LARGEST_SCRIPT:
        return []
    try:
        commands = script_of(text).commands
    except FormatError:
        return []
    found = {each.name: each for each in _programs_of(commands)}
    return list(islice(found.values(), MOST_PROGRAMS))


def shown_programs(text: str) -> str:
    """The programs that a script starts, as part of a message; empty if there are none."""
    found = started_programs(text)
    return f"it starts {'; '.join(str(each) for each in found)}" if found else ""


def _programs_of(commands: Sequence[Command]) -> Iterator[StartedProgram]:
    for command in commands:
        words = [word.text for word in command.words]
        found = program_of_words(words)
        if found:
            at, name, what = found
            options = tuple(match["name"] for word in words[at + 1 :] if (match := _OPTION.fullmatch(word)))
            line = max(word.line for word in command.words[: at + 1])  # of the command, not of a variable in it
            yield StartedProgram(excerpt(name, TITLE), what, line, tuple(dict.fromkeys(options)))


def program_of_words(words: Sequence[str]) -> tuple[int, str, str] | None:
    """The position, name and kind of the program that a command starts after its launchers; None if it starts none."""
    if words[0].rpartition("/")[2] in {"source", "."}:
        return None
    for at, word in enumerate(words):
        last = word.rpartition("/")[2]
        if at and words[at - 1] == "-m" and re.fullmatch(r"[A-Za-z_][\w.]{1,100}", word):
            if word in _TOOLS:
                return None
            if word not in _LAUNCHERS:
                return at, word, "module"
        elif match := _FILE.fullmatch(last):
            if match["kind"] == "py" or at == 0 or words[at - 1].rpartition("/")[2] in _SHELLS:
                return at, last, "file" if match["kind"] == "py" else "script"
        elif at and words[at - 1] in _TRAIN and _CONFIGURATION.fullmatch(last):
            program = words[at - 2].rpartition("/")[2] if at > 1 else ""
            return at, f"{program or words[at - 1]} with {last}", "configuration"
    return None
