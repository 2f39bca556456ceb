"""What the tests take for given: the shipped catalog, no choices of a team, and a day that does not pass."""

from __future__ import annotations

from datetime import date

from clusterspec.catalog import Catalog
from clusterspec.config import Config
from clusterspec.studies import Settings

TODAY = date(2026, 11, 20)
SETTINGS = Settings(Catalog.open(), Config(), TODAY)
