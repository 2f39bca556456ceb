"""Files of Terraform (``*.tf``): the machines that resources and modules state by themselves, without a plan.

Pools are mappings with a type of machine: resources of the clouds, and arguments of modules such as
terraform-aws-modules/eks (``eks_managed_node_groups``) and terraform-google-modules/kubernetes-engine (``node_pools``).
A variable has the default that the same file gives it; any other reference is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import LIST, SENTENCE, TITLE, FormatError, ImportBuilder, InputFile, excerpt
from clusterspec.exchange.machines.links import match_instance
from clusterspec.exchange.machines.node_labels import accelerator_of_label
from clusterspec.exchange.purchasing.hcl import Block, Expression, Table, blocks_of
from clusterspec.exchange.purchasing.nebius_machines import (
    PARTS,
    PLATFORM_KEYS,
    accelerator_of_platform,
    accelerators_of_preset,
    is_platform,
    whole_machine,
)
from clusterspec.records import dataclass

MOST_POOLS = 1_000
MOST_LISTED = 40
MOST_MACHINES = 1_000_000
DEEPEST = 12
_BLOCK = re.compile(r"^(?:resource[ \t]+\"?[\w-]+\"?[ \t]+|module[ \t]+)\"?[\w-]+\"?[ \t]*\{", re.MULTILINE)
TYPES = (
    "instance_type",
    "instance_types",
    "machine_type",
    "vm_size",
    "node_vm_size",
    "node_size",
    "node_shape",
    "shape",
    "sku",
    "size",
)
_DESIRED = (
    *("desired_size", "desired_capacity", "node_count", "instance_count", "target_size", "num_instances"),
    "fixed_node_count",
)
_FIRST = (
    "initial_node_count",
    "node_count_static",
    "static_node_count",
    "instances",
    "size",
    "min_instance_count",
    "min_count",
    "min_size",
    "min_node_count",
)
_LEAST = ("min_instance_count", "min_count", "min_size", "min_node_count", "node_count_static", "static_node_count")
_MOST = ("max_instance_count", "max_count", "max_size", "max_node_count", "node_count_dynamic_max")
COUNTS = (*_DESIRED, *_FIRST, *_LEAST, *_MOST)
_FIXED = "fixed_scale"
"""The mapping of Nebius whose ``size`` is a number of machines."""
_SCALING = (
    "scaling_config",
    "scaling_configuration",
    "autoscaling",
    "node_config_details",
    "instance_pools",
    "node_config",
    "scale_policy",
    _FIXED,
)
_STORES = re.compile(r"disk|volume|storage|filesystem|snapshot|bucket")
"""Words in names of resources and mappings that are no machines, whose ``size`` is a capacity."""
_BY_LOAD = "auto_scale"
"""The mapping of Nebius in which a load decides on the number of machines."""
_MACHINE = re.compile(
    r"[A-Za-z][\w-]{0,40}\.[\w.-]{2,40}|Standard_\w{2,40}|[a-z][a-z0-9]{1,4}-[a-z0-9]+(?:-[a-z0-9]+){1,3}"
)
"""Patterns of machine types of AWS and OCI, Azure, and Google."""
_TEMPLATES = ("template", "configuration")
_REFERENCE = re.compile(r"(?:\$\{)?(var|local)\.(\w{1,100})\}?")


def is_terraform_file(text: str) -> bool:
    """Whether a text has a block of a resource or module."""
    return bool(_BLOCK.search(text))


@dataclass(frozen=True)
class Pool:
    """Machines of one type. ``count`` is None if the file leaves the number open; ``given`` is the reason."""

    name: str
    machine: str
    line: int
    count: int | None
    given: str
    accelerator: str | None
    accelerators: int | None


def record_machines(file: InputFile, builder: ImportBuilder) -> None:
    """Record the machines of a file. Raises `FormatError` if it has no machine type."""
    record_pools(Pools(blocks_of(file.text)), builder)


def record_pools(stated: Pools, builder: ImportBuilder) -> None:
    """Record the machines of pools. Raises `FormatError` if none has a machine type."""
    pools = list(stated.pools())
    if not pools:
        what, line = stated.open[0] if stated.open else ("no type of machine", 0)
        where = "takes its value from" if stated.open else "a type may be in"
        plan = "import the output of `terraform show -json PLAN`"
        raise FormatError(f"states {what}: {where} variables or other files: {plan}", line)
    for what, line in stated.open[:MOST_LISTED]:
        builder.unknown(excerpt(what, TITLE), "a reference that this file does not resolve", line)
    for what, line in stated.bare[:MOST_LISTED]:
        builder.unknown(what, "names accelerators and no type of machine: not part of the cluster", line)
    ids = Catalog.open().ids("platform")
    known = []
    for pool in pools:
        builder.count(excerpt(f"{pool.machine} machines ({pool.name})", LIST), pool.count, pool.line)
        platform = _platform_id(pool.machine, ids) or whole_machine(pool.machine, pool.accelerators)
        if platform or pool.accelerator or pool.accelerators:
            known.append((pool, platform))
        elif pool.count != 0:
            builder.unknown(
                excerpt(f"{pool.name}: {pool.machine}", LIST),
                "no catalog entry of this type of machine: not part of the cluster",
                pool.line,
            )
    _set_cluster(known, builder)


def _set_cluster(known: list[tuple[Pool, str | None]], builder: ImportBuilder) -> None:
    """Set the cluster to the machines with accelerators if these have one type; several types are listed as unknown."""
    if len({(pool.machine, pool.accelerator, pool.accelerators) for pool, _ in known}) > 1:
        shown = ", ".join(f"{'?' if pool.count is None else pool.count} × {pool.machine}" for pool, _ in known)
        builder.unknown(
            "cluster.platform",
            excerpt(f"several types of machines with accelerators: {shown}", SENTENCE),
            known[0][0].line,
        )
        return
    for pool, platform in known[:1]:
        if platform:
            builder.set("cluster.platform", platform, pool.line)
        else:
            named = accelerator_of_label(pool.accelerator or "") or accelerator_of_platform(pool.accelerator or "")
            builder.set("cluster.accelerator", named, pool.line)
            if pool.accelerator and named is None:
                builder.unknown(
                    excerpt(f"accelerator {pool.accelerator}", LIST), "no catalog entry of this name", pool.line
                )
            builder.set("cluster.accelerators_per_node", pool.accelerators, pool.line)
    if len(known) == 1:
        pool = known[0][0]
        builder.set("cluster.nodes", pool.count or None, pool.line)
    if any(pool.given for pool, _ in known) or len(known) > 1:
        why = "; ".join(f"{pool.name}: {pool.given or pool.count}" for pool, _ in known)
        builder.unknown("cluster.nodes", excerpt(why, SENTENCE), known[0][0].line)


def _platform_id(machine: str, ids: tuple[str, ...]) -> str | None:
    """The catalog platform with a machine type. SageMaker adds the prefix ``ml.`` to EC2 types."""
    name = machine.removeprefix("ml.")
    return next(
        (found for cloud in ("aws", "gcp", "azure", "oci") if (found := match_instance(name, cloud, ids))), None
    )


# Pools of a file


def _values_by_reference(blocks: list[Block]) -> dict[str, Any]:
    """The defaults of variables and the local values of a file, by reference."""
    found: dict[str, Any] = {}
    for block in blocks:
        if block.kind == "variable" and block.labels and block.table.get("default") is not None:
            found[f"var.{block.labels[0]}"] = block.table["default"]
        elif block.kind == "locals":
            found |= {f"local.{name}": value for name, value in block.table.items()}
    return found


def _resolved_value(value: Any, defaults: Mapping[str, Any]) -> Any:
    """A value; a reference to a variable or local value is replaced by its value."""
    for _ in range(4):
        match = _REFERENCE.fullmatch(value) if isinstance(value, Expression) else None
        if match is None or (name := f"{match[1]}.{match[2]}") not in defaults:
            return value
        value = defaults[name]
    return value


class Pools:
    """Finds the pools in the blocks of a file; ``open`` lists machine types that are given only as references."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks, self.defaults = blocks, _values_by_reference(blocks)
        self.open: list[tuple[str, int]] = []
        self.bare: list[tuple[str, int]] = []
        """Blocks that name accelerators without a type of machine, and their lines."""

    def pools(self) -> Iterator[Pool]:
        """The pools of resources and modules. Raises `FormatError` if there are too many."""
        count = 0
        for block in self.blocks:
            if block.kind in {"resource", "module"} and block.labels and not _is_store(block):
                for pool in self.pools_inside(block, block.table, ()):
                    count += 1
                    if count > MOST_POOLS:
                        raise FormatError(f"states more than {MOST_POOLS:,} pools of machines")
                    yield pool

    def pools_inside(self, block: Block, table: Table, around: tuple[Table, ...]) -> Iterator[Pool]:
        """The pools in a mapping and in its inner mappings; ``around`` are the enclosing mappings, outermost first."""
        name = next((name for name in TYPES if name in table), None)
        own = next((name for name in PLATFORM_KEYS if name in table), None)
        if own is not None and is_platform(platform := _resolved_value(table[own], self.defaults)):
            yield self.pool(block, table, around, platform)
            return
        if name is not None:
            stated, line = _resolved_value(table[name], self.defaults), table.lines.get(name, block.line)
            machine = _resolved_value(stated[0] if isinstance(stated, list) and stated else stated, self.defaults)
            if isinstance(machine, Expression):
                self.open.append((f"{block.labels[-1]}.{name} = {excerpt(machine)}", line))
            elif isinstance(machine, str) and _MACHINE.fullmatch(machine):
                yield self.pool(block, table, around, machine)
                return
        elif not around and isinstance(product := table.get("accelerator_type"), str):
            self.bare.append(
                (
                    excerpt(f"{block.labels[-1]}.accelerator_type = {product}", LIST),
                    table.lines.get("accelerator_type", block.line),
                )
            )
        for key, stated in table.items() if len(around) < DEEPEST else ():
            if key == _FIXED or _STORES.search(key):
                continue
            value = _resolved_value(stated, self.defaults)
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, Table):
                    named = each if "name" in each or key in _SCALING else _with_own_name(each, key)
                    yield from self.pools_inside(block, named, (*around, table))

    def pool(self, block: Block, table: Table, around: tuple[Table, ...], machine: str) -> Pool:
        """The pool of a mapping with a machine type."""
        outer, name = around[0] if around else table, table.get("name")
        scaling = [inner for place in (table, *around[::-1]) for inner in _scaling_blocks(place)]
        count, given = self.count([table, *scaling, *around[::-1]], of_module=block.kind == "module")
        copies = _resolved_value(outer.get("count", 1), self.defaults)
        if block.kind == "resource" and any(word in block.labels[0] for word in _TEMPLATES):
            count, given = None, "a template: another resource states the number"
        elif any(_BY_LOAD in inner for inner in (*scaling, *around)):
            count, given = None, "by load"
        elif "for_each" in outer or not isinstance(copies, int):
            count, given = None, f"of each of several: {excerpt(outer.get('for_each', copies))}"
        elif count is not None:
            count *= copies
        named = isinstance(name, str) and not isinstance(name, Expression) and name not in PARTS
        label = name if named else block.labels[-1]
        line = table.lines.get(next(each for each in (*TYPES, *PLATFORM_KEYS) if each in table), block.line)
        return Pool(excerpt(label), machine, line, count, given, *self.accelerators(table, machine))

    def accelerators(self, table: Table, machine: str) -> tuple[str | None, int | None]:
        """The product and the number of the accelerators of a machine."""
        if not is_platform(machine):
            return _product_and_count(table, self.defaults)
        resolved = {name: _resolved_value(value, self.defaults) for name, value in table.items()}
        return machine, accelerators_of_preset(resolved)

    def count(self, places: list[Table], *, of_module: bool) -> tuple[int | None, str]:
        """The number of machines of a pool, or None and the reason why it is open. A resource that states no number is
        one machine.
        """
        stated = {name: _resolved_value(place[name], self.defaults) for place in reversed(places) for name in place}
        least, most = _pool_bound(stated, _LEAST), _pool_bound(stated, _MOST)
        for name in (*_DESIRED, *_FIRST):
            value = stated.get(name)
            if isinstance(value, Expression):
                return None, f"{name} = {excerpt(value)}"
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_MACHINES:
                first = value if least is None else least
                if name not in _DESIRED and most not in {None, first}:
                    return None, f"between {first} and {most}, by load"
                grows = most is not None and most > value
                return value, f"{value} at first, up to {most} by load" if grows else "" if value else "none at first"
        if most is not None:
            return None, f"up to {most}, by load"
        if (processors := stated.get("maxv_cpus")) is not None:
            return None, f"up to {excerpt(processors)} virtual processors, by load"
        return (None, "the module decides") if of_module else (1, "")


