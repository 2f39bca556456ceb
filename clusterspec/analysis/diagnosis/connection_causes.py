"""Causes that lines about links, devices, transports and connections between ranks are compatible with."""

from __future__ import annotations

from clusterspec.analysis.diagnosis import service_steps
from clusterspec.analysis.diagnosis.service_causes import UNSAID
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STEP_OF, STRONG, WEAK

RENDEZVOUS = (
    "on every node, run getent hosts on the endpoint's name, and test its port with nc -vz; if hosts have several "
    "interfaces, set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME"
)
PORT = (
    "run ibstat on the host of that port; if a rank needs the port, reseat its cable, otherwise leave it out of "
    "NCCL_IB_HCA"
)
_IMEX = (
    "run ls /dev/nvidia-caps-imex-channels within the container, and nvidia-imex-ctl -N; check the fabric manager, too"
)
_IMEX_PROBE = (
    "run nvidia-imex-ctl -q and -N within the container of the daemon, and systemctl is-active nvidia-imex on its "
    "host: only one of the two can have the port"
)
_MANAGER = "run sminfo; start opensm, or the subnet manager of the switches"
_PEER_MAPPING = (
    "check that grep RegistryDwords /proc/driver/nvidia/params shows PeerMappingOverride=1 (else set it by options "
    "nvidia NVreg_RegistryDwords, and restart); run lsmod | grep -E 'nvidia_peermem|gdrdrv'"
)
"""vllm-project/vllm, `tools/ep_kernels/configure_system_drivers.sh`; deepseek-ai/DeepEP issue 223."""
_GROUP = "the security group of all nodes must allow all traffic from and to itself, in and out; fi_pingpong -p efa"
"""aws/aws-ofi-nccl issues 156 and 663."""
_SAME = (
    "compare env | grep -E 'NCCL|RCCL|FI_' of every rank; NCCL_PROTO, NCCL_ALGO and NCCL_BUFFSIZE must have one "
    "value on all of them"
)
_MTU = "run ibv_devinfo | grep active_mtu on both nodes, and give both the same MTU"
_TEST = "start the same program of perftest with the same options (-a, -s, -F) on the server and on the client"
LINK = "compare LnkSta with LnkCap in lspci -vv -s of the device under load; check the slot, its riser and the firmware"
_MPS = "start nvidia-cuda-mps-control -d on the host and set CUDA_MPS_PIPE_DIRECTORY of every rank, or turn MPS off"
UCX = "run ucx_info -d; unset UCX_NET_DEVICES and UCX_TLS, or set them to what it lists"
_VERBS = (
    "ls /dev/infiniband within the container; then ucx_info -d | grep -c Transport.*rc: without any, a UCX with verbs"
)
_PLAN = (
    "run with NCCL_TOPO_DUMP_FILE=system.xml and compare that file with lspci -vt; unset NCCL_TOPO_FILE and "
    "NCCL_GRAPH_FILE"
)
_PLAN_ACS = "set NCCL_NET_GDR_LEVEL=0 to test it; check sudo lspci -vvv | grep -i ACSCtl, and turn ACS off"
_HANDLES = (
    "run show_gids on all hosts; set NVSHMEM_IB_GID_INDEX to a routable RoCE v2 address, and set NVSHMEM_HCA_LIST"
)
FIRST = "sort the logs of all ranks by time, and find the first error"
DRIVER = (
    "compare nvidia-smi, cat /proc/driver/nvidia/version and ldconfig -p | grep libcuda, which must show one "
    "release and not the stubs of the toolkit; restart after an update"
)
_HANDLE = "use docker run --ipc=host --pid=host; to test it, set NCCL_CUMEM_ENABLE=0 NCCL_CUMEM_HOST_ENABLE=0"
_COMPONENT = (
    "run ompi_info --parsable and env | grep -E 'OMPI_MCA|PMIX_MCA'; set PMIX_MCA_psec=native, or install the "
    "component's library"
)
_NAMESPACE = "check rdma system (netns shared or exclusive), and rdma link and ip -br addr within the container"
_HANDLES_RDMA = "run rping between the two addresses, and show_gids; check the firewall for UDP port 4791"
_SHARED = (
    "run ls on that path on every node; use a file system that all nodes mount, or write the files on each of them"
)
"""NVIDIA/Megatron-LM issues 907 and 1355: indices of data sets."""
_PART = "run ls -l on that directory: a save that did not end, or another format, leaves a checkpoint without that file"
_PATH = "check the path on that line on every node, within the container"
_TABLES = "raise sysctl net.ipv4.neigh.default.gc_thresh3 and net.netfilter.nf_conntrack_max above the number of peers"
_DEVX = (
    "use docker run --privileged to test it, then --cap-add=IPC_LOCK, the devices of /dev/infiniband, and fwctl of "
    "the NIC"
)
_OTHER_RELEASE = (
    "find the release with grep libnccl /proc/PID/maps of a rank; repeat the run with the release before or after it"
)
_SWITCHES = "check systemctl status nvidia-fabricmanager and the order of its start; to test it, set NCCL_NVLS_ENABLE=0"
_OMNI_PATH = "run opainfo or ibstat on its host; check its cable and the fabric manager"
CONNECTION_CAUSES = (
    ("link-down", "unstable-link", "", "ibstat or ethtool on its host; reseat or replace its cable", STRONG),
    ("port-down", "unstable-link", "", PORT, GIVEN),  # microsoft/mscclpp issue 493
    ("port-waits", "unreachable-peer", ": the port waits for a subnet manager", _MANAGER, STRONG),
    ("imex", "fabric-manager", ", typical without a channel of IMEX", _IMEX, STRONG),  # NVIDIA/nvbandwidth issue 39
    # kubernetes-sigs/dra-driver-nvidia-gpu issue 524 and pull 333
    ("imex-probe", "fabric-manager", ", typical of a daemon of IMEX that is not ready", _IMEX_PROBE, GIVEN),
    # sgl-project/sglang issue 12533
    ("no-page", "container-permission", ", as when a container has no right to DevX", _DEVX, GIVEN),
    ("no-page", "nic-limit", UNSAID, STEP_OF["nic-limit"], GIVEN),
    ("own-call", "library-release", ", of the library itself, as with a fault of its release", _OTHER_RELEASE, GIVEN),
    ("own-call", "driver-release", UNSAID, STEP_OF["driver-release"], WEAK),
    ("multicast-call", "fabric-manager", ", a call for the multicast of the switches", _SWITCHES, STRONG),
    ("device-uar", "invalid-setting", "", _PEER_MAPPING, STRONG),
    ("device-transport", "invalid-setting", ", typical without that option of the driver", _PEER_MAPPING, GIVEN),
    ("device-transport", "gpudirect-refused", UNSAID, STEP_OF["gpudirect-refused"], GIVEN),
    ("address-handle", "unreachable-peer", ": no path to the GID of another rank", _HANDLES, GIVEN),
    ("address-handle", "library-release", ", as with NVSHMEM 3.4 over RoCE", STEP_OF["library-release"], GIVEN),
    ("address-handle", "invalid-setting", UNSAID, "NVSHMEM_IBGDA_NIC_HANDLER=cpu, and a later NVSHMEM", GIVEN),
    ("ucx-cuda", "invalid-setting", "", "env | grep UCX_TLS: it names cuda_copy,cuda_ipc, or is unset", STRONG),
    ("ucx-cuda", "library-release", "", "ucx_info -d | grep cuda: a UCX that was built with CUDA", GIVEN),
    ("efa-peer", "unreachable-peer", ", as with a security group that does not allow it", _GROUP, STRONG),
    ("efa-peer", "plugin-mismatch", UNSAID, STEP_OF["plugin-mismatch"], WEAK),
    ("efa-peer", "plugin-missing", ", as when one of the ranks has no EFA", service_steps.EFA, WEAK),
    ("queue-gone", "peer-ended", ": the peer's process is gone", FIRST, STRONG),
    ("queue-gone", "host-memory-full", ", as when the memory of its host is full", STEP_OF["host-memory-full"], WEAK),
    ("init-error", "driver-release", ", as with a driver that does not fit, or that was updated", DRIVER, STRONG),
    (
        "init-error",
        "container-permission",
        ", as when SELinux or a sandbox keeps its devices",
        service_steps.SELINUX,
        GIVEN,
    ),
    ("init-error", "program-error", ", as in a process that was forked after its first call", service_steps.FORK, WEAK),
    ("forked-process", "program-error", ", of a process that was forked after it", service_steps.FORK, STRONG),
    ("unknown-error", "accelerator-fault", UNSAID, STEP_OF["accelerator-fault"], GIVEN),
    ("unknown-error", "driver-release", UNSAID, DRIVER, WEAK),
    ("os-call", "invalid-setting", ", as between containers that share no memory", _HANDLE, GIVEN),
    ("os-call", "driver-release", UNSAID, DRIVER, WEAK),
    ("ended", "peer-ended", ": the process was ending", FIRST, WEAK),
    ("flushed", "peer-ended", ": an earlier error closed the queue", FIRST, WEAK),
    ("flushed", "unreachable-peer", ", as when its first message finds no path to the peer", _HANDLES_RDMA, WEAK),
    ("kernel-cache", "kernel-compilation", ": processes write one cache of kernels", service_steps.KERNELS, STRONG),
    ("kernel-cache", "storage-fault", ", as on a shared file system", service_steps.KERNELS, GIVEN),
    ("absent-file", "unshared-files", ", which the program writes itself", _SHARED, GIVEN),
    (
        "absent-program",
        "library-release",
        ": a program that is not installed, or not in PATH",
        service_steps.PROGRAM,
        STRONG,
    ),
    ("missing-file", "unshared-files", ", as on a node that does not share its directory", _SHARED, WEAK),
    ("absent-part", "checkpoint-mismatch", ": a checkpoint lacks that file", _PART, WEAK),
    ("missing-file", "invalid-setting", ", as with a path that is wrong", _PATH, WEAK),
    ("unequal", "invalid-setting", ", as with settings that differ between ranks", _SAME, GIVEN),
    ("no-transport", "invalid-setting", ", as when settings turn all of them off", _SAME, STRONG),
    ("slow-link", "wrong-pcie-generation", "", LINK, STRONG),
    ("fabric-status", "fabric-manager", "", STEP_OF["fabric-manager"], STRONG),
    ("fabric-status", "accelerator-fault", UNSAID, STEP_OF["accelerator-fault"], GIVEN),
    ("error-counter", "accelerator-fault", ", counted since it was reset", STEP_OF["accelerator-fault"], GIVEN),
    ("mps", "invalid-setting", ": the service that shares an accelerator between processes", _MPS, STRONG),
    ("mps", "stopped-service", ": that service does not run, or ended", _MPS, GIVEN),
    ("peer-operation", "invalid-setting", ": both ends have to run one test with the same options", _TEST, GIVEN),
    ("peer-operation", "unreachable-peer", ", as when the MTU of the two ends differs", _MTU, WEAK),
    ("mtu", "unreachable-peer", ": both ends have to agree", _MTU, STRONG),
    ("remote-access", "acs", ": a NIC was refused access to memory of the peer", _PLAN_ACS, GIVEN),
    ("remote-access", "gpudirect-refused", UNSAID, STEP_OF["gpudirect-refused"], WEAK),
    ("invalid-request", "unreachable-peer", ", as when the MTU of the two ends differs", _MTU, STRONG),
    ("protection", "nic-fault", ", as when every peer of one NIC reports it", STEP_OF["nic-fault"], WEAK),
    ("remote-access", "nic-fault", ", as when every peer of one NIC reports it", STEP_OF["nic-fault"], WEAK),
    ("not-ready", "peer-ended", ": the peer posts no receive", FIRST, GIVEN),
    ("gid-changed", "unstable-link", ": an interface lost or changed its address", PORT, GIVEN),
    ("wrong-plan", "wrong-topology", "", _PLAN, STRONG),
    ("ucx-without-verbs", "library-release", ", typical of a UCX that was built without verbs", _VERBS, GIVEN),
    ("ucx-without-verbs", "wrong-interface", ", as within a container without the devices", _VERBS, GIVEN),
    ("ucx-device", "invalid-setting", "", UCX, STRONG),
    ("ucx-device", "wrong-interface", UNSAID, "ls /dev/infiniband within the container; ibv_devinfo", GIVEN),
    ("driver-module", "driver-release", ": it is not built for that kernel", STEP_OF["driver-release"], STRONG),
    ("module", "library-release", ", of another kernel or driver than it was built for", service_steps.MODULE, STRONG),
    ("peer-module", "gpudirect-refused", "", STEP_OF["gpudirect-refused"], GIVEN),
    (
        "fabric-inactive",
        "unstable-link",
        "",
        _OMNI_PATH,
        STRONG,
    ),
    ("component", "library-release", "", _COMPONENT, STRONG),
    ("component", "invalid-setting", UNSAID, _COMPONENT, GIVEN),
    ("slots", "invalid-setting", "", "the slots of the hostfile, or --ntasks of the job, against -np", STRONG),
    ("program-missing", "invalid-setting", "", "the path of the program on every node: ls, and mount", GIVEN),
    ("mpi-path", "unreachable-peer", "", RENDEZVOUS, STRONG),
    ("mpi-path", "invalid-setting", ", as when settings leave no transport", "env | grep -E 'OMPI_MCA|UCX_'", GIVEN),
    ("cm-address", "wrong-interface", ": no NIC of this network namespace has that address", _NAMESPACE, STRONG),
    ("cm-address", "unreachable-peer", UNSAID, RENDEZVOUS, WEAK),
    ("cm-refused", "unreachable-peer", "", _HANDLES_RDMA, STRONG),
    ("cm-refused", "nic-limit", ", as with more queue pairs than the other end can create", service_steps.QUEUES, WEAK),
    ("table-full", "unreachable-peer", ": the host drops connections", _TABLES, STRONG),
)
"""Open causes of such lines: evidence, cause, the end of its text, next step and weight."""
