"""The tokens of a whole run, from the optimizer steps that a configuration of training states."""

from __future__ import annotations

from clusterspec.exchange.import_result import ImportBuilder


def set_tokens_of_steps(steps: int | None, builder: ImportBuilder, line: int) -> None:
    """Set ``workload.tokens`` to the optimizer steps × the global batch × the sequence length, if the result states one
    value of each.
    """
    batch, length = (_only_count(builder, key) for key in ("global_batch", "sequence_length"))
    if steps and batch and length:
        builder.set("workload.tokens", steps * batch * length, line)


def _only_count(builder: ImportBuilder, key: str) -> int | None:
    """The value of a key of ``workload`` if the result states it once, as a whole number."""
    found = [each.value for each in builder.given if each.path == ("workload", key)]
    return found[0] if len(found) == 1 and isinstance(found[0], int) else None
