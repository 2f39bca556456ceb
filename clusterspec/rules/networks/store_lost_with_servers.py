"""The storage system does not survive the loss of as many servers as the text says.

## What it finds

A description or comment with one erasure code (`8+2`), the number of servers over which it is spread, and a loss that
it survives (`any two servers may fail`), although that many servers hold more fragments than the parity: ten fragments
on five servers are two on each, so two servers hold four. A quote with a line for the storage system is checked by
`quoted-store-unfit`.

## Why it matters

Maintenance of one server too many makes the data of all jobs unreadable, and a failure meanwhile loses them.

## What to do

Spread the code over more servers, add parity, or plan with the loss of fewer servers.

## When to ignore it

Ignore it where the storage system keeps a second copy elsewhere.

## Fires

```yaml description
clusterspec: 1
description: The store has five servers with 24 drives each. With erasure coding 8+2 any two servers may fail.
cluster: {platform: dgx-h100, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: The store has twelve servers with 24 drives each. With erasure coding 8+2 any two servers may fail.
cluster: {platform: dgx-h100, nodes: 16}
```

## Sources

- Erasure codes and failure domains: https://docs.ceph.com/en/latest/rados/operations/erasure-code/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import has_word, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "error", "likely")
_CUES = frozenset({"server", "servers", "node", "nodes"})
"""Words for servers; a text that counts the servers of a storage system has at least one of them."""


def check(remarks: str, procurement: ProcurementSpec | None) -> Iterator[Problem]:
    if "+" not in remarks or not has_word(remarks, _CUES):
        return
    if procurement is not None and procurement.quote:
        return
    from clusterspec.rules.readers.plans.erasure_codes import servers_in, stripes_in  # few texts have a code

    sentences = sentences_of(" ".join(remarks.lower().split()))
    stripes, servers = stripes_in(sentences), servers_in(sentences)
    if stripes is None or servers is None or not stripes.lost:
        return
    why = stripes.weakness(servers)
    if why:
        message = f"the text has {servers} servers, and {why}"
        yield RULE.problem("description", message, f"spread the code over {stripes.fragments} servers, or add parity")