def _with_own_name(table: Table, key: str) -> Table:
    """A mapping to which the key under which it is stored is added as its name."""
    named = Table()
    named.update(table, name=key)
    named.lines = table.lines
    return named


def _is_store(block: Block) -> bool:
    """Whether a resource stores data; modules have names of their own."""
    return block.kind == "resource" and _STORES.search(block.labels[0]) is not None


def _scaling_blocks(table: Table) -> Iterator[Table]:
    for name in _SCALING:
        value = table.get(name)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Table):
                yield each
                yield from _scaling_blocks(each)


def _pool_bound(stated: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    values = (stated.get(name) for name in names)
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), None)


def _product_and_count(table: Table, defaults: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """The product and the number of the accelerators that a pool attaches to its machines."""
    kind, number = table.get("accelerator_type"), table.get("accelerator_count")
    for name in ("guest_accelerator", "guest_accelerators", "gpu"):
        value = _resolved_value(table.get(name), defaults)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, Table):
            kind, number = first.get("type"), first.get("count")
    kind, number = _resolved_value(kind, defaults), _resolved_value(number, defaults)
    count = int(number) if isinstance(number, int | str) and str(number).isdecimal() else None
    return (str(kind) if isinstance(kind, str) and not isinstance(kind, Expression) and kind else None), count or None
