"""Nothing in a repository makes the program write elsewhere, print other files, wait, or keep silent about errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, ROOT, Call
from tests.cli.test_written_files import FLAWED
from tests.effort import telling, thorough

START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from clusterspec.__main__ import main; main()"


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command line of a shell in which `clusterspec` is this program."""
    script = f'clusterspec() {{ "{sys.executable}" -c \'{START}\' "{ROOT}" "$@"; }}\n{command}'
    return subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def project(call: Call) -> Path:
    """The project in the current folder; files next to it are outside."""
    Path("project").mkdir()
    os.chdir("project")
    Path("clusterspec.toml").touch()
    Path("../outside").mkdir()
    return Path.cwd()


@pytest.mark.parametrize(
    "words",
    [
        ("check", "spec.yaml", "--output", "link"),
        ("check", "spec.yaml", "--write-baseline", "link"),
        ("report", "spec.yaml", "-o", "link.html"),
        ("check", "spec.yaml", "--output", "folder/victim"),
    ],
    ids=" ".join,
)
def test_no_symbolic_link_lets_a_write_leave_the_project(words: tuple[str, ...], project: Path, call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    Path("../outside/victim").write_text("before")
    Path("link").symlink_to("../outside/victim")
    Path("link.html").symlink_to("../outside/victim")
    Path("folder").symlink_to("../outside")
    done = call(*words)
    assert done.status == 2
    assert Path("../outside/victim").read_text() == "before"


def test_a_spec_that_is_a_link_out_of_the_project_is_not_read(project: Path, call: Call) -> None:
    Path("../outside/secret.yaml").write_text("password: hunter2\nclusterspec: 1\n")
    Path("spec.yaml").symlink_to("../outside/secret.yaml")
    for words in (("check", "spec.yaml"), ("check", "spec.yaml", "--fix"), ("estimate", "spec.yaml"), ("check", ".")):
        done = call(*words)
        assert "hunter2" not in done.out + done.error
    assert call("check", "spec.yaml").status == 2


@pytest.mark.parametrize(
    "text", ["password: hunter2\nuser: root\n", '{"password": "hunter2"}', "password: [hunter2\n", "- hunter2\n"]
)
def test_the_content_of_a_base_that_is_not_a_spec_is_not_printed(text: str, project: Path, call: Call) -> None:
    Path("secrets.yaml").write_text(text)
    Path("spec.yaml").write_text("clusterspec: 1\nextends: secrets.yaml\n")
    done = call("check", "spec.yaml")
    assert done.status == 1
    assert "unresolved-extends" in done.out
    assert "hunter2" not in done.out


@telling(1)
@pytest.mark.parametrize("option", ["--output", "--write-baseline"])
@pytest.mark.parametrize("target", ["base.yaml", "clusterspec.toml", "known.json", "own/accelerators/mine.yaml"])
def test_inputs_are_not_overwritten(option: str, target: str, project: Path, call: Call) -> None:
    Path("base.yaml").write_text(FLAWED)
    Path("spec.yaml").write_text("clusterspec: 1\nextends: base.yaml\n")
    Path("own/accelerators").mkdir(parents=True)
    Path("clusterspec.toml").write_text('catalog = ["own"]\n')
    assert call("check", "spec.yaml", "--write-baseline", "known.json").status == 0
    before = {path: path.read_text() for path in Path().rglob("*.*") if path.is_file()}
    done = call("check", "spec.yaml", "--baseline", "known.json", option, target)
    if option == "--write-baseline" and target == "known.json":
        assert done.status == 0
    else:
        assert done.status == 2, done
        assert {path: path.read_text() for path in Path().rglob("*.*") if path.is_file()} == before


def test_a_report_on_a_text_that_cannot_be_read_leaves_the_old_one(call: Call) -> None:
    Path("spec.yaml").write_text("a: [")
    Path("out.html").write_text("before")
    done = call("report", "spec.yaml", "-o", "out.html")
    assert (done.status, Path("out.html").read_text()) == (1, "before")
    assert "unreadable-yaml" in done.error


READ_OR_WRITTEN = (
    "check pipe",
    "check spec.yaml --output pipe",
    "check spec.yaml --write-baseline pipe",
    "check spec.yaml --baseline pipe",
    "check spec.yaml --config pipe",
    "check spec.yaml --catalog pipe",
    "report spec.yaml -o pipe.html --kind procurement",
)
EACH = "import sys; sys.path.insert(0, sys.argv[1]); from clusterspec.cli import run"
EACH += "; sys.exit(str([run(words.split()) for words in sys.argv[2:]]))"
"""Runs commands one after the other, and prints their statuses to standard error."""


def test_a_pipe_is_never_waited_for(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    os.mkfifo("pipe")
    os.mkfifo("pipe.html")
    words = [sys.executable, "-c", EACH, str(ROOT), *READ_OR_WRITTEN]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    statuses = json.loads(done.stderr.splitlines()[-1])
    assert len(statuses) == len(READ_OR_WRITTEN) and {*statuses} <= {1, 2}, done
    assert "Traceback" not in done.stderr


def test_a_configuration_that_is_a_pipe_is_passed_over(call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    os.mkfifo("clusterspec.toml")
    assert shell("clusterspec check spec.yaml", Path.cwd()).returncode == 0


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("set -o pipefail; clusterspec check spec.yaml | true", 1),
        ("set -o pipefail; clusterspec check spec.yaml --format json | head -1 >/dev/null", 1),
        ("clusterspec check spec.yaml >&-", 2),
        ("clusterspec check spec.yaml >/dev/full", 2),
        ("clusterspec --version >/dev/full", 2),
        ("clusterspec --version >&-", 2),
        ("clusterspec --help >/dev/full", 2),
        ("clusterspec check --help >/dev/full", 2),
    ],
)
def test_failed_output_is_never_success(command: str, status: int, call: Call) -> None:
    Path("spec.yaml").write_text(FLAWED)
    done = shell(command, Path.cwd())
    assert done.returncode == status, done
    assert "Traceback" not in done.stderr


ALWAYS = {
    "duplicate-key": BASE.replace("tp: 2", "tp: 2\n  tp: 4  # clusterspec: ignore[duplicate-key]: no"),
    "unresolved-extends": "clusterspec: 1\nextends: absent.yaml  # clusterspec: ignore[unresolved-extends]: no\n",
    "unsupported-spec-version": BASE.replace("spec: 1", "spec: 2  # clusterspec: ignore[unsupported-spec-version]: no"),
    "unreadable-yaml": "# clusterspec: ignore-file[unreadable-yaml]: no\nclusterspec: 1\na: [\n",
}


@pytest.mark.parametrize("rule", ALWAYS)
def test_unreadable_text_cannot_be_waived(rule: str, call: Call) -> None:
    Path("spec.yaml").write_text(ALWAYS[rule])
    Path("clusterspec.toml").write_text(
        f'ignore = ["{rule}"]\nseverity = {{{rule} = "note"}}\nselect = ["shared-nic"]\n'
    )
    assert call("check", "spec.yaml", "--write-baseline", "known.json").status == 1
    done = call("check", "spec.yaml", "--baseline", "known.json", "--format", "json")
    assert done.status == 1
    assert (rule, "error") in {(one["rule"], one["severity"]) for one in json.loads(done.out)["findings"]}


@pytest.mark.parametrize("option", ["", "--output ", "--baseline ", "--config ", "--catalog ", "--write-baseline "])
def test_a_name_of_5000_characters_is_a_usage_error(option: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    done = call("check", "spec.yaml", *option.split(), "a" * 5000)
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)
    assert len(done.error) < 1200


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" for _ in range(20_000)) + " = 1\n",
        "[" + ".".join("a" for _ in range(20_000)) + "]\n",
        "x = {" + " . ".join("1" for _ in range(20_000)) + " = 1}\n",
        '"a b"' + '."c d"' * 9000 + " = 1\n",
        "'a,b'" + ".'c.d'" * 9000 + " = 1\n",
        'x = "' + '\\"' * 400_000 + "." * 70,
        "x = " + "[" * 20_000,
        "x = " + "{a = " * 10_000,
        "thresholds = {tight-memory = " + "9" * 5000 + "}\n",
        "thresholds = {tight-memory = " + "9" * 400 + "}\n",
        'catalog = ["' + "/a" * 3000 + '"]\n',
        'catalog = ["' + "a" * 3000 + '"]\n',
        'catalog = ["a\\u0000b"]\n',
    ],
    ids=range(13),
)
def test_no_configuration_causes_an_internal_error(text: str, call: Call) -> None:
    Path("spec.yaml").write_text(BASE)
    Path("clusterspec.toml").write_text(text)
    done = call("check", "spec.yaml")
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)


