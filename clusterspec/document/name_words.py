"""The words of names in specs and in other programs, and the words that two names share."""

from __future__ import annotations

from functools import cache

# fmt: off
_FILLERS = frozenset({
    "active", "cfg", "config", "configuration", "count", "default", "degree", "desired", "effective", "enable",
    "enabled", "impl", "implementation", "in", "is", "level", "method", "num", "number", "of", "option", "options",
    "planned", "policy", "required", "set", "setting", "settings", "size", "strategy", "target", "the", "to",
    "total", "train", "training", "type", "use", "used", "with",
})
# fmt: on
"""Words that a name may have or lack without another meaning."""
_SAME = {
    "seq": "sequence",
    "len": "token",
    "length": "token",
    "server": "node",
    "host": "node",
    "machine": "node",
    "gpu": "accelerator",
    "chip": "accelerator",
    "device": "accelerator",
    "grad": "gradient",
    "ckpt": "checkpoint",
    "checkpointing": "checkpoint",
    "parallelism": "parallel",
    "dtype": "precision",
    "speed": "bandwidth",
    "ratio": "rate",
    "shard": "sharding",
}
"""Words in names, each with the word that keys of the spec use for it."""


MEASURES = frozenset({"token", "bandwidth", "price", "power", "precision", "latency"})
"""Words that say what a value measures: `prompts` counts prompts, and `prompt_tokens` the tokens of one."""


@cache
def significant_words(name: str) -> frozenset[str]:
    """The words of a name in snake case without fillers, in singular and as keys of the spec use them.

    >>> sorted(significant_words("num_gpus_per_server"))
    ['accelerator', 'node', 'per']
    """
    words = [word for word in name.split("_") if word and word not in _FILLERS]
    singular = [word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2] != "s" else word for word in words]
    return frozenset(_SAME.get(word, word) for word in singular)


def common_word_share(words: frozenset[str], name: str) -> float:
    """The share of the words of two names that both have.

    >>> common_word_share(significant_words("gpu_count"), "accelerators"), common_word_share(frozenset(), "nodes")
    (1.0, 0.0)
    """
    others = significant_words(name)
    return len(words & others) / max(1, len(words | others))
