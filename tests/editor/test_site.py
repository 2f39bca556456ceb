"""The sources of the site: every page has its place, every link leads somewhere, examples open in the playground."""

from __future__ import annotations

import base64
import gzip
import posixpath
import re
import zlib
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, ROOT
from tools.site import weight
from tools.site.pages import (
    DECORATED,
    LINK,
    PAGE_IN_HTML,
    REPOSITORY,
    named,
    navigation,
    pages,
    permalink,
    with_examples,
    with_links,
)
from tools.site.playground import EXAMPLES, GALLERY, examples

ASSETS = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*") if path.suffix != ".md"}


def test_every_page_is_in_the_navigation_or_listed_by_one_that_is() -> None:
    there = {name for name in named(navigation()) if name.endswith(".md")}
    assert there == {name for name in pages() if not name.startswith(("rules/", "catalog/"))}


def test_every_link_of_every_page_leads_somewhere() -> None:
    """To a page or file of the site, or to a file of the repository."""
    everything = {*pages(), *ASSETS}
    for target, source in pages().items():
        text = with_links((ROOT / source).read_text("utf-8"), source, target)
        for path, _ in LINK.findall(text):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(target), path)) in everything, (source, path)
        for path in re.findall(re.escape(REPOSITORY) + r"([^)#\s]+)(?=[)#])", text):
            assert (ROOT / path).exists(), (source, path)


def test_the_link_to_the_playground_holds_the_spec() -> None:
    for spec in (BASE, "clusterspec: 1\nname: 'µ – 漢字'\n"):
        word = permalink(spec).removeprefix("#spec=")
        assert re.fullmatch(r"[\w-]+", word)
        assert zlib.decompress(base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)), -15).decode() == spec


def test_the_examples_of_a_rule_show_what_it_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").touch()
    rule = "tp-crosses-scale-up-domain"
    text = with_examples((ROOT / "docs" / "rules" / f"{rule}.md").read_text("utf-8"), f"rules/{rule}.md", rule)
    fires, silent = text.split("## Fires")[1].split("## Silent")
    assert fires.count(f"[{rule}]: ") == fires.count("](../playground/index.html#spec=") >= 2
    assert f"[{rule}]: " not in silent and "](../playground/index.html#spec=" in silent
    assert "```yaml layout" not in text


def test_a_visitor_finds_the_playground_on_the_first_page_and_beside_every_machine() -> None:
    groups = examples()
    assert tuple(groups["Examples"]) == EXAMPLES and len(groups["Gallery"]) >= 25
    first = DECORATED["index.md"]((ROOT / "README.md").read_text("utf-8"))
    assert first.index("](playground/index.html){ .md-button") < first.index("```")
    machines = DECORATED["gallery.md"]((ROOT / "docs" / "gallery.md").read_text("utf-8"))
    assert set(re.findall(r"playground/index\.html#example=([\w.-]+)\)", machines)) == {*groups["Gallery"]}
    left_out = {path.stem for path in GALLERY.glob("*.yaml")} - {*groups["Gallery"]}
    assert all("\nextends:" in (GALLERY / f"{name}.yaml").read_text("utf-8") for name in left_out)


def test_tables_in_html_link_to_the_pages_of_the_site() -> None:
    for path in (ROOT / "docs").rglob("*.html"):
        text = PAGE_IN_HTML.sub(r'href="\1/', path.read_text("utf-8"))
        for link in re.findall(r'href="(?!https?:)([^"#]+)', text):
            place = (path.parent / link).resolve()
            assert place.with_name(f"{place.name}.md").is_file() or place.is_file(), (path, link)


def test_the_index_of_search_holds_no_code_and_rules_once() -> None:
    items = [
        {"location": "rules/x/", "title": "x", "text": "<p>What it finds</p> <pre><code>tp: 2</code></pre>"},
        {"location": "rules/x/#fires", "title": "Fires", "text": "tp: 2"},
        {"location": "formulas/#ring", "title": "ring", "text": "steps"},
        {"location": "spec/#tp", "title": "tp", "text": "one <pre>a\nb</pre> two"},
    ]
    kept = weight.shortened({"config": {}, "items": items})["items"]
    assert [(one["location"], one["text"]) for one in kept] == [
        ("rules/x/", "<p>What it finds</p>"),
        ("formulas/#ring", ""),
        ("spec/#tp", "one two"),
    ]


def test_a_page_weighs_what_it_and_every_page_load(tmp_path: Path) -> None:
    for name in ("search.json", "assets/a.js", "assets/a.css", "x/index.html", "playground/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    page = b'<link href="../assets/a.css"><script src="../assets/a.js">'
    (tmp_path / "x" / "index.html").write_bytes(page)
    expected = len(gzip.compress(page, 6)) + 3 * len(gzip.compress(b"", 6))
    assert list(weight.weights(tmp_path)) == [(expected, "x/index.html")]
