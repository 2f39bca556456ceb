"""Keys of framework configurations and command lines, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any

from clusterspec.exchange.import_result import FormatError, ImportBuilder, InputFile, Value, chosen_part, excerpt
from clusterspec.exchange.shell import Command, script_of, variables_of
from clusterspec.exchange.shell_words import PASSED_ON, Word
from clusterspec.exchange.workloads.engines.object_roles import role_of_object
from clusterspec.exchange.workloads.launch_commands import (
    OUTPUT,
    conditional_words,
    fills_launch,
    in_container,
    is_launch,
    severed_part,
    whole_launches,
)
from clusterspec.exchange.workloads.launcher_options import (
    launch_within,
    take_launcher_options,
    take_single_node,
    without_runner_options,
)
from clusterspec.exchange.workloads.listed_commands import listed_commands
from clusterspec.exchange.workloads.printed_launches import printed_launches
from clusterspec.exchange.workloads.stopped_scripts import line_of_stop
from clusterspec.records import dataclass, field
from clusterspec.units import plural

# The keys of a framework configuration, each with its line, and which of them were used

LARGEST_COUNT = 10**12
Table = Mapping[str, tuple[str, ...]]
"""Keys of the spec, and the names that a framework has for each."""


@dataclass
class Keys:
    """Flat dotted keys, with hyphens as underscores; ``used`` are the keys that were imported.

    ``undecided`` lists options that a script gives in only one branch: the option, its line, and the line of the test.
    ``command`` is the command of a launch, ``listed`` the words after an option that takes several.
    """

    values: dict[str, tuple[Any, int]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    undecided: list[tuple[str, int, int]] = field(default_factory=list)
    command: Command = Command(())
    listed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    severed: Command | None = None
    """The command, this or the next, that begins with an option because a comment or a line end cuts it off."""
    conditional: list[tuple[str, int]] = field(default_factory=list)
    """Words of the launch that it has only where a variable is set (``${EXTRA:+--option}``), with their lines."""
    open: set[str] = field(default_factory=set)
    """Keys that were read as a count, whose value is a variable or a calculation that the script does not give."""
    defaulted: list[str] = field(default_factory=list)
    """Keys whose value is the default of a variable of the environment, which may replace it."""
    asked: set[str] = field(default_factory=set)
    """Keys whose value was read; ``used`` also has those that a reader sets aside unread."""
    printed: bool = False  # by the engine, in its log, some of them after calculations
    stopped: int = 0  # the line of an ``exit`` that the script reaches before the launch
    placed_by: Word | None = None  # the program that places the launch itself (``mason.py --gpus 8 -- …``)

    def put(self, name: str, value: Any, line: int) -> None:
        self.values[name.replace("-", "_")] = (value, line)

    def open_value(self, name: str, value: Any, line: int, in_any_case: bool) -> None:
        """Leave the value of an option to a test: one given in any case, or one that the test replaces."""
        key = name.replace("-", "_")
        if in_any_case or self.values.get(key, (value, 0))[0] != value:
            self.values[key] = (f"${key}", line)

    def find(self, *names: str) -> str | None:
        """The first of the given names that exists, as a full key or as the end of a dotted key. Among several dotted
        keys, the one with the fewest parts applies: deeper keys belong to another model or part.
        """
        for name in names:
            if name in self.values:
                return name
        for name in names:
            ending = f".{name}"
            if found := [key for key in self.values if key.endswith(ending)]:
                return min(found, key=lambda key: key.count("."))
        return None

    def get(self, *names: str) -> Any:
        """The value of a key by any of its names; None if it is absent."""
        found = self.find(*names)
        if found is None:
            return None
        self.used.add(found)
        self.asked.add(found)
        return self.values[found][0]

    def words(self, *names: str) -> tuple[str, ...]:
        """All words of an option or a list; empty if it is absent."""
        value, found = self.get(*names), self.find(*names)
        if found in self.listed:
            return self.listed[found]
        return tuple(map(str, value)) if isinstance(value, list) else tuple(str(value or "").split())

    def line(self, *names: str) -> int:
        found = self.find(*names)
        return self.values[found][1] if found else 0

    def integer(self, *names: str) -> int | None:
        """A positive integer; None if the key is absent or has another value."""
        value = self.get(*names)
        if isinstance(value, str) and value.startswith("$"):
            self.open |= {found for found in (self.find(*names),) if found}
        return positive_integer_of(value)

    def is_on(self, *names: str) -> bool:
        """Whether a flag is on; a flag without a value is."""
        return boolean_value(self.get(*names)) is True

    def is_variable(self, *names: str) -> bool:
        """Whether the value of a key is a variable or a calculation that the script does not give."""
        found = self.find(*names)
        return found is not None and str(self.values[found][0]).startswith("$")

    def is_open(self, *names: str) -> bool:
        """Whether an undecided branch or a variable decides one of these options."""
        return self.is_undecided(*names) or any(self.is_variable(name) for name in names)

    def is_undecided(self, *names: str) -> bool:
        """Whether an undecided branch gives an option with one of these names."""
        given = {
            shown.lstrip("-").partition(" ")[0].partition("=")[0].replace("-", "_") for shown, _, _ in self.undecided
        }
        return not given.isdisjoint(names)

    @property
    def has_elided_options(self) -> bool:
        """Whether the launch leaves options out (``...``), or passes on arguments of its script (``"$@"``) or of a
        variable or command that the script does not decide (``$EXTRA_ARGS``, ``$(cat options)``). Options without a
        program, which another file starts, leave out those of that file.
        """
        words = [word.text for word in self.command.words]
        return bool(self.conditional or (words and words[0].startswith("-"))) or any(
            word in {"...", "…", *PASSED_ON}
            or _OPTIONS_OF.fullmatch(word)
            or _CUT_SCRIPT.fullmatch(word)
            or (OUTPUT.fullmatch(word) and not _is_option(before))
            or (_POSITIONAL.fullmatch(word) and before and not before.startswith("-"))
            for before, word in zip(("", *words), words, strict=False)
        )

    def unused_names(self) -> list[str]:
        values = self.values.items()  # -m names a module of Python, which the launch was found by
        return [key for key, value in values if key not in self.used and (key != "m" or "." not in str(value))]


_OPTIONS_OF = re.compile(
    r"\$\{?\w{0,60}?(?:args|arguments|flags|opts|options|params|extra)(?:_str|_string)?(?:\[@\])?\}?", re.IGNORECASE
)
"""A variable that no line sets, by the usual names of variables that hold options."""
_POSITIONAL = re.compile(r"\$(?:[1-9]|\{[1-9][0-9]?\})")
"""An argument of the script in place of options, which may be several."""
_CUT_SCRIPT = re.compile(r"\w[^$\n]{0,200}\s\$\((?!\()[^)]{0,200}")
"""A quoted script, cut off at a command whose own quotes end the string; options after it are unknown."""


def positive_integer_of(value: Any) -> int | None:
    """A positive integer from a number or its text, else None.

    >>> [positive_integer_of(value) for value in ("8", 8.0, "8_192", True, "x", 0)]
    [8, 8, 8192, None, None, None]
    >>> positive_integer_of(1e12) == positive_integer_of(10**12) == 10**12
    True
    >>> [positive_integer_of(value) for value in (1e12 + 1, 10**12 + 1, 0.5)]
    [None, None, None]
    """
    if isinstance(value, str) and value.replace("_", "").isdecimal() and len(value) < 20:
        value = int(value.replace("_", ""))
    if isinstance(value, float) and abs(value) <= LARGEST_COUNT and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_COUNT:
        return None
    return value


def boolean_value(value: Any) -> bool | None:
    """A boolean as frameworks write it; None if it is not one."""
    if isinstance(value, bool) or value is None:
        return value
    return {"true": True, "1": True, "yes": True, "on": True, "": True}.get(str(value).strip().lower()) or (
        False if str(value).strip().lower() in {"false", "0", "no", "off"} else None
    )


def flat_leaves(value: Any, line_of: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str, Any, int]]:
    """The leaves of a mapping with dotted name, value and line; ``line_of`` maps a path to its line."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat_leaves(inner, line_of, (*path, key))
    elif path:
        yield ".".join(map(str, path)), value, line_of(*path)


