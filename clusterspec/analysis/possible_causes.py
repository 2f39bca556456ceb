"""Causes that lines are compatible with which state none, each with the name of its evidence and the next step."""

from __future__ import annotations

from clusterspec.analysis import service_steps
from clusterspec.analysis.connection_causes import CONNECTION_CAUSES, DRIVER, FIRST, LINK, PORT, RENDEZVOUS, UCX
from clusterspec.analysis.exit_causes import EXIT_CAUSES
from clusterspec.analysis.figure_causes import FIGURE_CAUSES, POWER
from clusterspec.analysis.reason_causes import NEXT_OF_REASONS
from clusterspec.analysis.service_causes import SERVICE_CAUSES, UNSAID
from clusterspec.analysis.stated_causes import GIVEN, SLOWED, STATED, STEP_OF, STRONG, WEAK

_ABSENT = (
    "check with squeue and the launcher of every node that all ranks are started with one MASTER_ADDR, port and "
    "number of ranks; then test the port with nc -vz"
)
_NAME = (
    "run getent hosts on that name on every node; give an address (MASTER_ADDR), or add the name to the name service"
)
_VOCABULARY = NEXT_OF_REASONS["vocabulary-mismatch"]
_SINGLE_COPY = "docker run --cap-add=SYS_PTRACE; or set OMPI_MCA_btl_vader_single_copy_mechanism=none for every rank"
_SLOWER = "; a slow rank or the network give the same"
_IOMMU = "add iommu=pt to the kernel command line, and restart; NCCL_NET_GDR_LEVEL=LOC to test it"
_REACHED = (
    "set UCX_LOG_LEVEL=info for the reason that UCX gives for each transport; run ping between those devices; check"
    " ip -br addr for docker0; set UCX_NET_DEVICES to one network on all nodes"
)
"""openucx/ucx issues 9908 (docker0) and 10738."""
_SLOT = (
    "find the device with lspci -s and the address on that line; reseat it, exchange its riser or slot, or update "
    "its firmware"
)
_BRIDGES = (
    "look for docker0 and other bridges with one address on all hosts (ip -br addr); exclude them by mpirun --mca "
    "btl_tcp_if_exclude lo,docker0 --mca oob_tcp_if_exclude lo,docker0 and NCCL_SOCKET_IFNAME=^lo,docker"
)
"""horovod/horovod issue 310."""
_STEP = (
    "compare nodes, tasks, memory and GPUs of scontrol show job JOB with the options and SLURM_* variables of the step"
)
_PLACE = "run kubectl describe pod or scontrol show job to see which resource it lacks"
_CAPABLE = (
    "use docker run --cap-add=SYS_PTRACE --cap-add=SYS_NICE or --security-opt seccomp=unconfined, the "
    "securityContext of the pod, or the user namespace of Podman and Apptainer"
)
_MOUNT = (
    "docker run --device=/dev/dri -v /dev/dri/by-path:/dev/dri/by-path --device=/dev/kfd; ls -l of them and /sys within"
)
_HOLDER = "fuser -v /dev/accel* /dev/neuron* /dev/nvidia* on the host: end the process that holds it"
_HOLDERS = "run nvidia-smi and fuser -v /dev/nvidia*; end what holds the device, or choose a free one"
_SELECTORS = (
    "read kubectl logs of the device plugin; compare vendors, deviceIDs and ifNames of its ConfigMap with lspci -nn"
)
_FIRMWARE = (
    "enable Above 4G Decoding and Resizable BAR in the firmware of the host, or boot with pci=realloc; in a guest, "
    "raise the size of its window"
)
_MACHINE = "run ras-mc-ctl --errors or mcelog, and ipmitool sel list; exchange the module that they name"
_DIGITS = (
    "set MASTER_ADDR or --rdzv-endpoint to an address, or to a name that has a letter; torchrun --standalone needs "
    "one, too"
)
_CLOCKS = "run chronyc tracking on every host, and give all of them the same munge key"
_COUNTERS = "run perfquery -x or ethtool -S twice, minutes apart; reseat or replace the cable whose counters grow"
_DROPS = (
    "compare ethtool -S of both ends and the switch counters before and after a run; enable PFC and ECN on every "
    "port of the path"
)
_KERNEL_WAIT = (
    "check with nvshmem-info -a and pip list that the release is the one for which DeepEP was built; then run "
    "shmem_put_bw between the nodes, and set PeerMappingOverride=1 in the driver"
)
_REVERSE = (
    "run getent hosts on the address on every node: /etc/hosts or the name service gives another host's name for it"
)
_STUCK = (
    "run py-spy dump on every rank to see the call in which it waits; set TORCH_NCCL_TRACE_BUFFER_SIZE=2000 for the"
    " next run"
)
_PROGRAM = (
    "find the call that fails with CUDA_LAUNCH_BLOCKING=1; if it also fails on one node, the program is the cause"
)
_SUBNET = "run sminfo, saquery -g and smpquery portinfo of that LID; compare the partition keys of both ports"
_ATTACHED = (
    "run kubectl describe pod and kubectl get network-attachment-definitions -A; read the logs of Multus on that node"
)
_SILENT = "read the log of the rank that it names; if that rank still runs, set a longer heartbeat_timeout_seconds"
_TOOLKIT = (
    "compare nvidia-container-cli --version on that node and on one where the container starts; install another "
    "release of the toolkit"
)
_OLDER = "search the release notes and issues of the library for that function, and repeat the run with another release"
_PLUGIN = (
    "run once with NCCL_NET_PLUGIN=none; if that works, update the plugin (HPC-X, aws-ofi-nccl), or remove it from "
    "all nodes"
)
POSSIBLE = (
    ("handled net-plugin", "plugin-mismatch", " is in the stack of the crash", _PLUGIN, WEAK),
    ("handled rdma-library", "nic-fault", " is in the stack of the crash", STEP_OF["nic-fault"], WEAK),
    ("handled communication-library", "release-fault", " is in the stack of the crash", _OLDER, WEAK),
    ("handled accelerator-driver", "driver-release", " is in the stack of the crash", STEP_OF["driver-release"], WEAK),
    ("module-unbuilt", "driver-release", ": that module is not built for the kernel", STEP_OF["driver-release"], GIVEN),
    ("stack mapped-memory", "shared-memory", ": memory that it maps is not there", STEP_OF["shared-memory"], STRONG),
    ("stack net-plugin", "plugin-mismatch", " is the function that crashed", _PLUGIN, STATED),
    ("stack rdma-library", "library-release", " is the function that crashed", STEP_OF["library-release"], STRONG),
    ("stack rdma-library", "nic-fault", " is the function that crashed", STEP_OF["nic-fault"], GIVEN),
    ("stack communication-library", "release-fault", " is the function that crashed", _OLDER, STRONG),
    (
        "stack communication-library",
        "library-release",
        " is the function that crashed",
        STEP_OF["library-release"],
        GIVEN,
    ),
    ("stack accelerator-driver", "driver-release", " is the function that crashed", STEP_OF["driver-release"], STRONG),
    (
        "stack accelerator-driver",
        "accelerator-fault",
        " is the function that crashed",
        STEP_OF["accelerator-fault"],
        GIVEN,
    ),
    ("short-limit", "invalid-setting", ": a limit that a first step exceeds", service_steps.SHORT, STRONG),
    ("short-limit", "ranks-diverge", _SLOWER, STEP_OF["ranks-diverge"], GIVEN),
    ("submission-refused", "invalid-setting", ": no node of that partition has it", service_steps.SUBMISSION, STRONG),
    ("queue-refused", "invalid-setting", ": the job asks for what they refuse", service_steps.QUEUE, STRONG),
    ("no-provider", "wrong-interface", ": no provider of libfabric answers", service_steps.PROVIDER, STRONG),
    ("no-provider", "invalid-setting", ", typical of another provider", service_steps.PROVIDER, GIVEN),
    ("no-provider", "library-release", UNSAID, STEP_OF["library-release"], GIVEN),
    ("too-many-ranks", "missing-accelerator", "", STEP_OF["missing-accelerator"], STRONG),
    ("too-many-ranks", "invalid-setting", ", as when the launch is of one node", service_steps.ALL_GPUS, GIVEN),
    ("too-many-ranks", "absent-ranks", ": other nodes did not join", service_steps.ALL_GPUS, WEAK),
    (
        "nvml-absent",
        "invalid-setting",
        ", as when the runtime of containers is not NVIDIA's",
        service_steps.DEFAULT_RUNTIME,
        STRONG,
    ),
    ("nvml-absent", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    (
        "nvml-denied",
        "missing-accelerator",
        ": its container may not open the devices",
        service_steps.DEVICES_OF_CONTAINER,
        STRONG,
    ),
    ("nvml-denied", "container-permission", UNSAID, service_steps.DEVICES_OF_CONTAINER, GIVEN),
    (
        "nvml-denied",
        "library-release",
        ", as with another release of the runtime",
        service_steps.DEVICES_OF_CONTAINER,
        WEAK,
    ),
    # the causes that Ray lists with it, the likelier first
    ("worker-lost", "host-memory-full", ", as when the kernel ends it", service_steps.WORKERS, GIVEN),
    ("worker-lost", "program-fault", ", as when it crashes", service_steps.WORKERS, WEAK),
    ("worker-lost", "job-ended", ", as when Ray is stopped", STEP_OF["job-ended"], WEAK),
    ("worker-ended", "host-memory-full", ", as when the kernel ends it", service_steps.WORKERS, GIVEN),
    ("worker-ended", "program-fault", UNSAID, service_steps.WORKERS, WEAK),
    ("worker-ended", "mixed-releases", ", as with another release of Ray", STEP_OF["mixed-releases"], WEAK),
    ("no-queue", "library-release", ", as when it was built without what that NIC needs", service_steps.QUEUES, GIVEN),
    ("no-queue", "nic-limit", UNSAID, service_steps.QUEUES, GIVEN),
    ("no-queue", "locked-memory", UNSAID, STEP_OF["locked-memory"], WEAK),
    ("device-port", "shared-accelerator", ", as when two groups use one NPU", STEP_OF["shared-accelerator"], WEAK),
    ("empty-target", "invalid-setting", ": an address that is to be given is empty", service_steps.TARGET, GIVEN),
    ("empty-target", "library-release", ", as with a libtpu of another release", STEP_OF["library-release"], GIVEN),
    (
        "unset-variable",
        "invalid-setting",
        ": the environment of the rank has no such variable",
        service_steps.VARIABLE,
        STRONG,
    ),
    ("renamed-file", "program-error", ", as when several ranks rename one file", service_steps.RENAMED, STRONG),
    (
        "shared-identity",
        "invalid-setting",
        ": every host is to have an identity of its own",
        service_steps.IDENTITY,
        GIVEN,
    ),
    ("process-count", "invalid-setting", "", "use mpirun -np 2 or srun -n 2, since the test takes one pair", STRONG),
    ("kernel-status", "program-fault", "", STEP_OF["program-fault"], STRONG),
    ("kernel-status", "accelerator-fault", ", if the same program runs on another one", service_steps.HARDWARE, WEAK),
    ("cluster-store", "unreachable-peer", UNSAID, RENDEZVOUS, GIVEN),
    ("cluster-store", "mixed-releases", ", as with another release of Ray", STEP_OF["mixed-releases"], GIVEN),
    ("cluster-store", "wrong-interface", UNSAID, RENDEZVOUS, GIVEN),
    ("cluster-store", "library-release", ", as when an installation of Ray lacks parts", service_steps.HEAD, WEAK),
    (
        "node-address",
        "wrong-interface",
        ": a node by an address that Ray does not know",
        service_steps.NODE_ADDRESS,
        STRONG,
    ),
    ("node-address", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    # vllm-project/vllm issue 14111: Ray knows the node by another address, so it finds no place on it
    ("few-devices", "missing-accelerator", "", STEP_OF["missing-accelerator"], STRONG),
    ("capability", "container-permission", "", _CAPABLE, STRONG),
    ("container-device", "container-permission", "", _MOUNT, STRONG),
    ("container-device", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("container-files", "library-release", ", as with a release of libnvidia-container", _TOOLKIT, GIVEN),
    ("container-files", "container-permission", UNSAID, _CAPABLE, WEAK),
    ("kernel-image", "library-release", ", as with a ptxas of another release", service_steps.ASSEMBLER, GIVEN),
    # pytorch/pytorch issue 119054
    ("kernel-image", "driver-release", ", as with a driver before that of its ptxas", STEP_OF["driver-release"], GIVEN),
    ("kernel-image", "unsupported-accelerator", UNSAID, STEP_OF["unsupported-accelerator"], GIVEN),
    ("fabric-event", "plugin-mismatch", ", as with a libfabric that has this fault", STEP_OF["plugin-mismatch"], GIVEN),
    ("fabric-event", "nic-fault", UNSAID, STEP_OF["nic-fault"], WEAK),
    (
        "failing-pair",
        "accelerator-fault",
        ", as with a fault of one of them or its slot",
        service_steps.HARDWARE,
        STRONG,
    ),
    ("failing-pair", "acs", ", as when direct access is redirected", service_steps.ACCESS_CONTROL, GIVEN),
    ("imex-refused", "fabric-manager", "", service_steps.FABRIC_HANDLE, STRONG),
    ("fabric-handle", "fabric-manager", ": no channel of IMEX is open to it", service_steps.FABRIC_HANDLE, STRONG),
    ("fabric-handle", "container-permission", ", as when the container has no such device", _CAPABLE, GIVEN),
    ("hidden-adapter", "container-permission", ": the container lacks its device", _CAPABLE, STRONG),
    ("copied-wrong", "iommu-translation", ", as when the IOMMU redirects what a peer writes", _IOMMU, STRONG),
    ("copied-wrong", "acs", UNSAID, service_steps.ACCESS_CONTROL, STRONG),
    ("copied-wrong", "accelerator-fault", UNSAID, STEP_OF["accelerator-fault"], WEAK),
    ("container-toolkit", "library-release", ": Docker knows no toolkit for it", service_steps.RUNTIME, STRONG),
    ("container-toolkit", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("container-hook", "library-release", ", as with a release of the toolkit for containers", _TOOLKIT, WEAK),
    ("container-hook", "container-permission", UNSAID, _CAPABLE, WEAK),
    *SERVICE_CAUSES,
    ("device-resource", "memory-full", ", as when another process holds most of it", STEP_OF["memory-full"], GIVEN),
    ("device-resource", "library-release", UNSAID, STEP_OF["library-release"], WEAK),
    ("two-toolkits", "library-release", ", as with the cuBLAS of another toolkit", service_steps.TOOLKITS, GIVEN),
    ("two-toolkits", "program-error", UNSAID, _PROGRAM, WEAK),
    ("device-reset", "accelerator-fault", UNSAID, service_steps.HARDWARE, GIVEN),
    ("device-reset", "program-fault", UNSAID, STEP_OF["program-fault"], GIVEN),
    ("misuse", "program-error", "", _PROGRAM, GIVEN),
    ("unregistered", "gpudirect-refused", ", which a NIC must reach", STEP_OF["gpudirect-refused"], STRONG),
    ("unregistered", "container-permission", ", as when a container lacks IPC_LOCK", _CAPABLE, GIVEN),
    ("unregistered", "locked-memory", UNSAID, STEP_OF["locked-memory"], WEAK),
    ("panic", "program-error", "", _OLDER, GIVEN),
    ("panic", "release-fault", UNSAID, _OLDER, WEAK),
    ("two-devices", "invalid-setting", ": one process sees several accelerators", service_steps.ONE_DEVICE, GIVEN),
    ("two-devices", "program-error", UNSAID, _PROGRAM, GIVEN),
    ("outside", "outside-server", "", service_steps.OUTSIDE, GIVEN),
    ("lost-manager", "unreachable-peer", ", as with another partition, or no subnet manager", _SUBNET, GIVEN),
    ("lost-manager", "unstable-link", UNSAID, PORT, GIVEN),
    ("step-memory", "invalid-setting", "", "compare --mem of the step with that of the job", STRONG),
    ("held-device", "shared-accelerator", "", _HOLDER, STRONG),
    ("earlier-process", "shared-accelerator", ": an earlier process still holds it", _HOLDER, STRONG),
    ("held-device", "library-release", ", as with a release of libtpu that one process locks twice", _HOLDER, WEAK),
    ("uncounted-cores", "shared-accelerator", ", as when an earlier process holds them", _HOLDER, GIVEN),
    ("uncounted-cores", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], WEAK),
    ("driver-state", "driver-release", ", as with a driver and a runtime of two releases", DRIVER, GIVEN),
    ("driver-state", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("task-silent", "peer-ended", ": a process no longer answers", FIRST, GIVEN),
    ("task-silent", "ranks-diverge", ", as when a step that allocates or compiles is long", _SILENT, GIVEN),
    ("manager", "fabric-manager", "", service_steps.SERVICE, STRONG),
    ("device-plugin", "invalid-setting", "", _SELECTORS, STRONG),
    ("machine-check", "host-fault", "", _MACHINE, STRONG),
    (
        "kernel-oops",
        "driver-release",
        ", as with a module of the kernel that has this fault",
        service_steps.OOPS,
        GIVEN,
    ),
    ("kernel-oops", "host-fault", UNSAID, _MACHINE, WEAK),
    ("bar", "missing-accelerator", ": the firmware gave the device no space", _FIRMWARE, STRONG),
    ("nic-power", "nic-fault", ", which many healthy hosts print, too", _SLOT, WEAK),
    ("nic-heat", "nic-fault", "", "check the airflow of that slot and its transceiver (mlxlink -m)", STRONG),
    ("link-counter", "unstable-link", " since the counters were cleared", _COUNTERS, GIVEN),
    ("loss-counter", "packet-loss", " since the counters were cleared", _DROPS, GIVEN),
    ("device-wait", "library-release", ", as with another release of NVSHMEM", _KERNEL_WAIT, GIVEN),
    ("device-wait", "unreachable-peer", UNSAID, _KERNEL_WAIT, GIVEN),
    ("device-wait", "peer-ended", UNSAID, FIRST, WEAK),
    ("clock", "clock-skew", "", _CLOCKS, STRONG),
    # hpcaitech/Open-Sora issue 667: inet_aton(3) takes a name such as 6841231 for an address
    ("number-address", "name-resolution", ", a name of digits that is read as an address", _DIGITS, STRONG),
    ("power-cap", "throttled-clocks", ": below the limit of power, its supply or heat is why", POWER, SLOWED),
    ("resting-link", "wrong-pcie-generation", ", typical of a device at rest, too", LINK, SLOWED),
    ("torn-archive", "storage-fault", ", as when it was not written to its end", STEP_OF["storage-fault"], GIVEN),
    ("torn-archive", "storage-full", ": a write was cut short", STEP_OF["storage-full"], WEAK),
    ("absent-array", "checkpoint-mismatch", ", typical of another model", STEP_OF["checkpoint-mismatch"], GIVEN),
    ("absent-array", "storage-fault", ", as when it was not written to its end", STEP_OF["storage-fault"], GIVEN),
    ("pin-thread", "host-memory-full", ", as when memory is full", STEP_OF["host-memory-full"], GIVEN),
    ("pin-thread", "shared-memory", UNSAID, STEP_OF["shared-memory"], WEAK),
    ("inactive-link", "accelerator-fault", UNSAID, STEP_OF["accelerator-fault"], GIVEN),
    ("inactive-link", "fabric-manager", ", as when it has not trained the links", STEP_OF["fabric-manager"], GIVEN),
    ("supply", "throttled-clocks", ", which lowers clocks", STEP_OF["throttled-clocks"], GIVEN),
    ("supply", "host-fault", UNSAID, _MACHINE, GIVEN),
    ("torn-file", "storage-full", ": a write was cut short", STEP_OF["storage-full"], GIVEN),
    ("torn-file", "storage-fault", ": a write was cut short", STEP_OF["storage-fault"], GIVEN),
    ("reverse-name", "name-resolution", ", the name that the system gives for that address", _REVERSE, STRONG),
    ("preparing", "ranks-diverge", " on some ranks while the others wait for them", service_steps.PREPARE, STRONG),
    ("rendezvous", "unreachable-peer", UNSAID, RENDEZVOUS, GIVEN),
    ("rendezvous", "wrong-interface", UNSAID, RENDEZVOUS, GIVEN),
    ("rendezvous", "absent-ranks", UNSAID, _ABSENT, WEAK),
    ("rendezvous", "name-resolution", UNSAID, _NAME, WEAK),
    ("allocator-full", "memory-full", "", STEP_OF["memory-full"], STRONG),
    ("single-copy", "invalid-setting", ": no process of the container may read another one", _SINGLE_COPY, STRONG),
    (
        "launch-failure",
        "accelerator-fault",
        ", as with a faulty accelerator",
        service_steps.HARDWARE,
        GIVEN,
    ),  # MinerU issue 426
    ("link-event", "accelerator-fault", "", STEP_OF["accelerator-fault"], GIVEN),
    ("name", "name-resolution", "", _NAME, STRONG),
    (
        "absent-attribute",
        "library-release",
        ", as with another release of its library",
        STEP_OF["library-release"],
        GIVEN,
    ),
    ("absent-attribute", "program-error", UNSAID, _PROGRAM, WEAK),
    ("driver-node", "invalid-setting", ", as when its address is another one", service_steps.DRIVER_NODE, STRONG),
    ("driver-node", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("flat-shapes", "checkpoint-mismatch", ", typical of another number of ranks", service_steps.RESHARD, GIVEN),
    ("flat-shapes", "program-error", UNSAID, _PROGRAM, WEAK),
    ("hidden-device", "missing-accelerator", ": no access to /dev/kfd", STEP_OF["missing-accelerator"], STRONG),
    ("hidden-device", "unsupported-accelerator", UNSAID, STEP_OF["unsupported-accelerator"], GIVEN),
    ("no-acquire", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], STRONG),
    ("no-acquire", "accelerator-fault", UNSAID, service_steps.HARDWARE, WEAK),
    ("no-acquire", "driver-release", UNSAID, STEP_OF["driver-release"], WEAK),
    ("late-device", "ranks-diverge", ", as when another rank is late", STEP_OF["ranks-diverge"], GIVEN),
    ("late-device", "accelerator-fault", UNSAID, service_steps.HARDWARE, GIVEN),
    ("late-device", "program-fault", UNSAID, STEP_OF["program-fault"], WEAK),
    ("taken-device", "shared-accelerator", ", as when another process has it", _HOLDER, GIVEN),
    (
        "crowded-device",
        "shared-accelerator",
        ", as when several ranks use one device",
        STEP_OF["shared-accelerator"],
        STRONG,
    ),
    ("occupied-device", "shared-accelerator", "", _HOLDERS, STRONG),
    ("occupied-at-start", "shared-accelerator", "", _HOLDERS, STRONG),
    ("crowded-device", "memory-full", "", STEP_OF["memory-full"], GIVEN),
    ("one-device", "shared-accelerator", ", and none of them completes", STEP_OF["shared-accelerator"], STRONG),
    # NVIDIA/nvidia-container-toolkit d34b3046: every specification names `all`, and device nodes as they were
    ("no-specification", "invalid-setting", ": no specification is read", service_steps.SPECIFICATION, STRONG),
    ("no-specification", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], WEAK),
    ("old-specification", "invalid-setting", ", which it names", service_steps.SPECIFICATION, STRONG),
    ("old-specification", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("absent-node", "missing-accelerator", ", which a specification names", STEP_OF["missing-accelerator"], STRONG),
    ("absent-node", "invalid-setting", ", typical of an old specification", service_steps.SPECIFICATION, GIVEN),
    ("tpu-release", "library-release", ", typical of another libtpu", STEP_OF["library-release"], GIVEN),
    ("tpu-release", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("no-engine", "library-release", ", as with a cuDNN before the one that has it", service_steps.CUDNN, STRONG),
    ("no-engine", "unsupported-accelerator", UNSAID, STEP_OF["unsupported-accelerator"], GIVEN),
    ("absent", "absent-ranks", "", _ABSENT, STRONG),
    ("absent", "unreachable-peer", UNSAID, RENDEZVOUS, GIVEN),
    ("absent", "name-resolution", ", as before the name of the first rank is known", _NAME, WEAK),
    ("unreached-transport", "unreachable-peer", "", _REACHED, STRONG),
    ("unreached-transport", "invalid-setting", ", as when UCX_NET_DEVICES names another network", UCX, GIVEN),
    ("no-network-transport", "invalid-setting", ", of which none leaves the node", UCX, STRONG),
    ("no-common-transport", "unreachable-peer", UNSAID, _REACHED, GIVEN),
    ("no-common-transport", "invalid-setting", ", as when UCX_TLS names none that leaves the node", UCX, GIVEN),
    ("no-common-transport", "wrong-interface", UNSAID, "ls /dev/infiniband within the container; ibv_devinfo", WEAK),
    ("same-address", "wrong-interface", "", service_steps.NODE_ADDRESS, STRONG),
    ("fewer-devices", "missing-accelerator", "", STEP_OF["missing-accelerator"], WEAK),
    ("small-shm", "shared-memory", "", STEP_OF["shared-memory"], GIVEN),
    ("cpu-stall", "host-fault", ", as with a processor or a driver that does not go on", _MACHINE, GIVEN),
    ("pod-network", "wrong-interface", ": no network was attached to the pod", _ATTACHED, GIVEN),
    ("pod-network", "invalid-setting", UNSAID, _ATTACHED, WEAK),
    (
        "build",
        "library-release",
        ", typical without the compiler or the headers of CUDA that fit PyTorch",
        service_steps.COMPILER,
        STRONG,
    ),
    ("arguments-refused", "invalid-setting", "", service_steps.ARGUMENTS, STRONG),
    (
        "kernel-resources",
        "unsupported-accelerator",
        ": a kernel for one that has more of it",
        service_steps.BLOCKS,
        STRONG,
    ),
    ("kernel-resources", "program-error", UNSAID, _PROGRAM, WEAK),
    ("kernel-compile", "unsupported-accelerator", UNSAID, STEP_OF["unsupported-accelerator"], GIVEN),
    ("kernel-compile", "library-release", ", as with a fault of that release", STEP_OF["library-release"], WEAK),
    ("check-failed", "program-error", ", a condition that the program itself expects", _PROGRAM, GIVEN),
    ("check-failed", "release-fault", UNSAID, _OLDER, WEAK),
    ("few-cores", "core-binding", ": the cores that the process may use", NEXT_OF_REASONS["core-binding"], STRONG),
    *FIGURE_CAUSES,
    ("low-memlock", "locked-memory", ", less than registered buffers need", STEP_OF["locked-memory"], GIVEN),
    ("pinned", "host-memory-full", "", STEP_OF["host-memory-full"], STRONG),
    ("refused", "unreachable-peer", UNSAID, RENDEZVOUS, GIVEN),
    ("refused", "absent-ranks", UNSAID, _ABSENT, WEAK),
    ("write-failed", "storage-full", UNSAID, STEP_OF["storage-full"], GIVEN),
    ("write-failed", "storage-fault", UNSAID, STEP_OF["storage-fault"], GIVEN),
    ("unlike-links", "accelerator-fault", ", as with a link that does not train", service_steps.HARDWARE, GIVEN),
    ("store-wait", "ranks-diverge", ": a rank sets no key of the store in time", _STUCK, STRONG),
    (
        "late",
        "ranks-diverge",
        UNSAID,
        "compare the first error of each rank to find the rank that stopped earlier",
        GIVEN,
    ),
    ("late", "unreachable-peer", UNSAID, "run ping between the addresses of that line on all nodes", GIVEN),
    ("late", "absent-ranks", ": ranks that start later than HCCL_CONNECT_TIMEOUT allows", service_steps.LATE, GIVEN),
    *CONNECTION_CAUSES,
    ("task-blocked", "storage-fault", ", as in a file system that does not answer", STEP_OF["storage-fault"], GIVEN),
    ("stalled", "ranks-diverge", "", STEP_OF["ranks-diverge"], STRONG),
    ("stalled", "peer-ended", UNSAID, FIRST, WEAK),
    ("no-region", "locked-memory", UNSAID, STEP_OF["locked-memory"], GIVEN),
    ("no-region", "gpudirect-refused", UNSAID, STEP_OF["gpudirect-refused"], WEAK),
    ("tcp-mixed", "wrong-interface", ": an address that several hosts have", _BRIDGES, STRONG),
    ("iommu-fault", "iommu-translation", "", _IOMMU, STRONG),
    ("command-lost", "iommu-translation", ": the NIC gets no answer through the IOMMU", _IOMMU, GIVEN),
    ("command-lost", "nic-fault", UNSAID, STEP_OF["nic-fault"], GIVEN),
    ("device-lost", "accelerator-fault", ": a device left its link", _SLOT, GIVEN),
    ("device-lost", "nic-fault", UNSAID, _SLOT, WEAK),
    ("step-refused", "invalid-setting", ": the step asks for what its job does not hold", _STEP, STRONG),
    ("unplaced", "absent-ranks", ": a scheduler finds no place for it", _PLACE, STRONG),
    *EXIT_CAUSES,
    ("launch", "remote-login", UNSAID, STEP_OF["remote-login"], GIVEN),
    ("launch", "unreachable-peer", UNSAID, RENDEZVOUS, WEAK),
    ("daemon-lost", "peer-ended", UNSAID, "read the logs of that host to see which process ended first", GIVEN),
    ("daemon-lost", "unreachable-peer", UNSAID, RENDEZVOUS, WEAK),
    ("frozen", "storage-fault", ", as when a file system holds up every rank", STEP_OF["storage-fault"], WEAK),
    ("stuck", "ranks-diverge", ", as in a call that waits for other ranks", _STUCK, GIVEN),
    ("stuck", "program-fault", ", as with threads that wait for one another", _STUCK, WEAK),
    ("data-wait", "data-loading", "", service_steps.DATA, STRONG),
    ("data-share", "data-loading", "", service_steps.DATA, GIVEN),
    ("embedding-index", "vocabulary-mismatch", ", as of a token or a position beyond its table", _VOCABULARY, STRONG),
    ("index-assert", "vocabulary-mismatch", ", as with a token or a label beyond a table", _VOCABULARY, GIVEN),
    ("binding", "invalid-setting", "", service_steps.BINDING, STRONG),
    ("neuron-root", "invalid-setting", ", typical without NEURON_RT_ROOT_COMM_ID", service_steps.NEURON_ROOT, STRONG),
    ("neuron-root", "unreachable-peer", UNSAID, RENDEZVOUS, GIVEN),
    ("tcp-lanes", "socket-fall-back", ", between nodes", service_steps.LANES, STRONG),
    ("non-finite", "non-finite-values", "", service_steps.FINITE, STRONG),
    ("dump", "ranks-diverge", _SLOWER, STEP_OF["ranks-diverge"], WEAK),
    ("peer-ended", "peer-ended", ": its own log has the reason", FIRST, WEAK),
    ("own-exception", "program-error", ", the exception of the rank that failed first", _PROGRAM, STRONG),
)
"""Possible causes of lines that state no cause: evidence, cause, words after its text, next step and weight.

Published: pytorch/pytorch issue 67581 and vllm-project/vllm issue 15744 (rendezvous).
"""
