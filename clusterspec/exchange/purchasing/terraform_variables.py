"""Values of variables of Terraform (``*.tfvars``): the machines that they name.

A file of values says nothing of what a variable does; the names of a type of machine and of its count are those that
resources and modules of the clouds have (`terraform_files`), with one prefix for both (``gpu_machine_type``,
``gpu_node_count``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.exchange.import_result import FormatError, ImportBuilder, InputFile
from clusterspec.exchange.purchasing.hcl import Block, Table, blocks_of
from clusterspec.exchange.purchasing.terraform_files import COUNTS, TYPES, Pools, record_pools


def is_variables_file(file: InputFile) -> bool:
    """Whether a file has the name of a file of values."""
    return file.name.endswith((".tfvars", ".auto.tfvars"))


def record_variables(file: InputFile, builder: ImportBuilder) -> None:
    """Record the machines of a file of values. Raises `FormatError` if it names no type of machine."""
    (block,) = blocks_of(f'module "variables" {{ {file.text}\n}}') or [Block("module", ("variables",), Table(), 0)]
    for key, line in _untyped(block.table):
        why = "an entry without a type of machine: the default of a module gives it"
        raise FormatError(f"{key}: {why}", line)
    record_pools(Pools([block._replace(table=_by_prefix(block.table))]), builder)
    why = "what a variable does the configuration decides: import `terraform show -json PLAN` to be sure"
    builder.unknown("names of variables", why)


def _by_prefix(table: Table) -> Table:
    """The values, those whose names share a prefix before a type of machine and its count as one mapping."""
    found, taken = Table(), set()
    prefixes = {key.removesuffix(f"_{kind}"): kind for key in table for kind in TYPES if key.endswith(f"_{kind}")}
    for prefix in prefixes:
        inner = Table()
        for key, value in table.items():
            if key.startswith(f"{prefix}_"):
                name = key.removeprefix(f"{prefix}_")
                inner[name], inner.lines[name] = value, table.lines.get(key, 0)
                taken.add(key)
        inner["name"] = prefix
        found[prefix], found.lines[prefix] = inner, min(inner.lines.values())
    found.update({key: value for key, value in table.items() if key not in taken})
    found.lines |= table.lines
    return found


def _untyped(table: Table) -> Iterator[tuple[str, int]]:
    """Entries of a list that count machines without a type, beside others that state one."""
    for key, value in table.items():
        entries: list[Any] = value if isinstance(value, list) else []
        tables = [each for each in entries if isinstance(each, Table)]
        if any(name in each for each in tables for name in TYPES):
            for each in tables:
                if not any(name in each for name in TYPES) and any(name in each for name in COUNTS):
                    yield key, min(each.lines.values(), default=table.lines.get(key, 0))