OPEN_COUNT = "not an integer: a variable, or computed elsewhere"
OPEN_VALUE = "a variable, which the script does not give"
UNDECIDED_REPLICAS = "whether attention is data-parallel is not decided"


def set_counts(keys: Keys, table: Table, builder: ImportBuilder) -> None:
    """Set the counts of a table of paths and key names; a value that is not a count is recorded as unknown."""
    for path, names in table.items():
        found = keys.find(*names)
        if found is None:
            continue
        value = keys.get(*names)
        count = positive_integer_of(value)
        if count is not None:
            builder.set(path, count, keys.line(*names))
        elif value is not None and str(value) not in {"-1", "0", "None", "null", "False", "false"}:
            builder.unknown(f"{found}: {excerpt(value)}", OPEN_COUNT, keys.line(*names))


def set_choice(
    keys: Keys, path: str, names: tuple[str, ...], choices: Mapping[str, Value], builder: ImportBuilder
) -> None:
    """Set a key from a framework's word for its value; an unmapped word is recorded as unknown."""
    value = keys.get(*names)
    if value is None:
        return
    word = str(value).strip().lower()
    if word in choices:
        builder.set(path, choices[word], keys.line(*names))
    else:
        why = f"no value of {path} corresponds to it"
        builder.unknown(f"{keys.find(*names)}: {excerpt(word)}", why, keys.line(*names))


