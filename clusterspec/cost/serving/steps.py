"""One step of a serving engine, part by part."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of

LAUNCH = "launch"


class Part(NamedTuple):
    """One part of a step: a formula of `cost.formulas.serving`, its numbers and their origins."""

    name: str
    formula: Callable[..., float]
    numbers: dict[str, float]
    origins: dict[str, str]

    @property
    def seconds(self) -> float:
        return self.formula(**self.numbers)


class StepTime(NamedTuple):
    """Equal steps of an engine: the parts of one, their number, and their seconds. ``device`` excludes launches."""

    parts: tuple[Part, ...]
    steps: float
    total: float
    device: float

    @classmethod
    def of(cls, parts: tuple[Part, ...], steps: float = 1.0) -> StepTime:
        """The steps of these parts."""
        launch = sum_of(part.seconds for part in parts if part.name == LAUNCH)
        device = sum_of(part.seconds for part in parts if part.name != LAUNCH)
        return cls(parts, steps, steps * (launch + device), steps * device)
