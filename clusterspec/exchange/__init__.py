"""Importers and exporters: from and to the files that infrastructure repositories already hold.

`kinds` is the registry of formats; each reader returns a `Reading`, which `merge` writes into a spec.
"""
