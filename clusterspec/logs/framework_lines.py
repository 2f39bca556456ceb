"""Lines of frameworks and services of a node: checkpoints of another model, stopped services.

Sources, read on 2026-11-25: Megatron-LM (`megatron/core/dist_checkpointing/strategies/torch.py`,
`megatron/training/checkpointing.py`), PyTorch (`torch/nn/modules/module.py`, `torch/utils/cpp_extension.py`,
`torch/distributed/checkpoint/default_planner.py`), Ray (`python/ray/_private/utils.py`, `services.py`), the Docker
client, Python (`argparse`), DCGM and MIOpen, by NVIDIA/DCGM issue 57 and ROCm/MIOpen issue 67.
"""

from __future__ import annotations

import re

_OF_A_CALL = r"(?:[Cc]uda|CUDA|[Hh]ip[A-Z]|[Ss]tatus|[Nn]ccl|ibv_|errno|ok\(\))"
"""Words of a check that a call succeeded, whose error is for other patterns to read."""
FRAMEWORK_PATTERNS = (
    ("checkpoint", re.compile(r"([Gg]lobal shape mismatch for loaded .{1,120})")),
    ("checkpoint", re.compile(r"(size mismatch for [\w.]{1,120}: copying a param with shape.{0,60})")),
    ("checkpoint", re.compile(r"(Error\(s\) in loading state_dict for .{1,60})")),
    ("checkpoint", re.compile(r"(Missing key in checkpoint state_dict: .{1,80})")),
    (
        "checkpoint",
        re.compile(r"(\w{1,40} value from checkpoint \(.{1,40}\) is not equal to the input argument value.{0,40})"),
    ),
    ("service", re.compile(r"(Host engine connection invalid/disconnected|Unable to connect to host engine)")),
    ("service", re.compile(r"(Cannot connect to the Docker daemon at \S{1,80})")),
    ("service", re.compile(r"(Could not find any running Ray instance.{0,60})")),
    ("releases", re.compile(r"(Version mismatch: The cluster was started with.{0,40})")),
    ("build", re.compile(r"(Error building extension '[^']{1,80}')")),
    ("arguments-refused", re.compile(r"(error: argument -{1,2}\w[\w/, -]{0,120}: .{1,80})")),
    (
        "arguments-refused",
        re.compile(r"(error: (?:unrecognized arguments: |the following arguments are required: ).{1,80})"),
    ),
    (
        "build",
        re.compile(r"(error: command '[^']{0,120}(?:nvcc|hipcc|gcc|g\+\+|c\+\+)' failed with exit code [0-9]{1,3})"),
    ),
    # kernels: an assertion on the device, one that needs more of a multiprocessor, an assembler older than the device
    (
        "kernel-fault",
        re.compile(r"(: block: \[[0-9]{1,9},[0-9,]{3,20}\], thread: \[[0-9]{1,5},[0-9,]{3,12}\] Assertion .{0,80})"),
    ),
    ("kernel-resources", re.compile(r"(out of resource: (?:shared memory|registers|threads), Required: .{1,60})")),
    ("no-kernel", re.compile(r"(ptxas fatal {1,4}: Value 'sm_\w{1,6}' is not defined for option 'gpu-name')")),
    ("device-resource", re.compile(r"(CUDNN_STATUS_NOT_INITIALIZED|Unable to find a valid cuDNN algorithm.{0,40})")),
    ("check-failed", re.compile(rf"(\bCheck failed: (?!.{{0,120}}?{_OF_A_CALL}).{{1,160}})")),
    ("pinned", re.compile(r"(could not allocate pinned host of size: [0-9]{1,16})")),  # XLA
    ("non-finite", re.compile(r"(\bloss['\"]?\s{0,3}[:=]\s{0,3}(?:nan|NaN|NAN)\b)")),
    # hosts and containers
    ("permission", re.compile(r"(PermissionError: \[Errno 13\] Permission denied: '(?!/dev/)[^']{1,160}')")),
    (
        "permission",
        re.compile(
            r"(cannot (?:create|open|access|touch|remove|make)\b.{0,12} ['\"‘](?!/dev/)\S{1,160}: Permission denied)"
        ),
    ),
    ("killed", re.compile(r"(srun: error: \S{1,60}: tasks? [0-9,-]{1,40}: Killed)")),
    ("capability", re.compile(r"(failed to create user namespace: Operation not permitted)")),
    ("outside", re.compile(r"(LocalEntryNotFoundError\b.{0,80}|trying to access a gated repo.{0,40})")),
    ("rendezvous", re.compile(r"(RuntimeError: Socket Timeout)\s*$")),  # PyTorch's store
    ("library", re.compile(r"(MIOpen(?:\(HIP\): | )[Ee]rror.{0,10}: .{0,120}Failed to get function: \w{1,60})")),
)
"""Names of statements and the patterns of their lines."""
