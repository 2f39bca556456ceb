"""Lines in which any program reports an error, in the forms of log writers, interpreters and kernels."""

from __future__ import annotations

import re
from itertools import islice

from clusterspec.logs.statements.host_lines import is_of_a_host
from clusterspec.logs.statements.quiet_lines import is_harmless
from clusterspec.logs.text_lines import lines_of, shown_line

FORMS = (
    # exceptions of Python, Java and torchrun
    r"(?:^|[\s|:\]()])(?:[\w.]{1,80}(?:Error|Exception|Exit|Failure|Interrupt)|Exception): \S|\bChildFailedError:",
    r"^(?:\[rank[0-9]{1,7}\]: )?[A-Z]\w{2,40}Error$",  # one without a text, as of an assertion
    r"(?:^|[\s|\[(])(?:ERROR|FATAL|CRITICAL|SEVERE|CCL_ERROR|EMERG)\b[\]|: ].{0,400}[a-z]",  # levels of log writers
    r"(?:^|\s)\[?[EF][0-9]{3,4} [0-9:.]{8,20}\b|\[E [\w.]{1,60}:[0-9]{1,6}\]",  # glog, PyTorch
    r"(?:^|\s)[EF] {1,8}(?:[0-9]{1,9} )?[\w./-]{1,120}\.(?:cc|h):[0-9]{1,6}\] |\bTerminating process because ",  # XLA
    r"^(?:\[[^\]]{1,60}\] ?|\([^)]{1,60}\) ?)?[\w./-]{1,60}(?:\[[0-9]{1,9}\])?: "
    r"(?:[a-z]{1,20} )?(?:[Ee]rror|[Ff]atal|ERROR|FATAL):? ",
    r"^(?:[Ee]rror|[Ff]atal|panic|FATAL|ERROR|fatal error)(?:: | response | in )\S",
    # services written in Go, and lists of faults that command lines of clouds print as JSON
    r"\blevel=(?:error|fatal|panic|ERROR|FATAL|PANIC)\b",
    r"\"(?:level|severity)\": ?\"(?:error|fatal|panic|ERROR|FATAL|CRITICAL)\"",
    r"^[A-Z]\w{1,30} (?:[Ee]rror|ERROR): \S",  # libraries: MIOpen
    r"(?:^|[\s:])[\w./-]{1,60}: error: \S|\bcommand: error: \S",  # daemons of Slurm, Python's argparse
    r"^(?:[\w-]{2,24}: )?(?:ibwarn|iberror|ibpanic): \S",  # infiniband-diags
    r"^(?:KeyboardInterrupt|SystemExit: [1-9]|Stop(?:Async)?Iteration\b)",
    r"\bUCX {1,4}(?:ERROR|FATAL)\b|\bnon-zero status: [0-9]{1,4}\b|^libfabric:[0-9]{1,9}:.{1,80}<warn>",
    r"^[\w./+-]{1,200}:[0-9]{1,7}:(?:[0-9]{1,5}:)? (?:fatal )?error: \S|^CMake Error\b",  # compilers, CMake
    r"^\[[0-9-]{10}T[0-9:.]{8,16}\] (?:error|fatal): \S|\bUNREACHABLE executed\b",  # daemons of Slurm, LLVM
    r"(?:^|\s)[\w./-]{1,120}\.(?:c|cc|cpp|cu|h):[0-9]{1,6} {1,4}(?:Fatal|Error|FATAL)\b",  # UCX, Open MPI
    r"\b[Ss]egmentation fault\b|\bcore dumped\b|\b[Ss]tack smashing detected\b|^Killed$|\bterminate called after\b",
    r"\b(?:CUDA|HIP|cu[A-Z]\w{2,12}|Level Zero) (?:driver |runtime )?error: \S|\bMPI_ABORT was invoked\b",
    r"\b(?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|HIPBLAS|MIOPEN|HSA)_STATUS_(?!SUCCESS)[A-Z_]{3,40}\b",
    r"\b(?:UR|ZE|PI)_RESULT_ERROR_[A-Z_]{3,40}\b|\bNative API failed\b|\bbackend failed with error\b",
    r"\[(?:error|err|critical|fatal)\] ?\S|\bFatal Python error: ",  # spdlog, Open MPI, CPython
    # containers of Docker and Kubernetes
    r"\bOCI runtime (?:create|exec|start) failed\b|^\s{0,8}Warning {1,4}(?:Failed\w{0,24}|BackOff|Evicted)\s",
    r": (?:[Oo]peration not permitted|[Pp]ermission denied|[Ff]unction not implemented|[Nn]o space left on device"
    r"|[Ii]nput/output error|[Ss]tale file handle|[Cc]annot allocate memory)\b|^Access denied for user ",
    r"\b(?:NCCL|RCCL|CCOM) WARN .{0,200}?\b(?:[Ff]ail(?:ed|ure)|[Ee]rror|[Uu]nable to|[Cc]annot|timed out)\b",
    r"\bexited with (?:exit )?(?:code|status) [1-9][0-9]{0,2}\b|\breturned non-zero exit status\b",
)
"""Lines of errors."""
_FORM = re.compile("|".join(f"(?:{each})" for each in FORMS))
WORDS = (
    *("Error", "Exception", "Exit", "Failure", "Interrupt", "ERROR", "FATAL", "CRITICAL", "SEVERE", "EMERG"),
    *("[E ", "[F ", "E0", "E1", "F0", "F1", "E external", "F external"),
    *("rror", "atal", "panic", "non-zero", "<warn>", "egmentation", "core dumped", "Killed", "terminate called"),
    *("UNREACHABLE", "CMake Error", "[err]", "[critical]", "[fatal]", "OCI runtime", "Warning  "),
    *("not permitted", "ermission denied", "not implemented", "No space left", "ccess denied", "output error"),
    *("tale file handle", "annot allocate"),
    *(
        "NCCL WARN",
        "RCCL WARN",
        "CCOM WARN",
        "exited",
        "smashing",
        "Terminating",
        "MPI_ABORT",
        "ibwarn",
        "ibpanic",
        "StopIteration",
        "StopAsync",
        "_STATUS_",
        "_ERROR_",
        "Native API",
        "failed with error",
    ),
)
"""Words: a line that reports an error has at least one of them."""
_QUOTED = re.compile(
    r"^\s*(?:#|//|\*|[-+] |>|\"(?!(?:level|severity)\"))|^(?!(?:\[rank[0-9]{1,7}\]: ?)?"
    r"(?:[A-Z]\w{2,40}Error|[a-z_][\w.]{0,80}\.[A-Z]\w{2,60}): |error: [A-Z])[^`]{0,1000}`"
)
"""Lines of scripts, of documents and of differences, which quote errors; programs in Rust quote names so themselves."""
LONGEST = 1_000
"""Largest number of characters of a line that is read."""
MOST = 200_000
"""Largest number of lines that are read."""
MOST_TRIED = 20_000
"""Largest number of lines with an error word, different in more than digits, that are compared with the forms."""
_DIGITS = re.compile(r"[0-9]+")


def _is_of_no_run(line: str) -> bool:
    """Whether an error line comes from a script, a document or a host, or is harmless."""
    return _QUOTED.search(line) is not None or is_of_a_host(line) or is_harmless(line)


def first_error(text: str) -> tuple[str, int] | None:
    """The first line that reports an error, and its number; None if no line does.

    >>> first_error("step 1\\n[rank0]: ValueError: a bad shape\\n")
    ('[rank0]: ValueError: a bad shape', 2)
    >>> first_error("# error: what to do\\nerrors: 0\\n")
    """
    present = [word for word in WORDS if word in text]
    if not present:
        return None
    seen: set[str] = set()
    for number, line in enumerate(islice(lines_of(text), MOST), 1):
        shown = line[:LONGEST]
        if not shown or not any(word in shown for word in present):
            continue
        form = _DIGITS.sub("0", shown)
        if form in seen:
            continue
        if len(seen) >= MOST_TRIED:
            return None
        seen.add(form)
        if _FORM.search(shown) and not _is_of_no_run(shown):
            return shown_line(shown), number
    return None
