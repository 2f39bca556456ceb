"""The quoted storage system does not meet the needs of the design.

## What it finds

- An erasure code across nodes (`8+1`) with more fragments on a node than it has parity, where the quote has that few
  nodes: the loss of one node stops the storage system;
- a code that survives the loss of fewer nodes than the text says;
- a code with each fragment on another node, where the quote has fewer nodes than fragments;
- fewer appliances in its line than `networks.storage.systems`;
- storage nodes whose ports (`2 x 50G` each) together carry less than the `read` or the `bandwidth` of
  `networks.storage`;
- a license for as many TiB as `networks.storage.capacity` has TB, which is a tenth more;
- a license by raw capacity, by its line or the description, below the raw capacity of the quoted drives.

## Why it matters

A storage system that stops with its first node stops every job. Ports limit a storage system whatever its drives read,
and terabytes without a license are paid at the audit.

## What to do

Spread the code over more nodes or add parity, order faster ports, and count the license in the unit of its contract.

## When to ignore it

Ignore it where other storage systems of the site serve the same data.

## Fires

```yaml procurement.quote[0].part
clusterspec: 1
description: Erasure coding 8+1 across the nodes of the store.
cluster: {platform: hgx-h100, nodes: 12, networks: {storage: {capacity: 2 PB}}}
procurement:
  currency: EUR
  quote:
    - {part: "Storage node, 16 x 30.72 TB NVMe", quantity: 6, unit_price: 190000}
```

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 32, networks: {storage: {capacity: 3 PB, read: 240 GB/s}}}
procurement:
  currency: EUR
  quote:
    - {part: "Storage server, 24 x 15.36 TB NVMe, 2 x 50G", quantity: 12, unit_price: 160000}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 12, networks: {storage: {capacity: 2 PB}}}
procurement:
  currency: EUR
  quote:
    - {part: "Storage node, 16 x 30.72 TB NVMe", quantity: 6, unit_price: 190000}
    - {part: "File system license, 2,000 TiB, 5 years", quantity: 1, price: 600000}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 32, networks: {storage: {capacity: 3.3 PB}}}
procurement:
  currency: EUR
  quote:
    - {part: "Storage server, 24 x 15.36 TB NVMe", quantity: 12, unit_price: 160000}
    - {part: "File system license, metered on raw capacity, 3.3 PB raw", quantity: 1, price: 410000}
```

## Silent

```yaml
clusterspec: 1
description: Erasure coding 20+4 across the nodes, two fragments on each.
cluster: {platform: hgx-h100, nodes: 32, networks: {storage: {capacity: 3 PB, read: 240 GB/s}}}
procurement:
  currency: EUR
  quote:
    - {part: "Storage server, 24 x 15.36 TB NVMe, 2 x 200G", quantity: 12, unit_price: 160000}
    - {part: "File system license, metered on raw capacity, 4.5 PB raw", quantity: 1, price: 410000}
```

## Sources

- Failure domains of an erasure code: https://docs.ceph.com/en/reef/rados/operations/erasure-code/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.quotes import lines_with_texts
from clusterspec.rules.knowledge.ranges import GIGABIT
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.plans.erasure_codes import stripes_in
from clusterspec.rules.readers.quotes.parts import BYTES
from clusterspec.rules.readers.quotes.stores import LICENSE, STORE, licensed_sizes, raw_bytes, sold_stores
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import NetworkSpec, NetworksSpec, ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
_PORTS = pattern(r"(?<![\w.,])(\d{1,2}) ?[x×] ?(\d{2,3}) ?g(?:b/s|be?|bps|bit/s)?\b(?! ?(?:memory|ram|ddr\d?|rdimm))")
_PORTS_OF = pattern(
    r"(?<![\w.,])(\d{1,2}) ?ports? (?:of|with|à|de|mit|at|von|med)? ?(\d{2,3}) ?g(?:b/s|be?|bps|bit/s)?\b"
)
_APPLIANCES = pattern(r"(?<![\w.,])(\d{1,3}) ?(?:x )?(?:appliances?|storage systems?|enclosures?)\b")
_OF_ALL = pattern(r"\b(?:total|altogether|in all|aggregate)\b")
_RAW = pattern(r"\braw\b")
_BY_USABLE = pattern(r"\b(?:usable|net)\b")
_SAME_UNITS = 0.003
"""Relative tolerance with which the ratio of two sizes equals the ratio of their units."""


def check(
    procurement: ProcurementSpec, cluster: Cluster, networks: NetworksSpec | None, texts: PurchaseTexts
) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = lines_with_texts(procurement.quote, cluster)
    stores = [(line, text) for line, text in sold_stores(lines) if LICENSE.search(text) is None]
    yield from _stripe_problem(stores, texts.sentences)
    store = networks.storage if networks is not None else None
    if store is not None:
        yield from _port_problem(stores, store)
        yield from _system_problem(lines, store)
    yield from _license_problem(lines, stores, store, texts.description)


def _storage_problem(line: Offered, message: str, help_: str) -> Problem:
    """The problem with the storage part of a quote line."""
    text = f"`{name_of_part(line.line.part)}` {message}"
    return RULE.problem(quote_path(line.index, "part"), text, help_)


def _stripe_problem(stores: Sequence[tuple[Offered, str]], sentences: Sequence[str]) -> Iterator[Problem]:
    """The problem of an erasure code across nodes that puts more fragments on one node than its parity can replace."""
    counts = {int(line.line.quantity or 0) for line, _ in stores if not line.counts_periods}
    stripes = stripes_in([*sentences, *(text for _, text in stores)]) if len(counts) == 1 else None
    if stripes is None:
        return
    (nodes,) = counts
    why = stripes.weakness(nodes)
    if why:
        help_ = f"choose a code for {nodes} nodes, or order {stripes.fragments}"
        yield _storage_problem(stores[0][0], f"is quoted for {nodes} nodes, but {why}", help_)


def _system_problem(lines: Sequence[tuple[Offered, str]], store: NetworkSpec) -> Iterator[Problem]:
    """The problem of fewer appliances in the storage lines than `networks.storage.systems` states."""
    counted = [
        (int(found[1]) * max(1, int(line.line.quantity or 1)), line)
        for line, text in lines
        if line.kind == "other" and STORE.search(text) and (found := _APPLIANCES.search(text)) is not None
    ]
    total = sum(count for count, _ in counted)
    if counted and store.systems is not None and total < store.systems:
        message = f"offers {plural(total, 'appliance')}, but `networks.storage.systems` is {store.systems}"
        yield _storage_problem(counted[0][1], message, f"order {store.systems}, or correct the key")


def _port_problem(stores: Sequence[tuple[Offered, str]], store: NetworkSpec) -> Iterator[Problem]:
    """The problem of storage nodes whose ports carry less than the storage system must read or write."""
    needed, key = max(
        (
            (figure.value, key)
            for key, figure in (("read", store.read), ("bandwidth", store.bandwidth))
            if figure is not None
        ),
        default=(0.0, ""),
    )
    carried = []
    for line, text in stores:
        ports = _PORTS.findall(text) + _PORTS_OF.findall(text)
        if len(ports) != 1 or not line.line.quantity or line.counts_periods or _OF_ALL.search(text) is not None:
            return
        carried.append(float(line.line.quantity) * int(ports[0][0]) * int(ports[0][1]) * GIGABIT)
    total = sum_of(carried)
    if carried and total < needed * (1 - _SAME_UNITS):
        message = f"has ports for {display(total, 'B/s')} on all its nodes, but `networks.storage.{key}` is {display(needed, 'B/s')}"
        yield _storage_problem(stores[0][0], message, "order faster ports, or more nodes")


def _license_problem(
    lines: Sequence[tuple[Offered, str]],
    stores: Sequence[tuple[Offered, str]],
    store: NetworkSpec | None,
    remarks: str,
) -> Iterator[Problem]:
    """The problem of a license in binary units for a decimal capacity, or of one for less raw capacity than the drives
    have.
    """
    raw = sum_of(raw_bytes(text) * float(line.line.quantity or 1) for line, text in stores)
    need = store.capacity.value if store is not None and store.capacity is not None else 0.0
    by_raw = any(
        _RAW.search(each) and LICENSE.search(each) and not _BY_USABLE.search(each) for each in sentences_of(remarks)
    )
    for line, text in lines:
        sizes = licensed_sizes(text) if LICENSE.search(text) is not None else []
        if len(sizes) != 1:
            continue
        (number, unit), size = sizes[0], sizes[0][0] * BYTES[sizes[0][1]]
        decimal = BYTES[unit.replace("i", "")]
        if "i" in unit and need and abs(number * decimal / need - 1) < _SAME_UNITS:
            name = unit.upper().replace("I", "i")
            message = f"is for {number:,.10g} {name}, {size / decimal:,.0f} {name.replace('i', '')}, but `networks.storage.capacity` is {display(need, 'B')}: {need / BYTES[unit]:,.0f} {name}"
            yield _storage_problem(line, message, f"order {need / BYTES[unit]:,.0f} {name}")
        elif (_RAW.search(text) is not None or by_raw) and size < raw * (1 - _SAME_UNITS):
            message = (
                f"is for {display(size, 'B')} of raw capacity, but the drives of the quote have {display(raw, 'B')}"
            )
            yield _storage_problem(line, message, "license all drives, or ask for a license by usable capacity")
