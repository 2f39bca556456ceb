"""Design and procurement reports as HTML and as PDF/A."""

from __future__ import annotations

import base64
import builtins
import contextlib
import ctypes
import gc
import hashlib
import importlib.util
import io
import re
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clusterspec import resources
from clusterspec.report import escaped_text, unbroken_numbers
from clusterspec.report.charts.svg import chart_style
from clusterspec.report.paper.blocks import Paper, paired_blocks, place_text
from clusterspec.report.paper.fonts import drawable_page, font_faces, shipped_font
from clusterspec.report.paper.widths import column_shares, fits_half_width

# PDF metadata for archiving and accessibility that WeasyPrint does not write

UA = "http://www.aiim.org/pdfua/ns/id/"
_PROPERTY = (
    "<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>"
    "<pdfaProperty:category>internal</pdfaProperty:category>"
    "<pdfaProperty:description>part of ISO 14289</pdfaProperty:description>"
)
_SCHEMA = (
    "<pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>"
    f"<pdfaSchema:namespaceURI>{UA}</pdfaSchema:namespaceURI><pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>"
    f'<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">{_PROPERTY}</rdf:li></rdf:Seq>'
    "</pdfaSchema:property>"
)
DESCRIPTION = (
    f'<rdf:Description rdf:about="" xmlns:pdfuaid="{UA}"><pdfuaid:part>1</pdfuaid:part></rdf:Description>'
    '<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" '
    'xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" '
    'xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#"><pdfaExtension:schemas><rdf:Bag>'
    f'<rdf:li rdf:parseType="Resource">{_SCHEMA}</rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>'
)
"""The XMP metadata for the PDF/UA identifier, with the extension schema that PDF/A requires for it (ISO 19005-3,
6.6.2.3.2).
"""


def mark_accessible(_: Any, pdf: Any) -> None:
    """Before WeasyPrint writes a PDF, add the PDF/UA identifier to its metadata and list each attachment once."""
    if "AF" in pdf.catalog:
        pdf.catalog["AF"][:] = dict.fromkeys(pdf.catalog["AF"])  # WeasyPrint 70 lists them twice
    number = int(pdf.catalog["Metadata"].split()[0])
    stream = next(each for each in pdf.objects if each.number == number)
    whole = b"".join(stream.stream)
    stream.stream = [whole.replace(b"</rdf:RDF>", DESCRIPTION.encode() + b"</rdf:RDF>", 1)]


INSTALL_PDF = "PDF needs WeasyPrint: pip install weasyprint"
INSTALL_PANGO = (
    "PDF needs the Pango library: on Debian, apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
)
INSTALL_HTML = "reports need Jinja2: pip install Jinja2"


class MissingLibrary(Exception):
    """Raised if a library needed for reports is not installed; the message states what to install."""


def require_libraries(suffix: str) -> None:
    """Raises `MissingLibrary` if a library is missing that reports with a suffix need; JSON needs none."""
    if suffix == ".pdf":
        _weasyprint_module()
    if suffix != ".json":
        _jinja_module()


def paper_as_html(paper: Paper) -> str:
    """A self-contained HTML page, valid UTF-8 for any spec. Raises `MissingLibrary` without Jinja2."""
    script = (resources.templates() / "report.js").read_text("utf-8")
    return _rendered_page(paper, script=script, policy=True)


def paper_as_pdf(paper: Paper) -> bytes:
    """The report as PDF/A-3a on A4, with the spec and the bill attached; reproducible byte for byte.

    Raises `MissingLibrary` without WeasyPrint or the libraries beneath it.
    """
    with _collection_paused():
        library = _weasyprint_module()
        return _pdf_bytes(paper, _rendered_page(paper), library)


@contextlib.contextmanager
def _collection_paused() -> Iterator[None]:
    """Pauses the garbage collector, which takes a seventh of the time of a PDF and frees little before its end."""
    active = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if active:
            gc.enable()


_OF_SCREENS = re.compile(r' (?:data-(?:label|field|chart)="[^"]*"|class="(?:[cs]-[\w-]+|left|plain)")')
"""Attributes that are not needed in print; without them a PDF takes a tenth less time. Texts contain no unescaped
quotation mark.
"""


