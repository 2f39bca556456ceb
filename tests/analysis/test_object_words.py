"""Errors in words that no program is listed with, by classes of objects and of what happened to them.

The lines were written before the words were, in the forms of programs that nobody has listed: of 155, 33 were read with
their cause by the words that there were, 145 after the classes had been added; the others are left out here. The same
lines with a capital after each colon are read alike.
"""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.object_words import OBJECTS
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import PAIR, read
from tests.effort import telling, thorough

LINES = (
    ("ERROR: could not mount /fsx on node-3: exit status 32", "storage-fault"),
    ("Error: checkpoint volume is unavailable", "storage-fault"),
    ("RuntimeError: write to /lustre/ckpt/iter_100 failed: Broken storage connection", "storage-fault"),
    ("error: filesystem /scratch is offline", "storage-fault"),
    ("OSError: file appears truncated: expected 1073741824 bytes, got 4096", "storage-fault"),
    ("E0101 failed to read shard 3: short read", "storage-fault"),
    ("error: S3 mountpoint disconnected while reading dataset", "storage-fault"),
    ("ERROR: not enough disk space to save checkpoint (need 120 GB)", "storage-full"),
    ("error: insufficient storage on /var/lib/docker", "storage-full"),
    ("RuntimeError: quota limit reached for /home/user", "storage-full"),
    ("failed to write trace: file system is at 100% capacity", "storage-full"),
    ("Error: inode limit reached on /scratch", "storage-full"),
    ("ERROR: failed to download model weights from https://huggingface.co: timed out", "outside-server"),
    ("error: could not fetch tokenizer: 404 Not Found", "outside-server"),
    ("RuntimeError: download of dataset failed after 5 retries", "outside-server"),
    ("Error: SSL certificate verification failed for huggingface.co", "outside-server"),
    ("error: registry returned 503 Service Unavailable", "outside-server"),
    ("Failed to upload artifacts to S3 bucket: AccessDenied", "outside-server"),
    ("ERROR: user 1000 is not allowed to write to /checkpoints", "file-permission"),
    ("error: cannot create directory '/opt/x': not permitted", "file-permission"),
    ("RuntimeError: access to /data/train denied", "file-permission"),
    ("error: container is missing the SYS_ADMIN capability", "container-permission"),
    ("Error: seccomp profile blocked syscall io_uring_setup", "container-permission"),
    ("error: SELinux is preventing access to /dev/nvidia0", "container-permission"),
    ("Error: cgroup device access denied for /dev/infiniband/uverbs0", "container-permission"),
    ("ERROR: unprivileged container cannot use huge pages", "container-permission"),
    ("ERROR: nvidia-persistenced is not running", "stopped-service"),
    ("error: munge daemon is not responding", "stopped-service"),
    ("fatal: scheduler service unavailable", "stopped-service"),
    ("Error: could not contact the job controller", "stopped-service"),
    ("error: health agent socket /run/agent.sock does not exist", "stopped-service"),
    ("ERROR: only 3 of 4 nodes reported ready", "absent-ranks"),
    ("RuntimeError: gang scheduling incomplete: 12 pods pending", "absent-ranks"),
    ("TimeoutError: rendezvous did not complete, 2 participants missing", "absent-ranks"),
    ("error: worker 5 never registered with the head", "absent-ranks"),
    ("Error: waiting for leader to come up timed out", "absent-ranks"),
    ("ERROR: remote worker 3 closed the connection unexpectedly", "peer-ended"),
    ("error: heartbeat from rank 7 stopped", "peer-ended"),
    ("RuntimeError: process group aborted because another rank failed", "peer-ended"),
    ("ERROR: stage 2 of the pipeline went away", "peer-ended"),
    ("error: broken pipe while sending to node gpu-12", "peer-ended"),
    ("ERROR: amdgpu_peermem is required to register HBM with a NIC", "gpudirect-refused"),
    ("RuntimeError: nvidia-peermem not loaded, zero copy is off", "gpudirect-refused"),
    ("ERROR: no response from 10.1.2.3:4791 after 7 retries", "unreachable-peer"),
    ("RuntimeError: RDMA connection to peer 4 could not be established", "unreachable-peer"),
    ("error: ping to gpu-07 failed", "unreachable-peer"),
    ("Error: firewall blocks port 29500 on node2", "unreachable-peer"),
    ("ERROR: RoCE path unresolved for gid index 3", "unreachable-peer"),
    ("error: queue pair transition to RTR failed: no route", "unreachable-peer"),
    ("ERROR: interface eth1 not found on node3", "wrong-interface"),
    ("error: no InfiniBand HCA found", "wrong-interface"),
    ("ERROR: selected network device docker0 is not routable", "wrong-interface"),
    ("ERROR: hostname gpu-03 does not resolve", "name-resolution"),
    ("Error: DNS lookup for head-svc failed", "name-resolution"),
    ("RuntimeError: cannot find address of host master-0", "name-resolution"),
    ("ERROR: port 8000 is occupied by another process", "port-in-use"),
    ("Error: could not bind to 0.0.0.0:29500", "port-in-use"),
    ("RuntimeError: server failed to start, another instance is using port 30000", "port-in-use"),
    ("ERROR: HBM exhausted while allocating activations", "memory-full"),
    ("RuntimeError: not enough GPU memory to load the model", "memory-full"),
    ("Error: device allocator out of space, requested 2.5GiB", "memory-full"),
    ("ERROR: model does not fit in accelerator memory", "memory-full"),
    ("RuntimeError: VRAM insufficient: need 80 GB, have 40 GB", "memory-full"),
    ("ERROR: worker exceeded host RAM limit", "host-memory-full"),
    ("Error: system is low on memory, killing worker", "host-memory-full"),
    ("RuntimeError: unable to pin 64 GB of host memory", "host-memory-full"),
    ("Error: swap exhausted", "host-memory-full"),
    ("ERROR: not enough KV blocks for request of 32768 tokens", "kv-cache-full"),
    ("Error: cache of keys and values exhausted", "kv-cache-full"),
    ("RuntimeError: prompt of 40000 tokens exceeds cache capacity", "kv-cache-full"),
    ("ERROR: KV pool too small for max sequence length", "kv-cache-full"),
    ("ERROR: found 7 GPUs, expected 8", "missing-accelerator"),
    ("Error: no accelerators detected on node", "missing-accelerator"),
    ("RuntimeError: device index 8 out of range", "missing-accelerator"),
    ("error: TPU chips not visible in this container", "missing-accelerator"),
    ("ERROR: CUDA_VISIBLE_DEVICES hides all devices", "missing-accelerator"),
    ("Error: nvidia.com/gpu not available on node", "missing-accelerator"),
    ("ERROR: GPU 5 reported double bit ECC errors", "accelerator-fault"),
    ("Error: NVLink 3 on GPU 2 is inactive", "accelerator-fault"),
    ("RuntimeError: device hang detected on chip 4", "accelerator-fault"),
    ("ERROR: HBM row remapping failed on GPU 1", "accelerator-fault"),
    ("error: accelerator 3 needs a reset", "accelerator-fault"),
    ("ERROR: GPU 4 failed diagnostics", "accelerator-fault"),
    ("ERROR: NIC mlx5_3 firmware assert", "nic-fault"),
    ("error: adapter ib2 health check failed", "nic-fault"),
    ("Error: HCA mlx5_0 fatal internal error", "nic-fault"),
    ("ERROR: port 1 of mlx5_2 is down", "unstable-link"),
    ("error: link between leaf3 and spine1 lost", "unstable-link"),
    ("Error: symbol errors above threshold on port 12", "unstable-link"),
    ("ERROR: cable of NIC 3 unplugged", "unstable-link"),
    ("ERROR: driver 470.82 is too old for CUDA 12", "driver-release"),
    ("Error: kernel module nvidia not loaded", "driver-release"),
    ("error: ROCm driver not compatible with kernel 6.8", "driver-release"),
    ("ERROR: flash-attn 2.3 is not compatible with torch 2.6", "library-release"),
    ("Error: libnccl.so.2 is missing", "library-release"),
    ("ImportError: cannot load extension _C: wrong ABI", "library-release"),
    ("RuntimeError: this wheel was built for CUDA 11.8", "library-release"),
    ("error: unsupported version of protobuf", "library-release"),
    ("ERROR: please upgrade transformers to at least 4.51", "library-release"),
    ("ERROR: node 3 runs NCCL 2.18 while node 1 runs 2.21", "mixed-releases"),
    ("Error: protocol version of worker (5) does not match head (6)", "mixed-releases"),
    ("ERROR: FP8 is not supported on this GPU", "unsupported-accelerator"),
    ("Error: kernel requires compute capability 9.0, found 8.0", "unsupported-accelerator"),
    ("RuntimeError: no kernel available for gfx906", "unsupported-accelerator"),
    ("ERROR: this architecture (sm_120) is unsupported", "unsupported-accelerator"),
    ("ERROR: GPU 0 is used by another process", "shared-accelerator"),
    ("Error: two ranks mapped to device 3", "shared-accelerator"),
    ("RuntimeError: accelerator is locked by pid 4711", "shared-accelerator"),
    ("ERROR: NVLink fabric not initialized", "fabric-manager"),
    ("Error: NVSwitch service is not started", "fabric-manager"),
    ("RuntimeError: multicast object creation failed on NVSwitch system", "fabric-manager"),
    ("ERROR: could not register GPU buffer with NIC", "gpudirect-refused"),
    ("Error: nvidia_peermem module is not loaded", "gpudirect-refused"),
    ("RuntimeError: dmabuf export of device memory failed", "gpudirect-refused"),
    ("ERROR: memlock limit of 64 KB is too low", "locked-memory"),
    ("Error: pinning memory for RDMA failed: limit reached", "locked-memory"),
    ("ERROR: ran out of file descriptors", "file-limit"),
    ("Error: open files limit (1024) reached", "file-limit"),
    ("ERROR: cannot create thread: limit reached", "process-limit"),
    ("Error: pids cgroup limit hit", "process-limit"),
    ("ERROR: /dev/shm is too small (64 MB)", "shared-memory"),
    ("Error: could not create shared memory segment", "shared-memory"),
    ("ERROR: rank 2 is at step 300 but rank 0 at step 301", "ranks-diverge"),
    ("RuntimeError: collective call order differs between ranks", "ranks-diverge"),
    ("ERROR: tensor shapes differ across ranks", "ranks-diverge"),
    ("ERROR: checkpoint has 32 layers but model has 40", "checkpoint-mismatch"),
    ("RuntimeError: missing tensor model.layers.3.mlp.weight in checkpoint", "checkpoint-mismatch"),
    ("ERROR: unexpected parameter in weights file", "checkpoint-mismatch"),
    ("ERROR: spot instance is being reclaimed", "job-ended"),
    ("Error: wall time limit exceeded, terminating", "job-ended"),
    ("error: node gpu-3 was drained while the job was running", "job-ended"),
    ("ERROR: GPU 3 clocks reduced due to thermal slowdown", "throttled-clocks"),
    ("error: power cap reached on node 4", "throttled-clocks"),
    ("ERROR: data loader worker did not respond within 300 s", "data-loading"),
    ("Error: prefetch queue empty for too long", "data-loading"),
    ("ERROR: gradient overflow, loss became inf", "non-finite-values"),
    ("RuntimeError: NaN detected in logits", "non-finite-values"),
    ("ERROR: uncorrected DIMM error on socket 1", "host-fault"),
    ("error: kernel oops on node gpu-9", "host-fault"),
    ("ERROR: unknown argument --tensor-paralel", "invalid-setting"),
    ("Error: config key 'optimizer.lr' is required", "invalid-setting"),
    ("RuntimeError: number of heads 30 is not divisible by tp 8", "invalid-setting"),
    ("error: environment variable MASTER_ADDR is empty", "invalid-setting"),
    ("ERROR: batch size must be a multiple of data parallel degree", "invalid-setting"),
    ("Error: passwordless login to gpu-4 is not configured", "remote-login"),
    ("ERROR: kernel crashed with out-of-bounds access", "program-fault"),
    ("error: worker received SIGSEGV", "program-fault"),
)
OF_PROGRAMS = (
    "RuntimeError: The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 1",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x512 and 1024x256)",
    "ValueError: too many values to unpack (expected 2)",
    "IndexError: list index out of range",
    "TypeError: forward() missing 1 required positional argument: 'x'",
    "AttributeError: 'NoneType' object has no attribute 'shape'",
    "RuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected input[8, 1, 224, 224] to have 3 channels",
    "RuntimeError: Trying to backward through the graph a second time",
    "RuntimeError: expected scalar type Half but found Float",
    "ZeroDivisionError: division by zero",
    "AssertionError: sequence length must be positive",
    "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
    "ValueError: could not convert string to float: 'abc'",
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation",
    "ValueError: Expected input batch_size (32) to match target batch_size (16).",
    "RecursionError: maximum recursion depth exceeded in comparison",
    "RuntimeError: dictionary changed size during iteration",
    "StopIteration",
    "NameError: name 'foo' is not defined",
    "pandas.errors.ParserError: Error tokenizing data. C error: Expected 3 fields in line 7, saw 4",
    "sqlalchemy.exc.IntegrityError: UNIQUE constraint failed: runs.id",
    "jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant",
    "ValueError: Input contains NaN, infinity or a value too large for dtype('float64').",
    "RuntimeError: Boolean value of Tensor with more than one value is ambiguous",
    "IndexError: index 5 is out of bounds for dimension 0 with size 5",
    "RuntimeError: shape '[2, 3]' is invalid for input of size 7",
    "RuntimeError: stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1",
    "ValueError: The truth value of an array with more than one element is ambiguous",
    "INFO: worker 3 connected",
    "WARNING: FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated",
    "WARNING: tokenizer has a max length of 4096",
    "step 100 loss 2.3 lr 1e-4 error 0.02",
    "[INFO] checkpoint saved to /scratch/ckpt",
    "UserWarning: The given buffer is not writable",
    "INFO reconnecting after connection reset, retry 1",
    "validation error 0.12, best so far",
    "I0101 memory limit set to 80 GB",
    "DeprecationWarning: `np.bool` is a deprecated alias",
)