def test_deep_folders_are_reported_and_not_searched_further(call: Call) -> None:
    top = Path.cwd()
    for _ in range(300):
        Path("d").mkdir()
        os.chdir("d")
    Path("spec.yaml").write_text(FLAWED)
    os.chdir(top)
    Path("spec.yaml").write_text(BASE)
    done = call("check", ".", "--format", "json")
    assert done.status == 1
    (found,) = json.loads(done.out)["findings"]
    assert (found["rule"], found["message"]) == (
        "unreadable-yaml",
        "the file cannot be read: more than 100 folders deep",
    )


@thorough
def test_findings_beyond_the_limit_are_counted(call: Call) -> None:
    lengths = []
    for number in (1_000, 2_000):
        Path("spec.yaml").write_text("clusterspec: 1\nx: {" + ", ".join(["a: b"] * number) + "}\n")
        done = call("check", "spec.yaml", "--format", "json")
        findings = json.loads(done.out)["findings"]
        assert len([one for one in findings if one["rule"] == "duplicate-key"]) == 100
        assert any(f"; {number - 101:,} more of this rule" in one["message"] for one in findings)
        lengths.append(max(len(call("check", "spec.yaml", "--format", form).out) for form in ("text", "sarif")))
    assert lengths[1] < 1.1 * lengths[0] < 300_000


WATCHED = """
import sys
sys.path.insert(0, sys.argv.pop(1))
RUNS = {"subprocess.Popen", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "socket.connect"}
def watch(event, arguments):
    if event in RUNS:
        print("RAN", event, arguments, file=sys.stderr)
sys.addaudithook(watch)
from clusterspec.cli import run
sys.exit(max(run(words.split()) for words in sys.argv[1:]))
"""
# NOTE: a page in HTML is written on the way to the PDF.
OPERATING = (
    "check spec.yaml",
    "estimate spec.yaml",
    "report spec.yaml -o report.pdf --kind procurement",
    "search spec.yaml",
    "export bom-xlsx spec.yaml -o bom.xlsx",
    "export price-sheet spec.yaml -o sheet.xlsx",
)


def test_no_command_starts_a_program_or_connects(call: Call) -> None:
    Path("spec.yaml").write_text(BASE.replace("nodes: 4", "nodes: 1"))
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(ROOT), *OPERATING], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    assert "RAN" not in done.stderr
