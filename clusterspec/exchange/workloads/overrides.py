"""References between keys of a configuration, and overrides of keys on a command line (OmegaConf, Hydra)."""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import InputFile
from clusterspec.exchange.shell import Command, script_of
from clusterspec.exchange.workloads.keys import Keys, chosen_launch

_REFERENCE = re.compile(r"\$\{(\.{0,8})([A-Za-z_][\w.]{0,200})\}")


def follow_references(keys: Keys) -> None:
    """Replace a value such as ``${model.encoder_seq_length}`` by the value of that key, as OmegaConf does."""
    for name, (value, line) in list(keys.values.items()):
        match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if not match:
            continue
        dots = len(match[1])
        base = name.split(".")[:-dots] if dots else []
        target = ".".join([*base, match[2]])
        if target in keys.values and not _REFERENCE.fullmatch(str(keys.values[target][0])):
            keys.put(name, keys.values[target][0], line)


_WRITES_ONLY = frozenset({"--to-yaml", "--to-toml", "--to-json"})
"""Options by which a command of NeMo-Run writes its configuration and ends (nemo_run/cli/api.py at 9339e124,
``_run_task``: "Export complete. Skipping execution."; read 2026-11-25).
"""


def override_keys(file: InputFile) -> Keys:
    """Words of the form ``a.b=value`` or ``+a.b=value``, as used by Hydra and MaxText.

    Words with dotted names are those of one command. Raises `SeveralParts` if several commands have different ones, and
    none is chosen.
    """
    commands = [each for each in script_of(file.text).commands if not _writes_only(each)]
    each_of = [override_words(command) for command in commands]
    different = {_stated(keys): keys for keys in reversed(each_of) if any("." in name for name in keys.values)}
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


def _stated(keys: Keys) -> tuple[tuple[str, str], ...]:
    """The names and values of overrides."""
    return tuple((name, str(value)) for name, (value, _) in keys.values.items())


def overrides_of_launch(file: InputFile, launch: re.Pattern[str], aside: re.Pattern[str]) -> Keys:
    """The overrides of one launch, with those of other commands left out; of all commands where none is a launch by its
    name. Launches that differ only in options ``aside`` are one.

    Raises `SeveralParts` if there are several and none is chosen.
    """
    commands = [command for command in script_of(file.text).commands if launch.search(command.text)]
    different = {
        tuple((name, str(value)) for name, (value, _) in keys.values.items() if not aside.fullmatch(name)): keys
        for keys in map(override_words, reversed(commands))
        if keys.values
    }
    return chosen_launch(list(different.values())[::-1], file.part) if different else override_keys(file)


def override_words(command: Command) -> Keys:
    """The words of one command that have the form of an override; the last value of a name applies.

    Where a branch holds all of the command, it decides none of its words.
    """
    keys, own = Keys(command=command), command.branch
    for word in command.words:
        match = re.fullmatch(r"\+{0,2}([A-Za-z_][A-Za-z0-9_.]*)=(.*)", word.text, re.DOTALL)
        if match and word.branch and word.branch != own:
            keys.undecided.append((word.text[:60], word.line, word.branch))
        elif match:
            value = match[2] if "[" in match[2] else match[2].rstrip("]")  # the end of a list of words in one line
            keys.put(match[1], value, word.line)
    return keys
