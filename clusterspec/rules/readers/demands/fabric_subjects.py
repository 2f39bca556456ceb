"""What the demands of texts on counts of the fabric are about: switches, cables and modules in stock, ordered or licensed."""

from __future__ import annotations

from functools import partial

from clusterspec.rules.readers.demands.subjects import ABOVE, FLOORED, Subject, bound_meanings

# fmt: off
WORDS: tuple[tuple[str, str], ...] = (
    ("stockword", "stock warehouse shelf in_stock on_hand lager auf_lager magazin entrepôt almacén magazzino estoque armazém magazynie magazyn"),
    ("enoughword", "enough suffice suffices sufficient no_more buy_none reichen reicht genügen ausreichen suffire suffit suffisant* bastar basta bastan suficient* bastare bastano sufficient* chega chegam wystarczy wystarczyć wystarczają"),
    ("supplies", "ship ships deliver delivers supply supplies pulls pull holds hold liefern liefert fournit livre suministra entrega fornisce consegna fornece dostarcza"),
    ("cutfor", "cut_for built_for made_for prepared_for room_for places_for license licenses lizenz* licencia* licenza licença licencja"),
    ("spareword", "spare spares reserve ersatz* rechange repuesto recambio ricambio reposição zapasow*"),
    ("towardstore", "toward towards to_the_storage from_the_storage zum_speicher vers hacia verso para"),
    ("portword", "port ports hop hops anschlüsse saut sauts puerto puertos salto saltos porta porte porty portów"),
    ("injection", "injection inject injects injektions*"),
)
# fmt: on
_CAPS = ("ceil", "permits", "cutfor", "license")
_FLOORS = ("least", "floor", "lower", "must", "duty")
_bound = partial(bound_meanings, by=_CAPS)
"""Sets of meanings with one of the meanings that bind."""


_OTHER = "portword inflow frontend spareword !spareword rack each"


def _counted(*others: str) -> str:
    """Sets of meanings that bound a count of parts: caps, and stocks that have to suffice."""
    joined = "".join(f"+{each}" for each in others)
    sets = (*_CAPS, "stockword+enoughword", "stockword+must", "supplies+enoughword")
    return " ".join(f"{each}{joined}" for each in sets)


FABRIC_SUBJECTS = (
    Subject("leaf switches", "switches", ABOVE, _counted("leaf"), f"{_OTHER} !spine spine", 1, 130, 5000),
    Subject("spine switches", "switches", ABOVE, _counted("spine"), f"{_OTHER} !leaf leaf", 1, 130, 5000),
    Subject("all switches", "switches", ABOVE, _counted(), f"{_OTHER} leaf spine !leaf !spine", 2, 110, 5000),
    Subject("cables to leaves", "cables", ABOVE, _counted("leaf", "nodeend"), f"{_OTHER} spine", 2, 130),
    Subject("cables to spines", "cables", ABOVE, _counted("leaf", "spine"), _OTHER, 2, 150),
    Subject("all cables", "cables", ABOVE, _counted(), f"{_OTHER} leaf spine !leaf !spine", 2, 110),
    Subject("modules", "modules", ABOVE, _counted(), f"{_OTHER} leaf spine", 2, 130),
    Subject("rate to the store", "rate of a node", FLOORED, _bound("store", by=_FLOORS), "devicemem", 1e8, 130),
    Subject("injection", "rate of a node", FLOORED, _bound("injection", by=_FLOORS), "store", 1e9, 110),
)  # fmt: skip
"""Subjects of demands on counts of the fabric."""
