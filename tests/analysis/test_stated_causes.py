"""Causes that threads and documents state: drawn and judged before the program read their lines.

`stated_causes.csv` has the draw, the address, the cause that the address states, its place among those that the program
names, and lines in the form that programs print them.

- `messages`: of the 31 of a first draw (2026-11-25), 18 causes were named first and eight logs refused before anything
  was changed; of the 25 of a second one, drawn after the first was mended, eleven first (one as none of the known) and
  eight refused.
- `symptoms`: one query a class of faults gave 25 threads: 16 causes were named first, 21 named. Of 16 symptoms of
  documents and a few threads 6 first, 6 named; of 10 of documents and the rules of a monitor of nodes 2 first; of 11
  threads found by their errors, after these were mended, 11 first. Of the others, these stay as they were:
  ROCm/rocm-systems pull 7864 (an IPC handle refused: a setting first), NVIDIA/nccl issue 2077 (multicast groups of the
  switches used up: the service of the switches first, as the warning says), NVIDIA/nccl issues 799 and 622 (a NIC
  without an address, a port that is disabled: an unreachable peer first), NVIDIA/nvidia-container-toolkit issue 1227
  (hidden accelerators first, as of other threads), and of awslabs/awsome-distributed-training a rank without EFA and a
  module of the program's own directory.
- `A` to `F`: of every query, one for each framework or class of faults, the results in their order whose excerpt has a
  line of an error and a cause. Of 16 of A 12 were named first and named; of 26 of B, drawn after A was mended, 11 and
  11; of 19 of C, after B was mended, 13 and 14; of 13 of D, after C was mended, 6 and 6;
  of 9 of E, after D was mended, 5 and 6; of 26 of F, after E was mended, 13 and 13.
- `G` and `H` (2026-11-26): the same rule, with queries for each of NCCL, RCCL, Megatron-LM, DeepSpeed, PyTorch, vLLM,
  SGLang, TensorRT-LLM, Slurm, UCX, libfabric, Ray, Triton, ROCm and JAX. Of 40 of G, 24 were named first and 25 among
  the first three before anything was changed; of 25 of H, after G was mended by forms rather than by messages, 18 and
  19, as many as before. A row has the first of the causes that its thread allows.
- `I` and `J` (2026-11-26): the same rule, with queries for the frameworks of G and for Kubernetes' device plugins,
  NeMo, torchtitan and the GPU operator too. Of 26 of I, 17 were named first and 19 among the first three before
  anything was changed; of 20 of J, after I was mended by the messages of Slurm, Open MPI, the device plugin and the
  kernel, 12 and 13. Most misses are of a message that no source had given yet; the others are releases that have a
  fault of their own and print a general error, and one NIC toward many peers.
- `K` (2026-11-26): the same rule, after J was mended, with queries for classes of faults that I and J had few of:
  reasons of drained nodes, images of containers, login, registered memory, Xids. Of 23, 14 were named first and 15
  among the first three before anything was changed.
- `L` (2026-11-26): the same rule, after K was mended and the messages of Mooncake, MORI, Horovod, pyxis, enroot, Gloo
  and runc were listed from their sources, with queries for Ray, libnvidia-container, shared file systems, Kubeflow,
  DeepSpeed and symbols of NCCL. Of 15, nine were named first and ten among the first three before anything was
  changed. Two of them have the same line and two causes (NVIDIA/libnvidia-container issues 103 and 204).
- `M` (2026-11-26): the same rule, after L was mended and causes by an object and what happened to it were added, with
  four queries. Of 5, two were named first and three among the first three before anything was changed.
- `N` (2026-11-26): the same rule, after M was mended, with queries for each of the frameworks and for storage, Neuron,
  JAX, containers and MPI; written down with every cause that its thread allows before the program read it. Of 25, 16
  were named first and 17 among the first three before anything was changed; of ten logs without a cause of a cluster
  (warnings of runs that went on, errors of an application itself), nine were without one, and one had a possible cause
  (ROCm/rocm-systems pull 7916: RCCL's warning about `iommu=pt` where the kernel passes through by default).
- `O` (2026-11-26): the same rule, after N was mended by classes of objects and events, with queries for 16 frameworks
  and classes of faults. Of 25, 17 were named first, and no other among the first three, before anything was changed;
  of ten logs without a cause of a cluster, all were without one. Objects at the start of a sentence, thus with a
  capital, had been overlooked: of 155 messages of the imagined kind, with capitals, 96 were told before, 145 since.
- `P` (2026-11-26): the same rule, after O was mended, with eight queries. Of 15, ten were named first and eleven among
  the first three before anything was changed.
- `Q` (2026-11-26): the same rule, after P was mended, with queries for 25 frameworks and classes of faults; threads
  that stand in another table are left out. Of 40, 23 were named first and 27 among the first three before anything was
  changed.
- `R` and `S` (2026-11-26): the same rule, after Q was mended by what a program was doing (the files and functions of a
  traceback), by the reason behind the last colon, and by the prior of exceptions that a library raises. Of 26 of R, 17
  were named first and 18 among the first three before anything else was changed; of 22 of S, after R was mended by
  pairs of general words, 13 and 15. Of ten logs without a fault of each, nine (a log of NCCL that uses sockets has
  that as a possible cause) and ten were silent. What is still not first of Q to S: of thirteen the lines do not tell
  the cause (a fault of a release that prints a general error, a release where the error names a setting, a fault of a
  device or of a driver behind an unknown error), of five the words are of no class.
- `T` and `U` (2026-11-26): threads that stand in no table yet, written down with every cause that they allow before the
  program read them. Of 23 of T, 14 were named first and 15 at all before anything was changed; four logs were left
  undecided, two had another cause with certainty, three were refused. Of 18 of U, drawn after T was mended by what ends
  alike, 9 were named first, 10 at all and 12 there or among the causes that end alike; five were left undecided (of
  three the lines do not decide it), three had another cause with certainty, one was refused. Of ten logs without a
  fault of each, nine were silent (an error of UCX that the benchmark outlives, and a retry of pip, were not). Last
  lines of four threads that show them only in part are in the form of their program.
- `V` (2026-11-26): the same rule, after U was mended, with queries for Neuron, Gaudi, Ascend, TPUs, EFA and monitors of
  nodes. Of 11, four were named first, four at all and six there or among the causes that end alike; six were left
  undecided, one had another cause with certainty, none was refused. Ten logs without a fault were silent.
- `W` (2026-11-26): the same rule, after V was mended, with queries for shared memory, multicast of switches, Slurm,
  drivers and limits. Of 21, 14 were named first and 18 at all; seven were left undecided (of four no line decides it),
  none had another cause with certainty, none was refused. Of ten logs without a fault seven were silent: channels
  through the memory of the host were taken for a cause of a stop, and sockets on a design with InfiniBand and RCCL's
  warning about `iommu=pt` are possible causes of a slow run.
- `X` (2026-11-26): the same rule, after W was mended, with queries for MTU and GIDs, login, ports, symbols, Mooncake,
  NVSHMEM, threads and permissions. Of 22, 16 were named first, 18 at all and 19 there or among the causes that end
  alike; four were left undecided, two had another cause with certainty (a GID that is missing, as an unreachable peer
  rather than as a setting; used-up retries, where the fabric dropped packets), none was refused. Of ten logs without a
  fault, nine were silent (a log that ends at the start of NCCL may be of a hang).
- `Y` (2026-11-26): the same rule, after X was mended, with queries for vLLM, NeMo, Ray, TensorRT-LLM, pyxis, JAX
  and GB200 (of 22 threads with a cause, 12 stood in a table before). Of 10, four were named first and six at all; three
  were left undecided, one had another cause with certainty (an ended worker of a data loader, as one that is late), two
  were refused. One of these stays so: `1.0 nodes have joined so far, waiting for 1.0 more` (awslabs/aws-orbit-workbench
  issue 677), which a log of a start that goes well has, too.
- `Z1` to `Z4` (2026-11-26): the same rule, with queries for root causes, storage, launchers, schedulers, users of
  clusters and bring-up; threads that stand in a table before are left out, and notes whose repository the search does
  not name are counted, but not listed. Of those that a log can decide, before anything was changed: of 14 of Z1 (with
  its notes), eight were named first, ten at all and twelve there or among the causes that end alike, none with another
  cause in certainty; of five of Z2 all first. After these were mended by what an event explains and by reasons of the
  system, of 12 of Z3 seven first, nine at all and eleven with those that end alike, three with another cause in
  certainty (a GID, memory that the firmware of a NIC refuses, a setting of another release); after these, of ten of Z4
  eight first and at all, none in certainty, two refused (a heap that glibc reports, a scheduler without place).
  Of five queries of `Z5` only two threads were new: one first, one not named, none in certainty.
- `Z6` to `Z9` (2026-11-27): the same rule, with 12 to 16 queries for each of two draws and four for the third and the
  fourth: communication, InfiniBand, drivers, containers, engines, kernels, checkpoints, storage, schedulers, launchers,
  TPUs, Neuron and Gaudi; threads that stand in a table are left out. Of those that a log can decide, before anything
  was changed: of 12 of Z6 eight first, no other named; of 13 of Z7, drawn before Z6 was mended, eight first, no other
  named; of 13 of Z8, after both were mended, eleven first and twelve at all; of seven of Z9, after Z8 was mended, four
  first and six at all. None had another cause with certainty. Of four, two, two and two more the lines do not decide
  it. Lines are in the form of their program.
- `Z10` (2026-11-27): the same rule, after Z9 was mended, with seven queries. Of 12 that a log can decide, nine were
  named first and ten at all before anything was changed, none with another cause in certainty.
- `Z11` to `Z15` (2026-11-27): queries of a part and a symptom that a seed draws from 26 parts and 16 symptoms
  (2911270301, -11, -21, -31 and -41), every hit whose output and cause are shown, allowed causes written down before
  the program read the lines; threads that stand in a table are left out. Before anything was changed: of 15 of Z11 nine
  first and twelve at all, three refused; of 17 of Z12, after Z11 was mended, 11 first and at all, three refused; of 18
  of Z13, after Z12, 15 first and all named; of twelve of Z14, after Z13, nine first and ten at all; of 14 of Z15,
  after Z14, ten first and eleven at all, two refused. None had another cause with certainty.
- `Z16` (2026-11-27): the same with the seeds 2911270351 and -61, after Z15 was mended. Of 14 that a log can decide, 13
  were named first before anything was changed, and one among the causes that end alike; none in certainty.
- `Z17` (2026-11-27): the same with the seed 2911270371, after Z16. Of 16 that a log can decide ten were named first
  before anything was changed, no other at all, three were refused; none in certainty.
- `Z18` (2026-11-27): queries for each of 14 parts with a symptom that the seed 2911270800 draws; threads that stand in
  a table are left out. Of 12 that a log can decide nine were named first before anything was changed, no other at all,
  none with another cause in certainty.
- `Z19` (2026-11-27): eight of 16 parts with a symptom of the seed 2911270910, after Z18 was mended by variables of the
  environment, privileges and options that exclude each other. Of 7 (10 more stood in a table) six were named first.
- `Z20` (2026-11-27): three queries, after Z19. Of three that were new, and that a log can decide, all were named first.
- `Z21` to `Z24` (2026-11-27): queries for parts and symptoms, after Z20; of 40 hits with a cause more than half stood
  in a table. Before anything was changed: of 14 of Z21 twelve first and at all; of eight of Z22, drawn before Z21 was
  mended, all first; of four of Z23 three first, the other among those that end alike; of seven of Z24, after Z23, five
  first, one refused (a kubelet's `DiskPressure`), and smg-project/smg issue 2503 with a limit of a NIC first (its peer
  had restarted, no line tells of it) and its segmentation fault third. None in certainty with another cause.
- `Z25` (2026-11-27): 33 threads, after Z24; 14 stood in a table (12 first, 2 named). Of the 19 that were new eleven
  were named first and twelve at all before anything was changed; two were refused. Of 25 logs of whole runs that ended
  well (files of 22 repositories) 23 were silent: an installer may not write a directory that the run does not need,
  and NVLS, which the machine of the test has, was not available on that of the log.
- `Z26` to `Z28` (2026-11-27): queries for users of clusters, schedulers, storage, stores and clouds, after Z25; threads
  that stand in a table are left out. Before anything was changed, of 20 of Z26 eleven were named first and twelve at
  all, one was refused; of eight of Z27, drawn after Z26 was mended, three first and four at all, three refused; of six
  of Z28, drawn after Z27 was mended, four first and at all, one refused. Two of Z26 had a setting
  as the likely cause (clocks that differ, processes that are each rank 0 of 1).
- `Z29` (2026-11-27): queries for communication, RoCE, fabrics, drivers, limits of containers, binding, engines, AMD,
  Neuron and Gaudi, after Z28; threads that stand in a table are left out. Of 32, 21 were named first and 25 at all
  before anything was changed, six were refused. Of six (vllm-project/vllm issue 14111, NVIDIA/nccl issues 1105, 1664
  and 2241, ROCm/vllm issue 390, openucx/ucx issue 6000) the cause is what a line or a maintainer says, and no mend is
  told; of three (NVIDIA/nccl issues 925 and 550, openucx/ucx issue 6000) the lines are in the form of their program.
  m2lines/Samudra issue 634 waits for its data, but prints no time of a step. The design has NVLink: with one over PCIe
  the missing `iommu=pt` of ROCm/vllm issue 390 comes first. All 18 logs of whole runs without a fault, drawn from
  files of repositories, were silent; of two of them the table was not compared before its cut rows were joined.
- `Z30` (2026-11-27): queries for the same parts, after Z29 was mended; threads that stand in a table are left out. Of
  15, eleven were named first, and no other, before anything was changed; two were refused, one was left undecided, and
  one stays with an unreachable peer first (ROCm/rocm-systems pull 11174: a fault of a release that no line names). Of
  two (aws/aws-ofi-nccl issue 1020, aws-samples/aws-hpc-tutorials pull 448) a cause of the same event was allowed.
- `Z31` and `Z32` (2026-11-27): queries for libraries of communication, engines, AMD, Ascend, drivers, Lustre and stores
  of objects, Slurm, Kubernetes and clouds, after Z30; threads that stand in a table are left out. Before anything was
  changed, of 29 of Z31 17 were named first and 18 at all, three were refused, and one had a missing accelerator in
  certainty where one accelerator may not open the memory of another (NVIDIA/TensorRT-LLM pull 17034); the lines of
  three do not decide (NVIDIA-NeMo/Speech issue 14829, ROCm/legacy-rocm-build issue 2448, vllm-project/vllm issue
  45318). Of 16 of Z32, drawn after Z31 was mended, twelve were named first and no other, none refused. Of 32 logs of
  whole runs that ended well (files of 30 repositories) 30 were silent: NCCL's NICs that it makes of one port each and
  GPUDirect through the proxy of another rank were held against one, and one uses sockets, with little evidence.
- `Z33` and `Z34` (2026-11-28): queries for firewalls, UCX, ROCm, Neuron, TPUs, EFA, attention, compilers of kernels,
  drivers in containers, IMEX, Apptainer, checkpoints, XLA, Mooncake, containers, RoCE, Ray and rendezvous, after Z32;
  threads that stand in a table are left out. Before anything was changed, of 27 of Z33 20 were named first and no
  other, two were refused; of seven of Z34, drawn while Z33 was mended, four first, one refused. None in certainty with
  another cause. NVIDIA/gpu-operator issue 1356 tells no reason but that a connection closed. Lines of eight of Z33 are
  in the form of their program.
- `Z35` (2026-11-28): queries for shared memory, FSDP and Dynamo, after Z34 was mended by what a daemon writes, clouds
  without capacity, control groups, settings that bound each other and the sources of Apptainer, the DRA driver and
  Slurm; threads that stand in a table are left out. Of 12, ten were named first before anything was changed, no other
  at all; one had a missing library as the likely cause (a service of NATS that does not run), one the crash that
  followed. Of 34 logs of repositories that were drawn by lot, most of runs that ended well, a library's complaint about
  the number of its threads, a warning of Python and a directory without a checkpoint were taken for errors.
- `Z36` and `Z37` (2026-11-28): queries for communication alone (NCCL, RCCL, libfabric, Slingshot, UCX, NVSHMEM, MPI,
  Mooncake, RoCE, EFA, oneCCL, Kubernetes), after Z35; threads that stand in a table are left out, which most of the
  hits did. Before anything was changed, of 16 of Z36 nine were named first and eleven at all; one was refused, one left
  undecided, and one had a missing interface in certainty (Mooncake's summary that no NIC is left, where kvcache-ai pull
  3538 lacks nvidia-peermem). Of 9 of Z37, drawn after Z36 was mended, four first and five at all, one refused, one with
  another cause in certainty (ofiwg/libfabric issue 12708: a device that a container may not open, named second). What
  is not first of Z37: a mismatched MTU behind a daemon that did not start, GIDs that are missing, a library without the
  provider of EFA, and a plugin without the symbols of a release (NVIDIA/nccl issue 513), which no line blames. Lines of
  eight are in the form of their program.
- `Z38` to `Z40` (2026-11-28): queries for communication alone (fabrics and drivers of NICs, plugins, MPI, NVSHMEM,
  UCX, PSM3, operators of Kubernetes, engines across nodes), after `learned` was mended; threads that stand in a table
  are left out. Before anything was changed, of 12 of Z38 eight were named first and nine at all; of 13 of Z39, drawn
  after Z38 was mended, six first and no other, two refused; of 14 of Z40, drawn after Z39 was mended, four first and
  six at all, four refused, one with another cause in certainty (an unreachable peer, where a GID is missing). Not
  first were: daemons and libraries without a listed message (OpenSM, PSM3, the GPU operator), wire-up and copies
  between processes of UCX, errors of assertions of TensorRT-LLM, a CUDA IPC handle that is closed at the end, PSM2,
  backends of NIXL and the release behind a full queue (openucx/ucx issue 8336: locked memory first).
- `Z41` to `Z43` (2026-11-28): queries for GPU sharing, operators of Kubernetes, NIXL, NICs and schedulers, half of
  them with "root cause"; threads of a table of this repository are left out. Before anything was changed, of 20 of Z41
  twelve were named first and 13 at all, one with another cause likely; of 13 of Z42, drawn after Z41 was mended, eleven
  first and twelve at all; of 6 of Z43, drawn after Z42 was mended, four first and no other. Not known were libibverbs
  and perftest by their own words.
- `Z44` (2026-11-28): queries for each of NCCL, RCCL, EFA, UCX, Slurm, containers, Kubernetes, engines, DeepSpeed,
  Megatron-LM, TPUs, Neuron and Gaudi, after Z43 was mended; hits that stand in a table are left out, the causes were
  written down before the program read the log of the thread. Of 21, 14 were
  named first and no other before anything was changed (15 with the capability of a container that was written down as
  a permission), one was refused, one left undecided, four had another cause. Not known were reports that two processes
  tear, ranks that start on one device, specifications of devices without any device, and combinations that an engine
  refuses. Lines are in the form of their program.
- `Z45` (2026-11-28): queries for MPICH, OpenXLA, Multus, PBS, filters of submissions, checkpoints and engines, after
  Z44 was mended. Of 16, seven were named first and nine at all before anything was changed; three were refused, four
  undecided or with another cause. Not known were providers that MPICH does not find, filters and limits of queues,
  plugins of SR-IOV, and a checkpoint of other ranks. Lines are in the form of their program.
- `Z46` (2026-11-28): queries for pyxis, GPUDirect, Ray, RCCL, Neuron, drivers, limits, interfaces and ports, after Z45
  was mended. Of 13, ten were named first and twelve at all before anything was changed; one was left undecided (a
  completion queue that MVAPICH2 cannot make). Lines are in the form of their program.
- `Z47` (2026-11-29): queries for Gaudi, Neuron, TPUs, containers of Slurm, operators, storage, EFA, PMIx, engines, the
  libraries of Intel and Cray, JAX and munge, after some 230 messages of Slurm, pyxis, enroot, runc, libfabric, UCX,
  PyTorch, Ray and optimum-neuron were read in their sources; of some 60 hits with an output more than half stood in a
  table. The causes were written down before the program read the log as it was posted. Of 18, twelve were named first
  and no other before anything was changed; five were left undecided, none was refused, and one had another cause (a
  socket of munge that takes no more connections, as a limit of processes). Lines are in the form of their program.
- `Z48` (2026-11-29): the same rule, after Z47 was mended, with queries for drivers, file systems, Apptainer, engines,
  checkpoints, KubeRay, ROCm and stores of objects. Of 15, nine were named first and ten at all before anything was
  changed; one was refused, one left undecided, and three had another cause (the words of a driver with a space, a mount
  that a path refuses, and a line that the terminal wraps). Two stay: a file that a group may not open is of an
  accelerator that the rank does not see, and a directory without its parent may be missing on one node.
- `Z49` (2026-11-29): the same rule, after Z48 was mended, with queries for Slurm, CUDA's toolkit, KV transfer, Gaudi,
  DCGM, TPUs, devices and networks of pods, oneCCL and TensorFlow. Of 35, 22 were named first and 26 at all before
  anything was changed; none was refused, three were left undecided, and six had another cause (a transfer of a KV cache
  as an image that is pulled, a pod that a scheduler holds, virtual functions, the loader's cache in a container). One
  stays unsaid: source files that were replaced below a compiler of kernels.
- `Z50` (2026-11-29): the same rule, after Z49 was mended, with queries for nccl-tests, Ray, MPI's launcher,
  TensorRT-LLM, lost devices, data, NICs and PyTorch's rendezvous. Of 20, twelve were named first and 15 at all before
  anything was changed; two were refused (a timeout of PyTorch's store after a bar of progress, a key that etcd lacks),
  three left undecided, and none had another cause alone. Two stay: TensorRT's context without a reason, and the key.
- `learned`: threads with a stated cause that were read for their mechanism, a search for each (GPUDirect, access
  control, IOMMU, NICs, GIDs, MTU, plugins, shared and locked memory, containers, names, releases, switches of NVLink);
  not fresh, as the program was mended on them. Of 42 of the first three searches 26 were named first before that.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.analysis.test_diagnosis import names
from tests.analysis.test_drawn_threads import Thread
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import sampled, thorough

with (Path(__file__).parent / "stated_causes.csv").open(encoding="utf-8", newline="") as file:
    ROWS = tuple(csv.DictReader(file))


def _threads(place: str) -> list[Thread]:
    return [Thread(row["address"], row["lines"], row["cause"]) for row in ROWS if row["place"] == place]


def _named(thread: Thread) -> list[str]:
    compared = read(PAIR, thread.lines, 16)
    return names(compared) if compared is not None else []


@pytest.mark.parametrize("thread", sampled(_threads("first"), len(ROWS) // 2), ids=lambda each: each.address)
def test_the_cause_that_an_address_states_is_named_first(thread: Thread) -> None:
    assert _named(thread)[:1] == [thread.cause]


@thorough
@pytest.mark.parametrize("thread", _threads("named"), ids=lambda each: each.address)
def test_the_cause_that_an_address_states_is_named(thread: Thread) -> None:
    assert thread.cause in _named(thread)[1:]


@pytest.mark.parametrize("thread", _threads("missed"), ids=lambda each: each.address)
def test_a_cause_that_no_line_tells_is_not_named(thread: Thread) -> None:
    assert thread.cause not in _named(thread)


@pytest.mark.parametrize("thread", _threads("quiet"), ids=lambda each: each.address)
def test_warnings_and_errors_of_an_application_have_no_cause_of_a_cluster(thread: Thread) -> None:
    assert set(_named(thread)) <= {"program-error"}


def test_an_address_has_a_cause_once_for_the_same_lines() -> None:
    keys = [(row["address"], row["lines"]) for row in ROWS]
    assert len(keys) == len(set(keys))
    assert {row["place"] for row in ROWS} == {"first", "named", "missed", "quiet"}