def _with_whole_numbers(page: str) -> str:
    """The page with no line break between a number and its unit."""
    head, mark, body = page.partition("<body>")
    return head + mark + re.sub(r">[^<>]+<", lambda match: unbroken_numbers(match[0]), body)


def _pdf_bytes(paper: Paper, rendered: str, weasyprint: Any) -> bytes:
    page, missing = drawable_page(_with_whole_numbers(_OF_SCREENS.sub("", rendered)))
    if missing:
        page = page.replace("</footer>", f'<p data-field="spec">{missing}</p></footer>', 1)
    files = [
        weasyprint.Attachment(
            string=content,
            name=name,
            description=described,
            created=_creation_moment(paper),
            modified=_creation_moment(paper),
            relationship="Data" if name.endswith(".csv") else "Source",
        )
        for name, content, described in paper.attachments
    ]
    options = {
        "font_config": weasyprint.text.fonts.FontConfiguration(),  # read once for both settings
        "attachments": files,
        "pdf_variant": "pdf/a-3a",
        "pdf_identifier": hashlib.sha256(page.encode("utf-8", "replace")).digest()[:16],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # WeasyPrint 70 does not close its color profile
        parsed = weasyprint.HTML(string=page, url_fetcher=_font_fetcher(weasyprint))
        drawn = parsed.render(**options)
        count, fill = len(drawn.pages), last_page_fill(drawn)
        if 1 < count <= MOST_FITTED and fill < min(0.5, CLOSEST * (count - 1)):
            setting = "close" if fill < 0.04 * count else "tight"
            parsed.etree_element.set("class", setting)
            parsed.wrapper_element = type(parsed.wrapper_element).from_html_root(parsed.etree_element)
            again = parsed.render(**options)
            drawn = again if len(again.pages) < count else drawn
        written = drawn.write_pdf(finisher=mark_accessible, **options)
    return bytes(written or b"")


def _font_fetcher(weasyprint: Any) -> Any:
    """A fetcher that reads the fonts of reports, and nothing else."""

    class FontFetcher(weasyprint.urls.URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: object = None) -> Any:
            return weasyprint.urls.URLFetcherResponse(url, shipped_font(url))

    return FontFetcher(allowed_protocols=())


CLOSEST = 0.17
"""The largest share of a page that closer spacing can save on each page."""
MOST_FITTED = 12
"""Reports of up to this many pages are set closer if their last page would be mostly empty."""


def last_page_fill(drawn: Any) -> float:
    """The share of the last page, between its margins, above the end of its text."""
    page = drawn.pages[-1]._page_box
    top, tall = page.content_box_y(), page.height
    return float((max(_line_ends(page), default=top) - top) / tall)


def _line_ends(box: Any) -> Iterator[float]:
    """The lower ends of the lines in a box, except for the stamp of drafts."""
    if box.element is not None and box.element.get("class") == "stamp":
        return
    if type(box).__name__ == "LineBox":
        yield box.position_y + box.height
        return
    for child in getattr(box, "children", ()):
        if type(child).__name__ != "MarginBox":
            yield from _line_ends(child)


def _jinja_module() -> Any:
    """The Jinja2 module. Raises `MissingLibrary` if it is not installed."""
    try:
        import jinja2
    except ImportError:
        raise MissingLibrary(INSTALL_HTML) from None
    return jinja2


@cache
def _template_environment(jinja2: Any, folder: Path, live: bool) -> Any:
    """The templates of a folder, which a process compiles once for pages on a screen and once for printed ones."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["whole"] = unbroken_numbers
    environment.filters["coded"] = html_with_code if live else _print_html
    environment.filters["paired"] = lambda blocks: paired_blocks(blocks, fits_half_width)
    environment.filters["places"] = place_text
    environment.filters["shares"] = column_shares
    environment.filters["options"] = html_of_command
    return environment


def _rendered_page(paper: Paper, *, script: str = "", policy: bool = False) -> str:
    jinja2, folder = _jinja_module(), resources.templates()
    environment = _template_environment(jinja2, folder, bool(script))
    style = font_faces(bool(script)) + (folder / "report.css").read_text("utf-8")
    style += (folder / "live.css").read_text("utf-8") + chart_style() if script else ""
    page: str = environment.get_template("report.html.j2").render(
        paper=paper,
        style=style,
        script=script,
        live=bool(script),
        missing="",
        policy=_content_security_policy(style, script) if policy else "",
    )
    return escaped_text(page)


def html_with_code(text: str) -> str:
    """The text as HTML, with text between backticks as code.

    Long identifiers may be broken after a dot or an underscore.

    >>> html_with_code("write `tp: 8` where x < y"), html_with_code("cluster.scale_up.shape")
    ('write <code>tp: 8</code> where x &lt; y', 'cluster.<wbr>scale_<wbr>up.<wbr>shape')
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _IDENTIFIER.sub(_breakable_text, escape(text)))


