"""Lines of libraries, launchers, schedulers and kernels that state what stopped a run, each by the words of its source.

Sources, by commit: NVIDIA/nccl 5067397c (`src/transport/net_ib`, `src/graph/paths.cc`, `src/init.cc`), pytorch/pytorch
8cf1b8e3 (`torch/csrc/distributed/c10d`), kvcache-ai/Mooncake 3b5a5941 (`mooncake-transfer-engine/src`), and of HCCL the
codes of its errors (CANN 9.0, "HCCL Errors", EI0001 to EI0020).
"""

from __future__ import annotations

import re


def _hccl_pattern(*codes: str) -> re.Pattern[str]:
    """Lines with one of these codes, as torch_npu (`EI0006: …`) and CANN (`Name_Of_Error(EI0006): …`) print them."""
    return re.compile(r"(\b(?:" + "|".join(codes) + r")(?:\)|:)(?! \d{4}-\d\d-\d\d-[\d:.]{1,20}$).{0,160})")


RUNTIME_ERRORS = {
    "out-of-memory": ("MemoryAllocation", "OutOfMemory", "OUT_OF_MEMORY"),
    "no-device": ("InvalidDevice", "NoDevice", "INVALID_DEVICE", "NO_DEVICE"),
    "driver-release": (
        "InsufficientDriver",
        "SystemDriverMismatch",
        "CompatNotSupportedOnDevice",
        "UnsupportedPtxVersion",
        "StubLibrary",
        "CallRequiresNewerDriver",
        "SYSTEM_DRIVER_MISMATCH",
        "STUB_LIBRARY",
        "CALL_REQUIRES_NEWER_DRIVER",
        "COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "UNSUPPORTED_PTX_VERSION",
    ),
    "init-error": ("InitializationError", "NotInitialized", "NOT_INITIALIZED"),
    "os-call": ("OperatingSystem", "OPERATING_SYSTEM"),
    "mps": ("MpsConnectionFailed", "MpsServerNotReady", "MPS_CONNECTION_FAILED", "MPS_SERVER_NOT_READY"),
    "fabric-manager": ("SystemNotReady", "SYSTEM_NOT_READY"),
    "hardware": (
        "ECCUncorrectable",
        "ECCNotCorrectable",
        "NvlinkUncorrectable",
        "HardwareStackError",
        "Contained",
        "CONTAINED",
        "ECC_UNCORRECTABLE",
        "NVLINK_UNCORRECTABLE",
        "HARDWARE_STACK_ERROR",
    ),
    "no-kernel": ("NoKernelImageForDevice", "NoBinaryForGpu", "NO_BINARY_FOR_GPU"),
    "kernel-fault": (
        "IllegalAddress",
        "IllegalInstruction",
        "MisalignedAddress",
        "LaunchFailure",
        "Assert",
        "ILLEGAL_ADDRESS",
        "ILLEGAL_INSTRUCTION",
        "MISALIGNED_ADDRESS",
        "LAUNCH_FAILED",
        "ASSERT",
    ),
    "peer-limit": ("TooManyPeers", "TOO_MANY_PEERS"),
    "peer-refused": ("PeerAccessUnsupported", "PEER_ACCESS_UNSUPPORTED"),
}
"""Errors without their prefix, by the statement that each makes."""


def _runtime_error(*names: str) -> re.Pattern[str]:
    """Lines with one of these errors, unless its name is that of a function or a class of a program."""
    return re.compile(r"\b((?:cudaError|hipError|HIP_ERROR_|CUDA_ERROR_)(?:" + "|".join(names) + r"))\b")


