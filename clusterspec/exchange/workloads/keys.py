"""Keys of framework configurations and command lines, each with its line; names and sizes of models."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.cluster.resolution import Lookup, ResolutionLog
from clusterspec.cluster.transformer import resolve_model
from clusterspec.cost.parameters import model_weights
from clusterspec.document import parse
from clusterspec.exchange.import_result import FileLine, FormatError, ImportBuilder, ImportedValue, InputFile, Value
from clusterspec.exchange.merge import new_spec
from clusterspec.records import dataclass, field, replace
from clusterspec.source import Source
from clusterspec.spec.reader import read
from clusterspec.units import plural

# The keys of a framework configuration, each with its line, and which of them were used

LARGEST_COUNT = 10**12
Table = Mapping[str, tuple[str, ...]]
"""Keys of the spec, and the names that a framework has for each."""


@dataclass(slots=True)
class Keys:
    """Flat dotted keys, with hyphens as underscores; ``used`` are the keys that were imported."""

    values: dict[str, tuple[Any, int]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def put(self, name: str, value: Any, line: int) -> None:
        self.values[name.replace("-", "_")] = (value, line)

    def find(self, *names: str) -> str | None:
        """The first of some names that exists, as a full key or as the end of a dotted one."""
        for name in names:
            if name in self.values:
                return name
        for name in names:
            ending = f".{name}"
            if found := next((key for key in self.values if key.endswith(ending)), None):
                return found
        return None

    def get(self, *names: str) -> Any:
        """The value of a key by any of its names; None if it is absent."""
        found = self.find(*names)
        if found is None:
            return None
        self.used.add(found)
        return self.values[found][0]

    def line(self, *names: str) -> int:
        found = self.find(*names)
        return self.values[found][1] if found else 0

    def whole(self, *names: str) -> int | None:
        """A positive integer; None if the key is absent or has another value."""
        return whole_of(self.get(*names))

    def is_on(self, *names: str) -> bool:
        """Whether a flag is on; a flag without a value is."""
        return boolean_value(self.get(*names)) is True

    def unused(self) -> list[str]:
        return [key for key in self.values if key not in self.used]


def whole_of(value: Any) -> int | None:
    """A positive integer from a number or its text, else None.

    >>> whole_of("8"), whole_of(8.0), whole_of("8_192"), whole_of(True), whole_of("x"), whole_of(0)
    (8, 8, 8192, None, None, None)
    """
    if isinstance(value, str) and value.replace("_", "").isdecimal() and len(value) < 20:
        value = int(value.replace("_", ""))
    if isinstance(value, float) and abs(value) < LARGEST_COUNT and value == int(value):
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


def set_counts(keys: Keys, table: Table, builder: ImportBuilder) -> None:
    """Set the counts of a table of paths and key names; a value that is not a count is recorded as unknown."""
    for path, names in table.items():
        found = keys.find(*names)
        if found is None:
            continue
        value = keys.get(*names)
        count = whole_of(value)
        if count is not None:
            builder.set(path, count, keys.line(*names))
        elif value is not None and str(value) not in {"-1", "0", "None", "null", "False", "false"}:
            builder.unknown(
                f"{found}: {str(value)[:60]}", "not an integer: a variable, or computed elsewhere", keys.line(*names)
            )


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
        builder.unknown(f"{keys.find(*names)}: {word[:60]}", f"no value of {path} corresponds to it", keys.line(*names))


def list_unused(keys: Keys, builder: ImportBuilder) -> None:
    """Record the keys that were not used, in one entry."""
    unused = keys.unused()
    if unused:
        shown = ", ".join(unused[:12]) + (", …" if len(unused) > 12 else "")
        builder.unknown(plural(len(unused), "key"), f"not imported: {shown}")


# Command lines and shell scripts: ``--name value`` and ``--name=value``, with shell variables expanded

_ASSIGNED = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=([^\s;&|()]*|\"[^\"]*\"|'[^']*')\s*(?:#.*)?$")
_VARIABLE = re.compile(
    r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)(?::?-([^}]{0,1000}))?\}|([A-Za-z_][A-Za-z0-9_]*)|\(\(([^()]{1,80})\)\))"
)
_PRODUCT = re.compile(
    r"\s*\$?\{?([A-Za-z_][A-Za-z0-9_]*|[0-9]+)\}?\s*([*/])\s*\$?\{?([A-Za-z_][A-Za-z0-9_]*|[0-9]+)\}?\s*"
)
_OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9_.-]*")
MOST_WORDS = 100_000


def read_arguments(file: InputFile) -> Keys:
    """The options of all commands in a text; the last value of a name applies. Values are text, flags are True."""
    variables = _script_variables(file.lines)
    keys = Keys()
    words = list(_script_words(file.lines, variables))
    for at, (word, line) in enumerate(words):
        if not _OPTION.fullmatch(word.split("=", 1)[0]) or not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if equals:
            keys.put(name, value, line)
        elif at + 1 < len(words) and not _is_option(words[at + 1][0]):
            keys.put(name, words[at + 1][0], line)
        else:
            keys.put(name, True, line)
    return keys


def override_keys(file: InputFile) -> Keys:
    """Words of the form ``a.b=value`` or ``+a.b=value``, as used by Hydra and MaxText."""
    keys = Keys()
    for word, line in _script_words(file.lines, _script_variables(file.lines)):
        if match := re.fullmatch(r"\+{0,2}([A-Za-z_][A-Za-z0-9_.]*)=(.*)", word):
            keys.put(match[1], match[2], line)
    return keys


def _is_option(word: str) -> bool:
    return bool(_OPTION.fullmatch(word.split("=", 1)[0])) and not re.fullmatch(r"-[0-9.]+", word)


def _script_variables(lines: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        if match := _ASSIGNED.match(line):
            found[match[1]] = _expanded_text(match[2].strip("\"'"), found)
    return found


def _script_words(lines: tuple[str, ...], variables: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The words of a script with their lines, without comments."""
    count = 0
    for number, line in enumerate(lines, 1):
        if "-" not in line and "=" not in line:
            continue
        text = _expanded_text(line.strip().rstrip("\\").strip(), variables)
        text = re.sub(r"^[A-Za-z_][A-Za-z0-9_]*\+?=[\"'(]?\s*(?=--)", "", text)
        try:
            parts = shlex.split(text, comments=True)
        except ValueError:  # a quote that continues on the next line
            parts = text.replace('"', " ").replace("'", " ").split()
        for part in parts:
            for word in part.strip("()[],\"'").split():
                count += 1
                if count > MOST_WORDS:
                    raise FormatError(f"more than {MOST_WORDS:,} words in its commands", number)
                yield word.strip("\"',"), number


