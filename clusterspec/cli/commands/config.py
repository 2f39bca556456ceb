"""``clusterspec config PATH``: the settings of a file and their origin."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from clusterspec import __version__
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.choices import configured, opened, with_options
from clusterspec.cli.inputs import own_rules
from clusterspec.cli.terminal import ink, print_json, print_text
from clusterspec.config import Config
from clusterspec.config.schema import schema
from clusterspec.report.grid import grid
from clusterspec.report.ink import plain
from clusterspec.results import Input, Tool, head


def run(args: argparse.Namespace) -> int:
    """Print all configuration keys with value and origin. Raises `UsageFault` for a configuration that is refused."""
    path = Path(args.path)
    if not path.exists():
        raise UsageFault(f"{path}: No such file or directory")
    config = configured(args, (path if path.is_dir() else path.parent).resolve())
    catalog = opened(args, config)
    with_options(config, args, [rule.name for rule in own_rules(config)])  # refuses what `check` refuses
    rows = [(key, *value_and_origin(config, key, args.path)) for key in schema()["properties"] if key != "overrides"]
    if args.format == "json":
        keys = {key: {"value": value, "origin": origin} for key, value, origin in rows}
        print_json(head(Tool(__version__, catalog.version), Input(args.path)) | {"keys": keys})
    else:
        shown = [(key, plain(toml(value)), plain(origin)) for key, value, origin in rows]
        print_text(
            f"for {plain(args.path)}, catalog {catalog.version}\n\n"
            + grid(("key", "value", "from"), shown, ink=ink(args))
        )
    return OK


def value_and_origin(config: Config, key: str, path: str) -> tuple[Any, str]:
    """The value of a key for a path, and its origin."""
    name = key.replace("-", "_")
    value, own = getattr(config.for_path(path), name), getattr(config, name)
    if value != own:
        return as_json(value), f"{config.file}, overrides"
    default = getattr(Config(), name)
    return as_json(own), "default" if own == default or config.file is None else str(config.file)


def toml(value: Any) -> str:
    """A configuration value as it is written in the file; "not set" for none.

    >>> toml({"tight-memory": "note"}), toml(["few-spines"]), toml(True), toml(None)
    ('{tight-memory = "note"}', '["few-spines"]', 'true', 'not set')
    """
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {toml(item)}' for key, item in value.items())}}}"
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def as_json(value: Any) -> Any:
    """A configuration value as JSON."""
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | float) else str(value)