def set_switch(
    keys: Keys,
    path: str,
    names: tuple[str, ...],
    builder: ImportBuilder,
    states: tuple[Value, Value] = (False, True),
) -> None:
    """Set a key by a switch: the first of two ``states`` if the switch is off, the second if it is on."""
    if (state := switch_state(keys, names, builder)) is not None:
        builder.set(path, states[state], keys.line(*names))


def switch_state(keys: Keys, names: tuple[str, ...], builder: ImportBuilder) -> bool | None:
    """Whether a switch is on; None if the keys lack it, or have no boolean for it, which is listed as unknown."""
    value = keys.get(*names)
    state = boolean_value(value)
    if value is not None and state is None:
        why = "neither true nor false: a variable, or computed elsewhere"
        builder.unknown(f"{keys.find(*names)}: {excerpt(value)}", why, keys.line(*names))
    return state


# Command lines and shell scripts: ``--name value`` and ``--name=value``, with shell variables expanded

_OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9_.-]*")
MOST_WORDS = 100_000
RANKS = frozenset(
    {
        *("node_rank", "machine_rank", "host", "port", "master_addr", "master_port", "dist_init_addr", "headless"),
        *("api_server_count", "log_level", "log_level_http", "uvicorn_log_level", "disable_log_stats"),
        *(f"data_parallel_{name}" for name in ("rank", "start_rank", "address", "rpc_port")),
    }
)
"""Options that may differ between the nodes of one launch, including those about what a node prints."""
_OF_STEP = frozenset(
    {"output", "error", "input", "exclusive", "overlap", "job_name", "nodelist", "relative", "w", "o", "e"}
)
"""Options of ``srun`` that differ between steps which start one launch (srun(1))."""

_LAUNCHED_AS_MODULE = frozenset({("m", "torch.distributed.run"), ("m", "torch.distributed.launch")})
"""Options of Python that start what ``torchrun`` starts."""


