"""The lines of a log as its ranks printed them: without labels of tasks, and without exceptions that Python ignores.

`srun --label` puts the number of the task and a colon before every line (SchedMD/slurm 284c3b95,
src/common/write_labelled_message.c line 143, read on 2026-11-25). Python prints "Exception ignored in", since 3.14 also
"while", before an exception of a finalizer or of a function that runs at the exit, which no caller sees (python/cpython
8ea6cc14, Python/errors.c, `_PyErr_WriteUnraisableMsg`). MLPerf's `run_stop` states the status of a run
(mlcommons/logging, `mlperf_logging/mllog/constants.py`).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice

from clusterspec.logs.text_lines import line_at, lines_of

_LABEL = re.compile(r" {0,6}[0-9]{1,6}: ?(?![0-9]{2}:)")
"""The label of a task; the time of a day has no blank after its first colon."""
_BAR = re.compile(r"[0-9]{1,3}%\|")
"""A step of a progress bar, which begins after a carriage return."""
MOST_READ = 2_000
"""Largest number of lines by which a list of changes is recognized."""
HEAD = 400
"""Lines, other than empty ones and steps of progress bars, by which labels are recognized."""
LABELLED = 0.5
"""Share of them above which they are labels: the launcher's own lines have none."""
FEWEST = 3
"""Lines below which a number and a colon are no label."""
_IGNORED = "Exception ignored "
_RANK = re.compile(
    r"(?:\x1b\[[0-9;]{0,8}m)?\(\w{1,60} pid=[0-9]{1,9}(?:, [^()\n]{1,80})?\)(?:\x1b\[0m)? ?"
    r"|\[(?:rank|default)[0-9]{1,7}\]:? ?"
)
"""What PyTorch's launcher, Ray and vLLM print before the lines of a process."""
_JOB_ENDED = re.compile(r"Job '[\w-]{1,80}' (succeeded|failed)\b")
"""How Ray's command line ends the log of a job (ray-project/ray, dashboard/modules/job/cli.py)."""
_LAST = 2_000
"""Characters at the end of a log in which that stands."""
_RAISED = re.compile(r"(?:[A-Za-z_]\w{0,40}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Exit|Interrupt)?(?::|$)")
_BEFORE_ITS_TEXT = re.compile(
    r"((?:^|[\s.])[A-Z]\w{1,60}(?:Error|Exception)):[ \t]{0,9}(?=\n[ \t]{0,40}\n?[ \t]{1,40}(\S[^\n]{4,400}))",
    re.MULTILINE,
)
"""An exception whose text begins on the next line that is not empty, further to the right."""
MOST_IGNORED = 80
"""Largest number of lines of an exception that is ignored, of its traceback."""
_RIGHT, _OF_A_TEST = "# Out of bounds values : 0 OK", "# nThread "
"""What nccl-tests print after the last size, and before the first (`src/common.cu`); lines of the library between the
cells of a table may keep its rows from being read."""
_CHANGE = re.compile(
    r"^[ \t]{0,4}(?:[*+-]|--|•) {1,3}(?:[^\s:]{1,60}(?: - |: )|\[[^\]\n]{1,40}\] ?)?"
    r"(?:Fix|Add|Remov|Chang|Updat|Improv|Support|Prevent|Avoid|Allow|Ensur|Mak|Mov|Renam|Replac|Deprecat|Handl|Correct)"
    r"(?:e|ed|es|ing|s)?\b"
)
"""An item of a list of changes: a bullet and a verb, after the part of the program if the item names it."""
MOST_ITEMS, ITEMS = 10, 0.2
"""Items, and their share of the lines, from which a text is a list of changes rather than a log."""
_ASKED_TO_STOP = re.compile(
    r"SIGTERM received\b[^\n]{0,200}\b[Dd]raining\b|^INFO:[ ]{2,8}Application shutdown complete\."
    r"|\[shutdown\] EngineCore: start mode=(?:abort|drain)\b",
    re.MULTILINE,
)
"""How SGLang's tokenizer (managers/tokenizer_manager.py), Uvicorn (lifespan/on.py) and vLLM's engine (0.33.0:
v1/engine/core.py, line 1713) say that they were asked to stop.
"""
_OF_A_STOP = re.compile(
    r"EngineDeadError\b|\[async_llm\.py:[0-9]{1,6}\]|exit code -15\b|exitcode=-15\b|\bSIGQUIT\b|\bsigquit\b|\bSIGTERM\b"
    r"|^\s{0,8}(?:Killed|Terminated)\s{0,8}$"
)
"""Last lines of the stopped processes of these engines."""
_STEP = re.compile(r"\b(?:step|iteration)\b[ :=]{0,8}[0-9]{1,9}\b[^\n]{0,400}loss\b|'loss': [0-9]", re.IGNORECASE)
"""A step of training, with its loss."""
STEPS = 3
"""Number of steps after which a run has survived the warnings before them."""
_WARNED = re.compile(
    r"^(?:\[rank[0-9]{1,7}\]:? ?)?(?:WARNING:[ \w]|\[W[0-9]{3,4} [0-9:.]{8,20} socket\.cpp:)"
    r"[^\n]{0,400}(?:\w(?:Error|Exception)\b|\bfailed\b|\bcannot be retrieved\b)"
    r"|^[^\n]{0,300}\b(?:graph/\w{1,20}|init)\.cc:[0-9]{1,6} (?:NCCL|RCCL) WARN "
)
"""A warning of a program, or of PyTorch's store, with the exception or the failure that it went around; one of NCCL or
RCCL at its start (`src/init.cc`, `src/graph`)."""
_ANSWER = re.compile(r'^\s{0,8}\{[^\n]{0,100000}?"(?:finish_reason|completion_tokens)":')
"""A record of a benchmark with the answer of a model, which may be about errors."""
_STOP = re.compile(r'"key": "run_(start|stop)"(?:[^\n]{0,400}?"status": "(\w{1,20})")?')


