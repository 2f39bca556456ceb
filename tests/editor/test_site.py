"""The sources of the site: every page has its place, every link leads somewhere, examples open in the playground."""

from __future__ import annotations

import base64
import gzip
import posixpath
import re
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from clusterspec.studies import study_file, study_text
from tests.cli.conftest import BASE, ROOT
from tests.effort import thorough
from tests.settings import SETTINGS
from tools.site import raw_links, second, weight
from tools.site.decorate import DECORATED, permalink, with_bars, with_difference, with_examples
from tools.site.equations import equation, with_equations
from tools.site.lighten import lightened
from tools.site.links import broken_links
from tools.site.machines import drawings
from tools.site.pages import LINK, REPOSITORY, navigation, navigation_pages, pages, with_links, with_parts
from tools.site.playground import EXAMPLES, GALLERY, examples
from tools.site.split import SPLIT, divided, document, headings, moved, slug
from tools.site.tables import with_regions

ASSETS = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*") if path.suffix != ".md"}


def test_every_page_is_in_the_navigation_or_listed_by_one_that_is() -> None:
    there = {name for name in navigation_pages(navigation()) if name.endswith(".md")}
    assert there == {name for name in pages() if not name.startswith(("rules/", "catalog/"))}


@thorough
def test_every_link_of_every_page_leads_somewhere() -> None:
    """To a page or file of the site, or to a file of the repository."""
    texts = {target: (source, (ROOT / source).read_text("utf-8")) for target, source in pages().items()}
    for target in SPLIT:
        source, text = texts[target]
        kept, parts = divided(text, target)
        texts |= {target: (source, kept)} | {part.target: (source, part.text) for part in parts}
    everything = {*texts, *ASSETS}
    for target, (source, whole) in texts.items():
        text = with_links(whole, source, target)
        for path, _ in LINK.findall(text):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(target), path)) in everything, (target, path)
        for path in re.findall(re.escape(REPOSITORY) + r"([^)#\s]+)(?=[)#])", text):
            assert (ROOT / path).exists(), (target, path)


@thorough
def test_long_documents_are_split_and_nothing_is_lost() -> None:
    """Every heading is on one page, and a link to it leads there."""
    for target in SPLIT:
        text = document(target).read_text("utf-8")
        kept, parts = divided(text, target)
        assert parts and len({part.target for part in parts}) == len(parts)
        assert len(kept) + sum(len(part.text) for part in parts) > 0.95 * len(text)
        there = {(page, title) for page, body in ((target, kept), *((one.target, one.text) for one in parts))
                 for _, _, title in headings(body)}  # fmt: skip
        for _, _, title in headings(text):
            assert (moved(target, f"#{slug(title)}")[0], title) in there
    assert moved("catalog/accelerator.md", "#a10") == ("catalog/accelerator/a10.md", "")
    assert moved("board.md", "#peers") == ("board.md", "#peers")


def test_tables_of_entries_and_machines_link_to_their_pages() -> None:
    for target in ("catalog/accelerator.md", "gallery.md"):
        kept, parts = divided((ROOT / "docs" / target).read_text("utf-8"), target)
        page = with_parts(kept, target, parts)
        assert '<table class="sortable">' in page and "<!-- parts -->" not in page
        links = {*re.findall(r'<td><a href="([^"]+)/">', page)}
        assert links == {f"{Path(target).stem}/{Path(part.target).stem}" for part in parts}


def test_a_link_of_a_built_page_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "index.html").touch()
    page = '<a href="b/">b</a> <a href=../b/>b</a> <a href="#x">x</a> <a href="https://c.example/">c</a>'
    (tmp_path / "a" / "index.html").write_text(page)
    assert [*broken_links(tmp_path)] == ["a/index.html: ../b/"]


def test_two_builds_of_the_same_sources_have_the_same_pages(tmp_path: Path) -> None:
    """By path, text and links, whatever each theme adds."""
    one, two = tmp_path / "one", tmp_path / "two"
    for site, page in ((one, "<p>a  b</p><nav>c</nav>"), (two, "<p>a <b>b</b></p>")):
        for name in ("same", "other", f"alone-{site.name}"):
            (site / name).mkdir(parents=True)
            (site / name / "index.html").write_text(f"<article>{page}</article>")
    assert {line.split(": ")[1] for line in second.differences(one, two)} == {
        f"alone-{x}/index.html" for x in ("one", "two")
    }
    (two / "other" / "index.html").write_text('<article><p>a c</p><a href="x/"></a></article>')
    assert [*second.differences(one, two)][2:] == [
        "another text: other/index.html",
        "leads nowhere: other/index.html: x/",
    ]