def read_arguments(file: InputFile, launch: re.Pattern[str]) -> Keys:
    """The options of the launch in a text; ``launch`` finds the commands that start one.

    Values are text, flags are True. An option of an undecided branch is not stated, but listed.

    Raises `FormatError` if the file has several launches with different options and no part is chosen.
    """
    return chosen_launch(launches_of(file, launch), file.part)


def launches_of(file: InputFile, launch: re.Pattern[str], model: re.Pattern[str] | None = None) -> list[Keys]:
    """The launches with different options in a text, or with different words after those that ``model`` matches."""
    commands, arrays = _commands(file, model)
    commands = [in_container(command) for command in commands]
    starting = [command for command in whole_launches(commands, launch) if is_launch(command, launch)]
    # a file may only fill arrays, for a launcher that reads it
    found = [command_keys(each) for each in starting or [array for array in arrays if fills_launch(array, launch)]]
    places = {id(command): n for n, command in enumerate(commands)}
    for keys in found:
        at = places.get(id(keys.command))
        keys.severed = severed_part(keys.command, commands[max(0, at - 1) : at + 2]) if at is not None else None
        keys.stopped = line_of_stop(file, keys.command.line)
        keys.conditional = [each for each in conditional_words(file, keys.command.line) if not _is_set(each[0], file)]
        alone = "--standalone" in {word.text for word in keys.command.words} and not keys.placed_by
        if alone or not (keys.has_elided_options or keys.severed or keys.placed_by or keys.is_undecided("nnodes")):
            take_single_node(keys.values, [word.text for word in keys.command.words], file.text)
    different = {
        (
            _options_without_ranks(keys),
            _word_after_command(keys.command, model),
            role_of_object(file.text, keys.values, keys.command.line),
        ): keys
        for keys in reversed(found)
    }
    if len(different) == 1 and len(found) > 1 and all(_may_have_either_role(keys) for keys in found):
        return found
    return list(different.values())[::-1]


_OF_ONE_ENGINE = frozenset({"node_rank", "headless", "data_parallel_rank", "data_parallel_start_rank"})


def _may_have_either_role(keys: Keys) -> bool:
    """Whether a launch starts a separate engine that may prefill or decode: ``kv_both`` of vLLM tells neither."""
    stated = str(keys.values.get("kv_transfer_config", ("",))[0])
    return "kv_both" in stated and _OF_ONE_ENGINE.isdisjoint(keys.values)


def _is_set(conditional: str, file: InputFile) -> bool:
    """Whether a script sets the variable of words that depend on it, which the launch has then."""
    name = conditional[2:].partition(":")[0].partition("+")[0].rstrip("}")
    value = variables_of(file.text).get(name)
    return value is not None and bool(value.text) and "$" not in value.text


def chosen_launch(different: Sequence[Keys], part: int | None) -> Keys:
    """One of several launches. Raises `SeveralParts` if none is chosen, `FormatError` if there is no such part."""
    if not different and part is None:
        return Keys()
    lines = [keys.command.line for keys in different]
    if len(set(lines)) < len(lines):  # a variable that is set once holds the program of several
        lines = [min((line for _, line in keys.values.values()), default=keys.command.line) for keys in different]
    places = ", ".join(map(str, lines[:12])) + (", …" if len(lines) > 12 else "")
    alike = len({_options_without_ranks(keys) for keys in different}) == 1
    either = alike and all(map(_may_have_either_role, different))
    which = "that may each prefill or decode (kv_both)" if either else "with different options"
    choices = f"holds {len(different)} launches {which}, on lines {places}"
    return chosen_part(different, part, plural(len(different), "launch"), choices)


def _word_after_command(command: Command, model: re.Pattern[str] | None) -> str:
    """The word after the command of an engine, such as the model after ``serve``; empty if there is none."""
    words = (b.text for a, b in pairwise(command.words) if model and model.fullmatch(a.text) and not _is_option(b.text))
    return next((word for word in words if word.strip(".…")), "")


