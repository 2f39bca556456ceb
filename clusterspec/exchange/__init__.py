"""Importers and exporters of the files that infrastructure repositories contain.

`import_formats` is the registry of formats. Each reader returns an `ImportResult`, which `merge` writes into a spec.
"""
