"""The limits of the run time of jobs that a text states, in the forms of Slurm and in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.quantity import DAY, HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_units import MINUTE, TIME_WORDS
from clusterspec.rules.knowledge.written_numbers import MOST_MATCHES, belongs_to_something_else, number_in_text
from clusterspec.standard import pattern

_WORDS = "|".join(sorted((each for each in TIME_WORDS if not each.startswith(("s", "y", "j"))), key=len, reverse=True))
_TIME = (
    r"(?P<slurm>\d{1,3}-\d{1,2}(?::\d{2}){0,2}|\d{1,4}(?::\d{2}){2})(?![\d:-])"
    rf"|(?P<number>\d{{1,5}}(?:[.,]\d{{1,2}})?)[ -]?(?P<unit>{_WORDS}|jours?|d)\b"
)
_LIMIT = pattern(
    r"(?i)\b(?:max[_ ]?time|max(?:imum|imal\w*|imale|\.)?[ -](?:run|wall|job)[ -]?time|(?:run[ -]?|wall[ -]?|job )?time limits?|wall[- ]?time|wall[- ]?clock(?: limit)?"
    r"|longest jobs?|jobs? (?:may|can|must) (?:run|last|take)|(?:ends|stops|kills|cancels) (?:every|each|all|any|a) jobs?|zeitlimit|laufzeit(?:limit|grenze)|höchstlaufzeit|maximale laufzeit"
    r"|limite de (?:temps|tiempo|durée)|límite de tiempo|durée (?:maximale|max)|duración máxima)\b"
    rf"[^.;\d]{{0,32}}?(?<![\w.,-])(?:{_TIME}|(?P<minutes>\d{{1,6}})(?![\d.,:-]))"
)
_KEYS = ("maxtime", "max_time", "max time")
"""Settings of Slurm, of which a number alone counts minutes."""
CUES = ("time", "wall", "job", "zeit", "limit", "límit", "durée", "duración")
"""Words of which every text with a limit holds one, in lower case."""


class JobLimit(NamedTuple):
    """A limit of the run time of a job, in seconds and as written."""

    seconds: float
    written: str


def slurm_seconds(written: str) -> float:
    """Seconds of a time in the forms of Slurm: `days-hours`, `days-hours:minutes`, `days-hours:minutes:seconds` and
    `hours:minutes:seconds` (https://slurm.schedmd.com/sbatch.html, `--time`).

    >>> slurm_seconds("7-00:00:00") / 86400, slurm_seconds("1-12") / 3600, slurm_seconds("24:00:00") / 3600
    (7.0, 36.0, 24.0)
    """
    days, dash, rest = written.rpartition("-")
    parts = [float(each) for each in rest.split(":")]
    hours, minutes, seconds = [*parts, 0.0, 0.0][:3]
    return (float(days) * DAY if dash else 0.0) + hours * HOUR + minutes * MINUTE + seconds


def job_limits_in(text: str) -> Iterator[JobLimit]:
    """The limits of the run time of jobs that a text states.

    >>> [each.seconds / 3600 for each in job_limits_in("`dev` (MaxTime 4 h) and `full` (all nodes, MaxTime 7-00:00:00)")]
    [4.0, 168.0]
    >>> [each.seconds / 3600 for each in job_limits_in("MaxTime=2880; the time limit is 36 hours, Laufzeitgrenze 3 Tage")]
    [48.0, 36.0, 72.0]
    """
    for match in islice(_LIMIT.finditer(text), MOST_MATCHES):
        if belongs_to_something_else(text, match.start()):
            continue
        if match["slurm"]:
            yield JobLimit(slurm_seconds(match["slurm"]), match["slurm"])
        elif match["number"]:
            unit = match["unit"].lower()
            factor = DAY if unit == "d" else TIME_WORDS[unit]
            yield JobLimit(number_in_text(match["number"]) * factor, f"{match['number']} {match['unit']}")
        elif match[0].lower().startswith(_KEYS):
            yield JobLimit(float(match["minutes"]) * MINUTE, f"{match['minutes']} min")
