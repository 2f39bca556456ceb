"""Takes the text of a spec as far as a design, with the shipped catalog."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from clusterspec import document as documents
from clusterspec.catalog import Catalog
from clusterspec.cluster import resolve
from clusterspec.cluster.model import Cluster, Design, Layout
from clusterspec.finding import Problem
from clusterspec.source import Source
from clusterspec.spec import read

HEAD = "clusterspec: 1\nname: test\n"


@cache
def catalog() -> Catalog:
    return Catalog.open()


def resolve_text(text: str, own: Catalog | None = None) -> tuple[Design, list[Problem]]:
    """The design, and the problems of resolving alone. ``own`` is a catalog in place of the shipped one."""
    document, problems = documents.load_source(Source("test.yaml", HEAD + text), Path.cwd())
    assert document is not None, problems
    spec, found = read(document)
    assert not problems, problems
    design, further = resolve(spec, own or catalog())
    return design, further if not found else [*found, *further]


def clean(text: str) -> Design:
    """The design of a spec with nothing wrong in it."""
    design, problems = resolve_text(text)
    assert not [one for one in problems if one.rule != "unused-key"], problems
    return design


def cluster_of(text: str) -> Cluster:
    cluster = clean(text).cluster
    assert cluster is not None
    return cluster


def layout_of(text: str) -> Layout:
    layout = clean(text).layout
    assert layout is not None
    return layout


def assumed(design: Design) -> dict[str, Any]:
    """The assumptions as a mapping from key to value."""
    return {key: value for key, value, _ in design.assumptions}