def test_links_in_html_start_at_the_address_of_their_page() -> None:
    """A page is a folder in addresses, but for the index of one."""
    text = '<td><a href="nic/a/">a</a> <a href="https://a.example/">b</a> <a href="#c">c</a>'
    for name, read in (("catalog/nic.md", text.replace('"nic/', '"../nic/')), ("index.md", text)):
        page = SimpleNamespace(file=SimpleNamespace(src_uri=name))
        assert raw_links.on_page_markdown(text, page=page, config={}, files=[]) == read


def test_bars_in_code_of_tables_are_shown_as_they_are() -> None:
    assert with_bars("| `a\\|b` | c \\| d |\n`e\\|f`\n") == "| `a|b` | c \\| d |\n`e\\|f`\n"


def test_the_link_to_the_playground_holds_the_spec() -> None:
    for spec in (BASE, "clusterspec: 1\nname: 'µ – 漢字'\n"):
        word = permalink(spec).removeprefix("#spec=")
        assert re.fullmatch(r"[\w-]+", word)
        assert zlib.decompress(base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)), -15).decode() == spec


def test_the_examples_of_a_rule_show_what_it_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").touch()
    rule = "tp-crosses-scale-up-domain"
    source = (ROOT / "docs" / "rules" / f"{rule}.md").read_text("utf-8")
    text = with_difference(with_examples(source, f"rules/{rule}.md"), f"rules/{rule}.md")
    fires, silent = text.split("## Fires")[1].split("## Silent")
    assert "\n- layout: {tp: 16, pp: 2}\n+ layout: {tp: 8, pp: 2}\n" in silent.split("## The difference")[1]
    assert fires.count(f"[{rule}]: ") == fires.count("](../playground/index.html#spec=") >= 2
    assert f"[{rule}]: " not in silent and "](../playground/index.html#spec=" in silent
    assert "```yaml layout" not in text


@thorough
def test_a_visitor_finds_the_playground_on_the_first_page_and_next_to_every_machine() -> None:
    groups = examples()
    assert tuple(groups["Examples"]) == EXAMPLES and len(groups["Gallery"]) >= 25
    for text in groups["A new spec"].values():
        assert not study_text(text, SETTINGS, "cluster.yaml").findings
    first = DECORATED["index.md"]((ROOT / "README.md").read_text("utf-8"))
    assert first.index("](playground/index.html){ .md-button") < first.index("```")
    left_out = {path.stem for path in GALLERY.glob("*.yaml")} - {*groups["Gallery"]}
    assert all("\nextends:" in (GALLERY / f"{name}.yaml").read_text("utf-8") for name in left_out)


def test_the_page_of_a_machine_draws_it() -> None:
    page = "".join(drawings(study_file(GALLERY / "fire-flyer-2.yaml")))
    assert page.startswith("\n## The machine\n") and page.count("<figure><svg") >= 2


def test_an_equation_keeps_the_order_of_its_expression() -> None:
    """The text of each element, fractions as (above/below): what a reader reads is what Python computes."""
    for expression, read in (
        ("2 * (a - 1) / a * size / (b + c)", "f=(2·(a−1)/a)·(size/b+c)"),
        ("a - (b - c) - d / e / 4", "f=a−(b−c)−(d/e·4)"),
        ("max(0, ceil(x_y / 2)) * sqrt(2 * k)", "f=max(0,⌈(x y/2)⌉)·√[2·k]"),
    ):
        made = equation("f", expression).replace("</mrow><mrow>", "/").replace("<mfrac><mrow>", "(")
        made = made.replace("</mrow></mfrac>", ")").replace("<msqrt>", "√[").replace("</msqrt>", "]")
        assert re.sub("</math> <math[^>]*>|<[^>]+>", "", made) == read
    part = next(one for one in divided(document("formulas.md").read_text("utf-8"), "formulas.md")[1])
    page = with_equations(part.text, part.title)
    assert page.count('class="equation"') == page.count("\n## `") > 5, "each formula of this group has its equation"


