"""The parts of the playground that run without a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from clusterspec.cli.editor import browser
from tests.cli.conftest import BASE, ROOT
from tests.effort import thorough
from tools.site.docstrings import without_docstrings
from tools.site.engine import LIBRARIES, UNUSED, is_used, own_files, pinned
from tools.site.reached import unreached_files

STAND_IN = """
import json, os, sys, importlib.util
from pathlib import Path
from tools.site.docstrings import without_docstrings
from tools.site.engine import UNUSED
left = [Path(name).with_suffix("") for name in sys.argv[2:]]
spec = importlib.util.spec_from_file_location("rpds", "tools/site/rpds.py")
sys.modules["rpds"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for name in [*sys.modules]:
    if name.partition(".")[0] in UNUSED:
        del sys.modules[name]
sys.modules |= dict.fromkeys([*UNUSED, "numpy", "weasyprint"])
sys.modules |= dict.fromkeys(".".join(path.parts).removesuffix(".__init__") for path in left)
from clusterspec.cli.editor import browser
os.chdir(sys.argv[1])
session = browser.session_of_folder(Path(sys.argv[1]))
for request in sys.stdin:
    print(browser.answer(session, request, lambda done, total: None))
"""
"""The engine as the browser has it: with the stand-in, and without the modules that are left out."""


@cache
def engine_files() -> Mapping[str, bytes]:
    """The files of the engine: the imports of every module are read, which takes two seconds."""
    return own_files()


@thorough
def test_the_engine_without_what_is_left_out_gives_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = BASE.replace("tp: 2", "tp: two\n  pq: 1").replace("nodes: 4", "nodes: [4]") + "fleet: 3\n"
    requests: list[dict[str, object]] = [{"verb": "check", "format": "json", "text": broken}]
    described = f"{BASE}description: Each GPU has NVLink at 900 GB/s in each direction.\n"
    requests += [{"verb": verb, "format": "json", "text": described} for verb in ("check", "estimate")]
    requests += [{"verb": "report", "text": BASE}]
    requests += [{"verb": verb, "format": "json", "text": BASE} for verb in ("sensitivity", "cost", "bom", "faults")]
    requests += [{"verb": "init", "platform": "mi300x-ubb8", "model": "deepseek-v3", "for": "serve"}]
    requests += [{"verb": "diff", "format": "json", "old": BASE, "text": BASE.replace("tp: 2", "tp: 4")}]
    asked = "".join(f"{json.dumps(request)}\n" for request in requests)
    package = [path.relative_to(ROOT).as_posix() for path in (ROOT / "clusterspec").rglob("*.py")]
    left = [name for name in package if name not in engine_files()]
    assert "clusterspec/analysis/diagnosis/collectives.py" in left
    call = [sys.executable, "-c", STAND_IN, str(tmp_path), *left]
    done = subprocess.run(call, input=asked, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    session = browser.session_of_folder(tmp_path)
    for request, line in zip(requests, done.stdout.splitlines(), strict=True):
        assert json.loads(line) == session.answer(request), request
    found = [json.loads(json.loads(line)["out"])["findings"] for line in done.stdout.splitlines()[:2]]
    assert len(found[0]) >= 3 and "duplex-counted-as-one-way" in {one["rule"] for one in found[1]}


@thorough
def test_the_engine_holds_the_statements_of_the_package_at_their_lines_and_what_it_imports() -> None:
    files = engine_files()
    for name in ("clusterspec/cli/editor/browser.py", "clusterspec/cost/step.py"):
        whole, sent = ((each.decode().splitlines()) for each in ((ROOT / name).read_bytes(), files[name]))
        assert len(whole) == len(sent) and len("".join(sent)) < len("".join(whole))
        assert all(there in {"", here} for here, there in zip(whole, sent, strict=True))
    assert "clusterspec/_data/schemas/spec.schema.json" in files
    assert not [name for name in files if "/editor/page.js" in name or name.endswith(".woff2")]
    worker = (ROOT / "web" / "src" / "worker.js").read_text("utf-8")
    fonts = {path.name for path in (ROOT / "templates" / "fonts").glob("*.woff2")}
    assert {name for name in fonts if f'"{name}"' in worker} == {name for name in fonts if not name.startswith("Noto")}
    lock = pinned()
    assert lock.count("==") == len(LIBRARIES) and lock.count("--hash=sha256:") >= len(LIBRARIES)


@thorough
def test_the_engine_imports_no_module_that_is_left_out() -> None:
    """But for commands that no page asks for, and tables in SQLite."""
    for name, text in engine_files().items():
        if not name.endswith(".py") or name == "clusterspec/catalog/open_data.py":
            continue
        if not name.startswith("clusterspec/cli/") or "/editor/" in name:
            words = [word.decode() for word in re.findall(rb"^\s*(?:import|from) ([\w.]+)", text, re.MULTILINE)]
            imported = {".".join(word.split(".")[:depth]) for word in words for depth in (1, 2, 3)}
            assert not imported & UNUSED, name
    kept = ["json/__init__.py", "lzma.py", "encodings/utf_8.py", "encodings/unicode_escape.py", "encodings/cp437.py"]
    kept += ["concurrent/futures/thread.py"]
    kept += ["xml/__init__.py", "xml/parsers/expat.py", "_sysconfigdata__emscripten_wasm32-emscripten.py"]
    left_out = [
        "wsgiref/util.py",
        "pdb.py",
        "xml/dom/minidom.py",
        "_pyio.py",
        "encodings/cp850.py",
        "encodings/",
        "_pyrepl/main.py",
        "concurrent/futures/process.py",
    ]
    assert list(filter(is_used, kept + left_out)) == kept


def test_the_engine_holds_what_a_page_may_import() -> None:
    """Imports inside functions, too; importers are no part of a page."""
    files = {
        "clusterspec/__init__.py": b"",
        "clusterspec/cli/commands/exchange.py": b"from clusterspec.exchange import asked",
        "clusterspec/studies/__init__.py": b"def used():\n    from clusterspec.exchange.logs.rows import read",
        "clusterspec/exchange/__init__.py": b"",
        "clusterspec/exchange/asked.py": b"",
        "clusterspec/exchange/typed.py": b"",
        "clusterspec/exchange/exporters/slurm.py": b"from clusterspec.exchange import numbers",
        "clusterspec/exchange/numbers.py": b"if TYPE_CHECKING:\n    import clusterspec.exchange.typed",
        "clusterspec/exchange/logs/__init__.py": b"",
        "clusterspec/exchange/logs/rows.py": b"import json",
        "clusterspec/exchange/logs/other.py": b"from clusterspec.exchange.logs import rows",
    }
    left = {"cli/commands/exchange", "exchange/asked", "exchange/typed", "exchange/logs/other"}
    assert unreached_files(files) == {f"clusterspec/{name}.py" for name in left}


def test_docstrings_that_no_page_shows_are_left_out_at_the_same_lines() -> None:
    text = '"""Page of a rule."""\nA = 1\n"""Its unit."""\ndef a():\n    """One\n    thought."""\n    return "text"\n'
    text += 'class E(Exception):\n    """Raised."""\ndef b():\n    """Sum.\n    Source: a page"""\n    return 2\n'
    kept = '"""Page of a rule."""\nA = 1\n\ndef a():\n\n\n    return "text"\n'
    kept += 'class E(Exception):\n    ""\ndef b():\n    """Sum.\n    Source: a page"""\n    return 2\n'
    assert without_docstrings(text) == kept
    assert without_docstrings(text, is_page=False) == kept.replace('"""Page of a rule."""', "", 1)


def test_a_search_in_a_browser_ends_at_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[tuple[int, int]] = []
    limited = browser.LimitedProgress(lambda *numbers: told.append(numbers))
    assert not limited(browser.MOST_LAYOUTS - 1, 9999) and limited(browser.MOST_LAYOUTS, 9999)
    assert told == [(browser.MOST_LAYOUTS, 9999)]
    monkeypatch.setattr(browser, "MOST_LAYOUTS", 1)
    session = browser.session_of_folder(tmp_path)
    request = {"verb": "search", "format": "json", "text": BASE}
    answer = json.loads(browser.answer_json(session, json.dumps(request), lambda done, total: None))
    assert 0 < answer["stopped"]["evaluated"] < answer["stopped"]["of"]


BEYOND = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 200, request_rate: 4000}}
layout: {framework: vllm, tp: 1}
"""


def test_the_page_reads_whether_the_queue_of_a_plan_grows(tmp_path: Path) -> None:
    """Where the engine says so, the first token of the page is unbounded and its levers move the throughput."""
    session = browser.session_of_folder(tmp_path)
    asked = ({"verb": verb, "format": "json", "text": BEYOND} for verb in ("estimate", "sensitivity"))
    estimate, moved = (json.loads(str(session.answer(request)["out"])) for request in asked)
    assert estimate["serving"]["queue_grows"] and moved["queue_grows"]
    page = (ROOT / "templates" / "editor" / "page.js").read_text("utf-8")
    assert "the queue grows without end; full engines take" in page and "the throughput of full engines" in page
