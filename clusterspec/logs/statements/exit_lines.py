"""Exit codes of processes, in the words of whatever started them: launchers, schedulers, containers, shells.

A shell returns 126 for a program that it may not execute, 127 for one that it does not find, and 128 + N for one that
signal N ended (POSIX.1-2024, Shell & Utilities, 2.8.2); Python's subprocess and torchrun state signal N as -N. Codes
below 126 are chosen by the program, and identify no cause.
"""

from __future__ import annotations

import re

_FORMS = (
    r"(?:[Ee]xit(?:ed|s)? ?(?:with )?(?:exit )?(?:[Cc]ode|[Ss]tatus)|[Rr]eturn(?:ed|s)? (?:with )?(?:non-zero exit )?"
    r"(?:code|status)|[Nn]on-zero (?:exit )?(?:code|status)|\bexit_?[Cc]ode|[Ee]xits with return code)"
    r"['\"]?\s{0,4}[:=]?\s{0,3}"
)
"""Words before the exit code of a process."""


def _codes(*codes: int) -> re.Pattern[str]:
    """Lines that state that a process ended with one of the given codes."""
    return re.compile(rf"(.{{0,100}}{_FORMS}(?:{'|'.join(map(str, codes))})(?![0-9.]).{{0,40}})")


_CRASHES = r"(?:Segmentation fault|Aborted|Illegal instruction|Floating point exception)"


def _signal_end_pattern(numbers: str) -> re.Pattern[str]:
    """Lines that report a process ended by one of these signals, other than those of Open MPI."""
    return re.compile(
        rf"((?:shut ?down|terminated|died|ended|stopped|aborted|crashed) (?:with|by|on|from|due to|because of) "
        rf"(?:a )?signal:? (?:{numbers})\b.{{0,60}})"
    )


