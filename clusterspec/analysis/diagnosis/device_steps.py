"""Next steps for causes of devices, in the tools of the vendor that a line or the cluster names.

Sources: aws-neuron/aws-neuron-sdk 81ce03ae (`neuron-runtime/nrt-troubleshoot.rst`, `nrt-configurable-parameters.rst`),
ROCm/ROCm (`docs/how-to/system-debugging.md`), and of Gaudi, Ascend and TPU the commands that their drivers install.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import LESS_MEMORY, STEP_OF
from clusterspec.logs.reports.told_work import SERVES, TRAINS, WORK
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

STEPS = {
    "AWS": {
        "shared-accelerator": (
            "list the processes that hold NeuronCores with neuron-ls; end them, or restart their notebooks; "
            "NEURON_RT_VISIBLE_CORES of all ranks must name each core once"
        ),
        "missing-accelerator": (
            "run neuron-ls, and ls /dev/neuron* within the container; NEURON_RT_NUM_CORES of every rank times the "
            "ranks of a node must be at most its NeuronCores"
        ),
        "accelerator-fault": (
            "check dmesg | grep NEURON_HW_ERR on the host of that line; end the instance, and start another"
        ),
        "driver-release": (
            "check with apt list --installed | grep neuron that aws-neuronx-dkms and aws-neuronx-runtime-lib are of"
            " one SDK release; run lsmod | grep neuron; install kernel headers before the driver"
        ),
        "memory-full": (f"find the models that hold the device memory with neuron-top, and unload them; {LESS_MEMORY}"),
        "unsupported-accelerator": (
            "compare neuronx-cc --version and the --target of the compiler with the instance type"
        ),
        "program-fault": (
            "find the model and the core that fail with NEURON_RT_LOG_LEVEL=INFO; compile the model again with one "
            "release"
        ),
    },
    "AMD": {
        "shared-accelerator": (
            "run rocm-smi --showpids; print LOCAL_RANK, ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES of every rank;"
            " start ranks by srun or by torchrun, not by both"
        ),
        "missing-accelerator": (
            "run rocminfo, and ls -ln /dev/kfd /dev/dri within the container; check by id that the user is in the "
            "groups that own them (video, render), and HIP_VISIBLE_DEVICES of every rank"
        ),
        "accelerator-fault": (
            "run dmesg | grep -i amdgpu and amd-smi metric --ecc on the host of that line; exchange a faulty part"
        ),
        "driver-release": (
            "compare cat /sys/module/amdgpu/version with rocminfo; install a driver and a ROCm release that fit "
            "each other"
        ),
        "memory-full": f"run amd-smi process on the host of that line; {LESS_MEMORY}",
        "unsupported-accelerator": (
            "compare rocminfo | grep gfx with torch.cuda.get_arch_list(), and use a build for the accelerator"
        ),
        "program-fault": "set AMD_SERIALIZE_KERNEL=3 and HIP_LAUNCH_BLOCKING=1 to find the kernel that fails",
    },
    "Google": {
        "shared-accelerator": (
            "find the process that holds the TPU with fuser -v /dev/accel* /dev/vfio/*, and end it; start one "
            "process for each host, or set TPU_VISIBLE_CHIPS of each"
        ),
        "missing-accelerator": (
            "run ls /dev/accel* /dev/vfio within the container; check google.com/tpu of the pod; start the program "
            "on all hosts of the slice"
        ),
    },
    "Huawei": {
        "shared-accelerator": "run npu-smi info; print LOCAL_RANK and ASCEND_RT_VISIBLE_DEVICES of every rank",
        "missing-accelerator": (
            "run npu-smi info, and ls /dev/davinci* within the container; check ASCEND_RT_VISIBLE_DEVICES"
        ),
        "accelerator-fault": "run npu-smi info -t ecc and -t health on the host of that line; exchange a faulty part",
        "memory-full": f"look for other processes with npu-smi info on the host of that line; {LESS_MEMORY}",
    },
    "Intel": {
        "shared-accelerator": (
            "list the processes with hl-smi (Gaudi) or xpu-smi ps; check HABANA_VISIBLE_MODULES or ZE_AFFINITY_MASK"
            " of every rank"
        ),
        "missing-accelerator": (
            "run hl-smi or xpu-smi discovery, and ls /dev/accel /dev/dri, within the container; check "
            "HABANA_VISIBLE_DEVICES or ZE_AFFINITY_MASK of every rank"
        ),
        "memory-full": f"look for other processes with hl-smi or xpu-smi stats on the host of that line; {LESS_MEMORY}",
    },
}
"""Next steps by vendor and cause. Other vendors and NVIDIA use the steps in `STEP_OF`."""
_OF_DEVICES = frozenset(name for steps in STEPS.values() for name in steps)
"""The causes for which some vendor has its own next step."""
WORDS = (
    ("AWS", r"\b[Nn]euron|NEURON_|\bNRT[:_]|\bTDRV:|\bnrtd?[_\[]|\bNEFF\b|\bVNC id\b|\bnd[0-9]{1,2}\b"),
    ("Google", r"\bTPUs?\b|libtpu|/dev/accel[0-9]"),
    ("Huawei", r"\bNPUs?\b|\bHCCL\b|Ascend|\bCANN\b|\baicore\b|\bE[IJL]00[0-9]{2}\b"),
    ("Intel", r"\bHPUs?\b|[Hh]abana|Gaudi|\bZE_|\bUR_RESULT|\bXPUs?\b"),
    ("AMD", r"\bHIP\b|\bhip[A-Z]|\bROC[mr]\b|\bHSA_|\bhsa\b|\bamd(?:gpu|kfd)\b|/dev/kfd|\bgfx[0-9]{3}|\brsmi\b"),
    ("NVIDIA", r"\bCUDA\b|\bcuda|\bNVRM\b|\bNVML\b|[Nn]vidia|\bXid\b|\bCUBLAS|NVLink"),
)
"""Vendors and the words of a line that name one, the first that fits."""
_WORDS = tuple((vendor, re.compile(words)) for vendor, words in WORDS)


REMEDIES = {
    TRAINS: (
        "use a smaller micro-batch, recompute activations (layout.recompute), or shard more (layout.sharding, tp, pp); "
        "clusterspec estimate gives the memory of each"
    ),
    SERVES: (
        "give the engine a smaller share of the memory, fewer sequences or a shorter context; clusterspec estimate "
        "gives what fits"
    ),
}
"""The remedies for the memory of an accelerator that is full, by what the program does."""


def vendor_of_line(text: str) -> str:
    """The vendor that the words of a line name; empty if they name none.

    >>> vendor_of_line("NRT:nrt_init  Unable to determine Neuron Driver version")
    'AWS'
    >>> vendor_of_line("Test HIP failure common.cu:1129 'hipErrorInvalidDevice'")
    'AMD'
    >>> vendor_of_line("rank 3 stopped")
    ''
    """
    return next((vendor for vendor, words in _WORDS if words.search(text)), "")


def with_steps_of_devices(run: PlacedRun, causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes; a cause at a device gets the next step for the vendor in its log line, else for the cluster's vendor.
    The remedy for full memory depends on the kind of work.
    """
    remedy = REMEDIES.get(_work_of(run), LESS_MEMORY)
    for cause in causes:
        own = _step_of_device(run, cause).replace(LESS_MEMORY, remedy)
        yield cause if own == cause.next else replace(cause, next=own)


def _step_of_device(run: PlacedRun, cause: Cause) -> str:
    """The next step of the vendor for a cause at a device that has the general one, else its own."""
    if cause.name not in _OF_DEVICES or cause.next != STEP_OF[cause.name]:
        return cause.next
    steps = STEPS.get(vendor_of_line(cause.evidence) or run.cluster.accelerator.vendor, {})
    return steps.get(cause.name, cause.next)


def _work_of(run: PlacedRun) -> str:
    """What the program of a log does: as the log tells, else the work of the design; empty if neither tells."""
    return next((text for text, _ in run.log_lines(WORK)), run.work)
