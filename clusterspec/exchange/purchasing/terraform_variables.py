"""Values of Terraform variables (``*.tfvars``): the machines that they name.

Such a file does not state the meaning of a variable. Names for a machine type and a count are recognized if they are
those of the clouds' resources and modules (`terraform_files`), both with the same prefix (``gpu_machine_type``,
``gpu_node_count``).
"""

from __future__ import annotations

import re

from clusterspec.exchange.import_result import FormatError, ImportBuilder, InputFile
from clusterspec.exchange.purchasing.hcl import Block, Table, attributes_of, blocks_of
from clusterspec.exchange.purchasing.terraform_files import COUNTS, TYPES, Pools, is_terraform_file, record_pools

_NAME = re.compile(r"\.tfvars(?:[._-](?:example|sample|template|dist))?\Z")


def is_variables_file(file: InputFile) -> bool:
    """Whether a file has the name of a file of values."""
    return bool(_NAME.search(file.name))


_DECLARED = re.compile(rf"^variable[ \t]+\"\w{{0,60}}(?:{'|'.join(TYPES[:-1])})\"", re.MULTILINE)
"""The declaration of a variable whose name means a machine type."""


def declares_machines(file: InputFile) -> bool:
    """Whether a file declares variables for machines and has no resources."""
    return bool(_DECLARED.search(file.text)) and not is_terraform_file(file.text)


def record_declarations(file: InputFile, builder: ImportBuilder) -> None:
    """Record the machines in the defaults of variables. Raises `FormatError` if none has accelerators."""
    table = Table()
    for block in blocks_of(file.text):
        default = block.table.get("default")
        if block.kind == "variable" and block.labels and isinstance(default, str | int | list) and default != "":
            table[block.labels[0]] = default
            table.lines[block.labels[0]] = block.table.lines.get("default", block.line)
    record_pools(Pools([Block("module", ("variables",), _values_by_prefix(table), 0)]), builder)
    if not builder.given:
        raise FormatError("has no default of a machine with accelerators: import `terraform show -json PLAN`")
    why = "where a configuration gives no other value: import `terraform show -json PLAN` to be sure"
    builder.unknown("defaults of variables", why)


def record_variables(file: InputFile, builder: ImportBuilder) -> None:
    """Record the machines of a file of values. Raises `FormatError` if it has no machine type."""
    table = attributes_of(file.text)
    if (untyped := _untyped_entry(table)) is not None:
        key, line = untyped
        raise FormatError(f"{key}: an entry without a type of machine: the default of a module gives it", line)
    record_pools(Pools([Block("module", ("variables",), _values_by_prefix(table), 0)]), builder)
    why = "the configuration decides what a variable does: import `terraform show -json PLAN` to be sure"
    builder.unknown("names of variables", why)


def _values_by_prefix(table: Table) -> Table:
    """The values, with those grouped into one mapping whose names have the same prefix before a machine type or
    count.
    """
    found = Table()
    for prefix in (key.removesuffix(f"_{kind}") for key in table for kind in TYPES if key.endswith(f"_{kind}")):
        found[prefix] = Table()
    groups = dict(found)
    for key, value in table.items():
        cuts = (cut.start() for cut in re.finditer("_", key))
        prefixes = [key[:cut] for cut in cuts if key[:cut] in groups]
        for prefix in prefixes:
            name, inner = key.removeprefix(f"{prefix}_"), groups[prefix]
            inner[name], inner.lines[name] = value, table.lines.get(key, 0)
        if not prefixes:
            found[key] = value
    for prefix, inner in groups.items():
        found.lines[prefix] = min(inner.lines.values())
        inner["name"] = prefix
    found.lines |= table.lines
    return found


def _untyped_entry(table: Table) -> tuple[str, int] | None:
    """The first list entry with a number of machines but without a type that other entries of the list have, and its
    line.
    """
    for key, value in table.items():
        tables = [each for each in value if isinstance(each, Table)] if isinstance(value, list) else []
        if not any(_has_one_of(TYPES, each) for each in tables):
            continue
        for each in tables:
            if not _has_one_of(TYPES, each) and _has_one_of(COUNTS, each):
                return key, min(each.lines.values(), default=table.lines.get(key, 0))
    return None


def _has_one_of(names: tuple[str, ...], table: Table) -> bool:
    return any(name in table for name in names)
