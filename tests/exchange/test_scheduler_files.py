"""The tree of switches that Slurm is given, by hand, and the line of a fault in one of several YAML documents."""

from __future__ import annotations

import pytest

from clusterspec.exchange.documents import read_documents
from clusterspec.exchange.import_result import FormatError, InputFile
from tests.exchange.test_exporters import exported, pod


def switches(nodes: int) -> list[str]:
    """The switches of the tree and what each has below it."""
    words = [line.strip().removeprefix("- ") for line in exported("slurm", pod(nodes)).splitlines()]
    return [word for word in words if word.startswith(("switch:", "children:", "nodes:"))]


def test_the_leaves_of_a_pod_have_a_switch_above_them_if_there_are_several() -> None:
    """A rail of quantum-2-qm9700 has 32 ports down, one for each node: 32 nodes are one block, 64 are two."""
    assert switches(32) == ["switch: block0001", "nodes: node[0001-0032]"]
    assert switches(64)[:2] == ["switch: fabric", "children: block[0001-0002]"]
    assert switches(64)[2:] == [
        *("switch: block0001", "nodes: node[0001-0032]"),
        *("switch: block0002", "nodes: node[0033-0064]"),
    ]


def test_a_fault_in_a_later_document_is_on_its_line_of_the_file() -> None:
    file = InputFile("jobs.yaml", b"a: 1\n---\nb: c: d\n")
    with pytest.raises(FormatError, match="line 3: not YAML"):
        read_documents(file)
