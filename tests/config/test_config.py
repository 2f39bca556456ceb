"""Laws of the configuration: what is written is taken, what is not known is refused in one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.config import Config, ConfigFault, Override, check, discover, load, schema
from clusterspec.finding import Severity

EVERYTHING = """
select = ["shared-nic", "few-spines"]
ignore = ["few-spines"]
error = ["undeclared-network"]
severity = {tight-memory = "note"}
profile = "strict"
fail-on = "warning"
catalog = ["hardware", "../shared"]
thresholds = {pipeline-bubble = 0.2, tight-memory = 1}
"""


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_every_key_is_taken(tmp_path: Path) -> None:
    path = written(tmp_path / "clusterspec.toml", EVERYTHING)
    assert load(path) == Config(
        file=path,
        select=("shared-nic", "few-spines"),
        ignore=("few-spines",),
        error=("undeclared-network",),
        severity={"tight-memory": Severity.NOTE},
        profile="strict",
        fail_on=Severity.WARNING,
        catalog=(tmp_path / "hardware", tmp_path / "../shared"),
        thresholds={"pipeline-bubble": 0.2, "tight-memory": 1.0},
    )


IN_TABLES = (
    "[project]\nname = 'x'\n[tool.clusterspec]\nprofile = 'strict'\n",
    "[ \"tool\" . 'clusterspec' ]\nprofile = 'strict'\n",
    "[\"\\u0074ool\".clusterspec]\nprofile = 'strict'\n",
    "[tool]\nclusterspec.profile = 'strict'\n",
    "tool = {clusterspec = {profile = 'strict'}}\n",
    "tool.clusterspec.profile = 'strict'\n",
)


def test_pyproject_says_the_same_in_its_table(tmp_path: Path) -> None:
    for text in IN_TABLES:
        assert load(written(tmp_path / "pyproject.toml", text)).profile == "strict"
    assert load(written(tmp_path / "other" / "pyproject.toml", "[tool.ruff]\n")) == Config()


def test_the_nearest_file_upward_is_found(tmp_path: Path) -> None:
    written(tmp_path / "clusterspec.toml", "profile = 'strict'")
    written(tmp_path / "a" / "pyproject.toml", "[project]\n")
    written(tmp_path / "a" / "b" / "clusterspec.toml", "fail-on = 'note'")
    (tmp_path / "a" / "c" / "d").mkdir(parents=True)
    assert discover(tmp_path / "a" / "b").fail_on is Severity.NOTE
    assert discover(tmp_path / "a" / "c" / "d").file == (tmp_path / "clusterspec.toml").resolve()
    known: dict[Path, Config] = {}
    found = [discover(tmp_path / "a" / name, known) for name in ("b", "c")]
    assert found == [discover(tmp_path / "a" / name) for name in ("b", "c")]
    assert discover(tmp_path / "a" / "c" / "d", known) is found[1], "a file is read once for all folders below it"


def test_the_search_ends_at_the_repository(tmp_path: Path) -> None:
    written(tmp_path / "clusterspec.toml", "profile = 'strict'")
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    assert discover(tmp_path / "repository") == Config()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("selct = []", "unknown key `selct`; did you mean select?"),
        ("select = 'a'", "select is a list of words"),
        ("ignore = [1]", "ignore is a list of words"),
        ("error = ['']", "error is a list of words"),
        ("severity = 'note'", "severity is a table of rule names"),
        ("severity = {a = 'bad'}", "severity.a is error, warning or note, not 'bad'"),
        ("severity = {a = []}", "severity.a is error, warning or note"),
        ("fail-on = 'never'", "fail-on is error, warning or note, not 'never'"),
        ("profile = 'lax'", "profile is default or strict, not 'lax'"),
        ("thresholds = {a = 'x'}", "thresholds.a is a number, not 'x'"),
        ("thresholds = {a = true}", "thresholds.a is a number"),
        ("thresholds = {a = nan}", "thresholds.a is a number"),
        ("select = [", "not TOML"),
        ("\x00", "not TOML"),
    ],
)
def test_what_is_not_known_is_one_line_that_names_the_file(tmp_path: Path, text: str, words: str) -> None:
    path = written(tmp_path / "clusterspec.toml", text)
    with pytest.raises(ConfigFault) as caught:
        load(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault, match="No such file"):
        load(tmp_path / "missing.toml")
    (tmp_path / "pyproject.toml").write_text("tool = 5\n")
    assert load(tmp_path / "pyproject.toml") == Config()
    (tmp_path / "pyproject.toml").write_text("tool.clusterspec = 5\n")
    with pytest.raises(ConfigFault, match="is a table"):
        load(tmp_path / "pyproject.toml")


def test_a_file_of_a_mebibyte_is_read_and_a_larger_one_is_refused(tmp_path: Path) -> None:
    text = 'select = ["shared-nic"]\n#'
    whole = written(tmp_path / "clusterspec.toml", text + "x" * (2**20 - len(text)))
    assert load(whole).select == ("shared-nic",)
    whole.write_text(text + "x" * (2**20 - len(text) + 1))
    with pytest.raises(ConfigFault, match="larger than 1024 KiB, the maximum"):
        load(whole)


@given(data=st.binary(max_size=40))
def test_any_bytes_are_a_configuration_or_a_fault(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("config") / "clusterspec.toml"
    path.write_bytes(data)
    try:
        assert load(path).file == path
    except ConfigFault as fault:
        assert "\n" not in str(fault)


def bounded(node: object) -> Iterator[dict[str, Any]]:
    """The parts of a schema that bound a number or the length of a text."""
    if isinstance(node, dict):
        if node.keys() & {"minimum", "minLength"}:
            yield node
        for each in node.values():
            yield from bounded(each)


def test_a_value_at_a_bound_is_taken_and_one_beyond_it_refused() -> None:
    nodes = [*bounded(schema())]
    assert {node["type"] for node in nodes} == {"number", "string"}
    for node in nodes:
        if node["type"] == "number":
            within, beyond = (node["minimum"], node["maximum"]), (2 * node["minimum"], 2 * node["maximum"])
        else:
            least, most = node["minLength"], node.get("maxLength", 10_000)
            within, beyond = ("x" * least, "x" * most), ("x" * (least - 1), "x" * (most + 1))
        for value in within:
            check(value, node)
        for value in beyond:
            with pytest.raises(ConfigFault):
                check(value, node)


def test_overrides_of_a_path_add_up_and_the_last_decides() -> None:
    both, one = Override(("a/**",), ("x",), ("p",), {"s": Severity.NOTE}, "strict"), Override(("a/b/*",), ("y",))
    last = Override(("a/b/c.yaml",), (), ("q",), {"s": Severity.ERROR})
    whole = Config(
        Path("/r/clusterspec.toml"), ignore=("w",), severity={"t": Severity.NOTE}, overrides=(both, one, last)
    )

    def told(path: str) -> tuple[object, ...]:
        found = whole.for_path(path)
        return found.ignore, found.error, dict(found.severity), found.profile

    note, error = Severity.NOTE, Severity.ERROR
    assert told("/r/z.yaml") == told("/a/z.yaml") == (("w",), (), {"t": note}, "default")
    assert told("/r/a/z.yaml") == (("w", "x"), ("p",), {"t": note, "s": note}, "strict")
    assert told("/r/a/b/z.yaml") == (("w", "x", "y"), ("p",), {"t": note, "s": note}, "strict")
    assert told("/r/a/b/c.yaml") == (("w", "x", "y"), ("p", "q"), {"t": note, "s": error}, "strict")


def test_patterns_of_a_configuration_count_from_its_folder() -> None:
    found = Config(Path("/r/clusterspec.toml"), exclude=("old/",), text=("*.md",))
    assert found.root == Path("/r") and Config().root == Path.cwd()
    assert found.excludes("/r/old", folder=True) and not found.excludes("/r/old") and not found.excludes("/q/old")
    assert found.includes_text("/r/a.md") and not found.includes_text("/r/a.yaml")
    assert not Config().excludes("a") and not Config().includes_text("a.md")
