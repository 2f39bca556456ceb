"""Figures of parts in the description of a spec, compared with the catalog."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from clusterspec.studies import Settings, study_text
from tests.effort import each

SETTINGS = Settings.from_folder(Path(__file__).parent, [], date(2026, 11, 28))


def found(description: str, platform: str = "dgx-h100") -> list[tuple[str, str]]:
    text = f"clusterspec: 1\ndescription: {description}\ncluster: {{platform: {platform}, nodes: 64}}\n"
    findings = study_text(text, SETTINGS).findings
    return [(one.rule, one.message) for one in findings if one.path == ("description",)]


@each(
    ("description", "rule", "said"),
    [
        ("The ConnectX-7 NICs run at 400 GB/s.", "bits-and-bytes-swapped", "8 times the 50 GB/s"),
        ("The ConnectX-7 NICs run at 400 Gb/s.", "", ""),
        ("NVLink runs at 900 GB/s in each direction.", "duplex-counted-as-one-way", "2 times the 450 GB/s"),
        ("NVLink runs at 450 GB/s in each direction.", "", ""),
        ("The GPUs reach 1979 TFLOPS dense in BF16.", "sparse-peak-as-dense", "2 times the 989 TFLOP/s"),
        ("The GPUs reach 989 TFLOPS dense in BF16.", "", ""),
        ("Each GPU has HBM of 3.35 GB/s.", "thousandfold-mistake", "1/1000 of the 3.35 TB/s"),
        ("Each GPU has HBM of 3.35 TB/s.", "", ""),
        ("The A100 nodes of the old hall reach 312 TFLOPS.", "", ""),  # named parts are compared with their own figures
    ],
)
def test_a_figure_of_the_description_is_that_of_its_part(description: str, rule: str, said: str) -> None:
    got = found(description)
    assert [one for one, _ in got] == [rule] * bool(rule)
    assert all(said in message for _, message in got)


def test_a_sentence_without_a_name_is_about_the_nodes_of_the_spec() -> None:
    assert not found("The GPUs reach 2250 TFLOPS dense in BF16.", "dgx-b200")
    assert [rule for rule, _ in found("The GPUs reach 4500 TFLOPS dense in BF16.", "dgx-b200")] == [
        "sparse-peak-as-dense"
    ]


def test_a_long_description_is_one_text() -> None:
    folded = ">\n  The ConnectX-7\n  NICs run\n  at 400 GB/s."
    assert [rule for rule, _ in found(folded)] == ["bits-and-bytes-swapped"]
