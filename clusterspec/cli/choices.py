"""What a team and a caller chose: the configuration, the catalog, the day. Loads nothing that judges."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from clusterspec import __version__
from clusterspec import config as configuration
from clusterspec.catalog import Catalog
from clusterspec.cli import UsageFault
from clusterspec.config import Config
from clusterspec.results import Input, Json, Tool, head


def today(asked: argparse.Namespace) -> date:
    """The day to judge by: ``--today``, else ``SOURCE_DATE_EPOCH``, else the clock."""
    if asked.today is not None:
        return date.fromisoformat(str(asked.today))
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isascii() and epoch.isdigit() and len(epoch) < 12:
        return datetime.fromtimestamp(int(epoch), UTC).date()
    return datetime.now(UTC).date()


def configured(asked: argparse.Namespace, folder: Path) -> Config:
    """The configuration that the call names, else the one that holds for a folder.

    Raises `UsageFault` for one that cannot be read.
    """
    try:
        return configuration.load(Path(asked.config)) if asked.config else configuration.discover(folder)
    except configuration.ConfigFault as fault:
        raise UsageFault(str(fault)) from None


def opened(asked: argparse.Namespace, config: Config) -> Catalog:
    """The shipped catalog under the folders of a configuration, under those of the call.

    Raises `UsageFault` for a folder that is not there.
    """
    try:
        return Catalog.open([*config.catalog, *(Path(name) for name in asked.catalog)])
    except NotADirectoryError as fault:
        raise UsageFault(str(fault)) from None
    except OSError as fault:
        raise UsageFault(f"the catalog folder {str(fault.filename)[:100]}: {fault.strerror}") from None


def with_options(config: Config, asked: argparse.Namespace) -> Config:
    """A configuration with the rules that options name. Raises `UsageFault` for a rule that nobody knows."""
    for key in ("select", "ignore", "error", "severity", "thresholds"):
        known_rules(f"{config.file}: {key}", getattr(config, key))
    with_threshold(f"{config.file}: thresholds", config.thresholds)
    return replace(
        config,
        select=(*config.select, *named_rules(asked, "select")),
        ignore=(*config.ignore, *named_rules(asked, "ignore")),
        error=(*config.error, *named_rules(asked, "error")),
    )


def named_rules(asked: argparse.Namespace, option: str) -> tuple[str, ...]:
    """Rule names from an option that may be repeated, and whose values may each hold several after commas."""
    values: list[str] = getattr(asked, option, [])
    names = tuple(name.strip() for value in values for name in value.split(",") if name.strip())
    if values and not names:
        raise UsageFault(f"--{option} names no rule")
    known_rules(f"--{option}", names)
    return names


def known_rules(where: str, names: Iterable[str]) -> None:
    """Raises `UsageFault` for the first name that no rule has: a rule misspelt would be a rule that never speaks."""
    from clusterspec import rules

    for name in names:
        if not rules.known(name):
            near = rules.nearest(name)
            advice = f"did you mean {near[0]}?" if near else "`clusterspec explain` lists the rules"
            raise UsageFault(f"{where}: no rule is called {name!r}; {advice}")


def with_threshold(where: str, names: Iterable[str]) -> None:
    """Raises `UsageFault` for the first rule that has no threshold to set."""
    from clusterspec.rules.index import THRESHOLDS

    for name in names:
        if name not in THRESHOLDS:
            raise UsageFault(
                f"{where}: {name} has no threshold; those that have one are {', '.join(sorted(THRESHOLDS))}"
            )


def headed(asked: argparse.Namespace, body: Json) -> Json:
    """What a command that reads no spec says in JSON, under the head of every document."""
    catalog = opened(asked, configured(asked, Path.cwd()))
    return head(Tool(__version__, catalog.version), Input()) | body
