"""Settings of a call: the configuration, the catalog and the date. No rules are imported here."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TypeVar

from clusterspec import __version__
from clusterspec import config as configuration
from clusterspec.catalog import Catalog
from clusterspec.cli import UsageFault
from clusterspec.cli.versions import allowed
from clusterspec.config import Config
from clusterspec.records import replace
from clusterspec.results import Input, Json, Tool, head

T = TypeVar("T")


def today(asked: argparse.Namespace) -> date:
    """The current date: ``--today``, else ``SOURCE_DATE_EPOCH``, else the clock."""
    if asked.today is not None:
        return date.fromisoformat(str(asked.today))
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isascii() and epoch.isdigit() and len(epoch) < 12:
        return datetime.fromtimestamp(int(epoch), UTC).date()
    return datetime.now(UTC).date()


def configured(asked: argparse.Namespace, folder: Path) -> Config:
    """The configuration given by the call, else the one of a folder (see ``--trust``).

    Raises `UsageFault` if it cannot be read or requires another version of the program.
    """
    trust = getattr(asked, "trust", "spec")
    try:
        if asked.config:
            config = configuration.load(Path(asked.config))
        elif trust == "none":
            config = Config()
        elif trust == "base":
            from clusterspec.cli.base_folders import with_base_folders
            from clusterspec.cli.base_revision import base_config

            config = with_base_folders(base_config(folder), folder, asked)
        else:
            config = configuration.discover(folder)
    except configuration.ConfigFault as fault:
        raise UsageFault(str(fault)) from None
    if config.required_version and not allowed(__version__, config.required_version, str(config.file)):
        raise UsageFault(
            f"{config.file}: required-version is {config.required_version}, but this is clusterspec {__version__}"
        )
    return config


def opened(asked: argparse.Namespace, config: Config) -> Catalog:
    """The shipped catalog with the folders of the configuration and of the call, which have precedence in this order.

    Raises `UsageFault` if a folder does not exist or the catalog is not of the required version.
    """
    try:
        catalog = Catalog.open([*config.catalog, *named_catalogs(asked)])
    except NotADirectoryError as fault:
        raise UsageFault(str(fault)) from None
    except (OSError, ValueError) as fault:
        named = str(getattr(fault, "filename", "") or "")[:100]
        raise UsageFault(f"the catalog folder {named}: {getattr(fault, 'strerror', None) or fault}") from None
    if config.catalog_version and catalog.version.rstrip("+") != config.catalog_version.rstrip("+"):
        raise UsageFault(
            f"{config.file}: catalog-version is {config.catalog_version}, but the catalog here is {catalog.version}"
        )
    return catalog


def named_catalogs(asked: argparse.Namespace) -> list[Path]:
    """The catalog folders given by the call; with ``--trust base``, from the base revision."""
    paths = [Path(name) for name in asked.catalog]
    if paths and getattr(asked, "trust", "spec") == "base":
        from clusterspec.cli.base_folders import base_folder

        return [base_folder(path, Path.cwd(), asked) for path in paths]
    return paths


def with_options(config: Config, asked: argparse.Namespace) -> Config:
    """A configuration with the rules given by options, and groups expanded to their rules.

    Raises `UsageFault` for a rule or group that does not exist.
    """
    where = str(config.file)
    thresholds = {name: config.thresholds[name] for name in expanded(f"{where}: thresholds", config.thresholds)}
    with_threshold(f"{where}: thresholds", thresholds)
    return replace(
        config,
        select=(*expanded(f"{where}: select", config.select), *named_rules(asked, "select")),
        ignore=(*expanded(f"{where}: ignore", config.ignore), *named_rules(asked, "ignore")),
        error=(*expanded(f"{where}: error", config.error), *named_rules(asked, "error")),
        severity=_by_rule(f"{where}: severity", config.severity),
        overrides=tuple(
            replace(
                one,
                ignore=expanded(f"{where}: overrides.ignore", one.ignore),
                error=expanded(f"{where}: overrides.error", one.error),
                severity=_by_rule(f"{where}: overrides.severity", one.severity),
            )
            for one in config.overrides
        ),
    )


def _by_rule(where: str, table: Mapping[str, T]) -> dict[str, T]:
    """A table by rule from one by rule or group; a rule has precedence over its group."""
    of_groups = {rule: value for name, value in table.items() for rule in expanded(where, [name]) if rule != name}
    return of_groups | {name: value for name, value in table.items() if expanded(where, [name]) == (name,)}


def named_rules(asked: argparse.Namespace, option: str) -> tuple[str, ...]:
    """The rule names of a repeatable option with comma-separated values."""
    values: list[str] = getattr(asked, option, [])
    names = tuple(name.strip() for value in values for name in value.split(",") if name.strip())
    if values and not names:
        raise UsageFault(f"--{option} names no rule")
    return expanded(f"--{option}", names)


def expanded(where: str, names: Iterable[str]) -> tuple[str, ...]:
    """Rule and group names expanded to rules.

    Raises `UsageFault` for an unknown name, since a misspelled rule would never report.
    """
    from clusterspec import rules

    found: list[str] = []
    for name in names:
        members = rules.of_group(name)
        if not members and not rules.known(name) and not name.startswith(rules.OWN):
            near = rules.nearest(name)
            advice = f"did you mean {near[0]}?" if near else "`clusterspec explain` lists the rules"
            raise UsageFault(f"{where}: no rule is called {name!r}; {advice}")
        found += members or (name,)
    return tuple(dict.fromkeys(found))


def with_threshold(where: str, names: Iterable[str]) -> None:
    """Raises `UsageFault` for the first rule without a threshold."""
    from clusterspec.rules.index import THRESHOLDS

    for name in names:
        if name not in THRESHOLDS:
            having = ", ".join(sorted(THRESHOLDS))
            raise UsageFault(f"{where}: {name} has no threshold; rules with a threshold are {having}")


def headed(asked: argparse.Namespace, body: Json) -> Json:
    """The JSON document of a command that reads no spec, with the common header."""
    catalog = opened(asked, configured(asked, Path.cwd()))
    return head(Tool(__version__, catalog.version), Input()) | body
