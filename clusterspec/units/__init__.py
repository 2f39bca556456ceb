"""Numbers: the one door for units.

`read` takes a quantity as people write it, `say` says one to people, `readings` lists every
way to count one. Conversion factors come from a table generated from the pint registry of
``definitions.txt``: importing pint takes 0.1 s here, importing the table and the grammar 4 ms.
"""

from __future__ import annotations

from clusterspec.units.fault import UnitFault
from clusterspec.units.grammar import read
from clusterspec.units.kinds import KINDS, Kind
from clusterspec.units.say import percent, plain, say, say_bits

__all__ = ["KINDS", "Kind", "UnitFault", "percent", "plain", "read", "say", "say_bits"]
