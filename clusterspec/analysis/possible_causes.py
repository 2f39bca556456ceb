"""Causes that lines are compatible with which state none, each with the name of its evidence and the next step."""

from __future__ import annotations

from clusterspec.analysis import service_steps
from clusterspec.analysis.exit_causes import EXIT_CAUSES
from clusterspec.analysis.service_causes import SERVICE_CAUSES, UNSAID
from clusterspec.analysis.stated_causes import GIVEN, STEP_OF, STRONG, WEAK

_ABSENT = (
    "squeue and the launcher of every node: are all ranks started, with one MASTER_ADDR, port and number of ranks? "
    "then its port with nc -vz"
)
_RENDEZVOUS = (
    "on every node: getent hosts of the endpoint's name, and its port with nc -vz; set NCCL_SOCKET_IFNAME and "
    "GLOO_SOCKET_IFNAME where hosts have several interfaces"
)
_NAME = "getent hosts of that name on every node; give an address (MASTER_ADDR), or add it to the name service"
_PORT = "is a rank to use that port? ibstat on its host: reseat its cable, or leave it out of NCCL_IB_HCA"
_IMEX = "ls /dev/nvidia-caps-imex-channels within the container; nvidia-imex-ctl -N; see fabricmanager, too"
_SINGLE_COPY = "docker run --cap-add=SYS_PTRACE; or set OMPI_MCA_btl_vader_single_copy_mechanism=none for every rank"
_SLOWER = "; a slow rank or the network give the same"
_MANAGER = "sminfo; start opensm, or the subnet manager of the switches"
_PEER_MAPPING = (
    "grep RegistryDwords /proc/driver/nvidia/params: PeerMappingOverride=1 (options nvidia "
    "NVreg_RegistryDwords, and restart); lsmod | grep -E 'nvidia_peermem|gdrdrv'"
)
"""vllm-project/vllm, `tools/ep_kernels/configure_system_drivers.sh`; deepseek-ai/DeepEP issue 223."""
_GROUP = "the security group of all nodes must allow all traffic from and to itself, in and out; fi_pingpong -p efa"
"""aws/aws-ofi-nccl issues 156 and 663."""
_SAME = "env | grep -E 'NCCL|RCCL|FI_' on every rank, compared: one value of NCCL_PROTO, NCCL_ALGO and NCCL_BUFFSIZE"
_MTU = "ibv_devinfo | grep active_mtu on both nodes: one MTU for both"
_TEST = "one program of perftest with the same options (-a, -s, -F) on the server and on the client"
_IOMMU = "add iommu=pt to the kernel command line, and restart; NCCL_NET_GDR_LEVEL=LOC to test it"
_LINK = "lspci -vv -s of the device, under load: LnkSta against LnkCap; the slot, its riser and the firmware"
_MPS = "nvidia-cuda-mps-control -d on the host, and CUDA_MPS_PIPE_DIRECTORY of every rank; or turn MPS off"
_UCX = "ucx_info -d; unset UCX_NET_DEVICES and UCX_TLS, then name what it lists"
_REACHED = (
    "UCX_LOG_LEVEL=info: the reason that it gives for each transport; ping between those devices; ip -br addr: no "
    "docker0; UCX_NET_DEVICES of one network on all nodes"
)
"""openucx/ucx issues 9908 (docker0) and 10738."""
_SLOT = "lspci -s of the address on that line: the device; reseat it, exchange its riser or slot, update its firmware"
_PLAN = "NCCL_TOPO_DUMP_FILE=system.xml …; compare it with lspci -vt; unset NCCL_TOPO_FILE and NCCL_GRAPH_FILE"
_PLAN_ACS = "set NCCL_NET_GDR_LEVEL=0 to test it; sudo lspci -vvv | grep -i ACSCtl; turn ACS off"
_BRIDGES = (
    "ip -br addr: docker0 and other bridges have one address on all hosts; mpirun --mca btl_tcp_if_exclude lo,docker0 "
    "--mca oob_tcp_if_exclude lo,docker0; NCCL_SOCKET_IFNAME=^lo,docker"
)
"""horovod/horovod issue 310."""
_HANDLES = "show_gids on all hosts: NVSHMEM_IB_GID_INDEX of a RoCE v2 address that routes, and NVSHMEM_HCA_LIST"
_FIRST = "the logs of all ranks by time: the first error"
_DRIVER = (
    "nvidia-smi; cat /proc/driver/nvidia/version; ldconfig -p | grep libcuda: one release, not the stubs of the "
    "toolkit; restart after an update"
)
_HANDLE = "docker run --ipc=host --pid=host; to test it, NCCL_CUMEM_ENABLE=0 NCCL_CUMEM_HOST_ENABLE=0"
_COMPONENT = "ompi_info --parsable; env | grep -E 'OMPI_MCA|PMIX_MCA'; PMIX_MCA_psec=native, or the component's library"
_STEP = "scontrol show job JOB beside the options and SLURM_* variables of the step: its nodes, tasks, memory and GPUs"
_PLACE = "kubectl describe pod, or scontrol show job: what it lacks"
_NAMESPACE = "rdma system (netns shared or exclusive); rdma link and ip -br addr within the container"
_HANDLES_RDMA = "rping between the two addresses; show_gids; the firewall for UDP port 4791"
_SHARED = "ls of that path on every node: a file system that all nodes mount, or files written on each of them"
"""NVIDIA/Megatron-LM issues 907 and 1355: indices of data sets."""
_PATH = "the path on that line, on every node, within the container"
_TABLES = "sysctl net.ipv4.neigh.default.gc_thresh3 and net.netfilter.nf_conntrack_max: more than the peers"
_OMNI_PATH = "opainfo or ibstat on its host; its cable, and the fabric manager"
_CAPABLE = (
    "docker run --cap-add=SYS_PTRACE --cap-add=SYS_NICE, or --security-opt seccomp=unconfined; securityContext of the "
    "pod; the user namespace of Podman and Apptainer"
)
_MOUNT = (
    "docker run --device=/dev/dri -v /dev/dri/by-path:/dev/dri/by-path --device=/dev/kfd; ls -l of them and /sys within"
)
_HOLDER = "fuser -v /dev/accel* /dev/neuron* /dev/nvidia* on the host: end the process that holds it"
_SELECTORS = "kubectl logs of the device plugin; vendors, deviceIDs and ifNames of its ConfigMap against lspci -nn"
_FIRMWARE = (
    "Above 4G Decoding and Resizable BAR in the firmware of the host; pci=realloc; in a guest, the size of its window"
)
_MACHINE = "ras-mc-ctl --errors or mcelog; ipmitool sel list: exchange the module that they name"
_CLOCKS = "chronyc tracking on every host; one key of munge on all of them"
_COUNTERS = "perfquery -x or ethtool -S twice, minutes apart: counters that grow; reseat or replace that cable"
_DROPS = (
    "ethtool -S of both ends and counters of the switch, before and after a run: PFC and ECN on every port of the path"
)
_KERNEL_WAIT = (
    "nvshmem-info -a and pip list: the release that DeepEP was built for; then shmem_put_bw between the nodes, and "
    "PeerMappingOverride=1 of the driver"
)
_REVERSE = "getent hosts of the address on every node: /etc/hosts or the name service gives another host's name for it"
_STUCK = "py-spy dump of every rank: the call that each waits in; TORCH_NCCL_TRACE_BUFFER_SIZE=2000 for the next run"
_PROGRAM = "CUDA_LAUNCH_BLOCKING=1: the call that fails; the same on one node is the program's"
_SUBNET = "sminfo; saquery -g; smpquery portinfo of that LID; the partition keys of both ports"
_ATTACHED = "kubectl describe pod; kubectl get network-attachment-definitions -A; the logs of Multus on that node"
_SILENT = "the log of the rank that it names; if that goes on, a longer heartbeat_timeout_seconds"
_TOOLKIT = "nvidia-container-cli --version on that node and on one where it starts; another release of the toolkit"
POSSIBLE = (
    ("short-limit", "invalid-setting", ": a limit that a first step exceeds", service_steps.SHORT, STRONG),
    ("short-limit", "ranks-diverge", _SLOWER, STEP_OF["ranks-diverge"], GIVEN),
    ("submission-refused", "invalid-setting", ": no node of that partition has it", service_steps.SUBMISSION, STRONG),
    ("too-many-ranks", "missing-accelerator", "", STEP_OF["missing-accelerator"], STRONG),
    ("too-many-ranks", "invalid-setting", ", as where the launch is of one node", service_steps.ALL_GPUS, GIVEN),
    ("too-many-ranks", "absent-ranks", ": other nodes did not join", service_steps.ALL_GPUS, WEAK),
    (
        "nvml-absent",
        "invalid-setting",
        ", as where the runtime of containers is not NVIDIA's",
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
    ("worker-ended", "host-memory-full", ", as where the kernel ends it", service_steps.WORKERS, GIVEN),
    ("worker-ended", "program-fault", UNSAID, service_steps.WORKERS, WEAK),
    ("worker-ended", "mixed-releases", ", as with another release of Ray", STEP_OF["mixed-releases"], WEAK),
    ("no-queue", "library-release", ", as where it was built without what that NIC needs", service_steps.QUEUES, GIVEN),
    ("no-queue", "nic-limit", UNSAID, service_steps.QUEUES, GIVEN),
    ("no-queue", "locked-memory", UNSAID, STEP_OF["locked-memory"], WEAK),
    ("device-port", "shared-accelerator", ", as where two groups use one NPU", STEP_OF["shared-accelerator"], WEAK),
    ("empty-target", "invalid-setting", ": an address that is to be given is empty", service_steps.TARGET, GIVEN),
    ("empty-target", "library-release", ", as with a libtpu of another release", STEP_OF["library-release"], GIVEN),
    (
        "unset-variable",
        "invalid-setting",
        ": the environment of the rank has no such variable",
        service_steps.VARIABLE,
        STRONG,
    ),
    ("renamed-file", "program-error", ", as where several ranks rename one file", service_steps.RENAMED, STRONG),
    (
        "shared-identity",
        "invalid-setting",
        ": every host is to have an identity of its own",
        service_steps.IDENTITY,
        GIVEN,
    ),
    ("process-count", "invalid-setting", "", "mpirun -np 2, or srun -n 2: the test is of one pair", STRONG),
    ("kernel-status", "program-fault", "", STEP_OF["program-fault"], STRONG),
    ("kernel-status", "accelerator-fault", ", if the same program runs on another one", service_steps.HARDWARE, WEAK),
    ("cluster-store", "unreachable-peer", UNSAID, _RENDEZVOUS, GIVEN),
    ("cluster-store", "mixed-releases", ", as with another release of Ray", STEP_OF["mixed-releases"], GIVEN),
    ("cluster-store", "wrong-interface", UNSAID, _RENDEZVOUS, GIVEN),
    ("cluster-store", "library-release", ", as where an installation of Ray lacks parts", service_steps.HEAD, WEAK),
    (
        "node-address",
        "wrong-interface",
        ": a node by an address that Ray does not know",
        service_steps.NODE_ADDRESS,
        STRONG,
    ),
    ("node-address", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
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
    ("container-toolkit", "library-release", ": Docker knows no toolkit for it", service_steps.RUNTIME, STRONG),
    ("container-toolkit", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("container-hook", "library-release", ", as with a release of the toolkit for containers", _TOOLKIT, WEAK),
    ("container-hook", "container-permission", UNSAID, _CAPABLE, WEAK),
    *SERVICE_CAUSES,
    ("device-resource", "memory-full", ", as where another process holds most of it", STEP_OF["memory-full"], GIVEN),
    ("device-resource", "library-release", UNSAID, STEP_OF["library-release"], WEAK),
    ("two-toolkits", "library-release", ", as with the cuBLAS of another toolkit", service_steps.TOOLKITS, GIVEN),
    ("two-toolkits", "program-error", UNSAID, _PROGRAM, WEAK),
    ("device-reset", "accelerator-fault", UNSAID, service_steps.HARDWARE, GIVEN),
    ("device-reset", "program-fault", UNSAID, STEP_OF["program-fault"], GIVEN),
    ("misuse", "program-error", "", _PROGRAM, GIVEN),
    ("two-devices", "invalid-setting", ": one process sees several accelerators", service_steps.ONE_DEVICE, GIVEN),
    ("two-devices", "program-error", UNSAID, _PROGRAM, GIVEN),
    ("outside", "outside-server", "", service_steps.OUTSIDE, GIVEN),
    ("lost-manager", "unreachable-peer", ", as with another partition, or no subnet manager", _SUBNET, GIVEN),
    ("lost-manager", "unstable-link", UNSAID, _PORT, GIVEN),
    ("step-memory", "invalid-setting", "", "--mem of the step against that of the job", STRONG),
    ("held-device", "shared-accelerator", "", _HOLDER, STRONG),
    ("earlier-process", "shared-accelerator", ": an earlier process still holds it", _HOLDER, STRONG),
    ("held-device", "library-release", ", as with a release of libtpu that one process locks twice", _HOLDER, WEAK),
    ("uncounted-cores", "shared-accelerator", ", as where an earlier process holds them", _HOLDER, GIVEN),
    ("uncounted-cores", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], WEAK),
    ("driver-state", "driver-release", ", as with a driver and a runtime of two releases", _DRIVER, GIVEN),
    ("driver-state", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("task-silent", "peer-ended", ": a process no longer answers", _FIRST, GIVEN),
    ("task-silent", "ranks-diverge", ", as where a step that allocates or compiles is long", _SILENT, GIVEN),
    ("manager", "fabric-manager", "", service_steps.SERVICE, STRONG),
    ("device-plugin", "invalid-setting", "", _SELECTORS, STRONG),
    ("machine-check", "host-fault", "", _MACHINE, STRONG),
    ("bar", "missing-accelerator", ": the firmware gave the device no space", _FIRMWARE, STRONG),
    ("nic-power", "nic-fault", ", which many healthy hosts print, too", _SLOT, WEAK),
    ("nic-heat", "nic-fault", "", "the airflow of that slot; its transceiver (mlxlink -m)", STRONG),
    ("link-counter", "unstable-link", " since the counters were cleared", _COUNTERS, GIVEN),
    ("loss-counter", "packet-loss", " since the counters were cleared", _DROPS, GIVEN),
    ("device-wait", "library-release", ", as with another release of NVSHMEM", _KERNEL_WAIT, GIVEN),
    ("device-wait", "unreachable-peer", UNSAID, _KERNEL_WAIT, GIVEN),
    ("device-wait", "peer-ended", UNSAID, _FIRST, WEAK),
    ("clock", "invalid-setting", ": the clocks of two hosts differ", _CLOCKS, STRONG),
    ("torn-file", "storage-full", ": a write was cut short", STEP_OF["storage-full"], GIVEN),
    ("torn-file", "storage-fault", ": a write was cut short", STEP_OF["storage-fault"], GIVEN),
    ("reverse-name", "name-resolution", ", the name that the system gives for that address", _REVERSE, STRONG),
    ("preparing", "ranks-diverge", " on some ranks while the others wait for them", service_steps.PREPARE, STRONG),
    ("rendezvous", "unreachable-peer", UNSAID, _RENDEZVOUS, GIVEN),
    ("rendezvous", "wrong-interface", UNSAID, _RENDEZVOUS, GIVEN),
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
    ("driver-node", "invalid-setting", ", as where its address is another one", service_steps.DRIVER_NODE, STRONG),
    ("driver-node", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("flat-shapes", "checkpoint-mismatch", ", as of another number of ranks", service_steps.RESHARD, GIVEN),
    ("flat-shapes", "program-error", UNSAID, _PROGRAM, WEAK),
    ("taken-device", "shared-accelerator", ", as where another process has it", _HOLDER, GIVEN),
    ("tpu-release", "library-release", ", as of another libtpu", STEP_OF["library-release"], GIVEN),
    ("tpu-release", "missing-accelerator", UNSAID, STEP_OF["missing-accelerator"], GIVEN),
    ("no-engine", "library-release", ", as with a cuDNN before the one that has it", service_steps.CUDNN, STRONG),
    ("no-engine", "unsupported-accelerator", UNSAID, STEP_OF["unsupported-accelerator"], GIVEN),
    ("absent", "absent-ranks", "", _ABSENT, STRONG),
    ("absent", "unreachable-peer", UNSAID, _RENDEZVOUS, GIVEN),
    ("absent", "name-resolution", ", as before the name of the first rank is known", _NAME, WEAK),
    ("unreached-transport", "unreachable-peer", "", _REACHED, STRONG),
    ("unreached-transport", "invalid-setting", ", as where UCX_NET_DEVICES names another network", _UCX, GIVEN),
    ("no-network-transport", "invalid-setting", ", of which none leaves the node", _UCX, STRONG),
    ("no-common-transport", "unreachable-peer", UNSAID, _REACHED, GIVEN),
    ("no-common-transport", "invalid-setting", ", as where UCX_TLS names none that leaves the node", _UCX, GIVEN),
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
        ", as without the compiler or the headers of CUDA that fit PyTorch",
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
    ("pinned", "host-memory-full", "", STEP_OF["host-memory-full"], STRONG),
    ("refused", "unreachable-peer", UNSAID, _RENDEZVOUS, GIVEN),
    ("refused", "absent-ranks", UNSAID, _ABSENT, WEAK),
    ("write-failed", "storage-full", UNSAID, STEP_OF["storage-full"], GIVEN),
    ("write-failed", "storage-fault", UNSAID, STEP_OF["storage-fault"], GIVEN),
    ("late", "ranks-diverge", UNSAID, "the first error of each rank: the one that stopped earlier", GIVEN),
    ("late", "unreachable-peer", UNSAID, "ping between the addresses of that line on all nodes", GIVEN),
    ("late", "absent-ranks", ": ranks that start later than HCCL_CONNECT_TIMEOUT allows", service_steps.LATE, GIVEN),
    ("link-down", "unstable-link", "", "ibstat or ethtool on its host; reseat or replace its cable", STRONG),
    ("port-down", "unstable-link", "", _PORT, GIVEN),  # microsoft/mscclpp issue 493
    ("port-waits", "unreachable-peer", ": the port waits for a subnet manager", _MANAGER, STRONG),
    ("imex", "fabric-manager", ", as without a channel of IMEX", _IMEX, STRONG),  # NVIDIA/nvbandwidth issue 39
    ("device-uar", "invalid-setting", "", _PEER_MAPPING, STRONG),
    ("device-transport", "invalid-setting", ", as without that option of the driver", _PEER_MAPPING, GIVEN),
    ("device-transport", "gpudirect-refused", UNSAID, STEP_OF["gpudirect-refused"], GIVEN),
    ("address-handle", "unreachable-peer", ": no path to the GID of another rank", _HANDLES, GIVEN),
    ("address-handle", "invalid-setting", UNSAID, "NVSHMEM_IBGDA_NIC_HANDLER=cpu, and a later NVSHMEM", GIVEN),
    ("ucx-cuda", "invalid-setting", "", "env | grep UCX_TLS: it names cuda_copy,cuda_ipc, or is unset", STRONG),
    ("ucx-cuda", "library-release", "", "ucx_info -d | grep cuda: a UCX that was built with CUDA", GIVEN),
    ("efa-peer", "unreachable-peer", ", as with a security group that does not allow it", _GROUP, STRONG),
    ("efa-peer", "plugin-mismatch", UNSAID, STEP_OF["plugin-mismatch"], WEAK),
    ("efa-peer", "plugin-missing", ", as where one of the ranks has no EFA", service_steps.EFA, WEAK),
    ("queue-gone", "peer-ended", ": the peer's process is gone", _FIRST, STRONG),
    ("queue-gone", "host-memory-full", ", as where the memory of its host is full", STEP_OF["host-memory-full"], WEAK),
    ("init-error", "driver-release", ", as with a driver that does not fit, or that was updated", _DRIVER, STRONG),
    (
        "init-error",
        "container-permission",
        ", as where SELinux or a sandbox keeps its devices",
        service_steps.SELINUX,
        GIVEN,
    ),
    ("init-error", "program-error", ", as in a process that was forked after its first call", service_steps.FORK, WEAK),
    ("unknown-error", "accelerator-fault", UNSAID, STEP_OF["accelerator-fault"], GIVEN),
    ("unknown-error", "driver-release", UNSAID, _DRIVER, WEAK),
    ("os-call", "invalid-setting", ", as between containers that share no memory", _HANDLE, GIVEN),
    ("os-call", "driver-release", UNSAID, _DRIVER, WEAK),
    ("ended", "peer-ended", ": the process was ending", _FIRST, WEAK),
    ("flushed", "peer-ended", ": an earlier error closed the queue", _FIRST, WEAK),
    ("flushed", "unreachable-peer", ", as where its first message finds no path to the peer", _HANDLES_RDMA, WEAK),
    ("absent-file", "unshared-files", ", which the program writes itself", _SHARED, GIVEN),
    (
        "absent-program",
        "library-release",
        ": a program that is not installed, or not in PATH",
        service_steps.PROGRAM,
        STRONG,
    ),
    ("missing-file", "unshared-files", ", as on a node that does not share its directory", _SHARED, WEAK),
    ("missing-file", "invalid-setting", ", as with a path that is wrong", _PATH, WEAK),
    ("unequal", "invalid-setting", ", as with settings that differ between ranks", _SAME, GIVEN),
    ("no-transport", "invalid-setting", ", as where settings turn all of them off", _SAME, STRONG),
    ("slow-link", "wrong-pcie-generation", "", _LINK, STRONG),
    ("mps", "invalid-setting", ": the service that shares an accelerator between processes", _MPS, STRONG),
    ("mps", "stopped-service", ": that service does not run, or ended", _MPS, GIVEN),
    ("peer-operation", "invalid-setting", ": both ends have to run one test with the same options", _TEST, GIVEN),
    ("peer-operation", "unreachable-peer", ", as where the MTU of the two ends differs", _MTU, WEAK),
    ("mtu", "unreachable-peer", ": both ends have to agree", _MTU, STRONG),
    ("remote-access", "acs", ": a NIC was refused access to memory of the peer", _PLAN_ACS, GIVEN),
    ("remote-access", "gpudirect-refused", UNSAID, STEP_OF["gpudirect-refused"], WEAK),
    ("invalid-request", "unreachable-peer", ", as where the MTU of the two ends differs", _MTU, STRONG),
    ("protection", "nic-fault", ", as where every peer of one NIC reports it", STEP_OF["nic-fault"], WEAK),
    ("remote-access", "nic-fault", ", as where every peer of one NIC reports it", STEP_OF["nic-fault"], WEAK),
    ("not-ready", "peer-ended", ": the peer posts no receive", _FIRST, GIVEN),
    ("gid-changed", "unstable-link", ": an interface lost or changed its address", _PORT, GIVEN),
    ("wrong-plan", "wrong-topology", "", _PLAN, STRONG),
    ("ucx-device", "invalid-setting", "", _UCX, STRONG),
    ("ucx-device", "wrong-interface", UNSAID, "ls /dev/infiniband within the container; ibv_devinfo", GIVEN),
    ("module", "library-release", ", of another kernel or driver than it was built for", service_steps.MODULE, STRONG),
    ("peer-module", "gpudirect-refused", "", STEP_OF["gpudirect-refused"], GIVEN),
    (
        "fabric-inactive",
        "unstable-link",
        "",
        "opainfo or ibstat on its host; its cable, and the fabric manager",
        STRONG,
    ),
    ("component", "library-release", "", _COMPONENT, STRONG),
    ("component", "invalid-setting", UNSAID, _COMPONENT, GIVEN),
    ("slots", "invalid-setting", "", "the slots of the hostfile, or --ntasks of the job, against -np", STRONG),
    ("program-missing", "invalid-setting", "", "the path of the program on every node: ls, and mount", GIVEN),
    ("mpi-path", "unreachable-peer", "", _RENDEZVOUS, STRONG),
    ("mpi-path", "invalid-setting", ", as where settings leave no transport", "env | grep -E 'OMPI_MCA|UCX_'", GIVEN),
    ("cm-address", "wrong-interface", ": no NIC of this network namespace has that address", _NAMESPACE, STRONG),
    ("cm-address", "unreachable-peer", UNSAID, _RENDEZVOUS, WEAK),
    ("cm-refused", "unreachable-peer", "", _HANDLES_RDMA, STRONG),
    ("cm-refused", "nic-limit", ", as with more queue pairs than the other end can create", service_steps.QUEUES, WEAK),
    ("table-full", "unreachable-peer", ": the host drops connections", _TABLES, STRONG),
    ("task-blocked", "storage-fault", ", as in a file system that does not answer", STEP_OF["storage-fault"], GIVEN),
    ("stalled", "ranks-diverge", "", STEP_OF["ranks-diverge"], STRONG),
    ("stalled", "peer-ended", UNSAID, _FIRST, WEAK),
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
    ("daemon-lost", "peer-ended", UNSAID, "the logs of that host: what ended there first", GIVEN),
    ("daemon-lost", "unreachable-peer", UNSAID, _RENDEZVOUS, WEAK),
    ("frozen", "storage-fault", ", as where a file system holds up every rank", STEP_OF["storage-fault"], WEAK),
    ("stuck", "ranks-diverge", ", as in a call that waits for other ranks", _STUCK, GIVEN),
    ("stuck", "program-fault", ", as with threads that wait for one another", _STUCK, WEAK),
    ("non-finite", "non-finite-values", "", service_steps.FINITE, STRONG),
    ("dump", "ranks-diverge", _SLOWER, STEP_OF["ranks-diverge"], WEAK),
    ("peer-ended", "peer-ended", ": its own log has the reason", _FIRST, WEAK),
    ("own-exception", "program-error", ", the exception of the rank that failed first", _PROGRAM, STRONG),
)
"""What lines that state no cause are compatible with: evidence, cause, what follows its text, next step and weight.

Published: pytorch/pytorch issue 67581 and vllm-project/vllm issue 15744 (rendezvous).
"""
