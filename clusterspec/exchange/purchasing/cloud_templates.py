"""Machines of AWS that templates declare: CloudFormation (YAML, JSON), eksctl, and requests of AWS Batch (JSON).

Fields: AWS::SageMaker::Cluster, AWS::EKS::Nodegroup, AWS::PCS::ComputeNodeGroup, AWS::Batch::ComputeEnvironment and
others of the CloudFormation template reference; ``managedNodeGroups`` and ``nodeGroups`` of eksctl's schema
(https://eksctl.io/usage/schema); ``computeResources`` of ``aws batch create-compute-environment``; read 2026-11-26.
They are read as blocks of Terraform are: a parameter has its default, any other reference is left open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from clusterspec.exchange.documents import Yaml, read_documents
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.pages import is_page_or_script
from clusterspec.exchange.purchasing.hcl import Block, Expression, Table
from clusterspec.exchange.purchasing.terraform_files import Pools, record_pools
from clusterspec.logs.statements.required_words import first_match
from clusterspec.source import Path
from clusterspec.units import plural

CLOUDFORMATION = "cloudformation"
_MARK = re.compile(
    r"^[ \t]*[\"']?AWSTemplateFormatVersion[\"']?[ \t]*:|(?:^|[{,])[ \t]*[\"']?Type[\"']?[ \t]*:[ \t]*[\"']?AWS::[A-Z]"
    r"|^apiVersion[ \t]*:[ \t]*[\"']?eksctl\.io/"
    r"|^[ \t]*\"computeResources\"[ \t]*:",
    re.MULTILINE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GROUPS = ("managedNodeGroups", "nodeGroups")
_ASKED = "computeResources"
_NAMED = ("InstanceGroupName", "NodegroupName", "Name", "name")
_WHOLE = re.compile(r"\$\{(\w{1,100})\}")
_SET = re.compile(r"[\[{].{0,4000}\"InstanceType\"", re.DOTALL)
"""A parameter with instance groups as JSON."""
_TEMPLATES = ("template", "definition", "configuration")
"""Endings of resource types that only describe machines, which another resource starts."""
_SIZES = re.compile(r"instance_types?|(?:min|max|desired|instance|target)_(?:\w{1,20}_)?(?:count|size|capacity)")
"""Names of attributes with the type or number of machines."""
_DEEPEST = 20


def matches_cloudformation(file: InputFile) -> bool:
    return bool(first_match(_MARK, file.text)) and not is_page_or_script(file.text)


def read_cloudformation(file: InputFile) -> ImportResult:
    """The machines of a template. Raises `FormatError` if it states no instance type."""
    builder, blocks = ImportBuilder(CLOUDFORMATION, file.name), list[Block]()
    if file.text.lstrip().startswith("{"):  # JSON may be indented by tabs, YAML may not
        file = InputFile(file.name, file.data.replace(b"\t", b" "))
    for yaml in read_documents(file):
        blocks += _blocks(yaml) if isinstance(yaml.value, dict) else []
    pools = Pools(blocks)
    if not any(pools.pools()) and not pools.open:
        raise FormatError("states no type of machine: parameters without a default or other templates may")
    record_pools(Pools(blocks), builder)
    given = [each.labels[0] for each in blocks if each.kind == "variable" and each.table["default"] is not None]
    sizes = {each for block in blocks for each in _reference_expressions(block.table)}
    if used := [name for name in given if f"var.{name}" in sizes]:
        why = f"defaults of parameters, which a stack may replace: {', '.join(used)}"
        builder.unknown(plural(len(used), "value"), why)
    return builder.reading()


def _reference_expressions(value: Any, name: str = "") -> set[str]:
    """The references in attributes that give the type or number of machines."""
    if isinstance(value, dict):
        return {each for key, inner in value.items() for each in _reference_expressions(inner, key)}
    if isinstance(value, list):
        return {each for inner in value for each in _reference_expressions(inner, name)}
    return {str(value)} if isinstance(value, Expression) and _SIZES.fullmatch(name) else set()


def _blocks(yaml: Yaml) -> Iterator[Block]:
    """The parameters, resources and groups of a document in the form of Terraform blocks."""
    parameters = yaml.value.get("Parameters")
    parameters = parameters if isinstance(parameters, dict) else {}
    names = frozenset(parameters)
    for name, stated in parameters.items():
        default, path = stated.get("Default") if isinstance(stated, dict) else None, ("Parameters", name)
        table = Table()
        table["default"] = _count_of(default)
        yield Block("variable", (str(name),), table, yaml.line(*path))
        if isinstance(default, str) and _SET.match(default):
            yield from _groups_in_text(str(name), default, yaml.line(*path, "Default"))
    resources = yaml.value.get("Resources")
    for name, resource in resources.items() if isinstance(resources, dict) else ():
        if isinstance(resource, dict) and isinstance(resource.get("Properties"), dict):
            kind, inner = str(resource.get("Type")).lower(), ("Resources", name, "Properties")
            kind = "template" if kind.endswith(_TEMPLATES) else kind
            table = _table(yaml, resource["Properties"], inner, names)
            yield Block("resource", (kind, str(name)), table, yaml.line(*inner))
    for key in _GROUPS:
        groups = yaml.value.get(key)
        for n, group in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(group, dict):
                table = _table(yaml, group, (key, n), names)
                yield Block("resource", ("eksctl", str(group.get("name"))), table, yaml.line(key, n))
    if isinstance(asked := yaml.value.get(_ASKED), dict):
        table = _table(yaml, asked, (_ASKED,), names)
        yield Block("resource", ("batch", str(yaml.value.get("computeEnvironmentName"))), table, yaml.line(_ASKED))


def _groups_in_text(name: str, text: str, line: int) -> Iterator[Block]:
    """The instance groups in JSON in the default of a parameter."""
    try:
        waiting = [json.loads(text)]
    except ValueError:
        return
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            table = Table()
            for key, inner in value.items():
                table[_snake_name(key)], table.lines[_snake_name(key)] = inner, line
            yield Block("resource", ("group", str(value.get("InstanceGroupName") or name)), table, line)


def _table(yaml: Yaml, value: dict[str, Any], path: Path, names: frozenset[str]) -> Table:
    """A mapping with names as in Terraform (``InstanceType`` becomes ``instance_type``) and with references to
    parameters.
    """
    table = Table()
    for key, inner in value.items():
        name = _snake_name(str(key))
        table[name], table.lines[name] = _converted_value(yaml, inner, (*path, key), names), yaml.line(*path, key)
    if named := next((value[key] for key in _NAMED if isinstance(value.get(key), str)), None):
        table["name"] = named
    return table


def _converted_value(yaml: Yaml, value: Any, path: Path, names: frozenset[str]) -> Any:
    if isinstance(value, dict) and set(value) == {"Ref"}:
        return Expression(f"var.{value['Ref']}")
    if isinstance(value, dict) and len(path) < _DEEPEST:
        return _table(yaml, value, path, names)
    if isinstance(value, list) and len(path) < _DEEPEST:
        items = [_converted_value(yaml, each, (*path, n), names) for n, each in enumerate(value)]
        return [inner for each in items for inner in (each if isinstance(each, list) else [each])]  # of an !If
    if isinstance(value, str):  # the tag !Ref leaves the name of the parameter
        name = match[1] if (match := _WHOLE.fullmatch(value)) else value
        return Expression(f"var.{name}") if name in names else Expression(value) if "${" in value else _count_of(value)
    return value


def _count_of(value: Any) -> Any:
    """A whole number if the value is one written as text; other values are returned as they are."""
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 10 else value


def _snake_name(name: str) -> str:
    """
    >>> _snake_name("MinInstanceCount"), _snake_name("instanceType"), _snake_name("MaxvCpus")
    ('min_instance_count', 'instance_type', 'maxv_cpus')
    """
    return _CAMEL.sub("_", name).lower()
