"""Limits on the run time of jobs in texts, in Slurm notation and in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.quantity import DAY, HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.amounts import TIME, amounts_in, amounts_of, is_of_plan
from clusterspec.rules.readers.clauses import clause_at, is_former
from clusterspec.rules.readers.units import MINUTE
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, sentences_of
from clusterspec.standard import pattern

_SLURM = pattern(
    r"(?i)(?:(?<=time)|(?<=wall)|(?<=limit)|(?<=for)|(?<=of)|(?<=is)|(?<=to))[`'\"]{0,2} ?[:=]? ?[`'\"]{0,2}(?P<time>\d{1,3}-\d{1,2})(?![\d:-])"
)
_CLOCK = pattern(r"(?<![\d:.-])(?P<time>\d{1,3}-\d{1,2}:\d{2}(?::\d{2})?|\d{1,4}:\d{2}:\d{2})(?![\d:-])")
_MINUTES = pattern(r"(?i)\bmax[_ ]?time\b ?(?:=|:|is|of)? ?(?P<minutes>\d{1,6})(?![\d.,:-]| ?[a-z])")
"""Pattern of a Slurm setting whose bare number counts minutes."""
LIMIT = pattern(
    r"(?i)\b(?:max[_ ]?(?:time|wall)|max(?:imum|imal\w*|imale|\.)? (?:run|wall|job)?[ -]?(?:time|duration)|(?:run[ -]?|wall[ -]?|job )?time[- ]limits?|limit\w*|wall[- ]?time|wall[- ]?clock(?: limit)?|longest|cap(?:s|ped)?"
    r"|(?:may|can|must)(?: only)? (?:run|last|take|occupy|use|stay)|must (?:finish|end|complete|be done)(?: within)?|permits?|allowed|re-?queued (?:every|after)|ends?|ended|stops?|stopped|kill\w*|cancel\w*|cuts?(?: off)?|preempt\w*|terminat\w*|(?:more|longer) than|at most|up to|slots? of|(?:hour|minute|day|h|min)[- ](?:jobs|slots|allocations)|nothing longer|per (?:submission|job|allocation)|grants?|allows?"
    r"|zeitlimit|laufzeit(?:limit|grenze)?|höchstlaufzeit|höchstens|spätestens|maximal|darf|dürfen|beendet|endet|erlaubt|tuée?s?|arrêtée?s?|coupée?s?|interrompue?s?|au bout de|limite|límite|durée (?:maximale|max)|au plus|duración máxima|como máximo)\b|--time\b"
)
"""Pattern of words for the time limit of a job."""
_OTHER_TIMES = pattern(
    r"(?i)\b(?:checkpoint\w*|sav(?:e|es|ed|ing)|(?<!requeued )(?<!requeued after )every(?! (?:\w+ )?jobs?\b)|interval|resum\w*|restart\w*|backfill\w*|bf_\w+|look\w* ahead|ahead|notice|training takes|run of|run takes|priority|queue wait|waits?|resolution|maintenance|reaction|operators?)\b"
)
_WEAK = pattern(
    r"(?i)\b(?:ends?|ended|stops?|stopped|permits?|allowed|allows?|grants?|(?:more|longer) than|at most|up to|nothing longer|per (?:submission|job|allocation)|au bout de|spätestens|höchstens|maximal|au plus|como máximo|endet|erlaubt|darf|dürfen)\b"
)
"""Pattern of words that many limits use; they state a job limit only in a clause about the job and no other event."""
_OTHER_EVENTS = pattern(
    r"(?i)\b(?:re-?start\w*|resum\w*|recover\w*|wait\w*|starts?|later|detect\w*|repair\w*|fail\w*|checkpoints?|sav\w+|dump\w*|drain\w*|boot\w*|burn-?in|prob\w+|h[au]ngs?|los[te]\w*|maintenance|replac\w+|neustart\w*|startet)\b"
)
_OF_OTHERS = pattern(
    r"(?i)\b(?:collectives?|nccl\w*|rccl|process groups?|watchdog|http|requests?|time-?outs?|notice|warning|préavis|vorwarn\w*)\b"
)
"""Pattern of words in a sentence about another limit than that of jobs."""
_OF_JOBS = pattern(
    r"(?i)\b(?:jobs?|queues?|partitions?|slurm|sbatch|srun|salloc|wall[- ]?time|wall[- ]?clock|max[_ ]?(?:time|wall)|scheduler|time[- ]limits?|laufzeit\w*|zeitlimit|warteschlange|(?:la|une|de) file|durée maximale|limites? de|límite|cola|trabajos?|allocation|pbs|lsf)\b"
)
CUES = (
    *("time", "wall", "job", "zeit", "limit", "límit", "durée", "duración", "queue", "partition", "slurm", "schlange"),
    *("file", "cola", "scheduler", "sbatch", "srun", "salloc", "trabajo", "allocation", "pbs", "lsf"),
)
"""Lowercase words; every text with a job limit has at least one of them."""


class JobLimit(NamedTuple):
    """A limit on the run time of a job: in seconds and as written, with its clause."""

    seconds: float
    written: str
    clause: str


def slurm_seconds(written: str) -> float:
    """Seconds of a time in the Slurm notations `days-hours`, `days-hours:minutes`, `days-hours:minutes:seconds` and
    `hours:minutes:seconds` (https://slurm.schedmd.com/sbatch.html, `--time`).

    >>> slurm_seconds("7-00:00:00") / 86400, slurm_seconds("1-12") / 3600, slurm_seconds("24:00:00") / 3600
    (7.0, 36.0, 24.0)
    """
    days, dash, rest = written.rpartition("-")
    parts = [float(each) for each in rest.split(":")]
    hours, minutes, seconds = [*parts, 0.0, 0.0][:3]
    return (float(days) * DAY if dash else 0.0) + hours * HOUR + minutes * MINUTE + seconds


def job_limits_in(text: str) -> Iterator[JobLimit]:
    """The limits on the run time of jobs that a text states.

    >>> [each.seconds / 3600 for each in job_limits_in("`dev` (MaxTime 4 h) and `full` (all nodes, MaxTime 7-00:00:00)")]
    [168.0, 4.0]
    >>> [each.seconds / 3600 for each in job_limits_in("MaxTime=2880; the time limit is 36 hours, Laufzeitgrenze 3 Tage")]
    [48.0, 36.0, 72.0]
    """
    for sentence in sentences_of(text):
        if (
            _OF_OTHERS.search(sentence) is not None
            or LIMIT.search(sentence) is None
            or _OF_JOBS.search(sentence) is None
        ):
            continue
        for match in islice((*_SLURM.finditer(sentence), *_CLOCK.finditer(sentence)), MOST_MATCHES):
            clause = clause_at(sentence, *match.span("time"))
            if LIMIT.search(clause) is not None and not is_former(clause):
                yield JobLimit(slurm_seconds(match["time"]), match["time"], clause)
        for match in islice(_MINUTES.finditer(sentence), MOST_MATCHES):
            yield JobLimit(
                float(match["minutes"]) * MINUTE, f"{match['minutes']} min", clause_at(sentence, *match.span())
            )
        times = [each for each in amounts_in(sentence) if each.kind == TIME]
        for each in amounts_of(sentence, times, LIMIT, _OTHER_TIMES):
            if is_of_plan(sentence, each) and _is_of_a_job(clause_at(sentence, each.start, each.end)):
                yield JobLimit(each.value, each.written, clause_at(sentence, each.start, each.end))


def _is_of_a_job(clause: str) -> bool:
    """Whether the limit in a clause applies to the run time of jobs.

    >>> _is_of_a_job("a job runs up to 4 h"), _is_of_a_job("a job restarts after at most 4 h")
    (True, False)
    """
    if LIMIT.search(_WEAK.sub("", clause)) is not None:
        return True
    return _OF_JOBS.search(clause) is not None and _OTHER_EVENTS.search(clause) is None
