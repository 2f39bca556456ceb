"""The comparison of the entries of AWS with a list of instance types, on a list written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.catalog.shipped import CATALOG
from tools.instances import Differences, differences, differences_text, instances_of, main

LIST = """
### `m5.large`
#### Labels
 | Label | Value |
 |--|--|
 |karpenter.k8s.aws/instance-network-bandwidth|750|
### `p5.48xlarge`
#### Labels
 | Label | Value |
 |--|--|
 |karpenter.k8s.aws/instance-gpu-count|8|
 |karpenter.k8s.aws/instance-network-bandwidth|3200000|
#### Resources
 |vpc.amazonaws.com/efa|32|
### `trn1.32xlarge`
 |karpenter.k8s.aws/instance-accelerator-count|16|
 |karpenter.k8s.aws/instance-network-bandwidth|800000|
### `p99.48xlarge`
 |karpenter.k8s.aws/instance-gpu-count|8|
"""


def test_instances_without_accelerators_are_left_out() -> None:
    assert set(instances_of(LIST)) == {"aws-p5-48xlarge", "aws-trn1-32xlarge", "aws-p99-48xlarge"}


def test_a_list_that_agrees_has_no_other_figures() -> None:
    found = differences(CATALOG, instances_of(LIST))
    assert found.changed == ()
    assert found.missing == ("aws-p99-48xlarge",)
    assert "aws-g5-48xlarge" in found.unlisted
    assert "aws-p5-48xlarge" not in found.unlisted


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("count|16", "count|12", ("aws-trn1-32xlarge", "accelerators_per_node", "16", "12")),
        ("3200000", "1600000", ("aws-p5-48xlarge", "node_bandwidth", "3200", "1600")),
        ("efa|32", "efa|16", ("aws-p5-48xlarge", "nics_per_node", "32", "16")),
    ],
)
def test_each_figure_that_differs_is_named(old: str, new: str, expected: tuple[str, str, str, str]) -> None:
    assert old in LIST
    found = differences(CATALOG, instances_of(LIST.replace(old, new)))
    assert found.changed == (expected,)


def test_the_text_counts_what_it_lists() -> None:
    found = Differences((("aws-a", "nics_per_node", "1", "2"),), ("aws-b",), ())
    assert differences_text(found) == (
        "other figures (1)\n  aws-a nics_per_node: 1 in the catalog, 2 in the list\n"
        "without an entry (1)\n  aws-b\nnot in the list (0)"
    )


def test_the_status_is_1_where_a_figure_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "instance-types.md"
    file.write_text(LIST)
    assert main([str(file)]) == 0
    file.write_text(LIST.replace("efa|32", "efa|16"))
    assert main([str(file)]) == 1
    assert main([]) == 2
    assert "32 in the catalog, 16 in the list" in capsys.readouterr().out
