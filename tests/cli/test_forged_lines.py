"""No text of a spec, and no name of a file, becomes a line of output that a runner or a problem matcher obeys."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clusterspec.report.json_text import json_text
from tests.cli.conftest import BASE, Call
from tests.effort import diagonal, sampled

COMMANDS = ["::error file=README.yaml::forged", "::stop-commands::x", "##[add-mask]x", "##vso[task.setvariable]x"]
FORGED = "README.yaml:1:1: error[forged] x"
WORDS = [*COMMANDS, FORGED]
FORMATS = ("text", "concise", "junit", "markdown", "github", "gitlab", "json", "sarif")
OURS = re.compile(r"::(error|warning|notice) title=clusterspec \(")


def obeyed(line: str, form: str) -> bool:
    """Whether a runner would take a line for a command, or a problem matcher for a finding in README.yaml."""
    start = line.lstrip()
    command = start.startswith("::") and not (form == "github" and OURS.match(line))
    return command or "##[" in line or "##vso[" in line or start.startswith("README.yaml:1:1:")


def hostile(word: str) -> str:
    """A spec that holds a word wherever text may stand, after a line break, a carriage return and much filling."""
    quoted = word.replace('"', '\\"')
    ways = [quoted, f"x\\n{quoted}", f"x\\r{quoted}", " " + quoted, "filling " * 11 + quoted, "x\\u2028" + quoted]
    lines = [f'"{way} {number}": "{way}"' for number, way in enumerate(ways)]
    named = BASE.replace("name: base", f'name: "{ways[1]}"\ndescription: |\n  line\n  {word}\n')
    return named.replace("tp: 2", "nodse: 4\n  " + "\n  ".join(lines)) + f'measured: [{{log: "{ways[1]}"}}]\n'


@pytest.mark.parametrize(("form", "word"), diagonal(16, FORMATS, WORDS))
def test_input_cannot_forge_a_line_of_findings(word: str, form: str, call: Call) -> None:
    Path("spec.yaml").write_text(hostile(word))
    done = call("check", "spec.yaml", "--format", form)
    assert done.status == 1
    assert not [line for line in re.split("[\n\r\x85\u2028\u2029]", done.out) if obeyed(line, form)]


@pytest.mark.parametrize(("form", "word"), diagonal(8, FORMATS, WORDS))
def test_a_file_name_cannot_forge_a_line(word: str, form: str, call: Call) -> None:
    name = f"x\n{word}.yaml".replace("/", "_")
    Path(name).write_text(BASE.replace("nodes", "nodse"))
    Path(f"{word}.yaml").write_text(BASE.replace("nodes", "nodse"))
    done = call("check", ".", "--format", form)
    assert done.status == 1
    assert not [line for line in done.out.splitlines() if obeyed(line, form)]
    assert not [line for line in call("check", ".", "--fix").error.splitlines() if obeyed(line, "")]


@pytest.mark.parametrize("word", sampled(WORDS, 8))
def test_input_cannot_forge_a_line_of_a_diff_or_a_fix(word: str, call: Call) -> None:
    Path("spec.yaml").write_text(hostile(word).replace("nodes: 4", "nodse: 4", 1))
    for option in ("--diff", "--fix"):
        done = call("check", "spec.yaml", option)
        lines = done.out.splitlines() + done.error.splitlines()
        assert any("nodse" in line for line in lines)
        assert not [line for line in lines if obeyed(line, "") and word in COMMANDS]


HIDDEN = "ba\u202ese \u2066x\u2069 \u200b\u061c \U000e0041 \x7f\x9f"
"""Characters that show nothing, or reverse the text around them."""


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_of_findings_repeats_a_hidden_character(form: str, call: Call) -> None:
    Path(f"{HIDDEN}.yaml").write_text(BASE.replace("nodes", f"nodes{HIDDEN[2]}"))
    done = call("check", f"{HIDDEN}.yaml", "--format", form)
    assert done.status == 1
    assert not {*done.out} & {*HIDDEN.replace(" ", "")} - {*"basex"}


@pytest.mark.parametrize(
    "words",
    [
        ("diff", "spec.yaml", "spec.yaml", "--format", "json"),
        ("estimate", "spec.yaml", "--format", "json"),
        ("sweep", "axes.yaml", "--format", "jsonl", "--jobs", "1"),
        ("report", "spec.yaml", "-o", "out.json", "--kind", "procurement"),
        ("report", "spec.yaml", "-o", "out.html", "--kind", "procurement"),
    ],
)
def test_hidden_characters_of_a_spec_are_escaped(words: tuple[str, ...], call: Call) -> None:
    Path("spec.yaml").write_text(BASE.replace("name: base", f'name: "{HIDDEN[:-3]}"'))
    Path("axes.yaml").write_text(f'base: spec.yaml\naxes: {{name: ["{HIDDEN[:-3]}"]}}\n')
    out = call(*words).out + (Path(words[3]).read_text() if "-o" in words else "")
    assert out and not {*out} & {*HIDDEN.replace(" ", "")} - {*"basex"}
    assert "\\u202e" in out or words[0] in ("estimate", "diff")


def test_an_escaped_character_is_the_same_for_readers_of_json() -> None:
    assert json.loads(json_text([HIDDEN])) == [HIDDEN]


def test_a_difference_repeats_no_control_of_text_direction(call: Call) -> None:
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodse: 4  # \u202ebidi"))
    assert "nodes: 4  # \u202ebidi" in call("check", "spec.yaml", "--diff").out
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodse: 4\n  # \u202ebidi"))
    assert "\u202e" not in call("check", "spec.yaml", "--diff").out


@pytest.mark.parametrize(
    "words",
    [
        ("estimate",),
        ("bom",),
        ("bom", "--format", "csv"),
        ("collective", "all-reduce", "--ranks", "8", "--size", "1 GiB"),
        ("estimate", "--format", "json"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("word", sampled(WORDS, 4))
def test_input_cannot_forge_a_line_of_any_command(word: str, words: tuple[str, ...], call: Call) -> None:
    text = BASE.replace("name: base", f'name: "{word}"') + f'procurement: {{currency: EUR, as_of: "x\\n{word}"}}\n'
    for spec in (text, text.replace(f'"{word}"', f'"x\\n{word}"')):
        Path("spec.yaml").write_text(spec)
        done = call(words[0], "spec.yaml", *words[1:])
        assert not [line for line in done.out.splitlines() if obeyed(line, "")]


@pytest.mark.parametrize("word", WORDS)
def test_a_key_cannot_forge_a_line_of_a_diff(word: str, call: Call) -> None:
    Path("old.yaml").write_text(BASE)
    Path("spec.yaml").write_text(BASE + f'"{word}": 1\n')
    for form in ("text", "markdown"):
        done = call("diff", "old.yaml", "spec.yaml", "--format", form)
        assert not [line for line in done.out.splitlines() if obeyed(line, "")]


def test_a_cell_of_markdown_holds_no_markup() -> None:
    from clusterspec.report.findings_machines import markdown_cell

    for text in (
        "`a`b<img src=x>`",
        "`` ` ``<b>",
        "@everyone",
        "[x](javascript:y)",
        "![x](http://y)",
        "https://evil",
        "$x^2$",
        "$`x`$",
        "a $$b$$",
    ):
        outside = "".join(markdown_cell(text).split("`")[::2])
        assert not re.search(r"[<>\[\]@!$]|//", outside), markdown_cell(text)
    for text in ("\\$x\\$", ":tada:", ":+1:", "GH-12", "www.evil.org", "#12", "~~x~~"):
        assert markdown_cell(text).startswith("&#"), markdown_cell(text)
    assert markdown_cell("ratio 2:1, 4 GB: see tp:pp") == "ratio 2:1, 4 GB: see tp:pp"


HOSTILE_TEXT = "x\\e[2J\\a\\b\\x9b31m\\u202e $a$ $$b$$ [t](https://evil) \\0\\x7f\\v"
"""A value of YAML in double quotes with controls of terminals, formulas and a link."""
PLACES = [
    ("name: base", 'name: "{}"'),
    ("name: base", 'description: "{}"\nname: base'),
    ("name: base", 'name: base\ndocument: {{author: "{}", revision: "{}", signatories: ["{}"]}}'),
    ("platform: dgx-h100", 'platform: "{}"'),
    ("model: llama-3.1-8b", 'model: "{}"'),
    ("  tp: 2", '  tp: "{}"\n  framework: "{}"\n  "{}": 3'),
    ("name: base", 'name: base\nmeasured: [{{log: "{}"}}]'),
    ("name: base", 'name: base\nprocurement: {{currency: "{}", as_of: "{}"}}'),
]
TOGETHER = [PLACES[:1], PLACES[1:3] + PLACES[5:6], PLACES[3:5], PLACES[6:7], PLACES[7:]]
"""The places of a report, which takes long: as many at once as leave something to report."""
FORMS = [
    *(("check", "spec.yaml", "--format", form, "--output", "out") for form in ("sarif", "junit", "gitlab", "markdown")),
    *(("check", "spec.yaml", "--format", form, "--output", "out") for form in ("text", "concise", "github", "json")),
    ("report", "spec.yaml", "-o", "out.html", "--kind", "procurement"),
    ("report", "spec.yaml", "-o", "out.json", "--kind", "procurement"),
    ("export", "rfp", "spec.yaml", "-o", "out"),
    ("export", "bom-csv", "spec.yaml", "-o", "out"),
    ("diff", "old.yaml", "spec.yaml", "--format", "markdown"),
]


@pytest.mark.parametrize("words", sampled(FORMS, 4), ids=" ".join)
def test_no_writer_passes_a_control_character_of_a_file(words: tuple[str, ...], call: Call) -> None:
    Path("old.yaml").write_text(BASE)
    for changes in zip(PLACES, strict=True) if words[0] != "report" else TOGETHER:
        text = BASE
        for old, new in changes:
            text = text.replace(old, new.replace("{}", HOSTILE_TEXT).replace("{{", "{").replace("}}", "}"))
        Path("spec.yaml").write_text(text)
        done = call(*words)
        assert done.status in (0, 1, 2), done
        written = [path.read_text("utf-8") for path in Path().glob("out*")]
        for text in [*written, done.out, done.error]:
            assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]", text), changes
            if "markdown" in words or "rfp" in words:
                assert "$" not in "".join(text.split("`")[::2]), changes
            if "sarif" in words:
                assert "](" not in text, changes
