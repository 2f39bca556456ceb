"""Keys of a configuration file, references between them, and overrides on a command line (OmegaConf, Hydra)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from clusterspec.exchange.documents import read_yaml
from clusterspec.exchange.import_result import InputFile, excerpt
from clusterspec.exchange.shell import Command, script_of
from clusterspec.exchange.workloads.keys import (
    Keys,
    chosen_launch,
    command_keys,
    flat_leaves,
    launches_of,
    positive_integer_of,
    read_arguments,
)
from clusterspec.exchange.workloads.launch_commands import is_launch, severed_part, whole_launches
from clusterspec.exchange.workloads.listed_commands import listed_commands
from clusterspec.exchange.workloads.stopped_scripts import line_of_stop

_REFERENCE = re.compile(r"\$\{(\.{0,8})([A-Za-z_][\w.]{0,200})\}")
_PRODUCT = re.compile(
    r"\$\{multiply:[ ]{0,4}([0-9]{1,9}|\$\{[\w.]{1,200}\})[ ]{0,4},[ ]{0,4}([0-9]{1,9}|\$\{[\w.]{1,200}\})[ ]{0,4}\}"
)
"""The resolver of NeMo-Framework-Launcher (launcher_scripts/main.py line 55 at 26e42fa9 registers ``multiply``)."""


def file_keys(file: InputFile, *, with_null: bool = False) -> Keys:
    """The keys of a file in YAML; null ones only if ``with_null``. Raises `FormatError` if it is no mapping."""
    keys, yaml = Keys(), read_yaml(file)
    for name, value, line in flat_leaves(yaml.mapping, yaml.line):
        if value is not None or with_null:
            keys.put(name, value, line)
    return keys


def launch_or_file_keys(file: InputFile, launch: re.Pattern[str]) -> Keys:
    """The options of a launch, where ``launch`` finds one in the text, else the stated keys of a file in YAML."""
    return read_arguments(file, launch) if launch.search(file.text) else file_keys(file)


def follow_references(keys: Keys) -> None:
    """Replace a value such as ``${model.encoder_seq_length}`` by the value of that key, as OmegaConf does, and products
    of two values.

    The file may be one of a group (``training/gpt3/5b.yaml``), whose name comes first in references to its own keys.
    """
    groups = {name.partition(".")[0] for name in keys.values}
    for name, (value, line) in list(keys.values.items()):
        if not isinstance(value, str):
            continue
        if (default := _OF_ENVIRONMENT.fullmatch(value)) and not _PRECISION.search(name):
            keys.put(name, _default_value(default[1]), line)
            keys.defaulted.append(name)
            continue
        if _REFERENCE.fullmatch(value):
            held = _referred_value(value, name, keys, groups)
            if held is not None:
                keys.put(name, held, line)
        elif product := _PRODUCT.fullmatch(value):
            factors = [
                each if each.isdecimal() else _referred_value(each, name, keys, groups) for each in product.groups()
            ]
            counts = [positive_integer_of(each) for each in factors]
            if counts[0] and counts[1]:
                keys.put(name, counts[0] * counts[1], line)


_OF_ENVIRONMENT = re.compile(r"(?:\$\{oc\.decode:)?\$\{oc\.env:\w{1,80},([^${},]{1,80})\}\}?")
"""A variable of the environment with a default (OmegaConf); the default holds where the variable is not set."""
_PRECISION = re.compile(r"fp8|fp4|precision")
"""Keys whose default a launcher usually replaces: the file does not show whether the default applies."""


def _default_value(text: str) -> Any:
    """The value that a default stands for, as YAML reads it.

    >>> _default_value(" 4"), _default_value("True"), _default_value("null"), _default_value("full")
    (4, True, None, 'full')
    """
    word = text.strip()
    plain = {"true": True, "false": False, "null": None, "none": None}
    return int(word) if word.isdecimal() and len(word) < 18 else plain.get(word.lower(), word)


def _referred_value(value: str, name: str, keys: Keys, groups: set[str]) -> Any:
    """The value to which a reference of the key ``name`` leads; None if it leads out of the file or to another."""
    match = _REFERENCE.fullmatch(value)
    if not match:
        return None
    dots = len(match[1])
    target = ".".join([*(name.split(".")[:-dots] if dots else []), match[2]])
    group, _, inner = target.partition(".")
    if target not in keys.values and group not in groups:
        target = inner
    held = keys.values.get(target, (None, 0))[0]
    return None if _REFERENCE.fullmatch(str(held)) or _PRODUCT.fullmatch(str(held)) else held


_WRITES_ONLY = frozenset({"--to-yaml", "--to-toml", "--to-json"})
"""Options by which a command of NeMo-Run writes its configuration and ends (nemo_run/cli/api.py at 9339e124,
``_run_task``: "Export complete. Skipping execution."; read 2026-11-25).
"""


_DOTTED = re.compile(r"(?:^|\s)\+{0,2}[A-Za-z_]\w{0,100}\.[\w.]{1,300}=")


def override_keys(file: InputFile) -> Keys:
    """Words of the form ``a.b=value`` or ``+a.b=value``, as used by Hydra and MaxText.

    The words with dotted names belong to one command. Raises `SeveralParts` if several commands have different ones,
    and none is chosen.
    """
    commands = [each for each in script_of(file.text).commands if not _writes_only(each)]
    each_of = [override_words(command) for command in whole_launches(commands, _DOTTED)]
    for keys in each_of:
        keys.severed = severed_part(keys.command, commands)
    different = {
        _stated_overrides(keys): keys for keys in reversed(each_of) if any("." in name for name in keys.values)
    }
    if len(different) > 1:
        return chosen_launch(list(different.values())[::-1], file.part)
    keys = Keys()
    for own in each_of:
        keys.values |= own.values
        keys.undecided += own.undecided
    return keys


def _writes_only(command: Command) -> bool:
    """Whether a command only writes the configuration of a launch."""
    return any(word.text.partition("=")[0] in _WRITES_ONLY for word in command.words)


def _stated_overrides(keys: Keys) -> tuple[tuple[str, str], ...]:
    """The names and values of overrides."""
    return tuple((name, str(value)) for name, (value, _) in keys.values.items())


def overrides_of_launch(file: InputFile, launch: re.Pattern[str], aside: Callable[[str], object]) -> Keys:
    """The overrides of one launch, without the overrides of other commands; the overrides of all commands if no name
    shows a launch. Launches that differ only in options ``aside`` are one. A container lists the words of its command.

    Raises `SeveralParts` if there are several and none is chosen.
    """
    listed, script = listed_commands(file), script_of(file.text).commands
    all_of = listed if any(is_launch(each, launch) and override_words(each).values for each in listed) else script
    different = {
        tuple((name, str(value)) for name, (value, _) in keys.values.items() if not aside(name)): keys
        for keys in map(override_words, reversed([each for each in all_of if is_launch(each, launch)]))
        if keys.values and not _writes_only(keys.command)
    }
    for keys in different.values():
        keys.severed = severed_part(keys.command, all_of)
        keys.stopped = line_of_stop(file, keys.command.line)
    return chosen_launch(list(different.values())[::-1], file.part) if different else override_keys(file)


_OF_RUN = frozenset(
    (
        *("dir", "file", "files", "path", "name", "logger", "seed", "mode", "freq"),
        *("epochs", "lr", "entity", "group", "tag", "tags", "source", "dataset"),
    )
)
"""Words of overrides of names, files, loggers and learning rates, which runs of one layout have of their own."""


def is_of_run(name: str) -> bool:
    """Whether an override is of a run, and not of its model or layout, by the words of its last key.

    >>> [is_of_run(each) for each in ("trainer.logger", "data.train_files", "optim.lr_warmup_steps")]
    [True, True, True]
    >>> is_of_run("model.path"), is_of_run("data.batch")
    (False, False)
    """
    *before, last = name.split(".")
    if any(_ends_in_model(each.split("_")) for each in before):
        return False
    words = last.split("_")
    rests = ("_".join(words[at + 1 :]) for at, word in enumerate(words) if word in _OF_RUN and words[at + 1 :])
    return words[-1] in _OF_RUN or any(_is_word(each) for each in rests)


def _ends_in_model(words: Sequence[str]) -> bool:
    """Whether a key ends in `model`, or in a word from `pretrain` on."""
    pretrained = ("_".join(words[at:]) for at, word in enumerate(words) if word.startswith("pretrain"))
    return words[-1] == "model" or any(_is_word(each) for each in pretrained)


def _is_word(text: str) -> bool:
    """Whether a text has letters, digits and underscores alone, one at least."""
    return text.replace("_", "a").isalnum()


def launch_with_overrides(file: InputFile, launch: re.Pattern[str]) -> Keys:
    """The options and the overrides of one launch.

    Raises `SeveralParts` if launches differ in either, names of runs and files aside, and none is chosen.
    """
    alike = launches_of(file, launch)
    if len(alike) == 1 and override_words(alike[0].command).values:
        keys, own = alike[0], overrides_of_launch(file, launch, is_of_run)
    else:
        keys = own = chosen_launch(alike, file.part)
    if not keys.command.words:
        return keys
    if own.command.line != keys.command.line:
        keys = command_keys(own.command)
        keys.severed, keys.stopped = own.severed, own.stopped
    take_overrides(keys)
    return keys


def take_overrides(keys: Keys) -> None:
    """Add the overrides of the command of a launch to its options."""
    own = override_words(keys.command)
    keys.values |= own.values
    keys.undecided += own.undecided


def keys_with_overrides(command: Command) -> Keys:
    """The options and the overrides of one command."""
    keys = command_keys(command)
    take_overrides(keys)
    return keys


def override_words(command: Command) -> Keys:
    """The words of one command that have the form of an override; the last value of a name applies.

    Where a branch holds all of the command, it decides none of its words.
    """
    keys, own = Keys(command=command), command.branch
    for word in command.words:
        match = re.fullmatch(r"\+{0,2}([A-Za-z_][A-Za-z0-9_.]*)=(.*)", word.text, re.DOTALL)
        if match and word.branch and word.branch != own:
            keys.undecided.append((excerpt(word.text), word.line, word.branch))
        elif match:
            value = match[2] if "[" in match[2] else match[2].rstrip("]")  # the end of a list of words in one line
            keys.put(match[1], value, word.line)
    return keys
