"""Settings of a call: configuration, catalog, date, version requirements and formats. No rules are imported here."""

from __future__ import annotations

import argparse
import operator
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from clusterspec import __version__
from clusterspec import config as configuration
from clusterspec.catalog import Catalog
from clusterspec.cli import UsageFault
from clusterspec.config import Config
from clusterspec.finding import current_name
from clusterspec.records import replace
from clusterspec.results import Input, Json, Tool, common_fields
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")
    from clusterspec.config import Config

# Version requirements such as `>=0.2, <0.3`: the release numbers of PEP 440 only

_PART = pattern(r"(?P<sign>==|>=|<=|<|>|!=|~=)?\s*(?P<number>\d{1,6}(?:\.\d{1,6}){0,5})")
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def meets_requirement(version: str, required: str, where: str) -> bool:
    """Whether a version meets a requirement. Raises `UsageFault` for an invalid requirement.

    >>> [meets_requirement("0.2.1", required, "x") for required in (">=0.2, <0.3", "0.2.0", "~=0.2.0")]
    [True, False, True]
    """
    here = release_numbers(version)
    for part in required.split(","):
        found = _PART.fullmatch(part.strip())
        if found is None:
            raise UsageFault(
                f"{where}: required-version: {part.strip()!r} is not a version; write `>=0.2, <0.3` or `0.2.0`"
            )
        there, sign = release_numbers(found["number"]), found["sign"] or "=="
        if sign == "~=":
            length = max(1, found["number"].count("."))
            met = here >= there and here[:length] == there[:length]
        else:
            met = _SIGNS[sign](here, there)
        if not met:
            return False
    return True


def release_numbers(version: str) -> tuple[int, ...]:
    """The release numbers of a version, padded to six places."""
    found = re.match(r"\d{1,6}(?:\.\d{1,6}){0,5}", version)
    given = tuple(int(number) for number in found[0].split(".")) if found else ()
    return given + (0,) * (6 - len(given))


def current_date(args: argparse.Namespace) -> date:
    """The current date: ``--today``, else ``SOURCE_DATE_EPOCH``, else the clock."""
    if args.today is not None:
        return date.fromisoformat(str(args.today))
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isascii() and epoch.isdigit() and len(epoch) < 12:
        return datetime.fromtimestamp(int(epoch), UTC).date()
    return datetime.now(UTC).date()


def chosen_config(args: argparse.Namespace, folder: Path, cache: dict[Path, Config] | None = None) -> Config:
    """The configuration named in the call, or else the folder's, as ``--trust`` allows; ``cache`` as in `discover`.

    Raises `UsageFault` if it cannot be read or requires another version of the program.
    """
    trust = getattr(args, "trust", "spec")
    try:
        if args.config:
            config = configuration.load(Path(args.config))
        elif trust == "none":
            config = Config()
        elif trust == "base":
            from clusterspec.cli.git import base_config, config_with_base_folders

            config = config_with_base_folders(base_config(folder), folder, args)
        else:
            config = configuration.discover(folder, cache)
    except configuration.ConfigFault as fault:
        raise UsageFault(str(fault)) from None
    if config.required_version and not meets_requirement(__version__, config.required_version, str(config.file)):
        raise UsageFault(
            f"{config.file}: required-version is {config.required_version}, but this is clusterspec {__version__}"
        )
    return config


def opened_catalog(args: argparse.Namespace, config: Config) -> Catalog:
    """The shipped catalog with the folders of the configuration and of the call, which have precedence in this order.

    Raises `UsageFault` if a folder does not exist or the catalog is not of the required version.
    """
    try:
        catalog = Catalog.open([*config.catalog, *named_catalogs(args)])
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


def named_catalogs(args: argparse.Namespace) -> list[Path]:
    """The catalog folders given by the call; with ``--trust base``, from the base revision."""
    paths = [Path(name) for name in args.catalog]
    if paths and getattr(args, "trust", "spec") == "base":
        from clusterspec.cli.git import base_folder

        return [base_folder(path, Path.cwd(), args) for path in paths]
    return paths


def config_with_options(config: Config, args: argparse.Namespace, company_rules: Collection[str] = ()) -> Config:
    """A configuration with the rules given by options, and groups expanded to their rules.

    ``company_rules`` are the names of its company rules. Raises `UsageFault` for a rule or group that does not exist.
    """

    def rules_of_file(key: str, names: Iterable[str]) -> tuple[str, ...]:
        return expanded_rules(f"{config.file}: {key}", names, company_rules, every_own=False)

    def values_by_rule(key: str, table: Mapping[str, T]) -> dict[str, T]:
        """The values of a table by rule. An entry for a group applies to the rules of the group that have no entry of
        their own.
        """
        table = {current_name(name): value for name, value in table.items()}
        rules_of = {name: rules_of_file(key, [name]) for name in table}
        of_groups = {rule: table[name] for name, members in rules_of.items() for rule in members if rule != name}
        return of_groups | {name: table[name] for name, members in rules_of.items() if members == (name,)}

    thresholds = values_by_rule("thresholds", config.thresholds)
    check_thresholds(f"{config.file}: thresholds", thresholds)
    return replace(
        config,
        select=(*rules_of_file("select", config.select), *named_rules(args, "select", company_rules)),
        ignore=(*rules_of_file("ignore", config.ignore), *named_rules(args, "ignore", company_rules)),
        error=(*rules_of_file("error", config.error), *named_rules(args, "error", company_rules)),
        severity=values_by_rule("severity", config.severity),
        thresholds=thresholds,
        overrides=tuple(
            replace(
                one,
                ignore=rules_of_file("overrides.ignore", one.ignore),
                error=rules_of_file("overrides.error", one.error),
                severity=values_by_rule("overrides.severity", one.severity),
            )
            for one in config.overrides
        ),
    )


