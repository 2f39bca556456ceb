"""Clusters of SageMaker HyperPod: the instances with accelerators of one instance group.

Fields: ``InstanceGroups[]`` of AWS::SageMaker::Cluster (aws/sagemaker-hyperpod-cluster-setup b920fcf4,
eks/cloudformation/hyperpod-cluster-template.yaml), which ``aws sagemaker create-cluster`` takes as a file, alone or in
the whole request; ``TargetCount`` is the count that ``describe-cluster`` prints.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from clusterspec.catalog import Catalog
from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.fabrics.pods import list_at
from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    chosen_part,
    excerpt,
)
from clusterspec.exchange.machines.links import match_instance
from clusterspec.exchange.pages import is_page_or_script
from clusterspec.source import Path
from clusterspec.units import plural

HYPERPOD = "hyperpod"
_GROUP = re.compile(r"(?:^|[{,\-])[ \t]*[\"']?InstanceGroupName[\"']?[ \t]*:", re.MULTILINE)
_TEMPLATE = re.compile(r"^[ \t]*[\"']?AWSTemplateFormatVersion[\"']?[ \t]*:", re.MULTILINE)
_NOTEBOOK = re.compile(r"\"cells\"[ \t]*:")
_COUNTS = ("InstanceCount", "TargetCount")


class _Group(NamedTuple):
    """An instance group: its name, instance type, platform of the catalog, value and path."""

    name: str
    machine: str
    platform: str | None
    value: dict[str, Any]
    path: Path


def matches_hyperpod(file: InputFile) -> bool:
    """Whether a file itself has instance groups; scripts, pages and notebooks that contain them do not match."""
    text = file.text
    stated = bool(_GROUP.search(text)) and "InstanceType" in text
    return stated and not is_page_or_script(text) and not _NOTEBOOK.search(text)


def read_hyperpod(file: InputFile) -> ImportResult:
    """The nodes of the group with accelerators. Raises `SeveralParts` for several, `FormatError` for none."""
    if template := _TEMPLATE.search(file.text):
        why = "a template of CloudFormation, whose parameters give the instances: import what describe-cluster prints"
        raise FormatError(why, file.line_at(template.start()))
    yaml, builder = read_yaml(file), ImportBuilder(HYPERPOD, file.name)
    groups = _instance_groups(yaml)
    known = [group for group in groups if group.platform]
    if not known:
        shown = excerpt(", ".join(dict.fromkeys(group.machine for group in groups)), LIST)
        raise FormatError(f"no instance group is of a type with accelerators of the catalog: {shown}")
    shown = ", ".join(f"{excerpt(group.name)} of {group.machine}" for group in known[:8])
    counted = plural(len(known), "instance group")
    chosen = chosen_part(known, file.part, f"{counted} with accelerators", f"{counted}: {shown}")
    builder.set("cluster.platform", chosen.platform, yaml.line(*chosen.path, "InstanceType"))
    _record_count(yaml, chosen, builder)
    for group in groups:
        if not group.platform:
            why = "an instance type without an entry of accelerators: not part of the cluster"
            line = yaml.line(*group.path, "InstanceGroupName")
            builder.unknown(excerpt(f"{group.name}: {group.machine}", LIST), why, line)
    return builder.reading()


def _record_count(yaml: Yaml, group: _Group, builder: ImportBuilder) -> None:
    """Set the number of nodes to the instances of a group, unless it has none yet or a variable states the number."""
    name = next((name for name in _COUNTS if name in group.value), _COUNTS[0])
    count, line = group.value.get(name), yaml.line(*group.path, name)
    if isinstance(count, int) and not isinstance(count, bool) and count > 0:
        builder.set("cluster.nodes", count, line)
    else:
        builder.unknown("cluster.nodes", f"{name} is {excerpt(count)}: no count of instances", line)


def _instance_groups(yaml: Yaml) -> list[_Group]:
    """The groups of a request, or of a list of groups."""
    base: Path = () if isinstance(yaml.value, list) else ("InstanceGroups",)
    found, ids = [], Catalog.open().ids("platform")
    for n, value in enumerate(list_at(yaml.value, *base)):
        if isinstance(value, dict) and isinstance(value.get("InstanceType"), str):
            machine = value["InstanceType"].removeprefix("ml.")
            platform = match_instance(machine, "aws", ids)
            found.append(_Group(str(value.get("InstanceGroupName")), machine, platform, value, (*base, n)))
    return found
