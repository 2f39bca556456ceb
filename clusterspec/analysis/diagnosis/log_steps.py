"""Next steps for causes that lines of a log suggest without stating them, with the thread where one is known."""

from __future__ import annotations

ABSENT = (
    "check with squeue and the launcher of every node that all ranks are started with one MASTER_ADDR, port and "
    "number of ranks; then test the port with nc -vz"
)
NAME = "run getent hosts on that name on every node; give an address (MASTER_ADDR), or add the name to the name service"
SINGLE_COPY = "docker run --cap-add=SYS_PTRACE; or set OMPI_MCA_btl_vader_single_copy_mechanism=none for every rank"
IOMMU = "add iommu=pt to the kernel command line, and restart; NCCL_NET_GDR_LEVEL=LOC to test it"
REACHED = (
    "set UCX_LOG_LEVEL=info for the reason that UCX gives for each transport; run ping between those devices; check"
    " ip -br addr for docker0; set UCX_NET_DEVICES to one network on all nodes"
)
"""openucx/ucx issues 9908 (docker0) and 10738."""
SLOT = (
    "find the device with lspci -s and the address on that line; reseat it, exchange its riser or slot, or update "
    "its firmware"
)
BRIDGES = (
    "look for docker0 and other bridges with one address on all hosts (ip -br addr); exclude them by mpirun --mca "
    "btl_tcp_if_exclude lo,docker0 --mca oob_tcp_if_exclude lo,docker0 and NCCL_SOCKET_IFNAME=^lo,docker"
)
"""horovod/horovod issue 310."""
STEP = (
    "compare nodes, tasks, memory and GPUs of scontrol show job JOB with the options and SLURM_* variables of the step"
)
PLACE = "run kubectl describe pod or scontrol show job to see which resource it lacks"
CAPABLE = (
    "use docker run --cap-add=SYS_PTRACE --cap-add=SYS_NICE or --security-opt seccomp=unconfined, the "
    "securityContext of the pod, or the user namespace of Podman and Apptainer"
)
MOUNT = (
    "docker run --device=/dev/dri -v /dev/dri/by-path:/dev/dri/by-path --device=/dev/kfd; ls -l of them and /sys within"
)
HOLDER = "fuser -v /dev/accel* /dev/neuron* /dev/nvidia* on the host: end the process that holds it"
HOLDERS = "run nvidia-smi and fuser -v /dev/nvidia*; end what holds the device, or choose a free one"
SELECTORS = (
    "read kubectl logs of the device plugin; compare vendors, deviceIDs and ifNames of its ConfigMap with lspci -nn"
)
FIRMWARE = (
    "enable Above 4G Decoding and Resizable BAR in the firmware of the host, or boot with pci=realloc; in a guest, "
    "raise the size of its window"
)
MACHINE = "run ras-mc-ctl --errors or mcelog, and ipmitool sel list; exchange the module that they name"
DIGITS = (
    "set MASTER_ADDR or --rdzv-endpoint to an address, or to a name that has a letter; torchrun --standalone needs "
    "one, too"
)
POWER = (
    "compare the power draw with its limit under load (nvidia-smi -q -d POWER,PERFORMANCE); check the power "
    "supplies and the board's own limit (nvidia-smi -pl)"
)
CLOCKS = "run chronyc tracking on every host, and give all of them the same munge key"
COUNTERS = "run perfquery -x or ethtool -S twice, minutes apart; reseat or replace the cable whose counters grow"
DROPS = (
    "compare ethtool -S of both ends and the switch counters before and after a run; enable PFC and ECN on every "
    "port of the path"
)
KERNEL_WAIT = (
    "check with nvshmem-info -a and pip list that the release is the one for which DeepEP was built; then run "
    "shmem_put_bw between the nodes, and set PeerMappingOverride=1 in the driver"
)
REVERSE = (
    "run getent hosts on the address on every node: /etc/hosts or the name service gives another host's name for it"
)
STUCK = (
    "run py-spy dump on every rank to see the call in which it waits; set TORCH_NCCL_TRACE_BUFFER_SIZE=2000 for the"
    " next run"
)
PROGRAM = "find the call that fails with CUDA_LAUNCH_BLOCKING=1; if it also fails on one node, the program is the cause"
SUBNET = "run sminfo, saquery -g and smpquery portinfo of that LID; compare the partition keys of both ports"
ATTACHED = (
    "run kubectl describe pod and kubectl get network-attachment-definitions -A; read the logs of Multus on that node"
)
SILENT = "read the log of the rank that it names; if that rank still runs, set a longer heartbeat_timeout_seconds"
TOOLKIT = (
    "compare nvidia-container-cli --version on that node and on one where the container starts; install another "
    "release of the toolkit"
)
OLDER = "search the release notes and issues of the library for that function, and repeat the run with another release"
PLUGIN = (
    "run once with NCCL_NET_PLUGIN=none; if that works, update the plugin (HPC-X, aws-ofi-nccl), or remove it from "
    "all nodes"
)
