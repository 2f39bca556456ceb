"""Lines of containers, services of devices, kernels and communication libraries about something that they lack.

Sources, by commit: NVIDIA/nvidia-container-toolkit, kubernetes-sigs device plugins, NVIDIA Fabric Manager 570, the
drivers of NVIDIA (`NVRM`), habanalabs and mlx5 in Linux 6.8, NVIDIA/nvshmem 2d7d25f (`src`), deepseek-ai/DeepEP
(`csrc`), uxlfoundation/oneCCL (`src/common/global/ze`), aws-neuron (`nrt_status.h`), NVIDIA/nccl
5067397c (`src/os/linux.cc`), openxla/xla.
"""

from __future__ import annotations

import re

_DRIVERS = r"(?:nvidia(?!.peermem)|amdgpu|habanalabs|neuron|i915|xe)\b"
"""Modules of the kernel that drive accelerators."""
PLATFORM_PATTERNS = (
    # nvidia-smi -q (manual of 580, "GPU attributes"): the registration of a GPU with its NVLink domain, ECC, remapping
    ("fabric-status", re.compile(r"^\s{4,12}(State\s{1,40}: (?:In Progress|Not Started))\s{0,9}$")),
    (
        "fabric-status",
        re.compile(r"^\s{4,12}(Status\s{1,40}: (?:Insufficient Resources|Unknown Error|Not Ready|Timeout))"),
    ),
    (
        "error-counter",
        re.compile(r"^\s{4,20}((?:DRAM|SRAM|Device Memory) Uncorrectable.{0,20}\s: [1-9][0-9]{0,9})\s{0,9}$"),
    ),
    ("error-counter", re.compile(r"^\s{4,20}(Pending(?: Page Blacklist)?\s{1,40}: Yes)\s{0,9}$")),
    ("inactive-link", re.compile(r"^\s{0,8}(Link [0-9]{1,2}: <inactive>)")),  # nvidia-smi nvlink -s
    (
        "hardware",
        re.compile(
            r"^\s{4,20}((?:Remapping Failure Occurred|Reset Required|Drain and Reset Recommended)\s{1,40}: Yes)"
        ),
    ),
    # kmod, tools/modprobe.c and insmod.c: a driver that the running kernel does not take, or does not have
    (
        "driver-release",
        re.compile(rf"((?:insert (?:module )?|Module )['\"]?(?:\S{{1,80}}/)?{_DRIVERS}(?! ?: vendor=).{{0,80}})"),
    ),
    ("driver-release", re.compile(rf"({_DRIVERS}: disagrees about version of symbol.{{0,40}})")),
    (
        "kernel-status",
        re.compile(r"(there is an? (?:aicore|aivec|aicpu|vector core|cube)\w{0,4} (?:error|exception).{0,60})"),
    ),
    ("kernel-fault", re.compile(r"(aicore exception|vector core exception|The aicore .{1,60}exception)")),  # CANN
    ("driver-release", re.compile(r"(dcmi module initialize failed.{0,40})")),  # npu-smi of CANN
    # docs.habana.ai, "Debugging"; awsdocs-neuron, "Runtime troubleshooting" (read on 2026-11-26)
    ("out-of-memory", re.compile(r"(PT_DEVMEM Allocation failed.{0,60})")),
    ("late-device", re.compile(r"(Failed to execute the model status=5 message=.{1,40})")),  # NRT_TIMEOUT
    ("late-device", re.compile(r"(inference timeout \([0-9]{1,9} ms\) on Neuron Device.{0,40})")),
    ("out-of-memory", re.compile(r"(TDRV:\w{1,40} .{0,40}[Ff]ailed to alloc(?:ate)? .{0,60})")),
    ("host-memory", re.compile(r"(\[F137\] neuronx?-cc was forcibly killed.{0,80})")),
    ("imex", re.compile(r"(\b(?:IMEX|imex)\b.{0,80}?(?:DEGRADED|UNAVAILABLE|[Ff]ailed to connect).{0,60})")),
    # instances that a cloud takes back, by their documents of AWS, Google Cloud and Azure (read on 2026-11-26)
    (
        "job-ended",
        re.compile(
            r"([Ss]pot (?:instance )?(?:interruption|termination|eviction).{0,60}|TERMINATE_ON_HOST_MAINTENANCE"
            r"|[Ii]nstance (?:is being |was |has been |will be )(?:preempted|reclaimed|evicted).{0,40}"
            r"|\"?(?:EventType|eventType)\"?: \"?Preempt\b.{0,40})"
        ),
    ),
    # sensors by IPMI (`ipmitool sel list`, ipmievd)
    (
        "supply",
        re.compile(
            r"(Power Supply .{0,60}(?:AC lost|Failure detected|Predictive failure|Power Supply input lost).{0,20})"
        ),
    ),
    # what a container lacks: capabilities, system calls, devices
    ("capability", re.compile(r"(fuse: (?:device not found|failed to open /dev/fuse).{0,40})")),  # libfuse, lib/mount.c
    ("capability", re.compile(r"(pidfd is not supported.{0,60})")),  # oneCCL: SYS_PTRACE
    ("capability", re.compile(r"((?:set_mempolicy|get_mempolicy|mbind|move_pages).{0,20}[Oo]peration not permitted)")),
    ("capability", re.compile(r"((?:process_vm_readv|ptrace|pidfd_getfd|kcmp).{0,40}[Oo]peration not permitted)")),
    ("container-device", re.compile(r"(opendir failed: could not open device directory)")),  # oneCCL: /dev/dri/by-path
    ("container-device", re.compile(r"(ze_fd_manager\S{0,12} .{0,40}open failed: fd: -1.{0,40})")),
    ("container-device", re.compile(r"(Failed to open topo/nodes directory)")),  # RCCL: /sys/class/kfd
    (
        "container-device",
        re.compile(r"(Failed to initialize NVML: (?:Insufficient Permissions|GPU access blocked).{0,40})"),
    ),
    ("capability", re.compile(r"(nvidia-container-cli: permission error: .{1,120})")),  # libnvidia-container
    ("capability", re.compile(r"(nvidia-container-cli: \w{1,20} error: .{1,160}: operation not permitted)")),
    ("container-files", re.compile(r"(nvidia-container-cli: \w{1,20} error: .{1,200}: permission denied)")),
    ("capability", re.compile(r"(container has runAsNonRoot and image will run as root)")),  # kubelet
    # the toolkit for containers: absent (moby/moby b985e231, daemon/errors.go line 82), or of another release.
    # Threads: NVIDIA/nvidia-docker issues 957 and 1492; of its driver, HonuRobotics/dockwater pull 10
    ("container-toolkit", re.compile(r"(could not select device driver .{0,40}gpu.{0,10})")),
    ("container-files", re.compile(r"(nvidia-container-cli: mount error: .{1,200}: no such file or directory)")),
    # the host's `ldconfig` in the container. Threads: NVIDIA/enroot issue 128, SlinkyProject/containers pull 2
    ("container-hook", re.compile(r"(nvidia-container-cli: ldcache error: process .{1,80})")),
    ("container-hook", re.compile(r"(OCI runtime create failed: .{1,300}?[Rr]unning (?:prestart )?hook.{0,80})")),
    ("driver-unloaded", re.compile(r"(nvidia-container-cli: .{0,60}nvml error: driver not loaded)")),
    # Kubernetes: a service of a node's devices that ends again and again. Thread: open-edge-platform/geti_v2 issue 436
    (
        "service",
        re.compile(
            r"(back-off \S{1,12} restarting failed container=\S{0,60}"
            r"(?:device-plugin|dcgm|fabric-?manager|container-toolkit|node-feature|driver)\S{0,60})"
        ),
    ),
    (
        "pod-network",
        re.compile(r"(Failed to create pod sandbox: .{0,200}(?:failed \(add\)|failed to set ?up network).{0,60})"),
    ),
    # NVIDIA/gpu-driver-container 39206294, centos8/nvidia-driver line 32, and the package managers that it calls.
    # Threads: NVIDIA/gpu-operator issues 85 and 190, GoogleCloudPlatform/container-engine-accelerators issue 140
    ("kernel-headers", re.compile(r"(Could not resolve Linux kernel version)")),
    ("kernel-headers", re.compile(r"(Unable to find a match: .{0,80}kernel-(?:devel|headers)-\S{1,60})")),
    ("kernel-headers", re.compile(r"(Unable to locate package linux-headers-\S{1,60})")),
    # a module of the driver that is not built or not loaded: modpost of the kernel, dkms, NVIDIA's installer.
    # Thread: NVIDIA/gpu-operator issue 751
    ("module-build", re.compile(r"(modpost: GPL-incompatible module nvidia.{0,60})")),
    ("module-build", re.compile(r"(Bad return status for module build on kernel: .{1,60})")),
    ("module-build", re.compile(r"(Unable to load the (?:kernel module )?['\"]nvidia\S{0,12}['\"].{0,40})")),
    # Kbuild, which calls its target `modules` and the folder of the sources. Thread: NVIDIA/gpu-operator issue 18
    (
        "module-build",
        re.compile(
            r"(make(?:\[[0-9]\])?: \*\*\* \[(?:[^\]]{0,120}[/:_ ])?(?:modules|_module_|usr/src)\b.{0,120}Error [0-9])"
        ),
    ),
    # kubelet: a device plugin that has not started yet, or devices that it calls unhealthy.
    # Thread: kubernetes/kubernetes issue 125579
    ("no-healthy-device", re.compile(r"(no healthy devices present; cannot allocate unhealthy devices \S{1,60})")),
    # `ibstatus` of infiniband-diags, where the kernel has no RDMA device. Thread: clustervision/trinity issue 219
    ("no-rdma-device", re.compile(r"(sys files not found \(/sys/class/infiniband/\S{1,40})")),
    # MPICH and those made from it (`src/mpi/errhan/errnames.txt`). Thread: NVIDIA/nccl-tests issue 92
    # Open MPI, without a reason before it. Thread: NVIDIA/TensorRT-LLM issue 2286
    ("mpi-start", re.compile(r"(Local abort before MPI_INIT completed.{0,40}|An error occurred in MPI_Init\w{0,10})")),
    ("foreign-launcher", re.compile(r"(PMI2?_KVS_(?:Get|Put|Commit|Create) returned -?[0-9]{1,4})")),
    # horovod/horovod d261b5e8, horovod/runner/launch.py line 127: what `horovodrun --check-build` prints
    ("built-without", re.compile(r"^\s{0,8}(\[ \] NCCL)\s*$")),
    ("no-free-device", re.compile(r"([0-9]{1,6} Insufficient (?:nvidia|amd)\.com/gpu)")),
    # SchedMD/slurm 284c3b95, src/slurmd/slurmstepd/task.c line 541: the script that slurmd itself wrote, then others
    ("spool", re.compile(r"(slurmstepd: error: execve\(\): \S{1,120}/slurm_script: No such file or directory)")),
    (
        "program-missing",
        re.compile(
            r"(slurmstepd: error: execve\(\): (?!\S{0,120}/slurm_script:)/\S{1,120}: No such file or directory)"
        ),
    ),
    ("container-device", re.compile(r"(open\(/dev/(?:accel|vfio/)[0-9]{1,3}\): Operation not permitted)")),  # libtpu
    ("no-device", re.compile(r"(nvidia-container-cli: device error: .{1,80})")),
    ("no-device", re.compile(r"(Failed to initialize NVML: Driver Not Loaded)")),
    (
        "library",
        re.compile(
            r"(nvidia-container-cli: ldcache error: (?!process ).{1,80}|unknown or invalid runtime name: nvidia)"
        ),
    ),
    ("library", re.compile(r"(nvidia-container-cli: container error: cgroup subsystem devices not found)")),
    ("no-device", re.compile(r"^\s{0,4}(No devices were found)\s*$")),  # nvidia-smi
    # specifications of the Container Device Interface: that of a name that each of them has, and of a device node
    ("no-specification", re.compile(r"(unresolvable CDI devices \S{1,80}=all\b.{0,40})")),
    ("no-device", re.compile(r"(unresolvable CDI devices (?!\S{1,80}=all\b).{1,80})")),
    ("absent-node", re.compile(r"(failed to stat CDI host device \W{0,2}/dev/(?:nvidia|dxg|kfd)[0-9]{0,3}\W.{0,60})")),
    ("old-specification", re.compile(r"(failed to stat CDI host device \W{0,2}/dev/(?:dri|nvidia-)\S{1,80}.{0,60})")),
    # MPICH and those made of it, where libfabric gives it no provider (pmodels/mpich 259bad1e, `errnames.txt`)
    (
        "no-provider",
        re.compile(
            r"(\bOFI (?:addrinfo\(\)|fi_(?:getinfo|fabric|domain)(?:\(\))?|(?:fabric|domain|endpoint) open) "
            r"fail(?:ed|ure)\b.{0,100}|No valid libfabric provider\b.{0,40})"
        ),
    ),
    ("no-device", re.compile(r"(requested number of devices unavailable for .{1,60})")),  # kubelet
    ("no-device", re.compile(r"(No TPU Platform available|TPU platform is not available|No TPU devices? found)")),
    (
        "no-device",
        re.compile(r"(Invalid device [0-9]{1,4} \(totalnDev=[0-9]{1,4}\)|invalid device count \([0-9-]{1,6}\))"),
    ),
    ("held-device", re.compile(r"(TPU is already in use by .{1,60}|libtpu.{0,20} already in used? by.{0,60})")),
    # a server of Kubernetes that admits objects, and does not answer
    (
        "service",
        re.compile(
            r"(\bfail\w{2,3} (?:to call|calling) webhook\b.{1,300}(?:refused|no endpoints available|deadline exceeded))"
        ),
    ),
    # the runtime of Neuron, by the names and numbers of `nrt_status.h`
    ("driver-release", re.compile(r"(Unable to determine Neuron Driver version.{0,80})")),
    ("driver-state", re.compile(r"(\[NRTD:\w{1,20}\] Failed to initialize devices.{0,40})")),
    ("shared-accelerator", re.compile(r"(NeuronCore\(s\) not available.{0,60})")),
    # aws-neuron/aws-neuron-sdk issue 298, in its spelling
    ("shared-accelerator", re.compile(r"(\binsuffici?ent NCs for the requested operation)")),
    # aws-neuron-samples issue 44: processes of an earlier run held the devices
    ("uncounted-cores", re.compile(r"(cannot determine the number of available NeuronCores)")),
    ("no-device", re.compile(r"(NRT_LOAD_NOT_ENOUGH_NC|\bnrt_\w{1,30}\W.{0,40}?status[ =:]{1,3}9\b.{0,60})")),
    (
        "library",
        re.compile(r"(NRT_UNSUPPORTED_NEFF_VERSION|\bnrt_\w{1,30}\W.{0,40}?status[ =:]{1,3}10\b.{0,60})"),
    ),
    ("host-memory", re.compile(r"(NRT_FAIL_HOST_MEM_ALLOC|\bnrt_\w{1,30}\W.{0,40}?status[ =:]{1,3}11\b.{0,60})")),
    ("out-of-memory", re.compile(r"(\b(?:nrt_|neff)\w{0,30}\W.{0,40}?status[ =:]{1,3}4\b.{0,60})")),
    ("kernel-fault", re.compile(r"(NRT_EXEC_(?:BAD_INPUT|OOB)\b.{0,60}|\bnrt_\w{1,30}\W.{0,40}?status=100[26]\b)")),
    ("task-silent", re.compile(r"(NRT_TIMEOUT\b.{0,60}|\bnrt_\w{1,30}\W.{0,40}?status[ =:]{1,3}5\b.{0,60})")),
    # its communicator over instances, for which each rank needs NEURON_RT_ROOT_COMM_ID. Thread: ray-project/ray 65070
    # a process that was forked after the runtime was initialized in its parent. Thread: aws-neuron/aws-neuron-sdk 1083
    ("forked-process", re.compile(r"(Incompatible runtime state: NRT_STATE_CHILD)")),
    ("neuron-root", re.compile(r"(\b(?:Nrt::BuildGlobalComm|nrt_build_global_comm)\b.{0,60}fail.{0,80})")),
    # the coordination of processes in JAX and XLA
    ("task-silent", re.compile(r"(Task /job:\S{1,60} heartbeat timeout)")),
    ("task-silent", re.compile(r"(Terminating process because the (?:coordinator|JAX distributed service).{1,80})")),
    ("task-silent", re.compile(r"(tasks? (?:is|are) unhealthy \(stopped sending heartbeats\).{0,80})")),
    ("task-silent", re.compile(r"(Polled an error from coordination service.{0,60})")),
    (
        "stalled",
        re.compile(r"(Expected [0-9]{1,6} threads to join the rendezvous, but (?:only|not all) .{1,60})"),
    ),
    # services of devices
    ("manager", re.compile(r"(NVLink fabric state cached by the driver is out of sync|NV_ERR_FABRIC_\w{3,30})")),
    (
        "manager",
        re.compile(r"([Ff]abric[ -]?[Mm]anager.{0,60}(?:version|driver).{0,60}(?:don't|doesn't|not) match.{0,40})"),
    ),
    # the log of the fabric manager. Thread: NVIDIA/nccl issue 1043
    ("manager", re.compile(r"(failed to find the GPU handle [0-9]{1,20} in the multicast team request.{0,60})")),
    ("manager", re.compile(r"(query NVSwitch device information from NVSwitch driver failed.{0,60})")),
    ("manager", re.compile(r"(NVIDIA Fabric Manager Start Script|nvidia-fabricmanager-start\.sh \[script options\])")),
    ("manager", re.compile(r"([Ff]abric[ -]?manager.{0,60}(?:Failed|failed|not running|inactive|exited).{0,60})")),
    ("manager", re.compile(r"(Mapping multicast groups for UC heap failed|to MC group \w{1,20} failed)")),  # NVSHMEM
    ("device-plugin", re.compile(r"(missing RDMA device spec for device .{1,80})")),  # k8s-rdma-shared-dev-plugin
    (
        "device-plugin",
        re.compile(r"(no devices? in (?:the )?(?:resource )?(?:pool|config)\b.{0,40}|No device matches .{1,60})"),
    ),
    # the kernel and the driver of NVIDIA
    ("driver-release", re.compile(r"(API mismatch: the client has the version .{1,80})")),
    ("hardware", re.compile(r"(Unable to change power state from D3cold to D0)")),
    ("hardware", re.compile(r"(Remapping Failure Occurred\s{0,40}: Yes|Row remapping failure occurred)")),
    ("hardware", re.compile(r"(NRT_(?:EXEC_HW_ERR_\w{1,30}|HW_ERROR|EXEC_UNIT_UNRECOVERABLE)|NERR_HW_\w{1,20})")),
    ("hardware", re.compile(r"(\bnrt_\w{1,30}\W.{0,40}?status[ =:]{1,3}(?:6|101|120[0-35])\b.{0,60})")),
    ("hardware", re.compile(r"(slice has unhealthy TPU chips)")),
    ("hardware", re.compile(r"(Device critical error.{0,40})")),  # Gaudi
    ("machine-check", re.compile(r"(\bmce: \[Hardware Error\]: .{0,60})")),
    ("machine-check", re.compile(r"(\bEDAC MC[0-9]{1,2}: [0-9]{1,6} UE .{0,60})")),
    ("bar", re.compile(r"(PCI I/O region assigned to your NVIDIA device is invalid|BAR[0-9] is 0M)")),
    ("nic-power", re.compile(r"(Detected insufficient power on the PCIe slot.{0,20})")),
    ("nic-heat", re.compile(r"(mlx5_core.{0,80}[Hh]igh temperature on sensors?.{0,40})")),
    (
        "nic-heat",
        re.compile(r"(mlx5_core.{0,60}Port module event\[error\]: module [0-9]{1,3}, .{0,20}[Hh]igh [Tt]emp\w{0,8})"),
    ),
    ("nic-fault", re.compile(r"(mlx5_core .{1,80}handling bad device here)")),
    ("link-down", re.compile(r"(mlx5_core .{1,80}Port module event: module [0-9]{1,3}, Cable unplugged)")),
    (
        "link-down",
        re.compile(
            r"((?:\b(?:mlx[45]_\w{1,6}|bnxt_\w{2}|i40e|ice|idpf|ixgbe|ionic|cxi_\w{1,8}|hfi1|qede|hns3|irdma|r81\d\d|igb"
            r"|igc|e1000e|atlantic|tg3|bnx2x|enic|sfc|gve|hinic3?|thunderx?|mvpp2|macb|virtio_net)\b"
            r".{1,80}?|\] ib[0-9]{1,3}: )[Ll]ink (?:is )?[Dd]own.{0,40})"
        ),
    ),
    (
        "link-down",
        re.compile(r"(habanalabs .{0,20}\bport [0-9]{1,3} (?:is )?down|Ports? (?:is|are) down: [0-9,]{1,60})"),
    ),
    ("link-down", re.compile(r"(found inactive port or port with non.{0,40})")),  # NVSHMEM
    ("link-counter", re.compile(r"(\b(?:link_downed|LinkDownedCounter)\W{1,12}[1-9][0-9]{0,9})\b")),
    (
        "loss-counter",
        re.compile(r"(\b(?:out_of_sequence|packet_seq_err|local_ack_timeout_err)\W{1,6}[1-9][0-9]{2,12})\b"),
    ),
    (
        "loss-counter",
        re.compile(r"(\brx_(?:discards_phy|prio[0-7]_(?:buf_discard|discards))\W{1,6}[1-9][0-9]{2,12})\b"),
    ),
    ("link-counter", re.compile(r"(\blink_down_events_phy\W{1,6}[1-9][0-9]{0,9})\b")),
    ("link-counter", re.compile(r"(\brx_(?:crc_errors|symbol_err)_phy\W{1,6}[1-9][0-9]{2,12})\b")),
    # programs on accelerators
    ("non-finite", re.compile(r"(number of nan iterations: {1,4}[1-9][0-9]{0,8})\b")),  # Megatron (`training.py`)
    ("non-finite", re.compile(r"(Loss is (?:nan|inf), stopping training)")),  # pytorch/vision (`references`)
    ("no-device", re.compile(r"(ROCk module is NOT loaded.{0,40})")),  # rocminfo
    ("no-kernel", re.compile(r"(hipErrorInvalidKernelFile)\b")),
    ("no-kernel", re.compile(r"(rocBLAS error: .{0,120}TensileLibrary.{0,80})")),
    ("kernel-status", re.compile(r"(CUBLAS_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR)|CUDNN_STATUS_EXECUTION_FAILED)")),
    ("out-of-memory", re.compile(r"(NRT_RESOURCE\b.{0,60}|[Ff]ailed to allocate device memory.{0,40})")),  # Neuron
    ("driver-release", re.compile(r"(requires CUDA driver [0-9.]{1,6} or later \(found .{1,12})")),
    ("crash", re.compile(r"(exitcode {0,3}: -(?:4|6|8|11)\b)")),  # torchrun: signals of a fault
    # runtimes of devices: ROCm's HSA, Level Zero, the graph compiler of Gaudi, cuBLAS
    ("kernel-fault", re.compile(r"(HSA_STATUS_ERROR_(?:MEMORY_\w{1,30}|EXCEPTION|ILLEGAL_INSTRUCTION)\b.{0,80})")),
    ("no-kernel", re.compile(r"(HSA_STATUS_ERROR_INVALID_(?:ISA|CODE_OBJECT)\b.{0,80})")),
    ("device-resource", re.compile(r"((?:HSA_STATUS|UR_RESULT|ZE_RESULT)_ERROR_OUT_OF_RESOURCES\b.{0,80})")),
    ("device-resource", re.compile(r"(CUBLAS_STATUS_NOT_INITIALIZED\b.{0,60})")),
    ("two-toolkits", re.compile(r"(CUBLAS_STATUS_(?:INVALID_VALUE|NOT_SUPPORTED)\b.{0,60})")),
    ("out-of-memory", re.compile(r"((?:UR|ZE)_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)")),
    ("out-of-memory", re.compile(r"(\b[Dd]evice memory allocation failed.{0,40})")),
    ("device-reset", re.compile(r"((?:UR|ZE)_RESULT_ERROR_DEVICE_LOST|\b(?:i915|xe) .{1,40}GPU HANG: .{0,60})")),
    ("misuse", re.compile(r"((?:CUDA|HIP) error: .{1,60}(?:stream is capturing|in the present state).{0,40})")),
    ("misuse", re.compile(r"(Default process group has not been initialized)")),
    # one process that sees several accelerators. Threads: meta-llama/llama-cookbook issue 38, casper-hansen/AutoAWQ
    # issue 558, minghaochen/chatglm3-base-tuning issue 8
    ("two-devices", re.compile(r"(Expected all tensors to be on the same device.{0,80})")),
    ("out-of-memory", re.compile(r"(rtMalloc\b.{0,80}out of memory)")),  # CANN
    # the receive daemon of GPUDirect-TCPXO. Thread: NVIDIA/aicr pull 1662
    ("wrong-plan", re.compile(r"(Number of GPUs detected in the PCI tree [0-9]{1,3} is not equal.{0,80})")),
    ("service", re.compile(r"(NET/FasTrak\b.{0,80}connect\(\) error: 111\b.{0,40})")),
    ("mps", re.compile(r"(MPS client terminated .{1,40})")),
    ("kernel-fault", re.compile(r"((?:CUDA|HIP) error: the launch timed out and was terminated)")),
    # networks
    ("lost-manager", re.compile(r"(\bmulticast join failed for .{1,80})")),  # IPoIB
    ("lost-manager", re.compile(r"(\b_do_madrpc failed; dport .{1,40})")),  # infiniband-diags
    ("ucx-device", re.compile(r"(transport '\w{1,20}' is not available, please use .{1,80})")),
    ("container-device", re.compile(r"(Unable to open device \S{1,40}\. The process may not have.{0,40})")),  # EFA
    ("rendezvous", re.compile(r"(PMIX ERROR: UNREACHABLE\b.{0,80})")),
    ("manager", re.compile(r"(\bimex.{0,60}\b(?:DISCONNECTED|UNAVAILABLE|INVALID)\b.{0,40})")),
    ("step-memory", re.compile(r"(Unable to create step for job [0-9]{1,12}: Memory required by task .{1,40})")),
    # GPUDirect
    ("peer-memory", re.compile(r"(mlx5dv_devx_umem_reg\w{0,4} failed)")),
    (
        "peer-memory",
        re.compile(r"(gdr_(?:pin_buffer|open)\w{0,8} failed.{0,40}|GDRCopy (?:segment pin|open) failed.{0,40})"),
    ),
    ("peer-memory", re.compile(r"(Failed to initialize GDRCopy.{0,40}|gdrdrv\b.{0,20}not (?:loaded|found))")),
    # NVSHMEM and DeepEP
    ("no-network", re.compile(r"(Unable to initialize any transports)")),
    ("setting", re.compile(r"(cound not find user specified HCA name: .{1,40})")),  # as the source spells it
    ("library", re.compile(r"(NVSHMEM provided an incompatible version of the transport interface)")),
    ("library", re.compile(r"(selected bootstrap returned an incompatible version)")),
    ("device-wait", re.compile(r"(DeepEP (?:error: )?[\w() ]{0,60}\btimeout\b.{0,60})")),
    ("device-wait", re.compile(r"(received timeout signal from GPU thread\(s\))")),
    # libraries that a program or a plugin needs
    ("library", re.compile(r"(Driver \w{1,20} does not support the kernel ABI of [0-9]{1,4}.{0,24})")),  # libibverbs
    ("library", re.compile(r"(Couldn't find the specified plugin name for mpi/\w{1,12})")),  # Slurm
    # Cloud TPU, the state of a slice. Thread: AI-Hypercomputer/maxtext pull 2041
    ("hardware", re.compile(r"(\bSLICE_FAILURE_(?:CHIP|ICI|HW|HBM|LINK)\w{0,30})")),
    ("library", re.compile(r"(mca_base_component_repository_open: unable to open .{1,80})")),
    ("library", re.compile(r"(Failed to open libnvidia-ml\.so\S{0,4}: .{0,80})")),
    # pciutils: a device that answers no read of its registers, so that every byte is ff.
    # Thread: lyulyul/shine-cluster issue 171
    ("hardware", re.compile(r"((?:VGA compatible|3D|Display) controller: .{1,120}\(rev ff\))")),
    ("hardware", re.compile(r"(Processing accelerators: .{1,120}\(rev ff\))")),
    ("nic-fault", re.compile(r"((?:Ethernet|Infiniband|Network) controller: .{1,120}\(rev ff\))")),
    # hosts
    (
        "clock",
        re.compile(
            r"^(?!.{0,200}(?:\bmake(?:\[[0-9]{1,3}\])?: |\bWARNING\b|\badjusting\b)).{0,4000}?"
            r"([Mm]unge.{0,20}[Dd]ecode failed: (?:Rewound|Expired) credential|(?:Rewound|Expired) credential"
            r"|[Cc]heck for out of sync clocks|[Cc]locks? .{0,80}\bnot (?:be )?synchroni[sz]ed"
            r"|[Cc]lock skew (?:too great|detected on).{0,40}|[Cc]lock difference .{0,80}\btoo high.{0,40}"
            r"|\bRequestTimeTooSkewed\b|[Ss]ignature not yet current.{0,60}|\bcurrent time \S{1,40} is before \S{1,40})"
        ),
    ),
    ("login", re.compile(r"(ssh: connect to host .{1,80} port [0-9]{1,5}: .{1,30})")),
    ("name", re.compile(r"(UnknownHostException: .{1,60}|[Cc]ould not resolve (?:host|hostname):? .{1,80})")),
    # readers of shards and archives, by their exceptions: pyarrow, zipfile, gzip, tarfile, h5py
    (
        "torn-archive",
        re.compile(
            r"(Not an Arrow file|Parquet magic bytes not found.{0,40}|File is not a zip file|Not a gzipped file.{0,20}"
            r"|ReadError: (?:unexpected end of data|truncated header|bad checksum|invalid header).{0,60})"
        ),
    ),
    # tensorstore (`driver/zarr`): an array of a checkpoint
    ("absent-array", re.compile(r"(Error opening \"?(?:zarr|ocdbt|n5|neuroglancer)\w{0,20}\"? driver.{0,100})")),
    ("torn-archive", re.compile(r"(pickle data was truncated)")),  # python/cpython, Modules/_pickle.c
    ("torn-file", re.compile(r"(unexpected pos [0-9]{1,15} vs [0-9]{1,15})")),  # PyTorch: a write that was cut
    ("storage-fault", re.compile(r"(LustreError: .{1,120}(?:rc =|rc|failed with|error) -(?:5|30|107|108|110)\b)")),
    (
        "outside",
        re.compile(
            re.compile(
                r"^(?!.{0,200}\bRetrying \(Retry\().*?"
                r"(HTTPSConnectionPool\(host='(?!localhost|127\.|10\.|192\.168\.|0\.0\.).{1,100})"
            ),
        ),  # urllib3, other than a retry that pip announces
    ),  # urllib3
    ("outside", re.compile(r"(couldn't connect to 'https?://.{1,80})")),  # Hugging Face
    ("outside", re.compile(r"(Back-off pulling image .{1,80}|\b(?:ErrImagePull|ImagePullBackOff)\b)")),  # kubelet
    ("outside", re.compile(r"(curl: \((?:7|28|35|56)\) .{1,80}|fatal: unable to access 'https?://.{1,80})")),
    (
        "host-memory",
        re.compile(r"((?:[Jj]ob|[Ss]tep) \S{1,20} exceeded memory limit \([0-9.KMGT]{1,15} > .{1,30})"),
    ),  # Slurm
    ("stalled", re.compile(r"(\[missing ranks: ?[0-9, ]{1,60})")),  # Horovod
    ("host-memory", re.compile(r"(malloc\(size=[0-9]{1,15}\) returned null)")),
)
"""Names of statements and the patterns of their lines."""
