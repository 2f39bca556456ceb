"""What a command that studies specs reads: texts from files or standard input, under the choices that hold there."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from clusterspec import document as documents
from clusterspec.catalog import Catalog
from clusterspec.cli import FOUND, OK, UsageFault
from clusterspec.cli.choices import configured, opened, today, with_options
from clusterspec.cli.output import leads_out
from clusterspec.config import Config
from clusterspec.document import Document
from clusterspec.finding import Problem, Severity
from clusterspec.pipeline import Checked, Settings, Study, as_written, prose, study
from clusterspec.records import replace
from clusterspec.results import Input
from clusterspec.source import Position, Source, Span

if TYPE_CHECKING:
    from clusterspec.rules.policy import OwnRule

STDIN = "-"
PROSE = (".md", ".markdown", ".txt", ".rst")
"""Suffixes of running text, whose quantities are checked where a file is named explicitly."""


class Desk:
    """Where specs are studied: what holds for a folder is resolved once, and catalogs are read once."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self._settings: dict[Path, Settings] = {}
        self._catalogs: dict[tuple[Path, ...], Catalog] = {}
        self._stdin: bytes | None = None

    def settings(self, folder: Path) -> Settings:
        """The catalog and the configuration that hold for a folder, with what the options add.

        Raises `UsageFault` for a configuration or a catalog folder that cannot be read.
        """
        if folder not in self._settings:
            config = configured(self.asked, folder)
            if config.catalog not in self._catalogs:
                self._catalogs[config.catalog] = opened(self.asked, config)
            chosen = with_options(config, self.asked)
            self._settings[folder] = Settings(
                self._catalogs[config.catalog], chosen, today(self.asked), trusted(self.asked), own_rules(config)
            )
        return self._settings[folder]

    def settings_of(self, name: str) -> Settings:
        """The settings of one file: those of its folder, with what the configuration says of this file."""
        settings = self.settings(folder_of(name))
        if not settings.config.overrides:
            return settings
        return replace(settings, config=settings.config.for_path(shown(self.asked, name)))

    def study(self, name: str) -> Study:
        """One spec, or standard input for ``-``, taken as far as it can be resolved."""
        data = self.read(name)
        folder = folder_of(name)
        return study(documents.decode(shown(self.asked, name), data), data, self.settings_of(name), folder)

    def study_at(self, path: Path, folder: Path) -> Study:
        """A study of a file that represents one elsewhere, under the choices that hold for ``folder``."""
        data = documents.read_bytes(path)
        return study(documents.decode(str(path), data), data, self.settings(folder.resolve()), path.parent)

    def read(self, name: str) -> bytes:
        """The bytes of a file, or of standard input, which is read once. Raises `UsageFault`."""
        if name != STDIN:
            return read_bytes(name)
        if self._stdin is None:
            self._stdin = read_bytes(STDIN)
        return self._stdin

    def stdin_text(self) -> str:
        """The text of standard input, with its byte order mark."""
        return documents.decode(STDIN, self.read(STDIN)).text

    def replace_stdin(self, text: str) -> None:
        """Takes a text for that of standard input from here on."""
        self._stdin = text.encode("utf-8", "surrogateescape")

    def checked(self, name: str) -> Checked:
        """What is found in one file: a spec, or by its suffix running text."""
        if why := getattr(self.asked, "unreadable", {}).get(name):
            return unread(name, why)
        if not shown(self.asked, name).lower().endswith(PROSE):
            return self.study(name).checked
        data = self.read(name)
        if len(data) > documents.LARGEST:
            raise UsageFault(f"{name}: more than {documents.LARGEST >> 20} MiB of text; nobody wrote this by hand")
        return prose(documents.decode(shown(self.asked, name), data), data, self.settings_of(name))


def trusted(asked: argparse.Namespace) -> Callable[[Document], Document]:
    """What is left of the comments of a document whose waivers count (see ``--trust``)."""
    trust = getattr(asked, "trust", "spec")
    if trust == "base":
        from clusterspec.cli.base_revision import with_base_waivers

        return with_base_waivers
    return without_comments if trust == "none" else as_written


def own_rules(config: Config) -> tuple[OwnRule, ...]:
    """The rules of a company that a configuration names. Raises `UsageFault` for what is no rule."""
    if not config.rules:
        return ()
    from clusterspec.rules.policy import PolicyFault, load

    try:
        return load(config.rules)
    except (PolicyFault, OSError) as fault:
        raise UsageFault(str(fault)) from None


def without_comments(document: Document) -> Document:
    """The document with no waiver in it."""
    return replace(document, comments=())


def unread(name: str, why: str) -> Checked:
    """What there is to report of something in a folder that may be a spec and cannot be read."""
    top = Position(1, 1)
    message, advice = f"this cannot be read: {why.lower()}", "make it readable, or exclude it in the configuration"
    problem = Problem("unreadable-yaml", (), message, advice, span=Span(name, top, top))
    source = Source(name, "")
    return Checked(Input(name), (documents.to_finding(problem, None, source),), {name: source})


def folder_of(name: str) -> Path:
    """Where the choices that hold for a file are looked for."""
    return Path.cwd() if name == STDIN else Path(name).resolve().parent


def shown(asked: argparse.Namespace, name: str) -> str:
    """What findings call a file."""
    return (asked.stdin_filename or STDIN) if name == STDIN else name


def read_bytes(name: str, most: int = documents.LARGEST) -> bytes:
    """The bytes of a file, or of standard input for ``-``: no more than ``most`` and one, which reports more.

    Raises `UsageFault` when there is no such file or it cannot be read.
    """
    try:
        if name != STDIN:
            if leads_out(Path(name), Path(name).resolve()):
                raise UsageFault(f"{name}: is a symbolic link that leads out of the project; name the file itself")
            return documents.read_bytes(name, most)
        if sys.stdin is None:
            raise UsageFault("standard input is closed")
        return sys.stdin.buffer.read(most + 1)
    except (OSError, ValueError) as fault:
        raise UsageFault(f"{name}: {getattr(fault, 'strerror', None) or fault}") from None


def study_of(asked: argparse.Namespace, name: str) -> Study:
    """The one spec that a command is about."""
    return Desk(asked).study(name)


def status_of(one: Study) -> int:
    """1 where a spec has errors, asked after everything was said. Raises what went wrong in a rule of ours."""
    if one.checked.fault is not None:
        raise one.checked.fault
    return FOUND if any(finding.severity is Severity.ERROR for finding in one.checked.findings) else OK
