"""Model names as used by hubs and frameworks, and their catalog entries."""

from __future__ import annotations

import re

from clusterspec.catalog import Catalog
from clusterspec.exchange.import_result import ImportBuilder

_SUFFIX = re.compile(
    r"-(instruct|chat|it|base|hf|fp8|nvfp4|fp4|mxfp4|awq|gptq|w4a16|bf16|pt|\d{4}|v0\.\d|reference)(?=-|$)"
)
_OTHER = (
    (r"^meta-llama-", "llama-"),
    (r"^llama(\d)", r"llama-\1"),
    (r"^llama-(\d)(\d)-", r"llama-\1.\2-"),
    (r"^qwen-(\d)", r"qwen\1"),
    (r"^deepseek-?(v\d|r1)", r"deepseek-\1"),
)
_SAME = {"deepseek-r1": "deepseek-v3"}
"""Models that differ in their training only."""


def catalog_model(name: str) -> str | None:
    """The catalog id of a model by its name; None if there is none.

    >>> catalog_model("meta-llama/Llama-3.1-70B-Instruct"), catalog_model("mixtral-8x7B-v0.1"), catalog_model("x/y")
    ('llama-3.1-70b', 'mixtral-8x7b', None)
    """
    ids = set(Catalog.open().ids("model"))
    plain = name.strip().rstrip("/").split("/")[-1].lower().replace("_", "-")
    tried = [plain]
    for pattern, replacement in _OTHER:
        tried += [re.sub(pattern, replacement, each) for each in list(tried)]
    tried += [_SUFFIX.sub("", each) for each in list(tried)]
    tried += [_SUFFIX.sub("", each) for each in list(tried)]
    return next((_SAME.get(each, each) for each in tried if _SAME.get(each, each) in ids), None)


def set_model(name: str, builder: ImportBuilder, line: int) -> str | None:
    """Set the model of a name, or record the name as unknown; returns its id."""
    found = catalog_model(name)
    if found:
        builder.set("workload.model", found, line)
    else:
        builder.unknown(f"model {name[:80]}", "no catalog entry of this name: import its config.json", line)
    return found