def _expanded_text(text: str, variables: dict[str, str]) -> str:
    """A text with known variables expanded once."""

    def value(match: re.Match[str]) -> str:
        if match[4]:
            return _product_text(match[4], variables) or match[0]
        name = match[1] or match[3]
        return variables.get(name, match[2] if match[2] is not None else match[0])

    return _VARIABLE.sub(value, text)[:100_000]


def _product_text(text: str, variables: dict[str, str]) -> str:
    match = _PRODUCT.fullmatch(text)
    if not match:
        return ""
    one, other = (variables.get(name, name) for name in (match[1], match[3]))
    if not (one.isdecimal() and other.isdecimal() and len(one + other) < 18) or (match[2] == "/" and int(other) == 0):
        return ""
    return str(int(one) * int(other) if match[2] == "*" else int(one) // int(other))


# Model names as used by hubs and frameworks, and their catalog entries

_SUFFIX = re.compile(
    r"-(instruct|chat|it|base|hf|fp8|nvfp4|fp4|mxfp4|awq|gptq|w4a16|bf16|pt|\d{4}|v0\.\d|reference)(?=-|$)"
)
_OTHER = (
    (r"^meta-llama-", "llama-"),
    (r"^llama(\d)", r"llama-\1"),
    (r"^llama-(\d)(\d)-", r"llama-\1.\2-"),
    (r"^qwen-(\d)", r"qwen\1"),
    (r"^deepseek-?(v\d|r1)", r"deepseek-\1"),
)
_SAME = {"deepseek-r1": "deepseek-v3"}
"""Models that differ in their training only."""


def catalog_model(name: str) -> str | None:
    """The catalog id of a model by its name; None if there is none.

    >>> catalog_model("meta-llama/Llama-3.1-70B-Instruct"), catalog_model("mixtral-8x7B-v0.1"), catalog_model("x/y")
    ('llama-3.1-70b', 'mixtral-8x7b', None)
    """
    ids = set(Catalog.open().ids("model"))
    plain = name.strip().rstrip("/").split("/")[-1].lower().replace("_", "-")
    tried = [plain]
    for pattern, replacement in _OTHER:
        tried += [re.sub(pattern, replacement, each) for each in list(tried)]
    tried += [_SUFFIX.sub("", each) for each in list(tried)]
    tried += [_SUFFIX.sub("", each) for each in list(tried)]
    return next((_SAME.get(each, each) for each in tried if _SAME.get(each, each) in ids), None)


def set_model(name: str, builder: ImportBuilder, line: int) -> str | None:
    """Set the model of a name, or record the name as unknown; returns its id."""
    found = catalog_model(name)
    if found:
        builder.set("workload.model", found, line)
    else:
        builder.unknown(f"model {name[:80]}", "no catalog entry of this name: import its config.json", line)
    return found


# Parameter counts of imported models, with the formulas of the cost model

TOLERANCE = 0.02
"""Of the parameters cited; biases and small norms are not counted."""


def set_parameters(builder: ImportBuilder, line: int = 0) -> None:
    """Record the parameter count of the imported model if its sizes are complete."""
    sizes = {each.path[-1] for each in builder.given if each.path[:2] == ("workload", "model")}
    if not {"layers", "hidden", "heads"} <= sizes:
        return
    reading = builder.reading()
    if "vocab" not in sizes:
        builder.unknown("workload.model.vocab", "not stated here: embeddings are not counted", line)
        reading = replace(
            reading, given=(*reading.given, ImportedValue(("workload", "model", "vocab"), 1, FileLine(builder.file)))
        )
    document, _ = parse(Source("model", new_spec(reading)))
    spec = read(document)[0] if document is not None else None
    if spec is None or spec.workload is None or spec.workload.model is None or isinstance(spec.workload.model, str):
        return
    model = resolve_model(spec.workload.model, Lookup(Catalog.open(), ResolutionLog(spec)))
    if model is None:
        return
    parameters = model_weights(model)
    embeddings = parameters.embedding + parameters.positions + parameters.head
    if "vocab" in sizes:
        builder.count("parameters", round(parameters.total), line)
        if model.experts:
            builder.count("active_parameters", round(parameters.active), line)
    builder.count("parameters_without_embeddings", round(parameters.total - embeddings), line)


def check_parameters(name: str, builder: ImportBuilder, line: int) -> None:
    """Compare the parameter count with the one that the catalog cites for a model of this name."""

    counted = next((each.value for each in builder.counts if each.name == "parameters"), None)
    entry = catalog_model(name) if name else None
    if entry is None or not isinstance(counted, int):
        return
    cited = Catalog.open().model(entry).parameters
    if cited is None:
        return
    builder.count("catalog_model", entry, line)
    if abs(counted / cited.value - 1) > TOLERANCE:
        why = f"the catalog cites {cited.value:,.0f} for {entry}, but the sizes of this file give {counted:,}"
        builder.unknown("the number of parameters", why, line)
