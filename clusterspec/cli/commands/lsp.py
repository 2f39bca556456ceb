"""``clusterspec lsp``: the language server on standard input and output."""

from __future__ import annotations

import argparse

from clusterspec.cli import OK, UsageFault


def run(args: argparse.Namespace) -> int:
    """Serve an editor until it disconnects. Raises `UsageFault` if pygls is not installed."""
    try:
        from clusterspec.cli.language_server.server import server
    except ImportError:
        raise UsageFault("the language server needs pygls: pip install 'clusterspec[lsp]'") from None
    server(args).start_io()
    return OK
