"""What a command reads: settings from options and configuration, texts from files or standard input."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from clusterspec import config as configuration
from clusterspec import document as documents
from clusterspec import rules
from clusterspec.cli import UsageFault
from clusterspec.pipeline import Settings, Study, study
from clusterspec.report.results import Input, head
from clusterspec.source import Source


def today(asked: argparse.Namespace) -> date:
    """The day to judge by: ``--today``, else ``SOURCE_DATE_EPOCH``, else the clock."""
    if asked.today is not None:
        return date.fromisoformat(str(asked.today))
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isascii() and epoch.isdigit() and len(epoch) < 12:
        return datetime.fromtimestamp(int(epoch), UTC).date()
    return datetime.now(UTC).date()


def settings(asked: argparse.Namespace, folder: Path) -> Settings:
    """The catalog and the configuration that hold for a folder, with what the options add.

    Raises `UsageFault` for a configuration or a catalog folder that cannot be read.
    """
    try:
        found = Settings.of(folder, [Path(name) for name in asked.catalog], today(asked))
        config = configuration.load(Path(asked.config)) if asked.config else found.config
    except (configuration.ConfigFault, NotADirectoryError) as fault:
        raise UsageFault(str(fault)) from None
    return replace(found, config=optioned(config, asked))


def optioned(config: configuration.Config, asked: argparse.Namespace) -> configuration.Config:
    """A configuration with the rules that options name."""
    return replace(
        config,
        select=(*config.select, *named_rules(getattr(asked, "select", []))),
        ignore=(*config.ignore, *named_rules(getattr(asked, "ignore", []))),
        error=(*config.error, *named_rules(getattr(asked, "error", []))),
    )


def named_rules(values: list[str]) -> tuple[str, ...]:
    """Rule names from repeated options, each of which may hold several after commas."""
    names = tuple(name.strip() for value in values for name in value.split(",") if name.strip())
    for name in names:
        if not rules.known(name):
            near = rules.nearest(name)
            raise UsageFault(f"no rule is called {name!r}" + (f"; did you mean {near[0]}?" if near else ""))
    return names


def read_bytes(name: str) -> bytes:
    """The bytes of a file, or of standard input for ``-``.

    Raises `UsageFault` when there is no such file or it cannot be read.
    """
    try:
        if name == "-":
            return sys.stdin.buffer.read(documents.LARGEST + 1)
        with Path(name).open("rb") as file:
            return file.read(documents.LARGEST + 1)
    except (OSError, ValueError) as fault:
        raise UsageFault(f"{name}: {getattr(fault, 'strerror', None) or fault}") from None


def study_of(asked: argparse.Namespace, name: str, shared: Settings | None = None) -> Study:
    """One spec taken as far up the stairs as it goes."""
    data = read_bytes(name)
    folder = Path.cwd() if name == "-" else Path(name).resolve().parent
    shown = (asked.stdin_filename or "-") if name == "-" else name
    source = Source(shown, data.decode("utf-8", "surrogateescape"))
    return study(source, data, shared or settings(asked, folder), folder)


def headed(asked: argparse.Namespace, body: dict[str, object]) -> dict[str, object]:
    """What a command that reads no spec says in JSON, under the head of every document."""
    return head(settings(asked, Path.cwd()).tool, Input()) | body