def test_the_index_of_search_holds_no_code_and_rules_once() -> None:
    items = [
        {"location": "rules/x/", "title": "x", "text": "<p>What it finds</p> <pre><code>tp: 2</code></pre>"},
        {"location": "rules/x/#fires", "title": "Fires", "text": "tp: 2"},
        {"location": "formulas/#ring", "title": "<code>ring(ranks, size)</code>", "text": "steps"},
        {"location": "glossary/", "title": "Glossary", "text": "DAC a cable. docs.nvidia.com AOC a cable. arXiv 1"},
        {
            "location": "spec/layout/",
            "title": "layout",
            "text": "<code>layout.tp</code> the <code>jobs[].tp</code> degree",
        },
        {"location": "ci/#a", "title": "a", "text": "one <pre>a\nb</pre> <em>two</em>"},
    ]
    kept = weight.shortened_index({"config": {}, "items": items})["items"]
    assert [(one["location"], one["text"]) for one in kept] == [
        ("rules/x/", "What it finds"),
        ("formulas/#ring", ""),
        ("glossary/", "DAC a cable. AOC arXiv 1"),
        ("spec/layout/", "tp"),
        ("ci/#a", "one two"),
    ]
    assert kept[1]["title"] == "<code>ring</code>"


def test_a_page_runs_scripts_late_and_knows_the_size_of_its_drawings(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text('<svg viewBox="0 0 2 1" width="20" height="10">')
    page = '<img alt="A" src="a.svg"><img src="b.svg"><script src="x.js"></script><script src="y.js"></script>'
    made = lightened(page, tmp_path)
    assert made.startswith('<img width="20" height="10" alt="A" src="a.svg"><img src="b.svg"><script>(() => {')
    assert made.endswith('})()</script><script defer src="x.js"></script><script defer src="y.js"></script>')
    table = f"<table>{'<tr><td>x</td></tr>' * 12}</table>"
    data = table.replace("<table>", '<table class="data">')
    region = '<div class="scroll" tabindex="0" role="region" aria-label="Table 1, by x">'
    assert lightened(table, tmp_path) == f'{region}<div class="long" style="--rows:12">{data}</div></div>'
    few = "<table><tr><td>x</td></tr></table>"
    assert lightened(few, tmp_path) == f"{region}{few.replace('<table>', data[:20])}</div>"
    assert lightened("<td><code>--for a|b</code>", tmp_path) == "<td><code>--for a|<wbr>b</code>"
    assert lightened("<td><code>layout.dp_x</code>", tmp_path) == "<td><code>layout.<wbr>dp_<wbr>x</code>"


def test_a_table_in_parts_keeps_its_rows_and_repeats_its_heading() -> None:
    rows = [f"<tr><td>{'w ' * 25}</td><td>{number}</td></tr>" for number in range(123)]
    head = "<thead><tr><th>name</th><th>figure</th></tr></thead>"
    made = with_regions(f"<table>{head}<tbody>{''.join(rows)}</tbody></table>")
    assert re.findall(r"<tr><td>.*?</tr>", made) == rows
    assert [part.count("<tr>") for part in made.split(head)[1:]] == [50, 50, 23]
    assert made.count(head) == made.count('<col style="width:72.2%"><col style="width:27.8%">') == 3
    assert made.count('role="region" aria-label="Table 1, by name"') == 1


def test_a_column_has_room_for_its_longest_word_but_not_for_its_longest_sentence() -> None:
    """4 characters of padding, then 30 of one word, 22 of a sentence, and 9 of the heading next to numbers."""
    rows = [f"<tr><td>{'w' * 30}</td><td>{'w ' * 40}</td><td>{number}</td></tr>" for number in range(80)]
    head = "<thead><tr><th>name</th><th>text</th><th>megawatts</th></tr></thead>"
    made = with_regions(f"<table>{head}<tbody>{''.join(rows)}</tbody></table>")
    assert [float(share) for share in re.findall(r"width:([\d.]+)%", made)[:3]] == [46.6, 35.6, 17.8]


def test_a_page_weighs_what_it_and_every_page_load(tmp_path: Path) -> None:
    for name in ("search.json", "assets/a.js", "assets/a.css", "x/index.html", "playground/index.html"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    page = b'<link href="../assets/a.css"><script src="../assets/a.js">'
    (tmp_path / "x" / "index.html").write_bytes(page)
    expected = len(gzip.compress(page, 6)) + 3 * len(gzip.compress(b"", 6))
    assert list(weight.weights(tmp_path)) == [(expected, "x/index.html")]
