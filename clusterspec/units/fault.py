"""The exception for invalid quantities."""

from __future__ import annotations

from clusterspec.records import dataclass

SHOWN = 48
"""Characters of a bad text that a message repeats."""


@dataclass(eq=False)
class UnitFault(ValueError):
    """Raised for a quantity that cannot be used as written.

    ``rule`` is ``ambiguous-unit``, ``missing-unit``, ``wrong-unit``, ``missing-sparsity`` or
    ``unreadable-quantity``; ``message`` quotes the text, ``help`` suggests what to write.
    """

    rule: str
    message: str
    help: str

    def __post_init__(self) -> None:
        super().__init__(self.rule, self.message, self.help)  # required by pickling between processes

    def __str__(self) -> str:
        return f"{self.message}; {self.help}"


def quoted(text: str) -> str:
    """The text in backticks, shortened, without control characters.

    >>> quoted("400 Gbs")
    '`400 Gbs`'
    """
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return "`" + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown) + "`"
