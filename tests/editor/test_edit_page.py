"""The page of ``clusterspec edit`` in a browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from clusterspec.cli.editor.server import Server
from clusterspec.cli.editor.verbs import Session
from tests.cli.conftest import BASE
from tests.editor.conftest import Visited
from tools.site.lighten import SEARCH

MARKUP = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
HOSTILE = BASE.replace("name: base", f"name: '{MARKUP}'").replace("nodes: 4", f"nodes: '{MARKUP}'")

BOMB = "\n".join(f"a{depth}: &a{depth} [{', '.join([f'*a{depth - 1}'] * 9)}]" for depth in range(1, 12))
SEARCHED = f"""<script>{SEARCH}</script><button class="md-search__button" onclick="opened++">Search</button><script>
let opened = 0, turned = 0;
addEventListener("keydown", (event) => turned++ * event.preventDefault());
const asked = new XMLHttpRequest();
asked.open("GET", "http://site.example/search.json");
asked.send();
</script>"""
"""A page of the site as far as its search goes: a button, keys that turn pages, and the request for the index."""
HOSTILE_TEXTS = [
    HOSTILE,
    BASE.replace("name: base", 'name: "\\e]0;title\\a\\e[2J\\u202eesab"'),  # codes of terminals and of direction
    BASE.replace("name: base", "name: \x1b[2Jbase"),
    f"clusterspec: 1\na0: &a0 [x]\n{BOMB}\n",
    "clusterspec: 1\nname: " + "[" * 5000 + "]" * 5000,
    "clusterspec: 1\nname: !!python/object/apply:os.system [ls]\n",
    BASE.replace("nodes: 4", f"nodes: {'9' * 5000}"),
    BASE + "extends: ../../../../etc/passwd\n",
]
"""Specs that try to run something, to change a terminal, to use up memory or time, or to read another file."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").write_text(BASE.replace("nodes: 4", "nodes: 4\n  scale_up: {bandwidth: 900 GB/s}"))
    made = Server(Session("cluster.yaml"), "cluster.yaml")
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def test_a_mistake_is_found_fixed_estimated_and_saved(server: Server, visited: Visited) -> None:
    """And a spec with markup runs nothing and asks for nothing, in the page and in the frame of the report."""
    page = visited.page
    page.goto(server.address)
    page.locator(".finding.error").first.wait_for()
    assert server.token not in page.url
    page.locator(".finding.error button", has_text="Fix").first.click()
    page.locator(".verdict.bad").wait_for(state="detached")
    page.keyboard.press("Control+s")
    page.locator("#said", has_text="saved").wait_for(state="attached")
    assert "900 GB/s}" not in Path("cluster.yaml").read_text()
    page.locator("#tab-estimate").click()
    page.locator("#panel-estimate .tree").first.wait_for()
    assert "MFU" in page.locator("#panel-estimate .cards").inner_text()
    Path("cluster.yaml").write_text(BASE)
    page.locator(".cm-line", has_text="scale_up").wait_for(state="detached")
    Path("cluster.yaml").write_bytes(b"name: M\xfcnchen\n")
    page.locator("#message", has_text="cannot be read: cluster.yaml:1: not UTF-8").wait_for()
    Path("cluster.yaml").write_text(BASE)
    page.locator("#message p").wait_for(state="detached")
    visited.typed(HOSTILE)
    page.locator("#tab-check").click()
    page.locator(".finding.error").first.wait_for()
    assert MARKUP[:20] in page.locator("#panel-check").inner_text()
    page.locator("#tab-report").click()
    page.locator("iframe").wait_for()
    assert page.title() == "cluster.yaml · clusterspec"
    assert page.locator("#panels img, #panels script").count() == 0
    assert visited.logged == []
    assert visited.elsewhere(f"http://127.0.0.1:{server.port}/") == []


def test_nobody_without_the_token_sees_the_spec(server: Server, visited: Visited) -> None:
    visited.page.goto(f"http://127.0.0.1:{server.port}/")
    visited.page.locator("#message pre").wait_for()
    assert "llama" not in visited.page.inner_text("body")


def test_hostile_specs_are_answered_soon_and_without_codes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    session = Session("cluster.yaml")
    for text in HOSTILE_TEXTS:
        for verb, form in (("check", "text"), ("check", "json"), ("estimate", "text")):
            began = monotonic()
            answer = session.answer({"verb": verb, "format": form, "text": text})
            shown = f"{answer['out']}{answer['err']}"
            assert answer["status"] in {0, 1, 2} and shown, (text[:60], answer)
            assert not set(shown) & {"\x1b", "\a", "\u202e"} and "root:" not in shown
            assert monotonic() - began < 10 and len(shown) < 1e5
    assert capfd.readouterr() == ("", "")


def test_the_first_shortcut_opens_the_search_of_the_site(visited: Visited) -> None:
    """The index is asked for by the first key, and letters until the search is there turn no page."""
    page = visited.page
    requests: list[Any] = []
    page.route("**/*", lambda route: route.fulfill(content_type="text/html", body=SEARCHED))
    page.route("**/search.json", lambda route: requests.insert(0, route))
    page.goto("http://site.example/")
    assert not [url for url in visited.asked if "search.json" in url]
    with page.expect_request("**/search.json"):
        page.keyboard.press("Control+k")
        page.keyboard.press("n")
    assert page.evaluate("[opened, turned]") == [1, 1], "Control alone"
    for request in requests:
        request.fulfill(body="{}")
    page.wait_for_function("asked.readyState === 4")
    page.locator("button").focus()
    before = page.evaluate("turned")
    page.keyboard.press("k")
    assert page.evaluate("[opened, turned]") == [1, before + 1]