def text_without_labels(text: str) -> str:
    """A log without the labels of tasks and with empty lines for exceptions that are ignored; its lines keep their
    numbers.

    >>> text_without_labels("0: a\\n1: b\\n0: ValueError: c\\n1: d\\nsrun: error: e")
    'a\\nb\\nValueError: c\\nd\\nsrun: error: e'
    """
    labelled = _is_labelled(text)
    if not labelled and _IGNORED not in text:
        return text
    return "\n".join(_told_lines(text, labelled=labelled))


def text_with_whole_exceptions(text: str) -> str:
    """A log in which an exception whose text begins on a later line has it after its name, too; its lines keep their
    numbers.

    >>> text_with_whole_exceptions("RuntimeError: \\n    no library\\nend")
    'RuntimeError: no library\\n    no library\\nend'
    """
    if "Error:" not in text and "Exception:" not in text:
        return text
    return _BEFORE_ITS_TEXT.sub(r"\1: \2", text)


def states_success(text: str) -> bool:
    """Whether the last run of a log states its success, as MLPerf's, nccl-tests and jobs of Ray do; a run that started
    after it has not ended.
    """
    if _RIGHT in text and _OF_A_TEST not in text[text.rindex(_RIGHT) :]:
        return True
    if (job := next(iter(deque(_JOB_ENDED.finditer(text, max(0, len(text) - _LAST)), maxlen=1)), None)) is not None:
        return job[1] == "succeeded"
    if '"run_stop"' not in text:
        return False
    last = next(iter(deque(_STOP.finditer(text), maxlen=1)), None)
    return last is not None and last[1] == "stop" and last[2] == "success"


def lists_changes(text: str) -> bool:
    """Whether a text is a list of changes of a program; its items report errors that were fixed.

    >>> item = "* slurmctld - Fix a crash\\n"
    >>> lists_changes(item * 10), lists_changes("error: crash\\n" * 90 + item * 10)
    (True, False)
    """
    head = [line for line in islice(lines_of(text), MOST_READ) if line.strip()]
    items = sum(_CHANGE.match(line[:200]) is not None for line in head)
    return items >= MOST_ITEMS and items >= ITEMS * len(head)


def text_without_stop(text: str) -> str:
    """A log without the ends of processes after a service was asked to stop and did; its lines keep their numbers.

    >>> text_without_stop("SIGTERM received. Draining requests\\nworker ended with exit code -15\\nOSError: a")
    'SIGTERM received. Draining requests\\n\\nOSError: a'
    """
    words = ("SIGTERM received", "shutdown complete", "[shutdown]")
    asked = _ASKED_TO_STOP.search(text) if any(word in text for word in words) else None
    if asked is None:
        return text
    end = text.find("\n", asked.end())
    if end < 0:
        return text
    return text[:end] + "\n".join("" if _OF_A_STOP.search(line[:400]) else line for line in lines_of(text[end:]))


def text_without_passed(text: str) -> str:
    """A log without answers of models, and without warnings after which training went on; its lines keep their numbers.

    >>> steps = "\\n".join(f"step: {number} loss: 2" for number in range(3))
    >>> text_without_passed("WARNING: no board (ModuleNotFoundError: x)\\n" + steps)[:9]
    '\\nstep: 0 '
    """
    steps = [found.start() for found in deque(_STEP.finditer(text), maxlen=STEPS)] if "loss" in text else []
    went_on = len(steps) == STEPS and any(word in text for word in ("WARNING:", "socket.cpp", "CCL WARN "))
    if not went_on and '"finish_reason"' not in text and '"completion_tokens"' not in text:
        return text
    before = line_at(text, steps[0]) - 1 if went_on else 0
    return "\n".join(
        "" if (number < before and _WARNED.match(line)) or _ANSWER.match(line) else line
        for number, line in enumerate(lines_of(text))
    )


def _is_labelled(text: str) -> bool:
    """Whether most of the first lines have the label of a task."""
    whole = (line for line in lines_of(text) if line.strip() and not _BAR.search(line[:200]))
    head = list(islice(whole, HEAD))
    labelled = sum(_LABEL.match(line) is not None for line in head)
    return labelled >= FEWEST and labelled >= LABELLED * len(head)


def _told_lines(text: str, *, labelled: bool) -> Iterator[str]:
    left: dict[str, int] = {}  # lines that an ignored exception may still have, by the process that prints it
    for read in lines_of(text):
        label = _LABEL.match(read) if labelled else None
        line = read[label.end() :] if label else read
        if not left and _IGNORED not in line:
            yield line
            continue
        rank = _RANK.match(line)
        process = f"{label[0] if label else ''}{rank[0] if rank else ''}"
        body = line[rank.end() :] if rank else line
        if body.startswith(_IGNORED):
            left[process] = MOST_IGNORED
            yield ""
            continue
        goes_on = process in left and body.startswith(("Traceback", " ", "\t"))
        raised = process in left and not goes_on and _RAISED.match(body) is not None
        left = _remaining_lines(left, process, ends=not goes_on)
        yield "" if goes_on or raised else line


def _remaining_lines(left: dict[str, int], process: str, *, ends: bool) -> dict[str, int]:
    """The lines left to read of each process, after a line of ``process``."""
    if process not in left:
        return left
    rest = left[process] - 1
    return {each: lines for each, lines in {**left, process: rest}.items() if each != process or (lines and not ends)}
