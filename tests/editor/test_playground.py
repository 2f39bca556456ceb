"""The playground in a browser, with the engine in a web worker."""

from __future__ import annotations

import http.server
import json
import tarfile
from pathlib import Path

import pytest

from clusterspec.cli.editor.verbs import Session
from tests.cli.conftest import BASE, ROOT
from tests.editor.conftest import SLOW, Visited
from tests.editor.test_edit_page import HOSTILE, HOSTILE_TEXTS, MARKUP
from tools.site.playground import LARGEST, examples, transferred_bytes

WORKER = """async ([requests]) => {
  const code = `import "${location.origin}/worker.js";`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], {type: "text/javascript"})), {type: "module"});
  const answers = new Map();
  await new Promise((resolve, reject) => {
    worker.onmessage = ({data}) => {
      if (data.crash) reject(new Error(data.crash));
      if (data.answer) answers.set(data.id, data.answer);
      if (answers.size === requests.length) resolve();
    };
    worker.postMessage({base: `${location.origin}/`});
    requests.forEach((request, id) => worker.postMessage({id, request}));
  });
  worker.terminate();
  return requests.map((_, id) => answers.get(id));
}"""


FETCH = "fetch('https://elsewhere.example/').then(() => 'sent', () => 'refused')"
IN_WORKER = """(code) => new Promise((resolve) => {
  const blob = new Blob([`${code}.then(postMessage)`], {type: "text/javascript"});
  new Worker(URL.createObjectURL(blob), {type: "module"}).onmessage = ({data}) => resolve(data);
})"""


def test_the_playground_says_what_the_command_line_says(
    opened: Visited, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Byte for byte: all examples, the gallery, a spec with errors of every stage, and hostile texts."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "examples").glob("*.yaml"))]
    texts += [*HOSTILE_TEXTS, BASE.replace("tp: 2", "tp: 3\n  pq: 1"), "clusterspec: 1\n  - x", "clusterspec: [1]", ""]
    forms = [(verb, form) for verb in ("check", "estimate") for form in ("json", "text")]
    forms += [("cost", "json"), ("sensitivity", "json")]
    requests = [{"verb": verb, "format": form, "text": text} for text in texts for verb, form in forms]
    gallery = examples()["Gallery"].values()
    requests += [{"verb": verb, "format": "json", "text": text} for text in gallery for verb in ("check", "estimate")]
    requests += [
        {"verb": "report", "text": texts[0]},
        {"verb": "report", "text": HOSTILE},
        *({"verb": "report", "text": examples()["Examples"][name]} for name in ("deepseek-v3-serving", "lab-fleet")),
        {"verb": "report", "kind": "procurement", "text": examples()["Examples"]["mi300x-pair"]},
        {"verb": "convert", "quantity": "3.2 Tb/s"},
    ]
    answers = opened.page.evaluate(WORKER, [requests])
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").touch()
    session = Session("cluster.yaml")
    for request, answer in zip(requests, answers, strict=True):
        assert answer == session.answer(request), request
    assert opened.logged == []


def test_a_link_holds_the_spec_and_nothing_is_asked_for_elsewhere(
    opened: Visited, site: http.server.ThreadingHTTPServer
) -> None:
    address = f"http://127.0.0.1:{site.server_port}/"
    opened.typed(HOSTILE)
    opened.page.locator(".finding.error").first.wait_for()
    opened.page.locator("#tab-convert").click()
    opened.page.get_by_text("Copy link").click()
    opened.page.wait_for_url("**#spec=*")
    other = opened.context.new_page()
    other.goto(opened.page.url)
    other.locator(".cm-line", has_text="onerror").first.wait_for()
    other.locator(".finding.error").first.wait_for(timeout=SLOW, state="attached")
    assert other.locator("#tab-convert").get_attribute("aria-selected") == "true"
    other.locator("#tab-check").click()
    assert MARKUP[:20] in other.locator("#panel-check").inner_text()
    assert "clusterspec" in other.title()
    refused, in_worker = (other.evaluate(code) for code in (FETCH, f"({IN_WORKER})({json.dumps(FETCH)})"))
    assert (refused, in_worker) == ("refused", "refused")
    assert [url for url in opened.elsewhere(address) if "elsewhere.example" not in url] == []


@pytest.mark.parametrize("word", ["x", "eJw", "7c" * 40_000, "%00", "+++"])
def test_a_damaged_link_is_said_so(word: str, site: http.server.ThreadingHTTPServer, visited: Visited) -> None:
    visited.page.goto(f"http://127.0.0.1:{site.server_port}/#spec={word}")
    visited.page.locator("#message").get_by_text("cannot be read").wait_for()


def test_it_works_without_a_network_after_the_first_visit(
    site: http.server.ThreadingHTTPServer, opened: Visited
) -> None:
    opened.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    opened.typed(BASE)
    opened.page.wait_for_timeout(1000)
    opened.context.set_offline(True)
    opened.page.reload()
    opened.page.locator(".verdict").first.wait_for()
    assert "llama-3.1-8b" in opened.page.locator(".cm-content").inner_text()


def test_a_search_ends_early_or_is_cancelled_and_the_text_stays(opened: Visited) -> None:
    page = opened.page
    page.locator("#tab-search").click()
    page.get_by_text("Search layouts").click()
    page.get_by_role("button", name="Cancel").click()
    page.locator("#panel-search", has_text="Cancelled").wait_for()
    page.get_by_text("Search layouts").click()
    page.locator("#panel-search table").wait_for(timeout=3 * SLOW)
    assert "Stopped at 5," in page.locator("#panel-search .note.fair").inner_text()
    assert "dgx-h100-pod" in page.locator(".cm-content").inner_text()


@pytest.mark.parametrize(
    ("name", "status"), [("engine.tar.xz", 200), ("engine.tar.xz", 404), ("pyodide.asm.wasm", 404), ("worker.js", 404)]
)
def test_a_crash_keeps_the_text_and_says_how_to_report_it(
    name: str, status: int, site: http.server.ThreadingHTTPServer, visited: Visited
) -> None:
    visited.page.route(f"**/{name}", lambda route: route.fulfill(status=status, body=b"broken"))
    visited.page.goto(f"http://127.0.0.1:{site.server_port}/")
    visited.page.set_default_timeout(SLOW)
    visited.page.locator("#message").get_by_text("your text is still here").wait_for()
    assert "clusterspec: 1" in visited.page.locator(".cm-content").inner_text()
    assert "issues/new" in str(visited.page.locator("#message a").get_attribute("href"))


def test_the_playground_is_small_and_the_examples_are_ours(folder: Path, opened: Visited) -> None:
    assert transferred_bytes(folder) <= LARGEST
    with tarfile.open(folder / "engine.tar.xz") as archive:
        names, listed = {*archive.getnames()}, archive.extractfile("later.json")
        later = json.load(listed) if listed else []
    assert {"clusterspec.report.paper", "jinja2"} <= {*later}, "imported after the first check"
    for name in later:
        path = name.replace(".", "/")
        assert not {f"{path}.py", f"{path}/__init__.py"} & names, "byte code in their place"
    groups: dict[str, dict[str, str]] = json.loads((folder / "examples.json").read_text("utf-8"))
    assert sum(map(len, groups.values())) == opened.page.locator("#tools option").count() - 1
