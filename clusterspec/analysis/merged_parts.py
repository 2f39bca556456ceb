"""Values from files merged into a spec. For a part of a fleet, they are merged at the keys of that part."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import main_pool
from clusterspec.document import Document
from clusterspec.exchange.import_result import FormatError, ImportedValue, ImportResult
from clusterspec.exchange.merge import MergedText, merge
from clusterspec.records import replace
from clusterspec.rules.words import and_list
from clusterspec.source import Path
from clusterspec.studies import Study, study_text
from clusterspec.studies.fleet_parts import FleetPart, mapping_at


def merged_into(study: Study, reading: ImportResult) -> MergedText:
    """The text of a study's file with an import result merged in; in a file of a fleet, into the part that is studied.

    Measurements of a pool are its own, unless the file states measurements for all pools. A job has its own
    `operations`. A pool has them from each of its jobs, or from the file if it is the only pool. A pool without a job
    has no place for them, so they are omitted. Raises `FormatError` where the measurements of all pools are one list.
    """
    if study.fleet_part is not None:
        document, part = study.fleet_part
        jobs = [] if part.job is not None else _jobs_of_pool(study, part)
        reading = replace(
            reading,
            given=tuple(
                replace(given, path=path)
                for given in reading.given
                for path in _fleet_places(document, part, given, jobs)
            ),
        )
    return merge(study.source.text.removeprefix("\ufeff"), reading, study.input.name)


def study_of_merged(study: Study, merged: MergedText) -> Study:
    """The study of a merged text; for a fleet, the study of the same part."""
    again = study_text(merged.text, study.settings, study.input.name, study.folder)
    if study.fleet_part is None or again.fleet is None:
        return again
    part = study.fleet_part[1]
    return again.fleet.jobs[part.job] if part.job is not None else again.fleet.pools[part.pool]


def _jobs_of_pool(study: Study, part: FleetPart) -> list[str]:
    """The jobs that are designed on the pool of a fleet's part."""
    whole = study_text(study.source.text.removeprefix("\ufeff"), study.settings, study.input.name, study.folder)
    return [name for name, job in (whole.spec.jobs or {}).items() if main_pool(job) == part.pool]


def _fleet_places(document: Document, part: FleetPart, value: ImportedValue, jobs: list[str]) -> Iterator[Path]:
    """The paths at which an imported value belongs in the file of a fleet."""
    head, pools = value.path[:1], mapping_at(document.value, ("pools",))
    if head == ("measured",):
        yield _place_of_measured(document, part, value.path, len(pools))
    elif part.job is not None or len(pools) == 1:
        yield _own_or_shared_place(document, (part.path if part.job is not None else ()), value.path)
    else:
        for job in jobs:
            yield _own_or_shared_place(document, ("jobs", job), value.path)


def _place_of_measured(document: Document, part: FleetPart, path: Path, pools: int) -> Path:
    """The place of measurements: at the pool, unless a fleet of one pool states them for the whole file."""
    own = (*part.pool_path, *path)
    if pools == 1 and path[:1] in document.places:
        return path
    if path[:1] in document.places and own not in document.places:
        others = and_list(f"`{name}`" for name in mapping_at(document.value, ("pools",)))
        raise FormatError(f"`measured` of the file applies to {others}: move it into the pools where it was measured")
    return own


def _own_or_shared_place(document: Document, keys: Path, path: Path) -> Path:
    """The path of a value below ``keys``; or its path at the top level, if only that exists."""
    return path if path in document.places and (*keys, *path) not in document.places else (*keys, *path)
