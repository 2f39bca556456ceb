"""The keys of a layout that a search varies, and that a caller may fix."""

from __future__ import annotations

NUMBERS = ("tp", "cp", "ep", "expert_tp", "pp", "dp", "virtual_stages", "micro_batch", "shard_group", "attention_dp")
WORDS = {
    "sharding": ("none", "zero1", "zero2", "fsdp", "hsdp"),
    "recompute": ("none", "selective", "full"),
    "schedule": ("1f1b", "interleaved", "gpipe", "zero-bubble", "dualpipe"),
    "pools": ("aggregated", "disaggregated"),
}
OF_SERVING = ("tp", "attention_dp", "ep", "pp", "pools")
OF_SERVING_ALONE = ("attention_dp", "pools")
"""Keys that a search of serving plans varies, and keys that training layouts never have."""
LARGEST = 999_999_999


def pin_fault(key: str, value: object, *, serves: bool | None = None) -> str:
    """Why a search cannot fix a key to a value; empty if it can. ``serves`` is None if that is not known.

    >>> pin_fault("tp", 8), pin_fault("tp", 0)
    ('', 'tp takes a whole number from 1, not 0')
    >>> pin_fault("pools", "aggregated", serves=False)
    'pools is not a key that a search varies in training'
    """
    if key not in NUMBERS and key not in WORDS:
        return f"{key!r} is not one of the keys {', '.join((*NUMBERS, *WORDS))}"
    if serves is not None and (key not in OF_SERVING if serves else key in OF_SERVING_ALONE):
        return f"{key} is not a key that a search varies in {'serving' if serves else 'training'}"
    if key in WORDS:
        return "" if value in WORDS[key] else f"{key} takes one of {', '.join(WORDS[key])}, not {value!r}"
    whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST
    return "" if whole else f"{key} takes a whole number from 1, not {value!r}"
