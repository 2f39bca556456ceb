"""``clusterspec schema``, ``completion``, ``init`` and ``lsp``: what editors and shells need, and a first spec."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import BinaryIO, cast

from clusterspec import resources
from clusterspec.cli import OK, UsageFault
from clusterspec.cli.options import nonempty_name, positive_integer
from clusterspec.cli.terminal import print_error, print_text
from clusterspec.units import plural

# Options of ``clusterspec schema``


def describe_schema(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--editor",
        action="store_true",
        help="draft 7 with the units of quantities and the ids of the catalog and of company folders (default)",
    )
    what.add_argument(
        "--annotated",
        action="store_true",
        help="the schema that the program reads: draft 2020-12 with the kinds of quantities as annotations",
    )


# Options of ``clusterspec completion``


def describe_completion(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="for `source <(clusterspec completion bash)`")


# Options of ``clusterspec init``


def describe_init(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser; without any the shipped starting spec is printed."""
    parser.add_argument("--platform", metavar="ID", type=nonempty_name, help="a platform of the catalog")
    parser.add_argument(
        "--model", metavar="ID", type=nonempty_name, help="a model of the catalog (default: llama-3.1-8b)"
    )
    parser.add_argument(
        "--nodes",
        metavar="N",
        type=positive_integer,
        help="the number of nodes (default: the fewest on which the model runs)",
    )
    parser.add_argument("--for", dest="kind", choices=("train", "serve"), help="the kind of workload (default: train)")


# Options of ``clusterspec lsp``


def describe_lsp(parser: argparse.ArgumentParser) -> None:
    """Add the options that editors pass; the server always uses standard input and output."""
    parser.add_argument("--stdio", action="store_true", help="accepted for editors that pass it")


# ``clusterspec schema``


def run_schema(args: argparse.Namespace) -> int:
    """Print the JSON Schema for editors, or the one that the program reads.

    Raises `UsageFault` for a catalog folder that cannot be read.
    """
    from clusterspec.cli.choices import chosen_config, opened_catalog

    config = chosen_config(args, Path.cwd())
    own = args.catalog or config.catalog
    if args.annotated or not own:
        name = "spec.schema.json" if args.annotated else "editor.schema.json"
        print_text((resources.schemas() / name).read_text("utf-8"), exact=True)
        return OK
    from clusterspec.cli.editor_schema import editor_schema

    print_text(editor_schema(opened_catalog(args, config)), exact=True)
    return OK


# ``clusterspec completion SHELL``


def run_completion(args: argparse.Namespace) -> int:
    """Print the completion script of a shell."""
    from clusterspec.cli.completions import shell_script  # it loads the rules

    print_text(shell_script(args.shell), exact=True)
    return OK


# ``clusterspec init``


def run_init(args: argparse.Namespace) -> int:
    """Print a starting spec: the shipped one, or one for a platform and a model."""
    if not (args.platform or args.model or args.kind or args.nodes):
        print_text((resources.templates() / "starter.yaml").read_text("utf-8"))
        return OK
    from clusterspec.cli.inputs import StudyReader
    from clusterspec.cli.starting import starting_spec
    from clusterspec.spec.reader import schema

    settings = StudyReader(args).settings(Path.cwd())
    platform, model, kind = args.platform or "dgx-h100", args.model or "llama-3.1-8b", args.kind or "train"
    most = schema()["properties"]["cluster"]["properties"]["nodes"]["maximum"]
    if args.nodes and args.nodes > most:
        raise UsageFault(f"--nodes {args.nodes}: a spec has at most {most:,} nodes")
    where = _machine_text(platform, args.nodes)
    text, sound = starting_spec(settings, platform, model, kind, args.nodes)
    if not text:
        raise UsageFault(f"no common layout of {model} divides over {where} and fits; leave out --nodes for a number")
    print_text(text)
    if not sound:
        print_error(f"clusterspec: No layout of {model} runs on {where}; this template has errors.")
    return OK


def _machine_text(platform: str, nodes: int | None) -> str:
    return f"{plural(nodes, 'node')} of {platform}" if nodes else platform


# ``clusterspec lsp``: the language server on standard input and output


def run_lsp(args: argparse.Namespace) -> int:
    """Serve an editor until it disconnects. Raises `UsageFault` if pygls is not installed."""
    try:
        from clusterspec.cli.language_server.server import Messages, server
    except ImportError:
        raise UsageFault("the language server needs pygls: pip install 'clusterspec[lsp]'") from None
    server(args).start_io(cast("BinaryIO", Messages(sys.stdin.buffer)))  # pygls calls `readline` and `read` alone
    return OK
