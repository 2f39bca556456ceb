"""A value has another type than its key requires, or is outside its range.

## What it finds

A word or a fraction where a count belongs (`tp: eight`, `nodes: 3.5`), a count below its minimum (`tp: 0`), a list for
a mapping, a quantity of another dimension (`nic_bandwidth: 400 GB`).

## Why it matters

Nothing can be computed from it. A shape or a batch of zero leads to a division by zero.

## What to do

Write the type that the message names; the example of each key in the schema shows one.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is safe where the value has one reading as the type of the key, such as `64` for `64.0`. It is unsafe where it
writes a code for a word, such as `USD` for a name of the currency.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
layout: {tp: eight}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
layout: {tp: 8}
```

## Sources

- The type and range of each key: `clusterspec schema`
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