def _options_without_ranks(keys: Keys) -> tuple[tuple[str, str], ...]:
    """The options of a launch that are the same on all of its nodes."""
    steps = _OF_STEP if keys.command.words and keys.command.words[0].text.rpartition("/")[2] == "srun" else frozenset()
    stated = ((name, str(value)) for name, (value, _) in keys.values.items() if name not in RANKS | steps)
    return tuple(sorted(option for option in stated if option not in _LAUNCHED_AS_MODULE))


_PASSED_OPTION = re.compile(r"--[\w.-]{1,60}=(--[A-Za-z][\w-]{1,60}(?:=.*)?)", re.DOTALL)
"""An option whose value is an option of the engine that a wrapper starts: ``--engine.cli=--tensor-parallel-size=4``."""


def command_keys(command: Command) -> Keys:
    """The options of one command, the last one of each name; a branch around the whole command leaves no option
    undecided.
    """
    keys, words = Keys(command=command), [word for word in command.words if word.text not in PASSED_ON]
    words, keys.placed_by = launch_within(without_runner_options(words))
    program = next((word for word in words if word.text.endswith(".py")), words[0] if words else None)
    shared = program is not None and words[0].branch == program.branch and not _has_alternatives(words, program.branch)
    own = {command.branch, program.branch if program and shared else 0}
    for at, word in enumerate(words):
        if not _is_option(word.text):
            continue
        passed = _PASSED_OPTION.fullmatch(word.text)
        name, equals, value = (passed[1] if passed else word.text).lstrip("-").partition("=")
        follower = words[at + 1] if at + 1 < len(words) and not _is_option(words[at + 1].text) else None
        stated = value if equals else follower.text if follower else True
        tests = (word.branch, follower.branch if follower and not equals else 0)
        if branch := next((each for each in tests if each and each not in own), 0):
            shown = f"--{name} {excerpt(follower.text)}" if follower and not equals else excerpt(word.text)
            keys.undecided.append((shown, word.line, branch))
            keys.open_value(name, stated, word.line, (word.start if equals else word.branch) in {0, *own})
            continue
        keys.put(name, stated, word.line)
        following = () if equals else takewhile(lambda word: not _is_option(word.text), words[at + 1 :])
        if len(several := tuple(word.text for word in following)) > 1:
            keys.listed[name.replace("-", "_")] = several
    take_launcher_options(keys.values, [word.text for word in words], bool(keys.placed_by))
    return keys


_STARTERS = frozenset({"torchrun", "deepspeed", "accelerate", "python", "python3"})


def _has_alternatives(words: Sequence[Word], branch: int) -> bool:
    """Whether a test selects between several starters of a command, one per branch (``LAUNCHER="torchrun …"``)."""
    return sum(word.text.rpartition("/")[2] in _STARTERS for word in words if branch and word.branch == branch) > 1


def _commands(file: InputFile, model: re.Pattern[str] | None) -> tuple[Sequence[Command], Sequence[Command]]:
    """The commands of a shell script and its arrays, or the lists of arguments of a YAML or Python file."""
    if lists := listed_commands(file):
        return lists, ()
    script = script_of(printed_launches(file.text))
    words = sum(len(command.words) for command in (*script.commands, *script.arrays))
    if words > MOST_WORDS:
        raise FormatError(f"more than {MOST_WORDS:,} words in its commands")
    kept = [
        each
        for each in script.commands
        if any(_is_option(word.text) for word in each.words) or _word_after_command(each, model)
    ]
    kept_for_another = not script.arrays and all(each.words[0].text in _STARTS_NOTHING for each in script.commands)
    return kept, (script.options,) if kept_for_another and not kept and script.options.words else script.arrays


_STARTS_NOTHING = frozenset({"echo", "printf", "source", ".", "set", "cd", "mkdir", "module", "return", "exit"})
"""Commands of a script that may only hold options for one that reads it."""


def _is_option(word: str) -> bool:
    return bool(_OPTION.fullmatch(word.split("=", 1)[0])) and not re.fullmatch(r"-[0-9.]+", word)
