"""Diagnosis and acceptance in ``docs/exchange.md``: what logs of a machine tell, with examples that are run."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clusterspec.analysis.cause_meanings import MEANINGS
from clusterspec.cli import run

DIAGNOSE = """## Diagnose

`clusterspec diagnose SPEC LOG…` compares logs of collectives with the design, size by size, and ranks the causes of
what is slow. A cause that the log states comes first, with its line; then the faults whose prediction by the cost model
is close to what was measured. `--collective` and `--ranks` state what a log does not tell. `--write` stores the largest
size of each log in `measured:`, which replaces the efficiencies of the catalog from then on; the step time with and
without it is shown. Exit status 1 means that a collective is slower than the predicted band.

A training run calibrates the estimate, too: `measured: [{{step_log: train.log}}]` (Megatron-LM, torchtitan,
MaxText), or `{{step_time: 12.4 s}}`, is a step of the workload and layout of the spec, after its first ones. The
rate of products and attention that reproduces it replaces that of the catalog, between a quarter and twice of it;
communication, memory traffic and the host stay as predicted or measured by their own logs. `estimate` prints the
rate as a share of the catalog's, and `search` and all other commands use it for other layouts. A log with another
batch, degrees or ranks than those of the spec is an error.

The range of the measured job is that of its measurements: 3 %, or the widest of several steps from their median. For
other layouts and sizes a measured step does not make the estimate better: in pairs of published runs of one source and
accelerator, the step of the one as the measured step of the other, the median error is 5.5 % instead of 3.7 %, and
11.6 % instead of 9.4 % in sources that no constant saw. Their range is wider for it (`--constants` has the figure).

A load test calibrates engines: `measured: [{{load_test: bench.json}}]` (`vllm bench serve`, `sglang.bench_serving`),
or `{{tpot: 24 ms}}`, is the mean time per output token of the engines of the spec at its load. The rate of all kernels
that reproduces it replaces that of the catalog, between a quarter and twice of it; collectives and the host stay as
predicted. A test with another concurrency, rate or mean lengths than the spec is an error. The range of the measured
load is that of its measurements, that of other loads stays as it is: in pairs of published rows of one engine at two
loads, the one as the measured time of the other, the median error is 9 % with and without it in sources that the
constants fit (28 pairs), 6 % instead of 5 % in sources that no constant saw (18), and 25 % instead of 45 % in others,
whose engines are slower than predicted (141).