_IDENTIFIER = re.compile(r"\b[a-z][a-z0-9]*(?:[._][a-z0-9]+)+\b")
LONG_IDENTIFIER = 18
"""At this many characters or more, an identifier may be broken."""


def _breakable_text(match: re.Match[str]) -> str:
    name = match[0]
    return name if len(name) < LONG_IDENTIFIER else re.sub(r"([._])", r"\1<wbr>", name)


_RATE = re.compile(r"\b[kMGTPE]?(?:B|b|FLOP)/s\b")


def _print_html(text: str) -> str:
    """The text as HTML for print, in which a rate is never broken after its slash."""
    return _RATE.sub(r'<span class="rate">\g<0></span>', html_with_code(text))


_OPTION = re.compile(r"(?<!\S)--?\w\S*(?: [^-\s]\S*)?")


def html_of_command(command: str) -> str:
    """A command as HTML in which an option is neither broken nor separated from its value.

    >>> html_of_command("all_reduce_perf -b 8G -g 1")
    'all_reduce_perf <span class="rate">-b 8G</span> <span class="rate">-g 1</span>'
    """
    return _OPTION.sub(r'<span class="rate">\g<0></span>', escape(command))


def _content_security_policy(style: str, script: str) -> str:
    """A content security policy that allows only this style and this script, by hash."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


def _creation_moment(paper: Paper) -> Any:
    from datetime import UTC, datetime

    return datetime.fromisoformat(paper.created).replace(tzinfo=UTC)


def _weasyprint_module() -> Any:
    """The WeasyPrint module, with its message about a missing Pango suppressed.

    Raises `MissingLibrary` if WeasyPrint or Pango is not installed.
    """
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            if sys.platform == "linux":
                _load_text_libraries()
            import weasyprint
    except ImportError:
        raise MissingLibrary(INSTALL_PDF) from None
    except OSError:
        raise MissingLibrary(INSTALL_PANGO) from None
    return weasyprint


def _load_text_libraries() -> None:
    """Import `weasyprint.text.ffi` so that only the dynamic linker looks for libraries.

    NOTE: A plain import does not work here, because WeasyPrint asks for the names of other systems first. cffi passes a
    name that the linker does not find to `ctypes.util.find_library`, which runs ldconfig and compilers on Linux.
    """
    name, package = "weasyprint.text.ffi", importlib.util.find_spec("weasyprint")
    if name in sys.modules or package is None or not package.submodule_search_locations:
        return
    path = Path(package.submodule_search_locations[0], "text", "ffi.py")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        return
    module = importlib.util.module_from_spec(spec)
    vars(module)["__builtins__"] = vars(builtins) | {"__import__": _import_with_linker}
    spec.loader.exec_module(module)
    sys.modules.setdefault(name, module)


def _import_with_linker(name: str, *scope: Any) -> Any:
    """Python's import, except that libraries of ``cffi.FFI`` are found only by the dynamic linker."""
    module = __import__(name, *scope)
    if name != "cffi":
        return module

    class LinkerFFI(module.FFI):  # type: ignore[misc, name-defined]
        def dlopen(self, library: str, flags: int = 0) -> Any:
            return super().dlopen(self.cast("void *", ctypes.CDLL(library)._handle), flags)

    return SimpleNamespace(FFI=LinkerFFI)
