"""What Karpenter's list of EC2 instance types says otherwise than the catalog, or has in addition.

``python -m tools.instances FILE`` reads ``website/content/en/docs/reference/instance-types.md`` of
github.com/aws/karpenter-provider-aws, which AWS generates from the EC2 API, and compares it with the entries of AWS:
the accelerators of an instance, its bandwidth and its EFA devices. It writes nothing; the exit status is 1 where a
figure differs. Instances with accelerators that have no entry are listed, and entries that the list lacks, such as
UltraServers.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from clusterspec.catalog import Catalog
from clusterspec.catalog.reader import quantity_of
from clusterspec.records import NamedTuple

PREFIX = "karpenter.k8s.aws/instance-"
_SECTION = re.compile(r"^### `?([a-z0-9.-]+)`?$", re.MULTILINE)
_ROW = re.compile(r"^ *\|([^|]+)\|([^|]+)\|$", re.MULTILINE)

Labels = Mapping[str, str]


class Differences(NamedTuple):
    """``changed`` as (entry, fact, the catalog's, the list's); ``missing`` and ``unlisted`` are ids of instances."""

    changed: tuple[tuple[str, str, str, str], ...]
    missing: tuple[str, ...]
    unlisted: tuple[str, ...]


def instances_of(text: str) -> dict[str, Labels]:
    """The labels and resources of each instance of the list that has accelerators, by the id of its entry.

    >>> text = "### `p5.48xlarge`\\n |Label|Value|\\n |karpenter.k8s.aws/instance-gpu-count|8|\\n"
    >>> instances_of(text)["aws-p5-48xlarge"]["gpu-count"]
    '8'
    """
    parts = _SECTION.split(text)
    found: dict[str, Labels] = {}
    for name, section in zip(parts[1::2], parts[2::2], strict=True):
        labels = {key.removeprefix(PREFIX): value for key, value in _ROW.findall(section)}
        if "gpu-count" in labels or "accelerator-count" in labels:
            found[f"aws-{name.replace('.', '-')}"] = labels
    return found


def differences(catalog: Catalog, listed: Mapping[str, Labels]) -> Differences:
    """What a list of instances says otherwise than the entries of AWS, by id."""
    entries = [each for each in catalog.ids("platform") if each.startswith("aws-")]
    changed = [
        (each, fact, held, value)
        for each in entries
        if each in listed
        for fact, value in _figures(listed[each]).items()
        if (held := _figure_text(catalog, each, fact)) and float(held) != float(value)
    ]
    return Differences(tuple(changed), tuple(sorted({*listed} - {*entries})), tuple(sorted({*entries} - {*listed})))


def _figures(labels: Labels) -> dict[str, str]:
    """The figures of an instance by the fact of its entry: counts, and its bandwidth in Gb/s per direction."""
    found = {"accelerators_per_node": labels.get("gpu-count") or labels["accelerator-count"]}
    if rate := labels.get("network-bandwidth"):
        found["node_bandwidth"] = f"{float(rate) / 1000:g}"
    if devices := labels.get("vpc.amazonaws.com/efa"):
        found["nics_per_node"] = devices
    return found


def _figure_text(catalog: Catalog, id_: str, name: str) -> str:
    """The figure of an entry in the unit of `_figures`, a rate or a count; empty if it has none."""
    fact = catalog.raw_entry("platform", id_).facts.get(name)
    if fact is None:
        return ""
    quantity = quantity_of(fact)
    return f"{quantity.value * 8 / 1e9:g}" if quantity is not None else str(fact.value)


def differences_text(differences: Differences) -> str:
    """The differences as lines of text."""
    changed = [
        f"{entry} {fact}: {held} in the catalog, {value} in the list"
        for entry, fact, held, value in differences.changed
    ]
    blocks = [
        ("other figures", changed),
        ("without an entry", differences.missing),
        ("not in the list", differences.unlisted),
    ]
    return "\n".join(f"{title} ({len(lines)})" + "".join(f"\n  {line}" for line in lines) for title, lines in blocks)


def main(arguments: list[str]) -> int:
    """Prints the differences; 1 where a figure differs, 2 without the one file."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    found = differences(Catalog.open(), instances_of(Path(arguments[0]).read_text(encoding="utf-8")))
    print(differences_text(found))
    return bool(found.changed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
