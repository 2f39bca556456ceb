"""The sources of the site: every page has its place, every link leads somewhere, examples open in the playground."""

from __future__ import annotations

import base64
import posixpath
import re
import zlib
from pathlib import Path

import pytest

from tests.cli.conftest import BASE, ROOT
from tools.site.pages import LINK, REPOSITORY, named, navigation, pages, permalink, with_examples, with_links

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
