"""The language server (`clusterspec lsp`): diagnostics, hover, completion, quick fixes and links to bases.

`server` speaks the protocol through pygls (the extra ``lsp``); the other modules answer in plain values.
"""
