"""Colors by cause, the same in all charts; adjacent parts of a stack alternate between dark and light."""

from __future__ import annotations

from clusterspec.records import NamedTuple


class Tint(NamedTuple):
    """A color on a light and on a dark page."""

    light: str
    dark: str


TINTS = {
    "ink": Tint("#1c2733", "#e8edf2"),
    "soft": Tint("#55626f", "#a9b4c0"),
    "line": Tint("#c3ccd5", "#46535f"),
    "paper": Tint("#ffffff", "#12181f"),
    "wash": Tint("#eef2f6", "#1e2730"),
    "limit": Tint("#b3261e", "#ff8a80"),
    "forward": Tint("#1d4e89", "#4f8fd6"),
    "backward": Tint("#8dbdec", "#b9d8f5"),
    "recomputation": Tint("#3b2f80", "#7d6fd0"),
    "tp": Tint("#f2b35e", "#f7cd93"),
    "cp": Tint("#8a4b08", "#c47f33"),
    "ep": Tint("#f5a8bf", "#f9c9d7"),
    "pp": Tint("#7a1f5c", "#c25fa0"),
    "bubble": Tint("#c9ced4", "#d7dbe0"),
    "dp": Tint("#1f6b4f", "#3fa27d"),
    "optimizer": Tint("#aadba4", "#c6e8c2"),
    "overhead": Tint("#4a5560", "#7e8b98"),
    "stragglers": Tint("#dccfb2", "#e9dfca"),
    "weights": Tint("#4c2a7a", "#8f6bc4"),
    "gradients": Tint("#cdb2ea", "#dfcdf2"),
    "activations": Tint("#8c2d04", "#cf6a3c"),
    "other": Tint("#4a5560", "#7e8b98"),
    "memory": Tint("#26323f", "#93a3b3"),
    "scale-up": Tint("#0f6e68", "#43b5ad"),
    "scale-out": Tint("#a34a14", "#e08a55"),
    "capital": Tint("#1d4e89", "#4f8fd6"),
    "energy": Tint("#f2b35e", "#f7cd93"),
    "support": Tint("#1f6b4f", "#3fa27d"),
    "racks": Tint("#cdb2ea", "#dfcdf2"),
    "rent": Tint("#8a4b08", "#c47f33"),
    "good": Tint("#17633f", "#6fd3a2"),
    "fair": Tint("#8a5300", "#f0b95b"),
    "bad": Tint("#b3261e", "#ff8a80"),
}
HEAT = ("#dbe9f6", "#b4d2ee", "#84b4e0", "#4f8cc9", "#1d5a9c")
"""Steps of a heat map, from the least to the most; text on the last two is white."""
CAUSES = {
    "forward": "forward",
    "backward": "backward",
    "recomputation": "recomputation",
    "tensor-parallel traffic": "tp",
    "context-parallel traffic": "cp",
    "expert-parallel traffic": "ep",
    "pipeline sends": "pp",
    "pipeline bubble": "bubble",
    "data-parallel traffic": "dp",
    "optimizer": "optimizer",
    "data loading": "overhead",
    "step overhead": "overhead",
    "stragglers": "stragglers",
    "cache": "activations",
}
"""The cause behind each part of a step, by the name of its term."""
AXES = {
    "expert_tp": "tp",
    "dp_cp": "dp",
    "expert_dp": "dp",
    "shard": "dp",
    "replicate": "dp",
    "ddp": "dp",
    "fsdp": "weights",
    "hsdp": "gradients",
}
"""The cause of an axis that has no color of its own."""


def cause_of(name: str) -> str:
    """The cause of a term, an axis or a part of a cost; ``overhead`` by default.

    >>> cause_of("pipeline bubble"), cause_of("dp_cp"), cause_of("energy"), cause_of("something")
    ('bubble', 'dp', 'energy', 'overhead')
    """
    plain = name.replace("_", " ").lower()
    spaced = {**{key.replace("-", " "): cause for key, cause in CAUSES.items()}, **CAUSES}
    found = spaced.get(plain) or AXES.get(name) or name
    return found if found in TINTS else "overhead"


def style() -> str:
    """CSS that colors the shapes of all charts, on light and on dark pages."""
    light = "".join(f".c-{name}{{fill:{tint.light}}}.s-{name}{{stroke:{tint.light}}}" for name, tint in TINTS.items())
    dark = "".join(f".c-{name}{{fill:{tint.dark}}}.s-{name}{{stroke:{tint.dark}}}" for name, tint in TINTS.items())
    return f"{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"
