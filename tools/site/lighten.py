"""Pages of a built site that show text before scripts run, and load the search index on demand."""

from __future__ import annotations

import re
from pathlib import Path

from tools.site.tables import with_regions

SEARCH = """(() => {
  const waiting = [], { open, send } = XMLHttpRequest.prototype;
  let asked = /[?&][hq]=/.test(location.search), opening = false, there = false;
  XMLHttpRequest.prototype.open = function (method, address, ...more) {
    this.waits = /search\\.json$/.test(address);
    if (this.waits) this.addEventListener("load", () => setTimeout(() => (there = true)));
    return open.call(this, method, address, ...more);
  };
  XMLHttpRequest.prototype.send = function (...body) {
    const start = () => send.apply(this, body);
    if (this.waits && !asked) waiting.push(start);
    else start();
  };
  const pressed = (event) => {
    const shortcut = event.key === "k" && (event.ctrlKey || event.metaKey);
    if (document.activeElement !== document.body) opening = false;
    if (shortcut ? there : !opening || event.key.length > 1) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    if (shortcut && !opening) document.querySelector(".md-search__button").click();
    opening = true;
  };
  const ask = (event) => {
    const typed = event.type === "keydown";
    if (!typed && !event.target.closest?.(".md-search, [for=__search]")) return;
    asked = true;
    for (const start of waiting.splice(0)) start();
    if (typed) pressed(event);
  };
  for (const kind of ["keydown", "pointerover", "touchstart", "focusin"])
    addEventListener(kind, ask, { capture: true, passive: kind !== "keydown" });
})()"""
"""Holds the request for the index, which the theme makes with every page, until a key or the search is touched.

The theme handles Ctrl+K only once its index is loaded: the first Ctrl+K opens the search here, and letters typed
until the search has the keyboard focus do not turn pages.
"""
SCRIPT = re.compile(r'<script src="([^"]+)"></script>')
IMAGE = re.compile(r'<img (?![^>]*\bwidth=)[^>]*\bsrc="([^":]+\.svg)"')
CODE = re.compile(r"<td><code>[^<]*</code>")
BREAKS = ((r"\|", "|<wbr>"), (r"([._])(?=\w)", r"\1<wbr>"))
"""Where code at the start of a cell may break: after alternatives and parts of keys."""
SIZE = re.compile(r'<svg [^>]*?\bwidth="([\d.]+)" height="([\d.]+)"')


def lightened(page: str, folder: Path) -> str:
    """A page with deferred scripts, sized drawings, table keys that break between words, and tables in scrolling
    regions.
    """
    deferred, scripts = SCRIPT.subn(r'<script defer src="\1"></script>', page)
    if scripts:
        deferred = deferred.replace("<script defer ", f"<script>{SEARCH}</script><script defer ", 1)
    broken = with_regions(CODE.sub(_with_breaks, deferred))
    return IMAGE.sub(lambda image: _with_size(image, folder), broken)


def _with_breaks(code: re.Match[str]) -> str:
    text = code[0]
    for pattern, broken in BREAKS:
        text = re.sub(pattern, broken, text)
    return text


def _with_size(image: re.Match[str], folder: Path) -> str:
    drawing = folder / image[1]
    size = SIZE.search(drawing.read_text("utf-8")) if drawing.is_file() else None
    return image[0].replace("<img ", f'<img width="{size[1]}" height="{size[2]}" ') if size else image[0]


def lighten(site: Path) -> None:
    """Write the pages of a built site anew, without that of the playground."""
    for path in site.rglob("*.html"):
        if path.relative_to(site).parts[0] != "playground":
            path.write_text(lightened(path.read_text("utf-8"), path.parent), "utf-8")
