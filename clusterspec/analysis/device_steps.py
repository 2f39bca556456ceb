"""Next steps for causes of devices, in the tools of the vendor that a line or the cluster names.

Sources: aws-neuron/aws-neuron-sdk 81ce03ae (`neuron-runtime/nrt-troubleshoot.rst`, `nrt-configurable-parameters.rst`),
ROCm/ROCm (`docs/how-to/system-debugging.md`), and of Gaudi, Ascend and TPU the commands that their drivers install.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clusterspec.analysis.placed_runs import PlacedRun
from clusterspec.analysis.stated_causes import STEP_OF
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

STEPS = {
    "AWS": {
        "shared-accelerator": "neuron-ls: the processes that hold NeuronCores; end them, restart their notebooks; "
        "NEURON_RT_VISIBLE_CORES of every rank: each core once",
        "missing-accelerator": "neuron-ls, and ls /dev/neuron* within the container; NEURON_RT_NUM_CORES of every rank "
        "times the ranks of a node is at most its NeuronCores",
        "accelerator-fault": "dmesg | grep NEURON_HW_ERR on the host of that line: end the instance, and start another",
        "driver-release": "apt list --installed | grep neuron: aws-neuronx-dkms and aws-neuronx-runtime-lib of one "
        "release of the SDK; lsmod | grep neuron; install kernel headers before the driver",
        "memory-full": "neuron-top: which models hold the device memory; unload those, or use a smaller batch",
        "unsupported-accelerator": "neuronx-cc --version and the --target of the compiler against the instance type",
        "program-fault": "NEURON_RT_LOG_LEVEL=INFO: the model and the core that fail; compile it anew with one release",
    },
    "AMD": {
        "shared-accelerator": "rocm-smi --showpids; print LOCAL_RANK, ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES of "
        "every rank; start ranks by srun or by torchrun, not by both",
        "missing-accelerator": "rocminfo, and ls -ln /dev/kfd /dev/dri within the container; id: the groups that own "
        "them (video, render); HIP_VISIBLE_DEVICES of every rank",
        "accelerator-fault": "dmesg | grep -i amdgpu and amd-smi metric --ecc on the host of that line; exchange the "
        "part",
        "driver-release": "cat /sys/module/amdgpu/version and rocminfo: the driver and ROCm of releases that fit",
        "memory-full": "amd-smi process on the host of that line; give the engine a smaller share of the memory",
        "unsupported-accelerator": "rocminfo | grep gfx against torch.cuda.get_arch_list(): a build for it",
        "program-fault": "AMD_SERIALIZE_KERNEL=3 and HIP_LAUNCH_BLOCKING=1: the kernel that fails",
    },
    "Google": {
        "shared-accelerator": "fuser -v /dev/accel* /dev/vfio/*: end the process that holds the TPU; one process for "
        "each host, or TPU_VISIBLE_CHIPS of each",
        "missing-accelerator": "ls /dev/accel* /dev/vfio within the container; google.com/tpu of the pod; start the "
        "program on all hosts of the slice",
    },
    "Huawei": {
        "shared-accelerator": "npu-smi info; print LOCAL_RANK and ASCEND_RT_VISIBLE_DEVICES of every rank",
        "missing-accelerator": "npu-smi info, and ls /dev/davinci* within the container; ASCEND_RT_VISIBLE_DEVICES",
        "accelerator-fault": "npu-smi info -t ecc and -t health on the host of that line; exchange the part",
        "memory-full": "npu-smi info on the host of that line: other processes; a smaller share for the engine",
    },
    "Intel": {
        "shared-accelerator": "hl-smi (Gaudi) or xpu-smi ps: the processes; HABANA_VISIBLE_MODULES or "
        "ZE_AFFINITY_MASK of every rank",
        "missing-accelerator": "hl-smi or xpu-smi discovery within the container; ls /dev/accel /dev/dri; "
        "HABANA_VISIBLE_DEVICES or ZE_AFFINITY_MASK of every rank",
        "memory-full": "hl-smi or xpu-smi stats on the host of that line: other processes",
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


def with_steps_of_devices(run: PlacedRun, found: Iterable[Cause]) -> Iterator[Cause]:
    """The causes, where a cause at a device has the next step of the vendor in its log line, or of the cluster's
    vendor.
    """
    for cause in found:
        if cause.name not in _OF_DEVICES or cause.next != STEP_OF[cause.name]:
            yield cause
            continue
        steps = STEPS.get(vendor_of_line(cause.evidence) or run.cluster.accelerator.vendor, {})
        own = steps.get(cause.name)
        yield replace(cause, next=own) if own else cause
