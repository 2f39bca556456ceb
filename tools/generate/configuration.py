"""``docs/configuration.md``, from the schema of the configuration."""

from __future__ import annotations

import json
from typing import Any

from clusterspec.config import schema

HEAD = """# Configuration

<!-- Made from `schemas/config.schema.json` by `make docs`; the same schema validates the file. -->

`clusterspec.toml`, or `[tool.clusterspec]` in `pyproject.toml`. The file in the nearest parent folder of a
spec applies, up to the root of the repository. `--config FILE` selects another one. Command-line options add to it.
`clusterspec config PATH` shows the settings of a file and the origin of each.

A key that does not exist, a rule or group that does not exist, and a threshold of a rule that has none are refused
(exit status 2).

"""
TAIL = """## Example

```toml
select = ["units", "layout", "memory"]
ignore = ["few-spines"]
error = ["undeclared-network"]
severity = {tight-memory = "note"}
thresholds = {pipeline-bubble = 0.2}
profile = "strict"
fail-on = "warning"
catalog = ["hardware"]
rules = ["policy"]
exclude = ["archive/"]
required-version = ">=0.2, <0.3"

[[overrides]]
paths = ["legacy/"]
ignore = ["shared-nic"]
```

## Pull requests: `--trust`

A pull request may change its own configuration, catalog, rules, waivers and baseline. `--trust` selects which apply:

| | configuration, its catalogs and rules, `.gitignore` | waivers | baseline, `--catalog` |
|---|---|---|---|
| `--trust spec` (default) | the current files | all | the current files |
| `--trust base` | that of the base revision | those at the same keys there | that of the base revision |
| `--trust none` | none | none | a baseline is refused; the current files of a named catalog apply |

The base revision is `--base-revision`, else the target branch of the pull request (`GITHUB_BASE_REF`) or merge request
(`CI_MERGE_REQUEST_DIFF_BASE_SHA`, `CI_MERGE_REQUEST_TARGET_BRANCH_NAME`), else the default branch of `origin`; it must
have been fetched. With `--trust base`, a spec that uses a new catalog entry passes once the entry has been merged. A
catalog or a folder of rules outside the repository is always read in its current state.

`duplicate-key`, `unreadable-yaml`, `unresolved-extends` and `unsupported-spec-version` are always reported, since such
a text cannot be checked completely.

## Waivers

A comment on the line of a finding, or on the line above, suppresses it. The comment
needs a reason and may have an expiry date:

```yaml
nics_per_node: 4   # clusterspec: ignore[shared-nic] until 2027-01-31: dual-rail by design
```

`# clusterspec: ignore-file[rule]: reason` above the first key applies to the whole file. A waiver without a reason has
no effect. A waiver without a matching finding or of an unknown rule is reported; `--fix` removes unused ones.

## Baselines

`--write-baseline FILE` writes the current findings; `--baseline FILE` reports only new ones. Findings are compared by
rule, file (relative to the project), key path and the value as written. The summary counts hidden findings and
lists entries that no longer match any. A baseline that names a rule which does not exist is refused.

If a base of `extends` is checked in the same run, a fault that the base has by itself is reported once, at the base,
and names the specs that inherit it. Any other fault in the keys of a base is reported in each spec that extends it, at
the line of its `extends`. `--fix` changes a base only if the command names it.
"""


def page() -> str:
    """The reference of the configuration."""
    parts = [HEAD, "| key | value | default | meaning |", "\n|---|---|---|---|\n"]
    parts += [row(key, node) for key, node in schema()["properties"].items()]
    parts.append("\nThe keys of `overrides`:\n\n| key | meaning |\n|---|---|\n")
    inner = schema()["properties"]["overrides"]["items"]["properties"]
    parts += [f"| `{key}` | {cell(node['description'])} |\n" for key, node in inner.items()]
    return "".join([*parts, "\n", TAIL])


def row(key: str, node: dict[str, Any]) -> str:
    default = f"`{json.dumps(node['default'])}`" if "default" in node else ""
    return f"| `{key}` | {kind(node)} | {default} | {cell(node['description'])} |\n"


def kind(node: dict[str, Any]) -> str:
    if "enum" in node:
        return " or ".join(f"`{word}`" for word in node["enum"])
    return {"array": "list", "object": "table", "string": "text", "boolean": "`true` or `false`"}[node["type"]]


def cell(text: str) -> str:
    return text.replace("|", "\\|")
