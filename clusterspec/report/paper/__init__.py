"""Reports on paper: one `Paper`, laid out as HTML or as PDF. Templates compute nothing."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from clusterspec import resources
from clusterspec.report.paper.blocks import Paper

INSTALL_PDF = 'PDF needs WeasyPrint: pip install "clusterspec[pdf]"'
INSTALL_PANGO = (
    "PDF needs the Pango library: on Debian, apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
)
INSTALL_HTML = 'reports need Jinja2: pip install "clusterspec[report]"'


class MissingLibrary(Exception):
    """A library that only reports need is not installed; the message says what to install."""


def html(paper: Paper) -> str:
    """One self-contained page, fit for UTF-8 whatever bytes a spec holds. Raises `MissingLibrary` without Jinja2."""
    try:
        import jinja2
    except ImportError:
        raise MissingLibrary(INSTALL_HTML) from None
    folder = resources.templates()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined
    )
    style = (folder / "report.css").read_text("utf-8")
    page: str = environment.get_template("report.html.j2").render(paper=paper, style=style)
    return page.encode("utf-8", "backslashreplace").decode("utf-8")


def pdf(paper: Paper) -> bytes:
    """The same page on A4. Raises `MissingLibrary` without WeasyPrint or the libraries beneath it."""
    weasyprint = _weasyprint()
    return bytes(weasyprint.HTML(string=html(paper), url_fetcher=_nothing_from_outside).write_pdf() or b"")


def _weasyprint() -> Any:
    """WeasyPrint, which loads Pango as it is imported, and where that is missing prints a page of its own."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            import weasyprint
    except ImportError:
        raise MissingLibrary(INSTALL_PDF) from None
    except OSError:
        raise MissingLibrary(INSTALL_PANGO) from None
    return weasyprint


def _nothing_from_outside(url: str, *_: object, **__: object) -> dict[str, object]:
    raise ValueError(f"a report loads nothing from outside, and asked for {url[:80]}")
