"""Programs and files without a reader: the settings whose names have one meaning in the field.

What a name states is in `named_settings`. A program may be started by a command, or take a configuration in YAML,
JSON, TOML or Python; a file of a shell may only assign variables for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from clusterspec.exchange.documents import read_documents
from clusterspec.exchange.import_result import (
    TITLE,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    SeveralParts,
    combined_result,
    excerpt,
)
from clusterspec.exchange.shell import Command, script_of, variables_of
from clusterspec.exchange.started_programs import LARGEST_SCRIPT, program_of_words
from clusterspec.exchange.workloads.config_code import read_assignments, syntax_tree
from clusterspec.exchange.workloads.keys import Keys, chosen_launch, flat_leaves, launches_of
from clusterspec.exchange.workloads.launch_commands import is_launch
from clusterspec.exchange.workloads.named_settings import (
    OF_LAUNCHERS,
    has_long_name,
    named_settings,
    option_names,
    set_named,
    stated_settings,
)
from clusterspec.exchange.workloads.overrides import take_overrides
from clusterspec.exchange.workloads.script_templates import script_of_template
from clusterspec.exchange.workloads.toml_files import toml_keys
from clusterspec.exchange.workloads.unused_keys import list_unused

SETTINGS = "settings"
_NAMED = re.compile(rf"(?<=[\s.,+-])(?:{'|'.join(option_names())})(?=[=\s])", re.IGNORECASE)
_PAGES = (".md", ".rst", ".ipynb", ".html", ".txt", ".log", ".out", ".err", ".csv", ".xml", ".tf", ".hcl")
"""Files whose text is not that of one program: pages, logs, tables, and those with a language of their own."""
_OTHER_PROGRAMS = frozenset(
    (
        *("gcloud", "az", "aws", "eksctl", "kubectl", "helm", "docker", "podman", "terraform", "oci", "pcluster"),
        *("export", "declare", "local", "readonly", "typeset", "set", "env", "sbatch", "qsub", "bsub", "salloc", "sky"),
        *("git", "curl", "wget", "apt", "apt-get", "conda", "mamba", "uv", "make", "cmake", "minikube", "kind", "k3d"),
    )
)
"""Programs of the shell, of clouds and of schedulers, whose nodes are not those of a launch."""
_PREPARES = re.compile(r"convert|export|merg|quantiz|prepar|preprocess|tokeniz|download|build|upload", re.IGNORECASE)
"""Parts of names of programs that prepare checkpoints or data, whose degrees are those of files."""
_ASSIGNS = frozenset(
    {"echo", "printf", "source", ".", "set", "export", "mkdir", "cd", "module", "ulimit", "unset", "exit", "return"}
)


def matches_settings(file: InputFile) -> bool:
    """Whether a file states settings by names of one meaning."""
    if file.name.lower().endswith(_PAGES) or len(file.data) > LARGEST_SCRIPT or not has_long_name(file.text):
        return False
    try:
        read_settings(file)
    except FormatError as fault:
        return isinstance(fault, SeveralParts)
    return True


def read_settings(file: InputFile) -> ImportResult:
    """The settings of a file. Raises `FormatError` if no name in it has one meaning, or all are undecided."""
    keys, program, line = _stated_keys(file)
    builder = ImportBuilder(SETTINGS, file.name)
    set_named(keys, builder)
    if not (builder.given or builder.counts):
        raise FormatError("states no setting whose name has one meaning in the field")
    list_unused(keys, builder)
    why = "no reader knows it: only settings whose names have one meaning in the field are read"
    builder.unknown(excerpt(program, TITLE), why, line)
    return builder.reading()


def _stated_keys(file: InputFile) -> tuple[Keys, str, int]:
    """The keys of a file with such settings, and the program, or the kind of file, that has them, with its line."""
    if (keys := _configuration_keys(file)) and named_settings(keys):
        return keys, "the configuration", 0
    if keys := launch_with_settings(file):
        return keys, _program_of(keys.command), keys.command.line
    if (keys := _assigned_keys(file)) and named_settings(keys):
        return keys, "the variables", 0
    return Keys(), "", 0


def launch_with_settings(file: InputFile) -> Keys | None:
    """The options and overrides of the one launch with such settings. Raises `SeveralParts` if launches differ."""
    started = [keys for keys in _launches(file) if named_settings(keys)]
    different = {stated_settings(keys): keys for keys in reversed(started)}
    return chosen_launch(list(different.values())[::-1], file.part) if different else None


def _launches(file: InputFile) -> Iterator[Keys]:
    """The commands of programs with such settings, as options or as overrides."""
    file = script_of_template(file) or file
    found = launches_of(file, _NAMED)
    lines = {keys.command.line for keys in found}
    others = (each for each in script_of(file.text).commands if each.line not in lines and is_launch(each, _NAMED))
    for keys in chain(found, (Keys(command=each) for each in others)):
        if keys.command.words and not keys.stopped and not _is_of_another_kind(keys.command):
            take_overrides(keys)
            _take_pairs(keys)
            yield keys


_PAIRS = re.compile(r"\w{1,60}=[^\s,]{1,200},[^\s]{1,2000}")
_PAIR = re.compile(r"(?:(?<=,)|(?<![^,]))(?P<name>[A-Za-z_]\w{0,60})=(?P<value>[^,={}]{1,200})")


def _take_pairs(keys: Keys) -> None:
    """Add the settings that one word lists (``pretrained=a/b,tensor_parallel_size=4``), as harnesses of evaluation take
    those of their engine.
    """
    for word in keys.command.words:
        for pair in _PAIR.finditer(word.text) if _PAIRS.fullmatch(word.text) else ():
            keys.put(pair["name"], pair["value"], word.line)


def _is_of_another_kind(command: Command) -> bool:
    """Whether a command starts a tool of a shell or cloud, or a program that only prepares files."""
    tool = command.words[0].text.rpartition("/")[2] in _OTHER_PROGRAMS
    return tool or not _starts_with_name(command) or bool(_PREPARES.search(_program_of(command)))


def _starts_with_name(command: Command) -> bool:
    """Whether the first word of a command is the name of a program, and not a value or an option."""
    return bool(re.fullmatch(r"[\"']?(?:[\w.~/-]{0,200}/)?[A-Za-z_$][\w.{}$-]{0,80}[\"']?", command.words[0].text))


def _program_of(command: Command) -> str:
    """The program of a command, for a message."""
    words = [word.text for word in command.words]
    found = program_of_words(words)
    return found[1] if found else words[0]


def _configuration_keys(file: InputFile) -> Keys | None:
    """The keys of a configuration: one mapping in YAML, JSON or TOML, or the assignments of a file of Python."""
    name = file.name.lower()
    try:
        if name.endswith(".py"):
            return _python_keys(file)
        if name.endswith(".toml"):
            return toml_keys(file)
        if name.endswith((".ini", ".cfg")):
            return _section_keys(file)
        documents = read_documents(file)
        mapping, keys = documents[0].mapping, Keys()
    except FormatError:
        return None
    if len(documents) > 1:
        return None
    for key, value, line in flat_leaves(mapping, documents[0].line):
        keys.put(key, value, line)
    return keys


_SECTION = re.compile(r"[ \t]*\[(?P<name>[\w. -]{1,80})\][ \t]*")
_SECTION_KEY = re.compile(r"(?P<key>[A-Za-z_][\w.-]{0,80})[ \t]*[=:][ \t]*(?P<value>[^#;]{0,200})(?:[#;].*)?")


def _section_keys(file: InputFile) -> Keys:
    """The keys of a file with sections (INI), each below its section."""
    keys, section = Keys(), ""
    for number, line in enumerate(file.lines, 1):
        if found := _SECTION.fullmatch(line):
            section = f"{found['name'].strip()}."
        elif found := _SECTION_KEY.fullmatch(line):
            keys.put(f"{section}{found['key']}", found["value"].strip().strip("\"'"), number)
    return keys


_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom)


def _python_keys(file: InputFile) -> Keys | None:
    """The values that a file of Python assigns, if it only assigns."""
    body = syntax_tree(file, "Python").body
    if any(not isinstance(each, _ASSIGNMENTS) and not _is_text(each) for each in body):
        return None
    return Keys(dict(read_assignments(file).values))


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a text alone, as a docstring is."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _assigned_keys(file: InputFile) -> Keys | None:
    """The variables of a file of a shell that starts no program, for a launch in another file."""
    if any(each.words[0].text not in _ASSIGNS for each in script_of(file.text).commands):
        return None
    keys = Keys()
    for name, word in variables_of(file.text).items():
        if word.branch:
            keys.undecided.append((f"{name}={excerpt(word.text)}", word.line, word.branch))
        else:
            keys.put(name, word.text, word.line)
    return keys


def with_settings_of_program(file: InputFile, found: ImportResult) -> ImportResult:
    """A result without a framework, with the settings of the one program that the file starts; its own come first."""
    if any(each.path[0] == "workload" or each.path == ("layout", "framework") for each in found.given):
        return found
    try:
        keys = launch_with_settings(file) if has_long_name(file.text) else None
    except FormatError:
        return found
    if keys is None:
        return found
    builder = ImportBuilder(found.kind, file.name)
    for each in [each for each in named_settings(keys) if each.path in OF_LAUNCHERS]:
        del keys.values[each.key]  # the job and its launcher decide on how many nodes the program runs
    if not (named := named_settings(keys)):
        return found
    set_named(keys, builder)
    names = ", ".join(dict.fromkeys(each.key for each in named))
    why = f"no reader knows it: of its options only those with one meaning in the field are read: {names}"
    builder.unknown(excerpt(_program_of(keys.command), TITLE), why, keys.command.line)
    return combined_result([found, builder.reading()])
