"""``clusterspec init``."""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterspec import resources
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.terminal import print_error, print_text
from clusterspec.units import plural


def run(args: argparse.Namespace) -> int:
    """Print a starting spec: the shipped one, or one for a platform and a model."""
    if not (args.platform or args.model or args.kind or args.nodes):
        print_text((resources.templates() / "starter.yaml").read_text("utf-8"))
        return OK
    from clusterspec.cli.inputs import StudyReader
    from clusterspec.cli.starting import starting_spec
    from clusterspec.spec.schema import schema

    settings = StudyReader(args).settings(Path.cwd())
    platform, model, kind = args.platform or "dgx-h100", args.model or "llama-3.1-8b", args.kind or "train"
    most = schema()["properties"]["cluster"]["properties"]["nodes"]["maximum"]
    if args.nodes and args.nodes > most:
        raise UsageFault(f"--nodes {args.nodes}: a spec has at most {most:,} nodes")
    where = _machine(platform, args.nodes)
    text, sound = starting_spec(settings, platform, model, kind, args.nodes)
    if not text:
        raise UsageFault(f"no common layout of {model} divides over {where} and fits; leave out --nodes for a number")
    print_text(text)
    if not sound:
        print_error(f"clusterspec: No layout of {model} runs on {where}; this template has errors.")
    return OK


def _machine(platform: str, nodes: int | None) -> str:
    return f"{plural(nodes, 'node')} of {platform}" if nodes else platform
