"""The text is not YAML, or not a mapping of keys.

## What it finds

Text that the YAML parser rejects, or that is not a mapping, such as a list or one word. The message gives the position
of the parser: the error is there or shortly before.

## Why it matters

Nothing in the file can be checked until it is valid YAML. The usual cause is indentation, a tab, or a value with
`: ` inside that needs quotes.

## What to do

Correct the line. `nodes:64` needs a space after the colon; `description: a: b` needs quotes.

## When to ignore it

Do not ignore it.

## Fires

```yaml .
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
```

## Sources

- YAML 1.2.2: https://yaml.org/spec/1.2.2/
"""

from __future__ import annotations

from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
