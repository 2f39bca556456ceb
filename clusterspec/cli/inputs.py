"""What a command reads: settings from options and configuration, texts from files or standard input."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from clusterspec import config as configuration
from clusterspec import document as documents
from clusterspec.catalog import Catalog
from clusterspec.cli import UsageFault
from clusterspec.pipeline import Settings, Study, study
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
    """The catalog and the configuration that hold for a folder."""
    try:
        config = configuration.load(Path(asked.config)) if asked.config else configuration.discover(folder)
    except (configuration.ConfigFault, OSError) as fault:
        raise UsageFault(_unreadable(asked.config or "configuration", fault)) from None
    folders = [*config.catalog, *(Path(name) for name in asked.catalog)]
    for one in folders:
        if not one.is_dir():
            raise UsageFault(f"--catalog {one}: there is no such folder")
    return Settings(Catalog.open(folders), config, today(asked))


def _unreadable(name: str, fault: Exception) -> str:
    return f"{name}: {fault.strerror or fault}" if isinstance(fault, OSError) else str(fault)


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
        raise UsageFault(_unreadable(name, fault)) from None


def study_of(asked: argparse.Namespace, name: str, shared: Settings | None = None) -> Study:
    """One spec taken as far up the stairs as it goes."""
    data = read_bytes(name)
    folder = Path.cwd() if name == "-" else Path(name).resolve().parent
    shown = (asked.stdin_filename or "-") if name == "-" else name
    source = Source(shown, data.decode("utf-8", "surrogateescape"))
    return study(source, data, shared or settings(asked, folder), folder)