A match of the cost model alone that many bandwidths would give is listed as possible, not as likely; where nothing is
likely, the output says that none of the known causes explains the difference.
`tests/analysis/test_published_causes.py` has {cases} published threads with the cause that they state, which comes
first in each, and 10 whose cause no log shows. In a last nine, taken before any change, seven came first, one as a
possible cause, and one second: NVIDIA/nccl-tests 293, a host that interleaves memory, behind GPUDirect, which its log
shows as off. In four more, none came first, since two causes were not known: bonded ports of which a connection uses
one (NVIDIA/nccl 1015, NVIDIA/nccl-tests 191), and ranks of one node that reach each other over the network alone
(NVIDIA/nccl 1536 and 1781). In ten more, seven were right before any change (three as "none of the known"), one was
named second (an IOMMU, behind access control), and two were not known: ranks of one node that reach each other over
sockets (NVIDIA/nccl 324), and Ethernet without flow control (NVIDIA/nccl 378). In a last fourteen, twelve were right
before any change (three as "none of the known"); sockets that an older release words otherwise were not found, and
ports that lose their link (NVIDIA/nccl 905) were not known. Where a thread describes its host in words, the lines are
those that the library prints of such a host. In a last thirteen, four were right before any change: seven were of
runs that hang or stop, which had no diagnosis. In thirteen more, five were right before any change (one as "none of
the known"); the other eight stop with an error of a connection or of its first transfer, of which two were known. Of
thirteen more, most of them runs that stop, four were right before any change: shared and locked memory, interfaces
and ranks of several releases were not known. In eleven after those corrections, one was right: the fabric manager,
ranks that share an accelerator and refused peer access were not known either, and a binding of processes to cores
(NVIDIA/nccl 644) is in no line. In a last eight, all were right before any change; four were of a class of the
thirteen. In 23 more, seven came first before any change, none second or third, in eleven nothing was said, and four of
eight logs of healthy machines had a possible cause: limits, drivers, accelerators that a rank does not see, copies of a
benchmark that MPI did not join, and interfaces of sockets were not known. After it twenty come first and two are named
where the log is refused; memory that a NIC does not register because of firmware (one thread) is in no line. Of nine
threads taken after that, four came first before any change; faults of an accelerator, full memory and ranks that wait
in different collectives were not known. Of twenty threads about engines, training programs and kernels as well, three
came first before any change, none in the list, two had a wrong cause and fifteen none, since such logs were mostly
refused; three logs of healthy programs had none. After it eighteen come first, and two are in the list. Of ten threads
taken after that, six came first before any change, of known kinds all of them, and in four nothing was said (a network
that libfabric does not find, a fall of throughput at a full cache, a rendezvous, errors of amdgpu). In a last eight,
three came first before any change, of known kinds as well, and in five nothing was said: full storage, the service of
JAX that joins workers and libfabric's own words were not known, and one (xorbitsai/inference 2836) prints no reason.
In eight more, nothing was said about any: limits of open files, memory of the host and the fabric manager were known in
the words of the library alone, not in those of PyTorch, Ray and the CUDA runtime. After it all eight come first, one
as a possible cause. In 165 logs in public repositories, six had a cause before any change; four of them said that a
program parts its ranks where a plugin of the network held one back (argonne-lcf/alcf-nccl-tests), which is only
possible since then. Of 24 threads of 2026-11-23 about HCCL, RCCL, Mooncake, UCX, vLLM, DeepSpeed and PyTorch, nine
were right before any change (one as "none of the known"), none wrong, and in fifteen nothing was said: HCCL's errors of
ports, launchers that cannot log in, names of errors of the CUDA and HIP runtimes, kernels that an accelerator lacks and
locked memory in the words of UCX and Open MPI were not known. After it 23 are right; a release of NCCL older than its
accelerator (mila-iqia/milabench 183) is not named. In fourteen more, five were right before any change, in seven
nothing was said, and two had another cause first: a full device that all processes share (deepmodeling/deepmd-kit
1090), which its line does not say, and late workers of JAX. Errors of the system (`[Errno 28]`) without the name of a
Python exception, refused connections of other programs, barriers of JAX and old forms of NCCL and UCX were not known.
After it eleven come first and two are in the list. In the 165 logs in public repositories, twelve have a cause since
then (ports in use, limits of time). In nineteen more, eight were right before any change (one as "none of the known"),
one had another cause first (a device that needs a reset, which the CUDA runtime calls busy: scitix/sichek 51), and in
ten nothing was said, since their programs word known causes otherwise: peer access in TensorRT-LLM, /dev/shm in Open
MPI, open files in PyTorch, Gloo's timeouts, ports that ibstat lists as down. After it all nineteen come first, three of
them as possible causes. In eleven more, five were right before any change, one was in the list behind a launcher's
guess, and in five nothing was said: programs that a launcher does not find (`sshd`), the daemons and signals of
launchers, kernels that NCCL was not built with, and a driver that does not run. After it all eleven come first.
In 23 more, 15 came first before any change, in four nothing was said and four had another cause first: what a call of
the system means was read from its name alone, not from its error (memory that a NIC does not reach, against a limit of
locked memory), and releases of libraries with published faults were not known. In 18 after that, eight came first and
one was in the list. In 15 more, three came first and one was in the list, of 17 after that seven and two, of 19 after
those ten and none, and of a last six four and one: half of each but the last was silent, since no known line had its
words, among them texts of the CUDA runtime, drivers of NICs that do not start, topologies, messages that Open MPI
wraps, and modules of another kernel. Their threads were chosen for lines and causes unlike those before; of a thread
that only quotes its log in part, lines that the library prints around it were added. After it 91 of these 98 come first
and 95 are named. Of the others, a build of rdma-core (linux-rdma/perftest 262) and a fault of a release that its log
does not name (NVIDIA/nvshmem 21) are in no line. For new threads the first scores hold, not these.
Of 40 threads of 2026-11-24, 26 came first before any change, six had another cause first, and eight logs were refused.
In 23 after that, 14 came first, one was rightly none of the known, one was in the list, six had another cause or none,
and one was refused: containers, the runtime of Neuron, JAX and sizes that differ between ranks were not known.
Of 31 threads and documents of 2026-11-25, with each log as it was posted, 18 came first before any change, and one was
in the list; eight logs were refused, and one had a cause where its document calls it harmless: messages of Neuron,
Slingshot, Slurm and clouds were in no table. In 25 drawn after that was mended, eleven came first (one as none of the
known), none was in the list and eight were refused: containers of Slurm, Megascale and JobSet were not known. After it
29 and 24 come first. Of 22 more drawn on that day, 19 came first before any change, most of them of errors in a few
lines; missed were a flag of libtpu, a refused step of Slurm, and an error of NIXL that names no cause.
Of 52 of 2026-11-26 in three draws, the second and third drawn after the one before was mended, 27 came first before any
change (14 of 23, 9 of 18, 4 of 11), two were in the list, and six had another cause with certainty. In 15 the log was
left undecided; of 11 of these, from the second draw on, four had the cause among those that end alike, and of four no
line of the thread decides it (a full disk behind a timeout, a test that only reports that it failed). Four were
refused. Of 30 logs without a fault, 28 were silent. In 21 drawn after that, 14 came first before any change and 18 were
in the list; seven were left undecided (of four no line decides it), none had another cause with certainty, and none was
refused; of ten logs without a fault seven were silent, and one had a wrong cause with certainty (channels through the
memory of the host, which slow a run and stop none). In 22 after that, 16 came first before any change, 18 were in the
list and one among the causes that end alike; two had another cause with certainty (a missing GID, used-up retries). In
ten after that, four came first before any change and six were in the list; one had another cause with certainty (an
ended worker of a data loader), and two were refused. Of 57 of 2026-11-27 in five draws whose log decides, 40 came first
before any change and 44 were named: 16 of the 25 of the first two, and 24 first and 28 named of the 32 that were drawn
after these were mended. None had another cause with certainty; of 11 more the lines do not decide it. Of 106 in seven
later draws of that day 77 came first before any change and 85 were named, none with another cause in certainty.
Of 22 in three draws after those, each drawn after the one before was mended, 18 came first before any change and no
other was named, none with another cause in certainty; of 31 logs without a fault 26 were silent, the others had a
possible cause: a list of changes, the source of a program, a cache that is built again, and engines that were stopped.
Of 34 in three later draws of that day, of users of clusters above all, 18 came first before any change and 20 were
named: 11 first and 12 named of the first 20, and seven first and eight named of the 14 that were drawn after these were
mended, four of them refused; two had a setting as the likely cause. Clocks that differ, machines that a cloud takes
back, links of one accelerator alone and waits for a key of a store were not known. Of 24 logs of whole runs without a
fault, 21 were silent; two had a cause that the run outlived (a topology without a path to a NIC, a directory that an
installer may not write), and one an error without a cause (the output of a compiler in the answer of a model).
Of 47 in two draws after those, 32 came first before any change and 36 were named: 21 first and 25 named of the first
32, eleven first and named of the 15 that were drawn after these were mended; eight were refused, two were left
undecided, and one had another cause. Waits for data in the times of steps, bindings to processors that a job does not
hold, lanes of UCX over TCP, a missing root of Neuron and clocks that the driver of AMD lowers were not known. All of 18
logs of whole runs without a fault were silent; two tables that lines of NCCL cut were not compared.
Of 45 in two draws after those, 29 came first before any change and 30 were named: 17 first and 18 named of the first
29, twelve first and named of the 16 that were drawn after these were mended; three were refused, and one had another
cause in certainty. Evictions by Lustre, firmware that a driver lacks, builds for another device and clients of object
stores without a network were not known. Of 32 logs of whole runs that ended well 30 were silent.
Of 46 in three draws of 2026-11-28, 34 came first before any change and no other was named: 24 of the first 34, and ten
of the 12 that were drawn after these were mended; three were refused, none had another cause in certainty. A daemon
that writes an error was taken for one that is down; namespaces, IMEX, builds of kernel modules and clouds without
capacity were not known.
Of 25 in two later draws of that day, of communication alone, 13 came first before any change and 16 were named: nine
first and eleven named of the first 16, four first and five named of the nine that were drawn after these were mended;
two were refused, one was left undecided, and two had another cause in certainty (interfaces). Calls of libfabric that
fail on their own host were taken for an unreachable peer; keys of Slingshot, errors by their number alone and the abort
by which a watchdog ends its process were not known.
Of 39 in three draws after those, of communication alone, 18 came first before any change and 21 were named: eight first
and nine named of the first 12, six of the 13 that were drawn after these were mended, four first and six named of the
last 14, which were of PSM2 and NIXL above all; six were refused, and one had another cause in certainty (an unreachable
peer, where a GID is missing). Messages of PSM2 and PSM3, OpenSM, NIXL, operators of Kubernetes and UCX were not known.
Of 39 in three draws after those, of GPU sharing, operators of Kubernetes, NICs and schedulers, 27 came first before any
change and 29 were named: twelve first and 13 named of the first 20, eleven first and twelve named of the 13 that were
drawn after these were mended, four first of the last six; one had another cause as the likely one (a device that is
held, taken for a missing one). Limits of locked memory by name, held devices, arguments of a package, the crash of
a compiler's runtime, and libibverbs and perftest by their own words were not known.
Of 50 in three draws after those, of communication, schedulers, containers and engines, 31 came first before any change
and 35 were named: 14 first of the first 21, seven first and nine named of the 16 that were drawn after these were
mended, ten first and twelve named of the last 13; four were refused. Reports that two processes tear, ranks that start
on one device, providers that MPICH does not find, filters of submissions, and combinations that an engine refuses
were not known.
Of 88 in four draws of 2026-11-29, of schedulers, containers, networks of pods, accelerators of every vendor and
engines, 55 came first before any change and 63 were named: twelve first of the first 18, nine first and ten named of
the next 15, 22 first and 26 named of the 35 after them, twelve first and 15 named of the last 20, each drawn after the
ones before were mended; three were refused. Sockets of a local service that takes no more connections, mounts that
a path refuses, lines that a terminal wraps, transfers of a cache between engines (taken for an
image that is pulled), virtual functions and timeouts of PyTorch's store by the socket were not known.

A log without a result (a run of any program with `NCCL_DEBUG=INFO` that hung, or stopped before its first size) is
diagnosed by its lines alone: what they state, and access control or the IOMMU where accelerators reach each other
over PCIe. So is the output of an engine, a training program or a kernel with a line that states a cause: evicted
requests, full memory or storage, errors of an accelerator, refused connections (`--ranks` states its ranks). Where
none does, causes that the common words of an error suggest, or the source file or driver that reports it, are listed
with little evidence, behind them the crash that follows, and where a line gives no reason (`unhandled system error`,
a timeout, a start that never ended) the causes that it may have, each with the measurement that decides. A log whose
last line is one of a communicator of NCCL or RCCL hung, and says so, as one that ends at the benchmark's list of
devices or at a bar of progress before its first step: over nodes an unreachable peer, a wrong interface, ranks that
are absent or part; on one node over PCIe access control or the IOMMU, over switches their reductions; and a release
that is published to hang in such a run. What only slows a run is listed behind them. No line decides about relays
through other accelerators (PXN), firmware of NICs, and hosts that take each other for one. Where no cause is likely,
the output says that the log does not decide it (`decided` in JSON). Its verdict is `unfinished`, with exit status 1;
`accept` and `import` refuse it.

Of a log of more than 1.5 MB the first and the last 0.5 MB are searched whole. Between them, lines that repeat others,
digits aside, count 3 MB, different ones 0.5 MB, and further ones with a word of an error 0.25 MB; the output says how
many different lines were not searched (`lines_left_out` in JSON). Logs of runs repeat their lines and have none.

Names of devices in a log (the list of nccl-tests and rccl-tests, `nvidia-smi -L`, configuration files that an engine
looks for) are compared with the accelerator of the spec. Where all of them are other products of the catalog, the
output says so with the line and the bandwidth of the links of both (`other_devices` in JSON): as the first cause of a
run that is slower than expected, if their links have another bandwidth, else as a warning. `--write` leaves such a
measurement out, and `accept` does not count it. Names without an entry, and accelerators of a company's own catalog,
are not compared.

A launcher writes a log for every rank. `diagnose SPEC LOG…` takes all of them, or their folder, with those below it (up
to 1,024 files of together 32 MiB; links, hidden and empty files are left out, and files that are no logs are listed).
The log whose rank failed first comes first, by the times of its lines where every such log has them, else by name. One
that tells only of the end of other ranks (timeouts, closed connections) comes last, with little weight, unless it told
of that more than 5 s before any failure. No order of the files changes causes or weights.
"""
ACCEPT = """## Accept

`clusterspec accept SPEC LOG…` holds logs against `acceptance:` of the spec, or, where it states no tests, against the
tests of each tier with the slow end of the predicted band as the threshold. A test passes where so many runs as it asks
for reach the figure at its size without wrong values; a run at another size or on other ranks is none. Exit status 0
means that every test passes. `--against LOG…` names the logs of an earlier
acceptance: each test then shows its change since, which tells a machine that wears out from one that was never better.
A change above 5.7 % is named (`beyond_repeats` in JSON), since two runs of a machine, each within 4 % of it, differ by
less.
`--write` stores the measurements of a passed acceptance in `measured:`, as `diagnose --write` does: each sets the
achieved share of the link that limits it, and predictions with it have the range of shares measured on the same machine
(4 % of the time to send). A simulated truth with runs 2 % about it is in that range in 96 % of cases.
"""
SPEC = """\
clusterspec: 1
name: pod
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128}
layout: {tp: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
"""
LOG = """\
h1:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.1<0>
all_reduce_perf -b 4G -e 8G -f 2 -g 1
# Rank 31 Group 0 Pid 1 on h4 device 7 [0x01] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  4294967296    1073741824     float     sum      -1   173400   24.77   47.99      0   173400   24.77   47.99      0
  8589934592    2147483648     float     sum      -1   346700   24.78   48.00      0   346700   24.78   48.00      0
"""


def parts() -> list[str]:
    """The sections on diagnosis and acceptance."""
    return [
        DIAGNOSE.format(cases=_published_cases()),
        table(("cause", "meaning"), ((f"`{name}`", meaning) for name, meaning in MEANINGS.items())),
        *example({"pod.yaml": SPEC, "nccl.log": LOG}, ("diagnose", "pod.yaml", "nccl.log")),
        ACCEPT,
        *example({"pod.yaml": SPEC, "nccl.log": LOG}, ("accept", "pod.yaml", "nccl.log")),
    ]


def _published_cases() -> int:
    """The number of published threads among the tests of causes."""
    text = (Path(__file__).parents[2] / "tests/analysis/test_published_causes.py").read_text("utf-8")
    return len(re.findall(r"^ +Case\(", text, re.MULTILINE))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def example(files: dict[str, str], words: Sequence[str]) -> Iterator[str]:
    """A command and what it prints in a folder with some files."""
    out = io.StringIO()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.chdir(folder)
            for name, text in files.items():
                Path(name).write_text(text, "utf-8")
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                run([*words, "--color", "never"])
        finally:
            os.chdir(before)
    yield f"```console\n$ clusterspec {' '.join(words)}\n{out.getvalue().rstrip()}\n```\n"
