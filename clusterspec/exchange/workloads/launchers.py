"""Launches of programs without a reader: the nodes and ranks that their launcher states.

Options: torchrun and ``torch.distributed.launch`` (pytorch/pytorch 010929fd, ``torch/distributed/run.py``), the
launcher of DeepSpeed (deepspeedai/DeepSpeed, ``deepspeed/launcher/runner.py``), ``fabric run`` and its older names of
Lightning (``src/lightning/fabric/cli.py``). What is after the program is its own.
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import (
    TITLE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    NothingStarted,
    SeveralParts,
    excerpt,
    without_comments,
)
from clusterspec.exchange.started_programs import LARGEST_SCRIPT, program_of_words
from clusterspec.exchange.workloads.jobs.slurm_jobs import set_job_nodes
from clusterspec.exchange.workloads.keys import Keys, chosen_launch, command_keys, launches_of
from clusterspec.exchange.workloads.named_settings import set_named, stated_settings
from clusterspec.exchange.workloads.overrides import keys_with_overrides
from clusterspec.exchange.workloads.unused_keys import list_undecided

LAUNCHER = "launcher"
_LAUNCH = re.compile(
    r"(?:^|[\s/])(?:torchrun|torch\.distributed\.(?:run|launch)|deepspeed|(?:fabric|lightning)[ \t]+run)(?=\s|$)"
)
_STARTED = (
    r"(?:(?:\S{0,200}/)?(?:(?:python[\d.]{0,9}[ \t]+\S{0,200}/)?torchrun|deepspeed|(?:fabric|lightning)[ \t]+run"
    r"|python[\d.]{0,9}[ \t]+-m[ \t]+torch\.distributed\.(?:run|launch)))"
)
_LINE = re.compile(
    r"^[ \t]*(?:[\w.*|\"'-]{1,60}\)[ \t]*)?"
    r"(?:[A-Za-z_]\w{0,60}=\S{0,200}[ \t]+){0,20}(?:(?:exec|nohup|time|(?:srun|mpiexec|mpirun)\b[^\n]{0,300}?)[ \t]+)?"
    rf"(?:{_STARTED}|[\"']?\$\{{?\w{{1,60}}\}}?[\"']?[ \t]+-m[ \t]+torch\.distributed\.(?:run|launch))(?=[\s\\])"
    rf"|^[ \t]*(?:export[ \t]+)?[A-Za-z_]\w{{0,60}}=[\"'(]?(?:\$\{{\w{{1,60}}:-)?{_STARTED}(?=[\s\\\"'}}])",
    re.MULTILINE,
)
"""A line that starts a launcher, or the assignment of a variable that holds one; `read_launcher` decides."""
_STATED = re.compile(r"--(?:nproc[_-]per[_-]node|nnodes|num_gpus|num[_-]nodes|devices|include)\b")
_NODES = ("nnodes", "num_nodes")
_RANKS = ("nproc_per_node", "num_gpus", "devices")
_MODULE = frozenset({"-m", "--module"})
"""Options before a module (torchrun; ``deepspeed/launcher/runner.py``)."""
_MOST_SHOWN = 12
_PAGES = (".py", ".md", ".rst", ".ipynb", ".html")
"""Files whose launches are examples, or text of a program."""


def matches_launcher(file: InputFile) -> bool:
    if file.name.lower().endswith(_PAGES) or len(file.data) > LARGEST_SCRIPT:
        return False
    text = without_comments(file.text)
    return bool(_STATED.search(text) and _LINE.search(text))


def read_launcher(file: InputFile) -> ImportResult:
    """The nodes and ranks of a launch. Raises `NothingStarted` if no launch states either of a program."""
    started = [keys for each in launches_of(file, _LAUNCH) if (keys := _launcher_options(each)) is not None]
    different = {
        (tuple((name, keys.get(name)) for name in (*_NODES, *_RANKS, "program")), stated_settings(_behind(keys))): keys
        for keys in started
    }
    keys, builder = chosen_launch(list(different.values()), file.part), ImportBuilder(LAUNCHER, file.name)
    if keys.find("program") is None:
        raise NothingStarted("has no launch of torchrun, DeepSpeed or Lightning with nodes or ranks of a program")
    for name in (*_NODES, *_RANKS):
        if (stated := keys.get(name)) is not None and keys.integer(name) is None:
            builder.unknown(f"{name}: {excerpt(stated)}", "not a number: a variable, or computed", keys.line(name))
    builder.set("layout.nodes", keys.integer(*_NODES), keys.line(*_NODES))
    builder.count("ranks_per_node", keys.integer(*_RANKS), keys.line(*_RANKS))
    set_job_nodes(file, keys, builder)
    behind = _behind(keys)
    set_named(behind, builder)
    list_undecided(behind, builder)
    names = [name for name in keys.words("options") if name not in behind.used]
    shown = ", ".join(f"--{name}" for name in names[:_MOST_SHOWN]) + (", …" if len(names) > _MOST_SHOWN else "")
    why = "no reader knows this program, so that its own options are not read"
    if behind.used:
        why = "no reader knows this program: only options whose names have one meaning in the field are read, not these"
    line = _line_of_program(file, str(keys.get("program")), keys.line("program"))
    builder.unknown(excerpt(keys.get("program"), TITLE), f"{why}: {shown}" if shown else why, line)
    return builder.reading()


def _behind(keys: Keys) -> Keys:
    """The options and overrides after the program of a launcher."""
    words = keys.command.words
    found = program_of_words([word.text for word in words])
    return keys_with_overrides(keys.command._replace(words=words[found[0] :])) if found else Keys()


def _line_of_program(file: InputFile, program: str, line: int) -> int:
    """The only line that names a program, since a script in quotes has the line of its first word; else the given."""
    text = file.text.split("\n")
    naming = [number for number, each in enumerate(text, 1) if program in each]
    return naming[0] if len(naming) == 1 else line


def launch_of_unknown(file: InputFile) -> ImportResult | None:
    """The nodes and ranks of the only launch of a script; None if there is none, or several differ."""
    if not matches_launcher(file):
        return None
    try:
        return read_launcher(file)
    except (FormatError, SeveralParts):
        return None


def _launcher_options(keys: Keys) -> Keys | None:
    """The options of a launcher, with its program and the names of the options of that; None if it states no count."""
    words = keys.command.words
    found = program_of_words([word.text for word in words])
    if found is None:
        return None
    at, program, _ = found
    own = command_keys(keys.command._replace(words=words[:at]))
    if "nnodes" in keys.values and "nnodes" not in own.values and "--nnodes" not in {word.text for word in words}:
        own.values["nnodes"] = keys.values["nnodes"]  # of the one node that the text names
    if own.find(*_NODES, *_RANKS) is None:
        return None
    behind = command_keys(keys.command._replace(words=words[at:]))
    own.command = keys.command
    own.put("program", program, words[at].line)
    own.values["options"], own.listed["options"] = (True, own.line("program")), tuple(behind.values)
    return own


def set_ranks_of_module(file: InputFile, builder: ImportBuilder) -> set[str]:
    """Set the nodes and ranks of the only launcher of a module, whose name and options a variable may hold
    (``torchrun --nproc_per_node 8 -m ${COMMANDS}``). Returns the options that were read.
    """
    started = [own for keys in launches_of(file, _LAUNCH) if (own := _options_before_module(keys)) is not None]
    if len(started) != 1:
        return set()
    own = started[0]
    builder.set("layout.nodes", own.integer(*_NODES), own.line(*_NODES))
    builder.count("ranks_per_node", own.integer(*_RANKS), own.line(*_RANKS))
    return own.used


def _options_before_module(keys: Keys) -> Keys | None:
    """The options of a launcher before the module that it starts; None if it starts none."""
    words = keys.command.words
    for at, word in enumerate(words[:-1]):
        if word.text in _MODULE and not words[at + 1].text.startswith("torch.distributed"):
            return command_keys(keys.command._replace(words=words[:at]))
    return None
