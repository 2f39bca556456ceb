"""The parts of the playground that run without a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clusterspec.cli.editor import browser
from tests.cli.conftest import BASE, ROOT
from tools.site.engine import LIBRARIES, own_files, pinned

STAND_IN = """
import sys, importlib.util
spec = importlib.util.spec_from_file_location("rpds", sys.argv[1])
sys.modules["rpds"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from clusterspec.cli import run
sys.exit(run(["check", "--format", "json", sys.argv[2]]))
"""


def test_the_stand_in_for_rpds_gives_the_same_findings(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(BASE.replace("tp: 2", "tp: two\n  pq: 1").replace("nodes: 4", "nodes: [4]") + "fleet: 3\n")
    check = ["check", "--format", "json", str(spec)]
    outputs = [
        subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, cwd=ROOT).stdout
        for words in (["-c", STAND_IN, "tools/site/rpds.py", str(spec)], ["-m", "clusterspec", *check])
    ]
    assert outputs[0] == outputs[1]
    assert len(json.loads(outputs[0])["findings"]) >= 3


def test_the_engine_holds_the_package_as_it_is_and_what_it_imports() -> None:
    files = own_files()
    for name in ("clusterspec/cli/editor/browser.py", "clusterspec/cost/step.py"):
        assert files[name] == (ROOT / name).read_bytes()
    assert "clusterspec/_data/schemas/spec.schema.json" in files
    assert not [name for name in files if "/editor/page.js" in name]
    lock = pinned()
    assert lock.count("==") == len(LIBRARIES) and lock.count("--hash=sha256:") >= len(LIBRARIES)


def test_a_search_in_a_browser_ends_at_its_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[tuple[int, int]] = []
    limited = browser.Limited(lambda *numbers: told.append(numbers))
    assert not limited(browser.MOST_LAYOUTS - 1, 9999) and limited(browser.MOST_LAYOUTS, 9999)
    assert told == [(browser.MOST_LAYOUTS, 9999)]
    monkeypatch.setattr(browser, "MOST_LAYOUTS", 1)
    session = browser.opened(tmp_path)
    request = {"verb": "search", "format": "json", "text": BASE}
    answer = json.loads(browser.answer(session, json.dumps(request), lambda done, total: None))
    assert 0 < answer["stopped"]["evaluated"] < answer["stopped"]["of"]
