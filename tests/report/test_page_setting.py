"""How the pages of a report are set, with a typesetter that only counts pages."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from clusterspec.report import paper
from clusterspec.report.paper import (
    MissingLibrary,
    html_of_command,
    html_with_code,
    last_page_fill,
    mark_accessible,
    paper_as_html,
)
from clusterspec.report.paper.compose import compose
from tests.report.test_paper_words import trained


class LineBox(SimpleNamespace):
    element: Any = None


class MarginBox(SimpleNamespace):
    element: Any = None


def box(*children: Any, element: Any = None) -> Any:
    return SimpleNamespace(children=children, element=element)


def line(end: float) -> LineBox:
    return LineBox(position_y=end - 10.0, height=10.0)


STAMP = box(line(700.0), element={"class": "stamp"})


def page(*children: Any) -> Any:
    """A page of 800 between margins that begin at 50."""
    return SimpleNamespace(
        _page_box=SimpleNamespace(content_box_y=lambda: 50.0, height=800.0, children=children, element=None)
    )


@pytest.mark.parametrize(
    ("children", "fill"),
    [
        ((), 0.0),
        ((box(line(450.0)),), 0.5),
        ((box(line(250.0), box(line(450.0), line(130.0))),), 0.5),
        ((box(line(250.0)), STAMP), 0.25),
        ((box(line(250.0)), MarginBox(children=(line(840.0),))), 0.25),
        ((box(line(250.0), element={"class": "other"}), box(element={})), 0.25),
    ],
)
def test_a_page_is_filled_to_the_end_of_its_last_line(children: tuple[Any, ...], fill: float) -> None:
    assert last_page_fill(SimpleNamespace(pages=[page(line(800.0)), page(*children)])) == pytest.approx(fill)


class Typesetter:
    """Stands for WeasyPrint: a document has as many pages as its setting says, the last filled to a share."""

    def __init__(self, pages: int, fill: float, set_closer: int) -> None:
        self.counts = {None: pages, "close": set_closer, "tight": set_closer}
        self.fill = fill
        self.settings: list[str | None] = []
        self.setting: str | None = None
        self.urls = SimpleNamespace(URLFetcher=type("URLFetcher", (), {"__init__": lambda self, **_: None}))
        self.text = SimpleNamespace(fonts=SimpleNamespace(FontConfiguration=lambda: None))
        self.attached: list[dict[str, Any]] = []

    def Attachment(self, **given: Any) -> dict[str, Any]:  # noqa: N802
        self.attached.append(given)
        return given

    def HTML(self, string: str, url_fetcher: Any) -> Any:  # noqa: N802
        del string, url_fetcher
        wrapper = type("Wrapper", (), {"from_html_root": classmethod(lambda cls, root: cls())})
        element = SimpleNamespace(set=self.set_class)
        return SimpleNamespace(render=self.render, etree_element=element, wrapper_element=wrapper())

    def set_class(self, name: str, value: str) -> None:
        assert name == "class"
        self.setting = value

    def render(self, **options: Any) -> Any:
        assert options["pdf_variant"] == "pdf/a-3a" and len(options["pdf_identifier"]) == 16
        self.settings.append(self.setting)
        count = self.counts[self.setting]
        pages = [page()] * (count - 1) + [page(line(50.0 + 800.0 * self.fill))]
        written = f"{count} {self.setting}".encode()
        return SimpleNamespace(
            pages=pages, write_pdf=lambda finisher, **_: written if finisher is mark_accessible else b""
        )


PAGE = "<html><body>24 GB</body></html>"


@pytest.mark.parametrize(
    ("pages", "fill", "closer", "settings", "written"),
    [
        (1, 0.1, 1, [None], "1 None"),
        (2, 0.16, 1, [None, "tight"], "1 tight"),
        (2, 0.18, 1, [None], "2 None"),  # more than 0.17 of a page for one page before it
        (2, 0.07, 1, [None, "close"], "1 close"),
        (2, 0.09, 1, [None, "tight"], "1 tight"),
        (2, 0.16, 2, [None, "tight"], "2 None"),  # closer setting saves no page
        (4, 0.49, 3, [None, "tight"], "3 tight"),
        (4, 0.51, 3, [None], "4 None"),  # no more than half a page
        (12, 0.3, 11, [None, "close"], "11 close"),
        (13, 0.3, 12, [None], "13 None"),
    ],
)
def test_a_report_is_set_closer_where_that_saves_its_last_page(
    pages: int, fill: float, closer: int, settings: Sequence[str | None], written: str
) -> None:
    typesetter = Typesetter(pages, fill, closer)
    assert paper._pdf_bytes(compose(trained()), PAGE, typesetter) == written.encode()
    assert typesetter.settings == settings


def test_attachments_are_the_source_and_its_data() -> None:
    typesetter = Typesetter(1, 0.5, 1)
    paper._pdf_bytes(compose(trained()), PAGE, typesetter)
    assert {each["name"].rpartition(".")[2]: each["relationship"] for each in typesetter.attached} == {
        "yaml": "Source",
        "csv": "Data",
    }
    assert all(each["created"] == each["modified"] for each in typesetter.attached)
    assert {each["created"].utcoffset().total_seconds() for each in typesetter.attached} == {0.0}


@pytest.mark.parametrize("active", [True, False])
def test_the_collector_runs_after_a_pdf_as_before(active: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if active else gc.disable)()
        with paper._collection_paused():
            assert not gc.isenabled()
        assert gc.isenabled() is active
    finally:
        (gc.enable if was else gc.disable)()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.bcdefghijklmnop", "a.bcdefghijklmnop"),
        ("a.bcdefghijklmnopq", "a.<wbr>bcdefghijklmnopq"),
        ("Abcd.bcdefghijklmnopq", "Abcd.bcdefghijklmnopq"),
    ],
)
def test_an_identifier_of_18_characters_may_be_broken(name: str, shown: str) -> None:
    assert html_with_code(name) == shown


def test_a_printed_rate_is_not_broken_after_its_slash() -> None:
    assert paper._print_html("at 400 GB/s, `tp: 8`") == ('at 400 <span class="rate">GB/s</span>, <code>tp: 8</code>')
    assert html_of_command("run -x --size 8G a-b") == (
        'run <span class="rate">-x</span> <span class="rate">--size 8G</span> a-b'
    )


def test_numbers_of_the_body_keep_their_units_and_the_head_stays() -> None:
    page_text = "<head><title>24 GB</title></head><body><p>24 GB</p></body>"
    assert paper._with_whole_numbers(page_text) == page_text.replace("<p>24 GB", "<p>24\xa0GB")
    assert paper._OF_SCREENS.sub("", '<td data-field="a" class="left" id="b">x</td>') == '<td id="b">x</td>'


def test_a_page_allows_its_own_style_and_script_alone() -> None:
    policy = paper._content_security_policy("a", "b")
    style = "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="
    script = "PiPoFgA5WUoziU9lZOGxNIu9egCI1CxKy3PurtWcAJ0="
    assert f"style-src 'sha256-{style}'; script-src 'sha256-{script}';" in policy
    found = paper_as_html(compose(trained()))
    assert found.count("Content-Security-Policy") == 1 and "default-src &#39;none&#39;" in found


def test_the_metadata_of_a_pdf_gain_an_identifier_and_lose_repeated_attachments() -> None:
    stream = SimpleNamespace(number=7, stream=[b"<x/></rdf:RDF>", b"</rdf:RDF>"])
    catalog: dict[str, Any] = {"AF": ["a", "b", "a"], "Metadata": "7 0 R"}
    mark_accessible(None, SimpleNamespace(catalog=catalog, objects=[SimpleNamespace(number=6), stream]))
    assert catalog["AF"] == ["a", "b"]
    (written,) = stream.stream
    assert written == b"<x/>" + paper.DESCRIPTION.encode() + b"</rdf:RDF></rdf:RDF>"
    plain = SimpleNamespace(number=1, stream=[b"</rdf:RDF>"])
    mark_accessible(None, SimpleNamespace(catalog={"Metadata": "1 0 R"}, objects=[plain]))
    assert b"pdfuaid:part>1<" in plain.stream[0]


@pytest.fixture
def without_jinja(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    yield


@pytest.mark.usefixtures("without_jinja")
def test_a_report_without_its_library_says_what_to_install() -> None:
    with pytest.raises(MissingLibrary, match="pip install Jinja2"):
        paper_as_html(compose(trained()))


def test_the_fonts_of_a_pdf_are_read_from_the_package_alone() -> None:
    """The fetcher answers addresses of shipped fonts, and refuses any other."""
    urls = SimpleNamespace(
        URLFetcher=type("URLFetcher", (), {"__init__": lambda self, **_: None}),
        URLFetcherResponse=lambda url, content: (url, len(content)),
    )
    fetcher = paper._font_fetcher(SimpleNamespace(urls=urls))
    url, size = fetcher.fetch("clusterspec-font:Inter-Regular.woff2")
    assert url.endswith("Inter-Regular.woff2") and size > 10_000
    with pytest.raises(ValueError, match="is no font of reports"):
        fetcher.fetch("file:///etc/passwd")
