"""Variations of a study: the spec with some keys changed, read, resolved and checked like a separate file.

A variation keeps the settings, waivers and catalogs of the study. Measurements were taken on the machine of the study.
The achieved shares of links that they give also apply to a changed machine, but the rules of a variation do not compare
the measurements with the changed machine. Nor do they compare the description, which belongs to the original text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy

from clusterspec.cluster.model import Cluster, Design
from clusterspec.cluster.variation import (
    Changes,
    changed_spec,
    design_of_changed_spec,
    lies_under_change,
    without_measured,
)
from clusterspec.document import Document, Places
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.records import is_dataclass, replace
from clusterspec.source import Path
from clusterspec.spec import keys_of, read
from clusterspec.spec.model import Spec
from clusterspec.studies import Study
from clusterspec.studies.fleet_parts import problems_of_part
from clusterspec.studies.named_files import design_calibrated_by_logs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def rewritten_study(study: Study, changes: Changes) -> Study:
    """The study of the document with other values, as YAML holds them; they are validated and read like a text.

    New values have no position: a finding about them is at the nearest mapping that the text has.
    """
    assert study.document is not None
    document = changed_document(study.document, changes)
    spec, found = read(document)
    kept = found if study.fleet_part is None else problems_of_part(found)
    return _changed_study(study, document, spec, tuple(kept), changes)


def varied_study(study: Study, changes: Changes) -> Study:
    """The study of the spec with other values of the types of `spec.model`, which are not read again."""
    assert study.document is not None
    document = changed_document(study.document, {path: plain_value(value) for path, value in changes.items()})
    return _changed_study(
        study, document, changed_spec(study.spec, changes), _other_problems(study.reading, changes), changes
    )


def _other_problems(problems: Iterable[Problem], changes: Changes) -> tuple[Problem, ...]:
    """The problems that are not about a changed key."""
    return tuple(problem for problem in problems if not lies_under_change(problem.path, changes))


def _changed_study(
    study: Study, document: Document, spec: Spec, reading: tuple[Problem, ...], changes: Changes
) -> Study:
    design, further = design_of_changed_spec(study.design, spec)
    measurements, loading = study.measurements, _other_problems(study.loading, changes)
    if any(path[0] == "measured" for path in changes):
        design, measurements, unread = design_calibrated_by_logs(spec, without_measured(design), study.folder)
        loading = (*loading, *unread)
    elif _unmeasured_cluster(design) != _unmeasured_cluster(study.design):
        measurements = ()
    return replace(
        study,
        document=document,
        spec=spec,
        design=design,
        problems=(*loading, *reading, *further),
        measurements=measurements,
        loading=loading,
        reading=reading,
        is_variation=True,
    )


def _unmeasured_cluster(design: Design) -> Cluster | None:
    """The cluster without the kernels and shares that were measured on it."""
    return without_measured(design).cluster


def changed_document(document: Document, changes: Changes) -> Document:
    """The document with some values replaced; missing parent mappings of a new key are created, None removes a key.

    New values have no position in the text.
    """
    value = document.value
    for path, new in changes.items():
        value = with_value_at(value, path, new)
    offsets = document.places.offsets
    kept = {path: offset for path, offset in offsets.items() if not lies_under_change(path, changes)}
    return replace(document, value=value, places=Places(kept))


def with_value_at(value: Any, path: Path, new: object) -> Any:
    """A plain value with another value at a path; all other parts are shared."""
    if not path:
        return deepcopy(new)
    key, rest = path[0], path[1:]
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return [*value[:key], with_value_at(value[key], rest, new), *value[key + 1 :]]
    whole = dict(value) if isinstance(value, dict) else {}
    if new is None and key not in whole:
        return value
    if rest:
        whole[key] = with_value_at(whole.get(key), rest, new)
    elif new is None:
        del whole[key]
    else:
        whole[key] = deepcopy(new)
    return whole


def plain_value(value: object) -> object:
    """A value of a spec as YAML holds it.

    >>> plain_value((Quantity(2.0, "1", "2:1"),))
    ['2:1']
    """
    if isinstance(value, Quantity):
        return value.written
    if isinstance(value, tuple | list):
        return [plain_value(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): plain_value(each) for key, each in value.items()}
    record: type = type(value)
    if is_dataclass(record):
        found = {key: getattr(value, name) for key, name in keys_of(record).items()}
        return {key: plain_value(each) for key, each in found.items() if each is not None}
    return value