@telling(2)
@pytest.mark.parametrize(("line", "cause"), LINES)
def test_an_object_and_what_happened_to_it_tell_the_cause(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None
    assert names(compared)[:1] == [cause]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("ERROR: Uncorrected DIMM error on socket 1", "host-fault"),
        ("ERROR: Kernel crashed with out-of-bounds access", "program-fault"),
        ("ERROR: Disk quota is full on this machine", "storage-full"),
        ("RuntimeError: Accelerator 3 halted of its own", "accelerator-fault"),
        ("ERROR: Worker 4 was probably restarted", "peer-ended"),
        ("ERROR: Passwordless login to gpu-4 is not configured", "remote-login"),
    ],
)
def test_an_object_may_start_a_sentence(line: str, cause: str) -> None:
    compared = read(PAIR, line, 16)
    assert compared is not None and names(compared)[:1] == [cause]


@telling(2)
@pytest.mark.parametrize("line", OF_PROGRAMS)
def test_errors_of_a_program_and_warnings_tell_no_cause_of_a_cluster(line: str) -> None:
    traced = f'Traceback (most recent call last):\n  File "/app/train.py", line 3, in <module>\n    step()\n{line}'
    for text in (line, traced):
        compared = read(PAIR, text, 16)
        assert compared is None or set(names(compared)) <= {"program-error"}


def test_an_object_far_from_the_event_tells_nothing() -> None:
    near = read(PAIR, "error: volume /scratch is offline", 16)
    far = read(PAIR, f"error: volume {'x ' * 40} is offline", 16)
    assert near is not None and names(near) == ["storage-fault"]
    assert far is None or not far.causes


def test_the_file_of_a_source_is_no_object() -> None:
    compared = read(PAIR, "error: /src/host/worker/pool.cpp:17: reset of the counter was closed", 16)
    assert compared is None or not compared.causes


@thorough
def test_only_the_first_unlisted_errors_are_compared() -> None:
    ends = (f"{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(520))
    lines = [*(f"error: nothing about {end}" for end in ends), "error: volume /scratch is offline"]
    compared = read(PAIR, "\n".join(lines), 16)
    assert compared is not None and compared.causes == ()


def test_every_class_names_a_cause_of_a_line() -> None:
    assert {cause for causes, _, _ in OBJECTS for cause in causes.split()[:1]} <= {cause for _, cause in LINES}