FAILURE_PATTERNS = (
    # errno 98 in any program; HCCL's listener
    ("port", re.compile(r"^(?!.{0,120}\bsshd\[)(.{0,120}\b[Aa]ddress already in use.{0,20})")),
    (
        "port",
        re.compile(r"(Tried to launch distributed communication on port .{1,60} is utiliz(?:ed|ing it))"),
    ),  # accelerate
    ("port", re.compile(r"(listen on ip\[.{1,60}\] and specific port\[[0-9]{1,6}\] fail)")),
    ("port", _hccl_pattern("EI0019", "EI0020")),
    ("port", re.compile(r"(IP address and port have been bound already)")),
    ("port", _hccl_pattern("EJ0003")),
    ("device-port", _hccl_pattern("EJ0003")),
    # ranks that call different collectives, or the same with other sizes
    ("diverging", re.compile(r"(NET/IB : .{0,80}?collective mismatch error.{0,60})")),
    ("diverging", re.compile(r"(NET/Socket : peer .{1,60} message truncated : receiving .{1,40})")),
    ("diverging", re.compile(r"(posted incorrect receive info.{0,60})")),
    ("diverging", re.compile(r"(op\.preamble\.length <= op\.nbytes\. [0-9]{1,18} vs [0-9]{1,18})")),  # Gloo
    ("diverging", re.compile(r"(Error type: \w{1,30}MISMATCH.{0,120})")),  # the flight recorder of PyTorch
    ("diverging", re.compile(r"(but Rank [0-9]{1,6} is running collective: .{1,100})")),
    ("diverging", re.compile(r"(DDP expects same model across all ranks, but .{1,100})")),
    ("diverging", re.compile(r"(appears not to match (?:sizes|strides) of the same param in process [0-9]{1,6})")),
    ("unused", re.compile(r"(Expected to have finished reduction in the prior iteration)")),
    ("diverging", re.compile(r"(Detected at least one rank that exhausted inputs)")),
    ("diverging", re.compile(r"(arguments for collective communication are inconsistent between ranks.{0,120})")),
    ("diverging", re.compile(r"(CMD information \w{1,20} check fail.{0,120})")),
    ("diverging", re.compile(r"(Ranks? [0-9, ]{1,60} failed to pass monitoredBarrier.{0,30})")),
    ("diverging", re.compile(r"(Detected uneven input skew of greater than [0-9]{1,9})")),
    ("late", re.compile(r"(Timed out waiting [0-9]{1,9} ?ms for (?:recv|send) operation)")),  # Gloo
    ("late", re.compile(r"(DistStoreError: (?:Socket Timeout|[Ww]ait timeout|[Tt]imed out).{0,60})")),
    ("late", re.compile(r"(reached monitoredBarrier, but received errors.{0,60})")),
    ("late", re.compile(r"(retr(?:iev|eiv)ing ncclUniqueId from \[0\] .{0,120})")),
    ("late", re.compile(r"(wait timeout after [0-9]{1,9}ms, keys: .{1,60})")),
    ("late", _hccl_pattern("EI0002")),
    ("late", re.compile(r"([Gg]etting socket times out.{0,120})")),
    # fewer ranks than the job waits for
    ("absent", re.compile(r"([Tt]imed out after .{1,40} waiting for clients\. [0-9]{1,6}/[0-9]{1,6} clients joined)")),
    ("absent", re.compile(r"(Failed to connect agent\[.{1,60})")),
    ("absent", re.compile(r"(topo exchange server get socket timeout)")),
    ("absent", _hccl_pattern("EI0015")),
    ("rendezvous", re.compile(r"(client socket has failed to connect to .{1,80} \(errno: (?:110|111|113) .{1,40})")),
    ("rendezvous", _hccl_pattern("EI0009")),
    ("rendezvous", re.compile(r"(unable to connect to .{1,80} on any of the following addresses.{0,80})")),  # Horovod
    ("single-copy", re.compile(r"(Read -1, expected [0-9]{1,12}, errno = 1\b)")),  # Open MPI (btl_vader_get.c)
    ("absent", re.compile(r"([Tt]imed out initializing process group in store based barrier.{0,160})")),
    ("absent", re.compile(r"(RendezvousTimeoutError)")),
    ("absent", re.compile(r"(Waiting in store based barrier to initialize process group.{0,120})")),  # PyTorch
    ("absent", re.compile(r"(backend initialization is taking more than .{1,120})")),  # JAX (jax/_src/xla_bridge.py)
    ("absent", re.compile(r"(Barrier timed out\..{1,120})")),  # JAX
    ("absent", re.compile(r"(coordination service as cluster registration failed)")),
    ("absent", re.compile(r"(Waiting for creating a placement group of specs for [0-9]{2,6} seconds)")),  # Ray
    ("refused", re.compile(r"(ConnectionRefusedError: .{1,60}|\bconnect: connection refused)")),
    ("refused", re.compile(r"([Ff]ailed to connect to (?:remote (?:host|server)|all addresses).{0,80})")),
    ("refused", re.compile(r"(Unexpected UCX error: (?:Endpoint timeout|Connection .{1,40}))")),
    ("refused", re.compile(r"(TimeoutError: \[Errno 110\] .{1,40}|dial tcp .{1,60}: i/o timeout)")),
    ("name", re.compile(r"(.{0,100}(?:Name or service not known|[Tt]emporary failure in name resolution).{0,20})")),
    ("name", re.compile(r"(network addresses of .{1,80} cannot be retrieved.{0,60})")),
    ("name", re.compile(r"(failed to get IP address of peer .{1,60})")),  # Mooncake
    # NICs: access, link types, links and hardware
    ("no-network", re.compile(r"(NET/IB : Unable to (?:open|query) device .{1,40})")),
    ("no-network", re.compile(r"((?<!\w)No matched device found.{0,60})")),
    ("foreign-nic", re.compile(r"([Nn]o (?:suitable|usable|valid) GID (?:found|index).{0,40}|GID is NULL.{0,60})")),
    # NVSHMEM (`src/modules/transport/ibgda/ibgda.cpp`, `src/host/transport/transport.cpp`)
    ("no-page", re.compile(r"(cannot allocate mlx5dv_devx_uar)")),
    ("no-network", re.compile(r"(non-zero status: [0-9]{1,3} No devices selected)")),
    ("peer-memory", re.compile(r"(device \S{1,40} cannot allocate buffer on the specified memory type)")),
    ("device-uar", re.compile(r"(GPU cannot map UAR of device \S{1,40})")),
    ("device-transport", re.compile(r"(init failed for transport: IBGDA)")),
    ("address-handle", re.compile(r"(NULL value Unable to create ah)")),
    ("locked-memory", re.compile(r"(non-zero status: [0-9]{1,3} cannot register cq buf)")),
    ("no-address", re.compile(r"(Socket creation failed : Address family not supported.{0,20})")),
    ("no-interface", re.compile(r"(Unable to find (?:interface|address) for: .{1,60})")),  # Gloo
    ("gloo", re.compile(r"(gloo/transport/tcp/.{1,60}connect \[127\.[0-9.]{1,12}\].{1,60})")),
    ("peer-memory", re.compile(r"(neither nv_peer_mem,? or nvidia_peermem detected)")),
    ("mixed-fabrics", re.compile(r"(NET/IB : (?:Attempted to connect|Remote).{1,120}incompatible .{0,120})")),
    ("mixed-fabrics", re.compile(r"(Detected mixed local Net device counts across ranks.{0,40})")),
    ("unreachable", _hccl_pattern("EI0013", "EI0018")),
    ("unreachable", re.compile(r"([Tt]ransport retry count(?:er)? exceeded.{0,60})")),  # UCX, libibverbs
    (
        "unreachable",
        re.compile(
            r"^(?!.{0,300}HTTPS?Connection).*?"
            r"(\[Errno 1(?:01|13)\] .{1,60}|\bconnect: (?:no route to host|network is unreachable))"
        ),
    ),
    ("unreachable", re.compile(r"(SocketHandShakePlugin: connect\(\).{0,80})")),
    ("unreachable", re.compile(r"(socket\w{0,20}Connect\w{0,10}: [Cc]onnect to .{1,80} (?:failed|returned) .{0,60})")),
    ("dump", re.compile(r"(most likely caused by incorrect usages of collectives)")),  # ProcessGroupNCCL, each timeout
    ("dump", re.compile(r"(Received a dump signal due to a collective timeout.{0,60})")),
    ("dump", re.compile(r"(Some NCCL operations have failed or timed out)")),
    ("dump", re.compile(r"(Observed flight recorder dump signal from another rank)")),
    # no collective was in flight: pytorch/pytorch 1c94016e, torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp
    ("frozen", re.compile(r"(Last enqueued NCCL work: -1, last completed NCCL work: -1)")),
    ("stuck", re.compile(r"(ProcessGroup\w{2,8}'s watchdog got stuck for [0-9]{1,6} seconds)")),
    ("stuck", re.compile(r"(due to ProcessGroup\w{2,8} watchdog hang)")),
    ("stuck", re.compile(r"(Heartbeat monitor timed out!.{0,60})")),
    ("port-error", re.compile(r"Got (?:non-fatal )?async (?:error )?event ?: ?(port error)")),
    ("port-error", re.compile(r"(async fatal event: port error.{0,20})")),
    ("port-error", re.compile(r"(Port module event\[error\].{0,80})")),
    ("port-error", _hccl_pattern("EJ0002")),
    ("port-error", re.compile(r"([Tt]he network port is down)")),
    ("port-down", re.compile(r"(Physical state: (?:Disabled|Polling)|PORT_DOWN \(1\)|\bstate:\s{1,9}1: DOWN)")),
    ("port-waits", re.compile(r"(State: Initializing|PORT_INIT \(2\)|\bstate:\s{1,9}2: INIT)")),
    ("link-down", re.compile(r"(link status definitely down(?: for interface|, disabling) .{1,40})")),
    (
        "nic-fault",
        re.compile(r"(mlx[45]_core.{1,80}(?:health compromised|firmware internal error|fatal error).{0,40})"),
    ),
    ("nic-fault", re.compile(r"(async fatal event: (?:device fatal|local catastrophic).{0,30})")),
    # limits of a process, the CUDA runtime, memory
    ("locked-memory", re.compile(r"([Pp]lease set max locked memory \(ulimit -l\) to .{1,60})")),  # UCX
    ("locked-memory", re.compile(r"(RLIMIT_MEMLOCK.{1,80})")),
    ("locked-memory", re.compile(r"([Ff]ailed to create a completion queue \(CQ\).{0,60})")),  # Open MPI
    ("locked-memory", re.compile(r"(\brdma_\w{2,24}\([0-9]{1,6}\)\.{2,9}: cannot create (?:cq|qp|srq)\b)")),  # MVAPICH2
    ("locked-memory", re.compile(r"(failed to create UD QP .{0,80}Cannot allocate memory)")),  # UCX
    ("shared-memory", re.compile(r"(not enough space for /dev/shm/\S{1,60})")),  # Open MPI
    ("shared-memory", re.compile(r"(unable to create shared memory BTL.{0,60})")),
    ("threads", re.compile(r"(pthread_create.{0,40}[Rr]esource (?:temporarily|temporatily) unavailable)")),
    ("threads", re.compile(r"([Tt]hread creation failed: .{0,20}[Rr]esource temporarily unavailable)")),
    ("threads", re.compile(r"(can't start new thread|thread: Resource temporarily unavailable)")),
    ("threads", re.compile(r"(BlockingIOError: \[Errno 11\] Resource temporarily unavailable)")),
    ("threads", re.compile(r"(fork: (?:retry: )?Resource temporarily unavailable)")),
    ("driver-release", re.compile(r"(system has unsupported display driver / cuda driver combination)")),
    ("driver-release", re.compile(r"((?:[Dd]river ?/ ?library|NVML) version mismatch)")),
    ("driver-release", re.compile(r"(requirement error: unsatisfied condition: cuda.{0,60})")),  # libnvidia-container
    ("out-of-memory", re.compile(r"((?:CUDA|HIP) error: out of memory)")),
    ("out-of-memory", _hccl_pattern("EL0004")),
    ("out-of-memory", re.compile(r"(Failed to CUDA (?:host )?\w{0,1}alloc.{0,40})")),
    ("out-of-memory", re.compile(r"(Free memory on device .{0,60}is less than desired GPU memory utilization)")),
    ("out-of-memory", _hccl_pattern("EI0011")),
    ("out-of-memory", re.compile(r"([Rr]an out of memory (?:in memory space hbm|trying to allocate).{0,60})")),  # XLA
    ("out-of-memory", re.compile(r"(Attempting to allocate .{1,40} That was not possible)")),  # XLA on TPU
    ("allocator-full", re.compile(r"(CUBLAS_STATUS_ALLOC_FAILED)")),
    ("allocator-full", re.compile(r"([0-9]{1,6} pytorch allocator cache flushes since last step)")),  # DeepSpeed
    ("host-memory", re.compile(r"(DefaultCPUAllocator: (?:can't|not enough) .{1,80})")),
    ("host-memory", re.compile(r"(OSError: \[Errno 12\] Cannot allocate memory)")),
    ("killed", re.compile(r"(std::bad_alloc)")),
    ("host-memory", re.compile(r"(Container \S{1,60} was OOM ?[Kk]illed|OOMKilled|oom-kill:constraint=.{1,60})")),
    ("host-memory", re.compile(r"(killed by the cgroup out-of-memory handler|[Ee]xceeded job memory limit)")),
    ("host-memory", re.compile(r"(srun: error: .{1,60}: task .{1,20}: Out Of Memory)")),
    ("host-memory", re.compile(r"(Unable to allocate [0-9.]{1,9} [GT]iB for an array.{0,60})")),  # NumPy
    ("host-memory", re.compile(r"(^MemoryError\b.{0,60}|The node was low on resource: memory)")),
    ("killed", re.compile(r"(died with <Signals\.SIGKILL: 9>|[Ee]xit code:? 137\b)")),
    (
        "worker-lost",
        re.compile(r"(Worker unexpectedly exits with a connection error code 2)"),
    ),  # Ray
    ("bus-error", re.compile(r"(died with <Signals\.SIGBUS: 7>|is killed by signal: Bus error)")),
    ("killed", re.compile(r"(exitcode\s{0,3}: -9 .{0,30}|[Ss]ignal 9 \(SIGKILL\) received by PID [0-9]{1,9})")),
    ("killed", re.compile(r"(failed \(exitcode: -9\).{0,60}|exits with return code = -9)")),
    (
        "crash",
        re.compile(
            r"(failed \(exitcode: -(?:11|6)\).{0,40}|Segmentation fault|Illegal instruction \(core dumped\)|"
            r"died with <Signals\.SIG(?:SEGV|ABRT|ILL|FPE): [0-9]{1,2}>)"
        ),
    ),
    ("bus-error", re.compile(r"(exitcode\s{0,3}: -7 .{0,30}|[Ss]ignal 7 \(SIGBUS\) received by PID [0-9]{1,9})")),
    ("bus-error", re.compile(r"(failed \(exitcode: -7\).{0,60}|exits with return code = -7)")),
    # PyTorch (`torch/multiprocessing/spawn.py`, release 2.14.1)
    ("killed", re.compile(r"(process [0-9]{1,6} terminated with signal SIGKILL)")),
    ("bus-error", re.compile(r"(process [0-9]{1,6} terminated with signal SIGBUS)")),
    ("crash", re.compile(r"(process [0-9]{1,6} terminated with signal SIG(?:SEGV|ABRT|ILL|FPE))")),
    ("signal", re.compile(r"(process [0-9]{1,6} terminated with signal SIG(?:TERM|INT|HUP))")),
    # accelerators
    ("hardware", re.compile(r"(NVRM: .{0,80}NV_ERR_RESET_REQUIRED.{0,60}|NVRM: .{0,60}RmInitAdapter failed.{0,40})")),
    ("hardware", re.compile(r"(GPU is lost\. {1,2}Reboot|GPU requires reset)")),
    ("peer-refused", re.compile(r"(Can't enable access between nodes [0-9]{1,3} and [0-9]{1,3})")),  # TensorRT-LLM
    ("imex", re.compile(r"(cuMem\w{1,40}.{0,80}(?:NOT_PERMITTED|operation not permitted))")),
    ("imex", re.compile(r"((?:NOT_PERMITTED|operation not permitted).{0,80}cuMem\w{1,40})")),
    ("imex", re.compile(r"(Cuda failure (?:800 )?'operation not permitted')")),
    # NVIDIA/nccl 5067397c, src/include/checks.h: the place of a call that failed
    ("multicast-call", re.compile(r"(CCL INFO transport/nvls\.cc:[0-9]{1,5} -> 1\b)")),
    ("hardware", re.compile(r"(P2P is disabled between NVLINK connected GPUs [0-9]{1,6} and [0-9]{1,6})")),
    ("hardware", re.compile(r"(\b(?:UCE|HBM MULTI BIT ECC|HCCS LINK|SUSPECT MEM|SUSPECT REMOTE) ERROR\b.{0,60})")),
    ("hardware", _hccl_pattern("EI0012")),
    ("driver-reset", re.compile(r"(HW Exception by GPU .{1,70}GPU Hang)")),  # ROCr
    ("hardware", re.compile(r"((?:GPU|HW) Hang\b.{0,20}reason.{0,20}:.{0,40})")),
    ("nvml-denied", re.compile(r"(Failed to initialize NVML: Unknown Error)")),
    ("no-device", re.compile(r"(number of (?:visible|available|local) (?:devices|GPUs|NPUs|accelerators) \(0\))")),
    ("hidden-device", re.compile(r"(hsa api call failure at.{1,160}rocminfo.{0,60})")),  # no access to /dev/kfd
    ("nvml-absent", re.compile(r"(could not load NVML library)")),  # k8s-device-plugin
    ("no-device", re.compile(r"(load library failed: libnvidia-ml.{0,40}|ERROR_LIBRARY_NOT_FOUND)")),
    ("shared-accelerator", re.compile(r"(CUDA-capable device\(s\) is/are busy or unavailable)")),
    ("shared-accelerator", re.compile(r"(CUDA-capable devices are busy or unavailable)")),
    ("shared-accelerator", re.compile(r"(Neuron Core\(s\) not available.{0,60})")),
    ("no-device", re.compile(r"(AssertionError: Invalid device id)")),
    # nvidia-smi. Threads: GoogleCloudPlatform/compute-gpu-installation issue 25 (kernel headers) and pull 18
    ("driver-silent", re.compile(r"(couldn't communicate with the NVIDIA driver)")),
    # XLA and TensorFlow, stream_executor (CUDA and ROCm). Thread: ROCm/tensorflow-upstream issue 82
    (
        "device-allocation",
        re.compile(r"(failed to allocate [0-9.]{1,12}\w{0,4} \([0-9]{1,20} bytes\) from device: .{0,60})"),
    ),
    # libnvidia-container: NVIDIA/nvidia-container-toolkit issue 556, NVIDIA/nvidia-docker issue 1137
    ("driver-request", re.compile(r"(driver (?:rpc )?error: failed to process request)")),
    # gRPC servers, as of Ray: ray-project/ray pull request 14267 and issue 39383
    ("port-held", re.compile(r"(Failed to start the grpc server\. The specified port is [0-9]{1,5})")),
    ("port-held", re.compile(r"(No address added out of total [0-9]{1,4} resolved.{0,60})")),
    # Triton: fla-org/flash-linear-attention issue 734 (release), mosaicml/llm-foundry issue 159 (device)
    (
        "triton-driver",
        re.compile(r"(Triton Error \[(?:CUDA|HIP)\]: invalid (?:argument|device function|configuration))"),
    ),
    ("no-device", re.compile(r"(Device not found\] Device acquire failed)")),  # Gaudi
    ("no-acquire", re.compile(r"((?<!not found\] )Device acquire failed)")),
    (
        "no-device",
        re.compile(r"(No available node types can fulfill resource request (?=\S)(?!.{0,60}'node:).{0,60})"),
    ),  # Ray
    ("no-device", re.compile(r"(No HIP GPUs are available|Found no NVIDIA driver on your system)")),
    ("too-many-ranks", re.compile(r"(.{0,60}larger than the number of available GPUs.{0,60})")),
    ("few-devices", re.compile(r"(number of required GPUs exceeds the total number of available GPUs.{0,40})")),
    ("no-device", re.compile(r"(kernel driver does not appear to be running on this host)")),  # TensorFlow
    (
        "no-kernel",
        re.compile(
            r"^(?!.{0,200}\b(?:INFO|WARNING|DEBUG)\b).*?"
            r"((?:only support(?:s|ed)|[Rr]equire[sd]?|support begins with)\b.{0,40}?"
            r"(?:Ampere|Hopper|Ada\b|Blackwell|[Cc]ompute capability|CDNA|\b[Ss][Mm]_?[0-9]{2,3}\b|gfx[0-9]{3}).{0,60})"
        ),
    ),
    ("no-kernel", re.compile(r"([Nn]o compiled .{1,60} for CUDA device capability.{0,60})")),
    ("no-kernel", re.compile(r"([Uu]nsupported (?:gpu|GPU) arch\w{0,10}.{0,40})")),
    ("no-kernel", re.compile(r"(no kernel image is available for execution on the device)")),
    ("no-kernel", re.compile(r"(HIP error: invalid device function)")),
    # ROCm/rocm-systems, projects/clr/hipamd/src/hip_platform.cpp: a program without code for this accelerator
    ("no-kernel", re.compile(r"(Cannot retrieve Static function, error: [0-9]{1,4})")),
    ("no-kernel", re.compile(r"NCCL WARN Cuda failure .{0,8}'(named symbol not found|invalid device function)'")),
    ("no-kernel", re.compile(r"(CUDA capability sm_\w{1,6} is not compatible with the current PyTorch installation)")),
    ("kernel-fault", re.compile(r"(an illegal memory access was encountered)")),
    ("kernel-fault", re.compile(r"(device-side assert triggered)")),
    ("launch-failure", re.compile(r"(unspecified launch failure)")),
    (
        "kernel-fault",
        re.compile(r"CUDA (?:error|failure).{1,40}?(illegal instruction|misaligned address|launch failure)"),
    ),
    ("access-fault", re.compile(r"(Memory access fault by GPU node-.{1,80})")),
    ("throttled", re.compile(r"((?:HW Slowdown|[HS]W Thermal Slowdown|HW Power Brake Slowdown)\s{0,40}: Active)")),
    ("power-cap", re.compile(r"(SW Power Cap\s{0,40}: Active)")),
    # errors of the CUDA and HIP runtimes, and of the CUDA driver, by their names (cudaError_t, hipError_t, CUresult)
    *((name, _runtime_error(*errors)) for name, errors in RUNTIME_ERRORS.items()),
    # libraries, settings, files and schedulers
    (
        "library",
        re.compile(r"^(?!.{0,200}(?:NET/Plugin|NCCL INFO)).{0,300}?\.so[\w.]{0,12}: (undefined symbol: \w{1,160})"),
    ),
    ("library", re.compile(r"(\S{1,60}\.so[\w.]{0,12}, needed by \S{1,120}, not found)")),
    ("library", re.compile(r"(ModuleNotFoundError: No module named .{1,60}|ImportError: cannot import name .{1,80})")),
    ("ucx-cuda", re.compile(r"(UCX CUDA support was not found)")),
    ("library", re.compile(r"(version `(?:GLIBC|GLIBCXX|CXXABI|NCCL|IBVERBS|libcu\w{1,12})_?[\w.]{0,20}' not found)")),
    ("library", re.compile(r"(NCCL library is (?:too old|not backwards compatible)\..{0,120})")),
    (
        "library",
        re.compile(r"((?:Unable|[Ff]ailed) to (?:load|dlopen) (?:the )?[\w.-]{1,40} (?:shared )?library\b.{0,40})"),
    ),
    (
        "library",
        re.compile(r"(?:Error: |shared libraries: )(\S{1,80}\.so[\w.]{0,12}: cannot open shared object file)"),
    ),
    ("library", re.compile(r"(cuDNN version incompatibility: .{1,120})")),
    ("library", re.compile(r"(CUDA version \([0-9.]{1,8}\) mismatches the version that was used to compile.{0,40})")),
    ("library", re.compile(r"(numpy\.dtype size changed.{0,60})")),
    ("releases", re.compile(r"(ORTE_ERROR_LOG: Data unpack .{1,60}|PMIX ERROR: UNPACK-\S{1,40})")),  # Open MPI
    ("releases", re.compile(r"(Mismatched NCCL version detected : .{1,80})")),
    ("releases", re.compile(r"(NCCL version mismatch with remote peer .{1,100})")),
    ("releases", _hccl_pattern("EI0008")),
    ("login", re.compile(r"(Command [\['\"]{1,3}ssh .{1,160} returned non-zero exit status 255)")),
    ("login", re.compile(r"(not all hosts are .{0,10}reachable via ssh|Host key verification failed)")),
    # openssh/openssh-portable, kex.c and sshd.c: a server that ends a connection before it begins
    ("login", re.compile(r"((?:ssh|kex)_exchange_identification: .{1,80})")),
    ("login", re.compile(r"(^Permission denied, please try again\.|ssh exited with exit code 255)")),
    ("login", re.compile(r"(Permission denied \(publickey.{0,60})")),
    ("login", re.compile(r"(\b(?:sshd|orted|prted|kubectl): (?:[Cc]ommand )?(?:not found|No such file or directory))")),
    # openpmix/prrte 52d5e4bb, src/mca/plm/base/help-plm-base.txt
    ("launch", re.compile(r"((?:ORTE|PRTE|prterun|mpirun) was unable to reliably start one or more daemons)")),
    ("setting", re.compile(r"(environment variable \w{1,60} expected, but not set)")),
    ("setting", re.compile(r"(Check batch related parameters\. .{1,120})")),  # DeepSpeed
    ("setting", re.compile(r"(world.?size \([0-9]{1,7}\) is not divisible by .{1,80})")),  # Megatron
    ("setting", re.compile(r"(Assertion failed: mpiSize == tp \* pp.{0,20})")),  # TensorRT-LLM
    ("setting", re.compile(r"(Engine world size \(.{1,30}\) != Runtime world size \([0-9]{1,6}\))")),
    ("setting", re.compile(r"(Invalid NCCL_COMM_ID.{0,60})")),
    ("setting", re.compile(r"(Invalid rank requested : -?[0-9]{1,7}/[0-9]{1,7})")),
    ("setting", re.compile(r"(NCCL WARN Could not open XML (?:graph )?file .{1,100})")),
    ("setting", re.compile(r"(Environment variable \[\w{1,60}\] is invalid.{0,120})")),
    ("setting", _hccl_pattern("EI0001", "EI0003", "EI0004", "EI0014", "EI0016", "EI0017")),
    ("no-interface", re.compile(r"(no device found (?:matching|after excluding) .{1,60} verify NCCL_OOB_NET_IFNAME)")),
    ("storage-fault", re.compile(r"(OSError: \[Errno (?:5|107|108|116)\] .{1,80})")),
    ("storage", re.compile(r"(\(os error (?:28|122)\))")),  # Rust
    ("storage", re.compile(r"(The node was low on resource: ephemeral-storage)")),
    (
        "open-files",
        re.compile(r"(\(os error 24\)|\b(?:[Ff]ailed|ERROR)\b.{0,120}[Tt]oo many open files)"),
    ),
    ("storage-fault", re.compile(r"(\[Errno 30\] Read-only file system.{0,60}|\(os error 5\))")),
    # Megatron-LM, Hugging Face Datasets
    (
        "absent-file",
        re.compile(r"(FileNotFoundError: .{1,200}(?:cache|ind(?:ices|ex)|checkpoint|\.npy|\.lock).{0,120})"),
    ),
    (
        "absent-program",
        re.compile(r"(FileNotFoundError: \[Errno 2\] No such file or directory: '(?:\S{1,160}/bin/)?[\w+-]{1,40}')"),
    ),
    (
        "missing-file",
        re.compile(
            r"(FileNotFoundError: \[Errno 2\] (?!No such file or directory: '(?:\S{1,160}/bin/)?[\w+-]{1,40}').{1,160})"
        ),
    ),
    ("write-failed", re.compile(r"(PytorchStreamWriter failed writing file.{0,60})")),
    ("write-failed", re.compile(r"(RuntimeError: File \S{1,160} cannot be opened\.)")),  # Sachini/ronin issue 51
    ("storage-fault", re.compile(r"(Stale (?:NFS )?file handle|I/O error, dev \w{1,20}, sector [0-9]{1,18})")),
    ("data-loader", re.compile(r"(DataLoader timed out after [0-9.]{1,9} seconds)")),
    ("job-ended", re.compile(r"(CANCELLED .{0,60}DUE TO (?:PREEMPTION|NODE FAILURE|JOB REQUEUE).{0,40})")),
    ("job-ended", re.compile(r"(Job is aborted due to node failure)")),
    ("job-ended", re.compile(r"(srun: error: Node failure on .{1,40})")),
    ("setting", re.compile(r"(not enough slots available in the system)")),  # Open MPI
    ("signal", re.compile(r"(SignalException: Process [0-9]{1,9} got signal: (?:1|2|15)\b)")),  # torchrun
    ("signal", re.compile(r"((?:STEP|JOB) [0-9.]{1,20} ON \S{1,80} CANCELLED AT [0-9T:-]{19} \*\*\*)")),  # Slurm
    ("daemon-lost", re.compile(r"(ORTE has lost communication with a remote daemon)")),
    ("time-limit", re.compile(r"(CANCELLED .{0,60}DUE TO TIME LIMIT)")),
    ("peer-ended", re.compile(r"([Cc]onnection closed by (?:remote )?peer.{0,60})")),
    ("peer-ended", re.compile(r"(NCCL communicator was aborted.{0,40})")),  # PyTorch, `NCCLUtils.cpp`
    ("peer-ended", re.compile(r"(marked dead because the detector has missed too many heartbeats)")),  # Ray
    ("peer-ended", re.compile(r"(may indicate a possible application crash on rank 0 or a network set ?up issue)")),
    ("peer-ended", re.compile(r"(Connection reset by peer|Broken pipe|TCPStore server has shut down too early)")),
)
"""Names of statements and the patterns of their lines."""
