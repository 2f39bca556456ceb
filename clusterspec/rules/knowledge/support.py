"""Messages about lines of the support matrix that a design contradicts."""

from __future__ import annotations

from clusterspec.catalog.frameworks import Feature, Statement
from clusterspec.catalog.releases import key_and_words
from clusterspec.records import NamedTuple
from clusterspec.rules.words import or_list

FIXED = ("cluster.", "workload.model")
"""Prefixes of keys for the machine and the model, which nobody changes in order to use a release."""


class Refusal(NamedTuple):
    """The message and the help for a contradicted line of the support matrix."""

    message: str
    help: str


def refusal_message(release: str, statement: Statement, used: frozenset[str], accelerator: str) -> Refusal:
    """The message that a release does not support a combination of features, with the remedy.

    ``used`` are the features that the design uses, on an ``accelerator``.
    """
    named, feature = statement.combination, statement.feature
    device = f"{accelerator} ({', '.join(sorted(named.architectures & used))})" if named.architectures else ""
    what = " on ".join(part for part in (named.words(used), device) if part)
    reason = f": {feature.note}" if feature.note and not feature.value else ""
    return Refusal(f"{release} does not support {what}{reason}", _help(statement, feature, used))


def _help(statement: Statement, feature: Feature, used: frozenset[str]) -> str:
    named = statement.combination
    note = f" ({feature.note})" if feature.note else ""
    if feature.value and feature.since:
        return f"use release {feature.since} or later{note}"
    if feature.value and feature.until:
        return f"use a release before {feature.until}{note}"
    if named.uses == (frozenset({"partial-ep"}),):
        otherwise = "distribute the experts over all ranks of the engine"
    elif len(named.uses) + len(named.without) == 1:
        otherwise = "do without it"
    else:
        stated = dict.fromkeys((*named.keys(used), *(key_and_words(each)[0] for each in sorted(named.without))))
        keys = [f"`{key}`" for key in stated if not key.startswith(FIXED)]
        otherwise = (
            f"change {or_list(keys)}" if keys else "drop one of them" if named.uses else "use another accelerator"
        )
    later = f"use release {feature.until} or later" if feature.until else "use other software"
    return f"{otherwise}, or {later}"
