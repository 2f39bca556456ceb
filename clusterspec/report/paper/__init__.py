"""PDF metadata for archiving and accessibility that WeasyPrint does not write."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import re
import sys
import warnings
from collections.abc import Iterator
from html import escape
from typing import Any

from clusterspec import resources
from clusterspec.report.charts.svg import style as chart_style
from clusterspec.report.ink import escaped
from clusterspec.report.paper.blocks import Paper, drawable, font_faces

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
"""The PDF/UA identifier, and the extension schema by which PDF/A admits it (ISO 19005-3, 6.6.2.3.2)."""


def accessible(_: Any, pdf: Any) -> None:
    """Add the PDF/UA identifier to the metadata of a PDF before WeasyPrint writes it."""
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


def html(paper: Paper) -> str:
    """A self-contained HTML page, valid UTF-8 for any spec. Raises `MissingLibrary` without Jinja2."""
    script = (resources.templates() / "report.js").read_text("utf-8")
    return _page(paper, script=script, policy=True)


def pdf(paper: Paper) -> bytes:
    """The report as PDF/A-3a on A4, with the spec and the bill attached; reproducible byte for byte.

    Raises `MissingLibrary` without WeasyPrint or the libraries beneath it.
    """
    weasyprint = _weasyprint()
    page, missing = drawable(_page(paper))
    if missing:
        page = page.replace("</footer>", f'<p data-field="spec">{missing}</p></footer>', 1)
    files = [
        weasyprint.Attachment(
            string=content, name=name, description=described, created=_moment(paper), modified=_moment(paper)
        )
        for name, content, described in paper.attachments
    ]
    inside = weasyprint.urls.URLFetcher(allowed_protocols=("data",))  # only the embedded fonts
    document = weasyprint.HTML(string=page, url_fetcher=inside)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # WeasyPrint 70 does not close its color profile
        written = document.write_pdf(
            attachments=files,
            pdf_variant="pdf/a-3a",
            pdf_identifier=hashlib.sha256(page.encode("utf-8", "replace")).digest()[:16],
            finisher=accessible,
        )
    return bytes(written or b"")


def _page(paper: Paper, *, script: str = "", policy: bool = False) -> str:
    try:
        import jinja2
    except ImportError:
        raise MissingLibrary(INSTALL_HTML) from None
    folder = resources.templates()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["coded"] = coded
    style = font_faces() + (folder / "report.css").read_text("utf-8")
    style += (folder / "live.css").read_text("utf-8") + chart_style() if script else ""
    page: str = environment.get_template("report.html.j2").render(
        paper=paper,
        style=style,
        script=script,
        live=bool(script),
        missing="",
        policy=_policy(style, script) if policy else "",
    )
    return escaped(page)


def coded(text: str) -> str:
    """The text as HTML, with what stands between backticks as code.

    >>> coded("write `tp: 8` where x < y")
    'write <code>tp: 8</code> where x &lt; y'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _policy(style: str, script: str) -> str:
    """A content security policy that allows only this style and this script, by hash."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


def _moment(paper: Paper) -> Any:
    from datetime import UTC, datetime

    return datetime.fromisoformat(paper.created).replace(tzinfo=UTC)


def _weasyprint() -> Any:
    """The WeasyPrint module, with its message about a missing Pango suppressed."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), _no_search_by_programs():
            import weasyprint
    except ImportError:
        raise MissingLibrary(INSTALL_PDF) from None
    except OSError:
        raise MissingLibrary(INSTALL_PANGO) from None
    return weasyprint


@contextlib.contextmanager
def _no_search_by_programs() -> Iterator[None]:
    """Prevents ctypes from running ldconfig and compilers to find libraries, as it does on Linux.

    WeasyPrint asks for names of other systems first, which only such a search could find, and then for the names that
    the dynamic linker knows.
    """
    import ctypes.util

    search = ctypes.util.find_library
    if sys.platform != "linux":
        yield
        return
    ctypes.util.find_library = lambda name: None
    try:
        yield
    finally:
        ctypes.util.find_library = search
