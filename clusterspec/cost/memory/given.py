"""Figures of a design with the reason to believe each: written, assumed, cited or computed."""

from __future__ import annotations

from typing import Any

from clusterspec.cluster.model import Design
from clusterspec.origin import Assumed, Cited, Computed, Origin, Written
from clusterspec.quantity import Figure


class Given:
    """Turns the names of keys into figures of one design."""

    def __init__(self, design: Design) -> None:
        self._design = design
        self._assumed = {key: why for key, _, why in design.assumptions}

    def layout(self, key: str) -> tuple[str, Figure]:
        """A number of the layout, by its key."""
        return key, Figure(
            float(getattr(self._design.layout, key)), "1", self._origin("layout", key, self._design.spec.layout)
        )

    def workload(self, key: str) -> tuple[str, Figure]:
        """A number of the workload, by its key."""
        value = float(getattr(self._design.workload, key))
        return key, Figure(value, "1", self._origin("workload", key, self._design.spec.workload))

    def model(self, key: str) -> tuple[str, Figure]:
        """A size of the model, by its key."""
        assert self._design.workload is not None
        model = self._design.workload.model
        origin: Origin = Cited(f"model/{model.id}", key, "catalog") if model.id else Written(f"workload.model.{key}")
        return key, Figure(float(getattr(model, key)), "1", origin)

    def _origin(self, section: str, key: str, said: Any) -> Origin:
        name = f"{section}.{key}"
        if getattr(said, key, None) is not None:
            return Written(name)
        if name in self._assumed:
            return Assumed(name, self._assumed[name])
        return Computed("follows from the other degrees")


def computed(name: str, value: float, formula: str, unit: str = "1") -> tuple[str, Figure]:
    """A figure that follows from others."""
    return name, Figure(float(value), unit, Computed(formula))
