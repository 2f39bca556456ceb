"""Runs of an acceptance test: the command of its benchmark, its repetitions, and the comparison with its limit."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.exchange.acceptance_cases import AcceptanceCase
from clusterspec.procurement.acceptance import ITERATIONS, PROGRAMS
from clusterspec.units import display, plural, size_text

SMALLEST = 8 * 1024**2
"""Bytes of the first size of a sweep; the sizes from there on show where the plateau begins."""
SECONDS_A_SWEEP = 30
"""Assumed duration of one sweep: a stated duration of a test divided by it gives the repetitions."""


def benchmark_command(test: AcceptanceCase, accelerators: int = 1) -> str:
    """The benchmark command: sizes double up to the size of the test, and results are checked.

    A process runs ``accelerators`` ranks: one under MPI.
    """
    begin = min(SMALLEST, int(test.size))
    return f"{PROGRAMS[test.collective]} -b {begin} -e {int(test.size)} -f 2 -g {accelerators} {ITERATIONS}"


def limit_check(test: AcceptanceCase, command: str) -> Iterator[str]:
    """Shell lines that run a test and exit with 1 if its log misses the limit or has wrong values.

    Positions of nccl-tests columns, counted from the last one: out-of-place bus bandwidth, and wrong values out of
    place and in place.
    """
    runs = " ".join(str(run) for run in range(1, repetition_count(test) + 1))
    needed = test.passes + repetition_count(test) - test.runs
    yield from (
        "passed=0",
        f"for run in {runs}; do",
        f'  {command} > run.log 2>&1 || echo "the benchmark ended with status $?" >> run.log',
        "  cat run.log",
        f"  awk -v size={test.printed_size} -v least={test.threshold / 1e9:.6g} '",
        "    $1 ~ /^[0-9]+$/ && NF > 11 { o = NF - 5; a = NF - 4; wrong += $a + $NF; if ($1 == size) found = $o }",
        '    END { printf "# busbw %s of %s GB/s at %s bytes, %d wrong values\\n", found, least, size, wrong',
        '          exit !(found != "" && found + 0 >= least + 0 && wrong == 0) }\' run.log && passed=$((passed + 1))',
        "done",
        f'echo "# passed $passed of {repetition_count(test)} runs, {needed} needed"',
        f"test $passed -ge {needed}",
    )


def threshold_lines(test: AcceptanceCase) -> Iterator[str]:
    yield f"{test.name}: {test.collective} on {plural(test.nodes, 'node')} ({plural(test.ranks, 'rank')})"
    yield f"passes where busbw at {size_text(test.size)} is at least {test.threshold / 1e9:.4g} GB/s and #wrong is 0"
    if test.runs > 1:
        yield f"in {test.passes} of {test.runs} runs"
    if test.groups > 1:
        yield f"on each of {test.groups} sets of {plural(test.nodes, 'node')}"
    if test.duration:
        runs = plural(repetition_count(test), "run")
        yield f"for {display(test.duration, 's')}: {runs}, each of which is assumed to take {SECONDS_A_SWEEP} s"


def repetition_count(test: AcceptanceCase) -> int:
    lasting = int(test.duration / SECONDS_A_SWEEP) if test.duration else 0
    return max(test.runs, lasting, 1)
