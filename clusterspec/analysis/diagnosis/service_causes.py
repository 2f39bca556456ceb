"""Causes that lines of drivers, device plugins and schedulers are compatible with, each with the next step."""

from __future__ import annotations

from clusterspec.analysis.diagnosis import service_steps
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STEP_OF, STRONG, WEAK

UNSAID = ", which does not say why"
"""The end of the evidence if a log line only names an effect."""
SERVICE_CAUSES = (
    (
        "driver-unloaded",
        "driver-release",
        ", as with a driver that was not built for the kernel",
        service_steps.MODULE,
        STRONG,
    ),
    ("driver-unloaded", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("kernel-headers", "driver-release", ": no driver can be built for the kernel", service_steps.HEADERS, STRONG),
    ("module-build", "driver-release", ": no module of the driver for this kernel", service_steps.MODULE, STRONG),
    ("driver-silent", "driver-release", ": no module of it is loaded", service_steps.MODULE, STRONG),
    ("driver-silent", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("driver-request", "driver-release", UNSAID, service_steps.PERSISTENCE, STRONG),
    ("driver-request", "stopped-service", ": the driver's state is not kept", service_steps.PERSISTENCE, GIVEN),
    ("triton-driver", "library-release", ", as with a release of Triton", STEP_OF["library-release"], GIVEN),
    ("triton-driver", "unsupported-accelerator", UNSAID, STEP_OF["unsupported-accelerator"], WEAK),
    ("unseen-device", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("unseen-device", "driver-release", UNSAID, STEP_OF["driver-release"], WEAK),
    ("unseen-device", "library-release", ", as of a build for CPUs", STEP_OF["library-release"], WEAK),
    ("unseen-by-program", "library-release", ", as of a build for CPUs", STEP_OF["library-release"], GIVEN),
    ("unseen-by-program", "driver-release", UNSAID, STEP_OF["driver-release"], WEAK),
    ("unseen-by-program", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], WEAK),
    ("called-option", "library-release", ": its package here has no such option", service_steps.TOOL, STRONG),
    ("called-option", "invalid-setting", UNSAID, service_steps.TOOL, GIVEN),
    ("scarce-devices", "missing-accelerator", "", service_steps.RESOURCES, STRONG),
    ("old-driver", "driver-release", ", which needs a later branch of the driver", STEP_OF["driver-release"], GIVEN),
    ("copy-device", "gpudirect-refused", ", as when gdrdrv is not loaded on the host", service_steps.COPY, STRONG),
    ("copy-device", "container-permission", ", as when the container was not given it", service_steps.COPY, GIVEN),
    ("port-held", "port-in-use", UNSAID, STEP_OF["port-in-use"], STRONG),
    ("device-allocation", "memory-full", UNSAID, STEP_OF["memory-full"], STRONG),
    ("device-allocation", "shared-accelerator", ": others hold its memory", STEP_OF["shared-accelerator"], GIVEN),
    # ROCm/legacy-rocm-build issues 5616 (firmware) and 6290 (release)
    ("driver-reset", "accelerator-fault", UNSAID, service_steps.HARDWARE, GIVEN),
    ("driver-reset", "program-fault", UNSAID, STEP_OF["program-fault"], GIVEN),
    ("driver-reset", "driver-release", ", as with a firmware that has this fault", service_steps.FIRMWARE, GIVEN),
    ("queue-scheduler", "driver-release", ", as with a firmware of its scheduler", service_steps.FIRMWARE, STRONG),
    ("access-fault", "program-fault", "", STEP_OF["program-fault"], STRONG),
    ("access-fault", "driver-release", ", as with a firmware or a release of ROCm", service_steps.FIRMWARE, WEAK),
    ("no-healthy-device", "stopped-service", ": its plugin has not started", service_steps.PLUGIN, GIVEN),
    ("no-healthy-device", "accelerator-fault", ", as when it calls them unhealthy", service_steps.HARDWARE, GIVEN),
    ("no-rdma-device", "nic-fault", ", as with a firmware that its driver does not take", STEP_OF["nic-fault"], GIVEN),
    ("no-rdma-device", "wrong-interface", ": the host has no RDMA device", service_steps.RDMA, GIVEN),
    ("contained", "accelerator-fault", UNSAID, service_steps.HARDWARE, GIVEN),
    ("contained", "program-fault", UNSAID, STEP_OF["program-fault"], WEAK),
    ("built-without", "library-release", ", so that gradients pass host memory", service_steps.HOROVOD, WEAK),
    ("unnamed-device", "shared-memory", ", which names no path", STEP_OF["shared-memory"], GIVEN),
    ("mpi-start", "library-release", ", as with the MPI of another build or launcher", service_steps.LAUNCHER, GIVEN),
    ("mpi-start", "invalid-setting", UNSAID, service_steps.LAUNCHER_SETTINGS, WEAK),
    ("foreign-launcher", "library-release", ", as with mpirun of another MPI", service_steps.LAUNCHER, GIVEN),
    (
        "no-free-device",
        "missing-accelerator",
        ": others hold them, or the node offers none",
        service_steps.OFFERED,
        STRONG,
    ),
    ("spool", "storage-fault", ", which slurmd itself wrote before", service_steps.SPOOL, GIVEN),
    (
        "no-collectives",
        "invalid-setting",
        ", as with the backend nccl on a host without CUDA",
        service_steps.BACKEND,
        GIVEN,
    ),
    ("unlike-ends", "mixed-releases", ": its two ends have unlike releases or backends", service_steps.ENDS, GIVEN),
    ("unlike-ends", "invalid-setting", ", as a backend that two variables name", service_steps.ENDS, GIVEN),
    ("no-collectives", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
)
"""Possible causes of such lines: evidence, cause, words after its text, next step and weight."""
