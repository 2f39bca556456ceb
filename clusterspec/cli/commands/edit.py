"""``clusterspec edit``: a page for editing one spec, with live findings and figures."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from clusterspec.cli import OK, UsageFault
from clusterspec.cli.options import path, positive_integer
from clusterspec.cli.terminal import print_error, print_text

HIGHEST_PORT = 65_535


def describe_edit(parser: argparse.ArgumentParser) -> None:
    """Add the options of `edit` to its parser."""
    parser.add_argument("spec", metavar="SPEC", type=path, help="the spec, the only file that the page reads or writes")
    parser.add_argument("--port", metavar="N", type=positive_integer, default=0, help="the port (default: a free one)")
    parser.add_argument(
        "--open",
        action="store_true",
        help="open the page in the default browser, whose command line other users of this machine can read",
    )


def run_edit(args: argparse.Namespace) -> int:
    """Serve the page of a spec until Ctrl-C. Raises `UsageFault` for a file that cannot be read or written."""
    from clusterspec.cli.editor.server import EditedFile, Server
    from clusterspec.cli.editor.verbs import Session
    from clusterspec.cli.inputs import StudyReader
    from clusterspec.cli.output import writable_place

    if args.spec == "-":
        raise UsageFault("edit takes a file, not standard input")
    if args.port > HIGHEST_PORT:
        raise UsageFault(f"--port {args.port}: ports end at {HIGHEST_PORT}")
    if not os.path.lexists(args.spec):
        raise UsageFault(
            f"{args.spec}: No such file; `clusterspec init > {shlex.quote(args.spec)}` writes a starting spec"
        )
    EditedFile(args.spec).read({})
    writable_place(Path(args.spec))
    StudyReader(args).settings_of(args.spec)  # refuses a configuration or catalog that cannot be read
    try:
        server = Server(Session(args.spec, shared_words(args)), args.spec, args.port)
    except OSError as fault:
        raise UsageFault(f"--port {args.port}: {fault.strerror}") from None
    print_text(f"{server.address}\n")
    print_error(f"editing {args.spec}; only this machine reaches the page, Ctrl-C ends it")
    if args.open:
        import webbrowser

        webbrowser.open(server.address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print_error("")
    finally:
        server.server_close()
    return OK


def shared_words(args: argparse.Namespace) -> list[str]:
    """The common options of all commands, as words of a command line."""
    words = [f"--catalog={os.fspath(each)}" for each in args.catalog]
    words += [f"--config={args.config}"] if args.config else []
    return [*words, *([f"--today={args.today}"] if args.today else [])]