RUNTIME_ENDS = (
    # bminor/glibc 2.39: malloc/malloc.c (`malloc_printerr`), debug/fortify_fail.c; heap or stack was overwritten
    (
        "crash",
        re.compile(
            r"((?:^|[\s:>])(?:(?:free|malloc|realloc|calloc|malloc_consolidate|munmap_chunk|mremap_chunk)\(\): "
            r"(?:\w{1,20} ){0,4}?(?:invalid|corrupted|mismatching|unaligned|unsorted|double free|memory corruption)"
            r"|double free or corruption|corrupted (?:size vs\. prev_size|double-linked list)"
            r"|\*\*\* (?:stack smashing|buffer overflow) detected).{0,60})"
        ),
    ),
    # python/cpython, Modules/faulthandler.c
    ("crash", re.compile(rf"(Fatal Python error: {_CRASHES})")),
    # apache/tvm-ffi 620fece9, src/ffi/backtrace.cc line 156. Thread: sgl-project/sglang issue 23499
    ("crash", re.compile(r"(!!!!!!! Segfault encountered !!!!!!!)")),
    # open-mpi/ompi, opal/util/stacktrace.c; google/glog, src/signalhandler.cc; Linux, arch/x86/kernel/traps.c
    ("crash", re.compile(rf"(\bSignal: {_CRASHES} \([0-9]{{1,2}}\))")),
    ("bus-error", re.compile(r"(\bSignal: Bus error \([0-9]{1,2}\))")),
    (
        "crash",
        re.compile(
            r"(\*\*\* SIG(?:SEGV|ABRT|ILL|FPE|TRAP) (?:\(@|received (?:at time=|by PID )).{1,80}"
            # google/tcmalloc, gperftools, jemalloc
            r"|\btcmalloc\.cc:[0-9]{1,5}\] Attempt to free invalid pointer.{0,40}|^<jemalloc>: (?!size ).{1,80}"
            r"|\*\*\* Aborted at [0-9]{6,12} \(unix time\))"
        ),
    ),
    ("crash", re.compile(r"(\btraps: .{1,60} (?:trap(?! int3)|general protection) .{1,40})")),
    # bash, jobs.c: a command that a signal ended; systemd, src/core/service.c and unit.c
    ("bare-kill", re.compile(r"^\s{0,8}[*`]{0,3}(Killed)[*`]{0,3}\s{0,8}$")),
    ("crash", re.compile(rf"(^(?:.{{0,60}}[\s:])?(?:{_CRASHES[3:-1]}|Trace/breakpoint trap) \(core dumped\))")),
    ("killed", re.compile(r"(: line [0-9]{1,6}: {1,4}[0-9]{1,9} Killed\b.{0,80})")),
    ("crash", re.compile(rf"(: line [0-9]{{1,6}}: {{1,4}}[0-9]{{1,9}} {_CRASHES}.{{0,80}})")),
    ("bus-error", re.compile(r"(: line [0-9]{1,6}: {1,4}[0-9]{1,9} Bus error\b.{0,80})")),
    ("service-killed", re.compile(r"^(?!.{0,80}user@[0-9]).{0,200}?(code=killed, status=9/KILL)")),
    ("crash", re.compile(r"(code=(?:dumped|killed), status=(?:4/ILL|6/ABRT|8/FPE|11/SEGV))")),
    ("host-memory", re.compile(r"(has been killed by the OOM killer|Failed with result 'oom-kill')")),
    # kubernetes/kubernetes, pkg/kubelet/nodeshutdown; kubernetes-sigs/kueue, pkg/scheduler/preemption
    (
        "job-ended",
        re.compile(
            r"(terminated in response to imminent node shutdown|(?:Evicted|Preempted) to accommodate a workload.{0,60})"
        ),
    ),
)
"""How runtimes, shells and services report that a signal ended a process."""
EXIT_PATTERNS = (
    *RUNTIME_ENDS,
    ("killed", _codes(137, -9)),
    ("killed", re.compile(r"(.{0,100}\b[Ee]rror code:? -9(?![0-9.]).{0,40})")),  # NVIDIA/DIGITS issue 1362
    # launchers of engines: what a signal did to a process, in any words
    ("killed", _signal_end_pattern("9")),
    ("crash", _signal_end_pattern("4|5|6|8|11")),
    ("bus-error", _signal_end_pattern("7")),
    ("crash", _codes(132, 134, 136, 139, -4, -6, -8, -11)),
    ("bus-error", _codes(135, -7)),
    ("signal", _codes(143, -15)),
    (
        "signal",
        re.compile(r"^(?:\[rank[0-9]{1,7}\]: |\([^)]{1,60}\) )?(KeyboardInterrupt(?:: \w{1,40})?|SystemExit: 143)\s*$"),
    ),
    ("not-found", _codes(127)),
    ("not-found", re.compile(r"(exec: \"[^\"]{1,120}\": executable file not found in \$PATH)")),  # golang/go, os/exec
    # runc, of the program of a container; shells, of a file that a script calls or reads
    ("not-found", re.compile(r"(\bexec /\S{1,200}: no such file or directory)")),
    (
        "not-found",
        re.compile(
            r"((?:\b(?:ba|da|z|k)?sh: |\b(?:[\w.-]{1,40}\.(?:ba)?sh|slurm_script|environment): line )[0-9]{1,6}: "
            r"/\S{1,200}: (?:No such file or directory|not found))"
        ),
    ),
    ("not-found", re.compile(r"(\b(?:ba|da|z|k)?sh: line [0-9]{1,6}: /\S{1,200}: No such file or directory)")),
    ("not-executable", _codes(126)),
    # the standard libraries of Rust (std/src/panicking.rs) and Go (runtime/error.go)
    ("panic", re.compile(r"(\bthread '[^']{1,80}' (?:\([0-9]{1,9}\) )?panicked at .{1,160})")),
    ("panic", re.compile(r"(\bpanic: runtime error: .{1,120})")),
    ("bus-error", re.compile(r"(Fatal Python error: Bus error)")),
    # PyTorch's store (torch/csrc/distributed/c10d/socket.cpp). Thread: axolotl-ai-cloud/axolotl issue 2684
    ("late", re.compile(r"(\bwaitForInput: socket SocketImpl\(.{1,160}\) timed out after [0-9]{1,9}ms)")),
    # PyTorch, of ranks that another one's end let go. Thread: kubeflow/trainer issue 1638
    ("peer-ended", re.compile(r"(\"message\": \"RendezvousClosedError\b.{0,20})")),
    # python-etcd, src/etcd/__init__.py
    ("service", re.compile(r"(\betcd\.Etcd(?:ConnectionFailed|LeaderElectionInProgress|ClusterIdChanged)\b.{0,80})")),
    # Open MPI: the rank that calls it has its reason in its own output
    ("peer-ended", re.compile(r"(MPI_ABORT was invoked on rank .{1,80})")),
)
"""Names of statements and the patterns of their lines."""
