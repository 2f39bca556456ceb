"""Lines of libraries, launchers, schedulers and kernels that state what stopped a run, each by the words of its source.

Sources, by commit: NVIDIA/nccl 5067397c (`src/transport/net_ib`, `src/graph/paths.cc`, `src/init.cc`), pytorch/pytorch
8cf1b8e3 (`torch/csrc/distributed/c10d`), kvcache-ai/Mooncake 3b5a5941 (`mooncake-transfer-engine/src`), and of HCCL the
codes of its errors (CANN 9.0, "HCCL Errors", EI0001 to EI0020).
"""

from __future__ import annotations

import re


def _hccl(*codes: str) -> re.Pattern[str]:
    """Lines with one of these codes, as torch_npu (`EI0006: …`) and CANN (`Name_Of_Error(EI0006): …`) print them."""
    return re.compile(r"(\bEI(?:" + "|".join(codes) + r")(?:\)|:)(?! \d{4}-\d\d-\d\d-[\d:.]{1,20}$).{0,160})")


FAILURE_PATTERNS = (
    # errno 98 in any program; HCCL's listener
    ("port", re.compile(r"(.{0,120}\b[Aa]ddress already in use.{0,20})")),
    ("port", re.compile(r"(Tried to launch distributed communication on port .{1,60} is utilized)")),  # accelerate
    ("port", re.compile(r"(listen on ip\[.{1,60}\] and specific port\[[0-9]{1,6}\] fail)")),
    ("port", _hccl("0019", "0020")),
    # ranks that call different collectives, or the same with other sizes
    ("diverging", re.compile(r"(NET/IB : .{0,80}?collective mismatch error.{0,60})")),
    ("diverging", re.compile(r"(NET/Socket : peer .{1,60} message truncated : receiving .{1,40})")),
    ("diverging", re.compile(r"(posted incorrect receive info.{0,60})")),
    ("diverging", re.compile(r"(op\.preamble\.length <= op\.nbytes\. [0-9]{1,18} vs [0-9]{1,18})")),  # Gloo
    ("diverging", re.compile(r"(Error type: \w{1,30}MISMATCH.{0,120})")),  # the flight recorder of PyTorch
    ("diverging", re.compile(r"(DDP expects same model across all ranks, but .{1,100})")),
    ("diverging", re.compile(r"(appears not to match (?:sizes|strides) of the same param in process [0-9]{1,6})")),
    ("unused", re.compile(r"(Expected to have finished reduction in the prior iteration)")),
    ("diverging", re.compile(r"(Detected at least one rank that exhausted inputs)")),
    ("diverging", re.compile(r"(arguments for collective communication are inconsistent between ranks.{0,120})")),
    ("diverging", re.compile(r"(CMD information \w{1,20} check fail.{0,120})")),
    ("diverging", re.compile(r"(Ranks? [0-9, ]{1,60} failed to pass monitoredBarrier.{0,30})")),
    ("late", _hccl("0002")),
    ("late", re.compile(r"([Gg]etting socket times out.{0,120})")),
    # fewer ranks than the job waits for
    ("absent", re.compile(r"([Tt]imed out after .{1,40} waiting for clients\. [0-9]{1,6}/[0-9]{1,6} clients joined)")),
    ("absent", re.compile(r"(Failed to connect agent\[.{1,60})")),
    ("absent", re.compile(r"(topo exchange server get socket timeout)")),
    ("absent", _hccl("0015")),
    ("rendezvous", re.compile(r"(client socket has failed to connect to .{1,80} \(errno: (?:110|111|113) .{1,40})")),
    ("rendezvous", _hccl("0009")),
    ("name", re.compile(r"(.{0,100}(?:Name or service not known|[Tt]emporary failure in name resolution).{0,20})")),
    ("name", re.compile(r"(network addresses of .{1,80} cannot be retrieved.{0,60})")),
    ("name", re.compile(r"(failed to get IP address of peer .{1,60})")),  # Mooncake
    # NICs: access, link types, links and hardware
    ("no-network", re.compile(r"(NET/IB : Unable to (?:open|query) device .{1,40})")),
    ("no-network", re.compile(r"((?<!\w)No matched device found.{0,60})")),
    ("mixed-fabrics", re.compile(r"(NET/IB : (?:Attempted to connect|Remote).{1,120}incompatible .{0,120})")),
    ("mixed-fabrics", re.compile(r"(Detected mixed local Net device counts across ranks.{0,40})")),
    ("unreachable", _hccl("0013", "0018")),
    ("unreachable", re.compile(r"(Transport retry count exceeded on .{1,40})")),  # UCX
    ("unreachable", re.compile(r"(SocketHandShakePlugin: connect\(\).{0,80})")),
    ("port-error", re.compile(r"Got (?:non-fatal )?async (?:error )?event ?: ?(port error)")),
    ("port-error", re.compile(r"(async fatal event: port error.{0,20})")),
    ("port-error", re.compile(r"(Port module event\[error\].{0,80})")),
    ("link-down", re.compile(r"((?:mlx[45]_\w{1,6}|bnxt_en|i40e|ice|ixgbe|ionic)\b.{1,80}?[Ll]ink (?:is )?[Dd]own)")),
    ("link-down", re.compile(r"(link status definitely down for interface .{1,40})")),
    (
        "nic-fault",
        re.compile(r"(mlx[45]_core.{1,80}(?:health compromised|firmware internal error|fatal error).{0,40})"),
    ),
    ("nic-fault", re.compile(r"(async fatal event: (?:device fatal|local catastrophic).{0,30})")),
    # limits of a process, the CUDA runtime, memory
    ("locked-memory", re.compile(r"([Pp]lease set max locked memory \(ulimit -l\) to .{1,60})")),  # UCX
    ("locked-memory", re.compile(r"(RLIMIT_MEMLOCK.{1,80}|[Cc]reate completion queue.{0,40}Cannot allocate memory)")),
    ("threads", re.compile(r"(pthread_create.{0,40}[Rr]esource (?:temporarily|temporatily) unavailable)")),
    ("threads", re.compile(r"([Tt]hread creation failed: .{0,20}[Rr]esource temporarily unavailable)")),
    ("threads", re.compile(r"(can't start new thread|thread: Resource temporarily unavailable)")),
    ("threads", re.compile(r"(BlockingIOError: \[Errno 11\] Resource temporarily unavailable)")),
    ("threads", re.compile(r"(fork: (?:retry: )?Resource temporarily unavailable)")),
    ("driver-release", re.compile(r"(system has unsupported display driver / cuda driver combination)")),
    ("driver-release", re.compile(r"(Driver/library version mismatch)")),
    ("out-of-memory", re.compile(r"((?:CUDA|HIP) error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|hipErrorOutOfMemory)")),
    ("out-of-memory", re.compile(r"(Failed to CUDA (?:host )?\w{0,1}alloc.{0,40})")),
    ("out-of-memory", re.compile(r"(Free memory on device .{0,60}is less than desired GPU memory utilization)")),
    ("out-of-memory", _hccl("0011")),
    ("allocator-full", re.compile(r"(CUBLAS_STATUS_ALLOC_FAILED)")),
    ("allocator-full", re.compile(r"([0-9]{1,6} pytorch allocator cache flushes since last step)")),  # DeepSpeed
    ("host-memory", re.compile(r"(DefaultCPUAllocator: (?:can't|not enough) .{1,80})")),
    ("host-memory", re.compile(r"(OSError: \[Errno 12\] Cannot allocate memory)")),
    ("killed", re.compile(r"(std::bad_alloc)")),
    ("host-memory", re.compile(r"(Container \S{1,60} was OOM ?[Kk]illed|OOMKilled|oom-kill:constraint=.{1,60})")),
    ("killed", re.compile(r"(exitcode\s{0,3}: -9 .{0,30}|[Ss]ignal 9 \(SIGKILL\) received by PID [0-9]{1,9})")),
    ("killed", re.compile(r"(failed \(exitcode: -9\).{0,60}|exits with return code = -9)")),
    ("bus-error", re.compile(r"(exitcode\s{0,3}: -7 .{0,30}|[Ss]ignal 7 \(SIGBUS\) received by PID [0-9]{1,9})")),
    ("bus-error", re.compile(r"(failed \(exitcode: -7\).{0,60}|exits with return code = -7)")),
    # accelerators
    ("hardware", re.compile(r"(P2P is disabled between NVLINK connected GPUs [0-9]{1,6} and [0-9]{1,6})")),
    ("hardware", re.compile(r"(NVRM: Xid .{1,40}: (?:62|63|92|110|121|136|140|142|143|154),.{0,60})")),
    ("hardware", re.compile(r"(\b(?:UCE|HBM MULTI BIT ECC|HCCS LINK|SUSPECT MEM|SUSPECT REMOTE) ERROR\b.{0,60})")),
    ("hardware", _hccl("0012")),
    ("hardware", re.compile(r"((?:GPU|HW) Hang\b.{0,20}reason.{0,20}:.{0,40})")),  # HSA
    ("no-device", re.compile(r"(Failed to initialize NVML: Unknown Error)")),
    ("no-device", re.compile(r"(No HIP GPUs are available|Found no NVIDIA driver on your system)")),
    ("no-device", re.compile(r"(larger than the number of available GPUs.{0,60})")),
    ("no-device", re.compile(r"(number of required GPUs exceeds the total number of available GPUs.{0,40})")),
    ("no-kernel", re.compile(r"(no kernel image is available for execution on the device)")),
    ("no-kernel", re.compile(r"(HIP error: invalid device function|hipErrorNoBinaryForGpu.{0,60})")),
    ("no-kernel", re.compile(r"(CUDA capability sm_\w{1,6} is not compatible with the current PyTorch installation)")),
    ("no-kernel", re.compile(r"(FP8 reduction support begins with sm90)")),
    ("kernel-fault", re.compile(r"(an illegal memory access was encountered)")),
    ("kernel-fault", re.compile(r"(device-side assert triggered)")),
    (
        "kernel-fault",
        re.compile(r"CUDA (?:error|failure).{1,40}?(illegal instruction|misaligned address|launch failure)"),
    ),
    ("kernel-fault", re.compile(r"(Memory access fault by GPU node-.{1,80})")),  # HSA
    ("kernel-fault", re.compile(r"(aicore exception|vector core exception|The aicore .{1,60}exception)")),  # CANN
    ("throttled", re.compile(r"((?:HW Slowdown|[HS]W Thermal Slowdown|HW Power Brake Slowdown)\s{0,40}: Active)")),
    # libraries, settings, files and schedulers
    ("library", re.compile(r"^(?!.{0,200}NET/Plugin).{0,300}?\.so[\w.]{0,12}: (undefined symbol: \w{1,160})")),
    ("library", re.compile(r"(version `(?:GLIBC|GLIBCXX|CXXABI|NCCL|IBVERBS|libcu\w{1,12})_?[\w.]{0,20}' not found)")),
    ("library", re.compile(r"(NCCL library is (?:too old|not backwards compatible)\..{0,120})")),
    (
        "library",
        re.compile(r"(?:Error: |shared libraries: )(\S{1,80}\.so[\w.]{0,12}: cannot open shared object file)"),
    ),
    ("releases", re.compile(r"(Mismatched NCCL version detected : .{1,80})")),
    ("releases", re.compile(r"(NCCL version mismatch with remote peer .{1,100})")),
    ("releases", _hccl("0008")),
    ("setting", re.compile(r"(environment variable \w{1,60} expected, but not set)")),
    ("setting", re.compile(r"(Invalid NCCL_COMM_ID.{0,60})")),
    ("setting", re.compile(r"(Invalid rank requested : -?[0-9]{1,7}/[0-9]{1,7})")),
    ("setting", re.compile(r"(NCCL WARN Could not open XML (?:graph )?file .{1,100})")),
    ("setting", re.compile(r"(Environment variable \[\w{1,60}\] is invalid.{0,120})")),
    ("setting", _hccl("0001", "0004", "0014", "0016", "0017")),
    ("no-interface", re.compile(r"(no device found (?:matching|after excluding) .{1,60} verify NCCL_OOB_NET_IFNAME)")),
    ("storage-fault", re.compile(r"(OSError: \[Errno (?:5|107|108|116)\] .{1,80})")),
    ("storage-fault", re.compile(r"(Stale (?:NFS )?file handle|I/O error, dev \w{1,20}, sector [0-9]{1,18})")),
    ("data-loader", re.compile(r"(DataLoader timed out after [0-9.]{1,9} seconds)")),
    ("job-ended", re.compile(r"(CANCELLED .{0,60}DUE TO (?:PREEMPTION|NODE FAILURE).{0,40})")),
    ("job-ended", re.compile(r"(Job is aborted due to node failure)")),
    ("time-limit", re.compile(r"(CANCELLED .{0,60}DUE TO TIME LIMIT)")),
    ("peer-ended", re.compile(r"([Cc]onnection closed by (?:remote )?peer.{0,60})")),
    ("peer-ended", re.compile(r"(Connection reset by peer|Broken pipe|TCPStore server has shut down too early)")),
)
"""Names of statements and the patterns of their lines."""
FAILURE_MARK = re.compile(
    r"ddress already in use|launch distributed communication|listen on ip\[|\bEI00|collective mismatch|truncated"
    r"|incorrect receive info|preamble|Error type: |same model across|match (?:sizes|strides) of|finished reduction"
    r"|exhausted inputs|inconsistent between ranks|CMD information|monitoredBarrier|etting socket times"
    r"|waiting for clients|Failed to connect agent|topo exchange|client socket|service not known|name resolution"
    r"|cannot be retrieved|IP address of peer|No matched device|retry count|SocketHandShake|Port module event"
    r"|ink (?:is )?[Dd]own|link status|mlx[45]_core|locked memory|MEMLOCK|completion queue|esource tempora"
    r"|start new thread|driver combination|version mismatch|OUT_OF_MEMORY|hipErrorO|hipErrorN|Failed to CUDA"
    r"|Free memory on device|ALLOC_FAILED|allocator cache flushes|DefaultCPUAllocator|bad_alloc|OOM ?[Kk]illed"
    r"|oom-kill|exitcode|return code = -|SIGKILL|SIGBUS|P2P is disabled|(?:ECC|UCE|LINK|MEM|REMOTE) ERROR|Hang\b|NVML"
    r"|No HIP GPUs|available GPUs"
    r"|no kernel image|HIP error|not compatible with|FP8 reduction|illegal |device-side assert|misaligned"
    r"|launch failure|Memory access fault|core .{0,60}exception|Slowdown|undefined symbol|version `|too old"
    r"|backwards compatible"
    r"|cannot open shared|nvironment variable|NCCL_COMM_ID|Invalid rank|XML |Errno|Stale |I/O error|DataLoader|DUE TO"
    r"|due to node failure|by (?:remote )?peer|Broken pipe|shut down too early|NVIDIA driver on"
)
"""What a line contains if it may be one of the above."""
