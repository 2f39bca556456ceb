"""The models of reinforcement-learning roles, and whether two vocabularies belong to one tokenizer."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.spec.model import RlSpec

PADDED = 0.02
"""Relative difference up to which two vocabulary sizes may belong to one tokenizer with different padding."""


def may_share_tokenizer(one: int, other: int) -> bool:
    """Whether vocabularies of these sizes may belong to one tokenizer.

    >>> may_share_tokenizer(151936, 152064), may_share_tokenizer(32000, 128256)
    (True, False)
    """
    return abs(one / other - 1) <= PADDED


def models_of_roles(rl: RlSpec, catalog: Catalog) -> Iterator[tuple[str, Model]]:
    """The roles that score samples (reference, critic and reward) whose model is in the catalog, with the model."""
    for name, role in (("reference", rl.reference), ("critic", rl.critic), ("reward", rl.reward)):
        model = catalog.find("model", role.model) if role is not None and isinstance(role.model, str) else None
        if isinstance(model, Model):
            yield name, model