def named_rules(args: argparse.Namespace, option: str, company_rules: Collection[str] = ()) -> tuple[str, ...]:
    """The rule names of a repeatable option with comma-separated values.

    Any company rule may be named, since another folder of the call may have it.
    """
    values: list[str] = getattr(args, option, [])
    names = tuple(name.strip() for value in values for name in value.split(",") if name.strip())
    if values and not names:
        raise UsageFault(f"--{option} names no rule")
    return expanded_rules(f"--{option}", names, company_rules)


def expanded_rules(
    where: str, names: Iterable[str], company_rules: Collection[str] = (), *, every_own: bool = True
) -> tuple[str, ...]:
    """Rule names, with groups expanded to their rules. ``company_rules`` are known by name; ``every_own`` accepts
    others too.

    Raises `UsageFault` for an unknown name, since a misspelled rule would never report.
    """
    from clusterspec import rules

    found: list[str] = []
    for name in names:
        members = rules.rules_of_group(name, company_rules)
        if (
            not members
            and name not in rules.groups()
            and not rules.rule_exists(name, () if every_own else company_rules)
        ):
            near = rules.nearest_rules(name, others=(*rules.groups(), *company_rules))
            advice = f"did you mean {near[0]}?" if near else "`clusterspec explain` lists the rules"
            raise UsageFault(f"{where}: no rule or group is called {name!r}; {advice}")
        found += members or (current_name(name),)
    return tuple(dict.fromkeys(found))


def check_thresholds(where: str, names: Iterable[str]) -> None:
    """Raises `UsageFault` for the first rule without a threshold."""
    from clusterspec.rules.index import THRESHOLDS

    for name in names:
        if name not in THRESHOLDS:
            having = ", ".join(sorted(THRESHOLDS))
            raise UsageFault(f"{where}: {name} has no threshold; rules with a threshold are {having}")


def headed_document(args: argparse.Namespace, body: Json) -> Json:
    """The JSON document of a command that reads no spec, with the common header."""
    catalog = opened_catalog(args, chosen_config(args, Path.cwd()))
    return common_fields(Tool(__version__, catalog.version), Input()) | body


# The formats of `check` and their outputs: `--format` and `--output` in pairs, or the format of the CI service

MACHINES = ("json", "sarif", "junit", "gitlab")
"""Formats that a program reads."""
OF_SUFFIX = {".json": "json", ".sarif": "sarif", ".xml": "junit", ".md": "markdown", ".txt": "text"}
"""The format for an output file by its suffix, if the call does not name a format."""
OF_SUFFIX_IN_GITLAB = OF_SUFFIX | {".json": "gitlab"}


Pair = tuple[str, str | None]
"""A format, and the file to which it is written (None: standard output)."""


def format_pairs(args: argparse.Namespace) -> list[Pair]:
    """Pairs of format and output: the nth ``--format`` is written to the nth ``--output``, the last one to standard
    output.

    Raises `UsageFault` if two formats would share standard output, or outputs have no format.
    """
    formats, outputs = list(args.format), list(args.output)
    if not formats and len(outputs) < 2:
        return automatic_pairs(outputs[0] if outputs else None)
    if not formats:
        formats = [form for name in outputs if (form := OF_SUFFIX.get(Path(name).suffix.lower()))]
    if len(outputs) > len(formats) or len(formats) - len(outputs) > 1:
        raise UsageFault(
            f"--format is given {len(args.format)} times and --output {len(args.output)} times; "
            "give them in pairs, and at most one format without a file"
        )
    return list(zip(formats, [*outputs, None], strict=False))


def automatic_pairs(output: str | None) -> list[Pair]:
    """The default formats.

    GitHub Actions reads annotations from the log and SARIF from a file; GitLab reads its code quality report from a
    file, also from redirected standard output. Otherwise the suffix of a file determines its format.
    """
    github, gitlab = os.environ.get("GITHUB_ACTIONS") == "true", os.environ.get("GITLAB_CI") == "true"
    log = "github" if github else "gitlab" if gitlab and is_redirected() else "text"
    if output is None:
        return [(log, None)]
    suffix = Path(output).suffix.lower()
    if github:
        return [(OF_SUFFIX.get(suffix, "sarif"), output), (log, None)]
    if gitlab:
        return [(OF_SUFFIX_IN_GITLAB.get(suffix, "gitlab"), output), ("text", None)]
    return [(OF_SUFFIX.get(suffix, "text"), output)]


def is_redirected() -> bool:
    """Whether standard output is a file on disk rather than a terminal, pipe or device."""
    try:
        return stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):
        return False
