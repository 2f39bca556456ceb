"""Causes that a line of a log states by itself, each with the name of its evidence and the next step."""

from __future__ import annotations

STATED, STRONG, GIVEN, WEAK = 1.0, 0.7, 0.4, 0.3
"""Weights of evidence: the log states the cause; the log's numbers show it; the log states a setting that may be wrong;
the log's numbers are compatible with it.
"""
SLOWED = 0.25
"""The weight, in a run without a result, of a cause that only slows a run. It is lower than the weight of every cause
that may stop a run.
"""
LESS_MEMORY = "give an engine a smaller share of the memory, or a training run a smaller micro-batch"
"""The remedies for the memory of an accelerator that is full, where it is unknown whether it trained or served."""
STOPS = {
    "plugin-mismatch": (
        "registration",
        "update the plugin and libfabric (the EFA installer) to releases that fit; see the release notes of both",
    ),
    "shared-memory": (
        "shared-memory",
        (
            "check the size with df -h /dev/shm; raise it with docker run --shm-size=16g or --ipc=host, or in "
            "Kubernetes mount an emptyDir of medium Memory there"
        ),
    ),
    "locked-memory": (
        "locked-memory",
        "check that ulimit -l within the job is unlimited (docker run --ulimit memlock=-1); unset NCCL_BUFFSIZE",
    ),
    "mixed-releases": (
        "family",
        (
            "print NCCL_DEBUG=VERSION, pip list | grep -E 'nccl|ray' and python3 -V on every node, and give all ranks "
            "one release"
        ),
    ),
    "file-limit": (
        "open-files",
        (
            "raise ulimit -n within the job to its hard limit (ulimit -Hn), 65536 or more, and LimitNOFILE of the "
            "service that starts it"
        ),
    ),
    "driver-release": (
        "driver-release",
        (
            "compare nvidia-smi with nvcc --version; update the driver, or use a release of the program that is built "
            "for its CUDA"
        ),
    ),
    "missing-accelerator": (
        "no-device",
        (
            "print the hostname, LOCAL_RANK and nvidia-smi -L of every rank; the ranks of a node times -g must equal "
            "its accelerators"
        ),
    ),
    "accelerator-fault": (
        "hardware",
        (
            "run dmesg | grep Xid, nvidia-smi -q -d ECC and dcgmi diag -r 3 on the host of that line; exchange a faulty"
            " part"
        ),
    ),
    "throttled-clocks": (
        "throttled",
        (
            "run nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER on the host of that line, and check cooling, power "
            "supplies and power limit"
        ),
    ),
    "memory-full": (
        "out-of-memory",
        f"look for other processes with nvidia-smi on the host of that line; {LESS_MEMORY}",
    ),
    "host-memory-full": (
        "host-memory",
        (
            "run free -g and dmesg | grep -i oom on that host; use fewer workers of the data loader, or give the job "
            "more memory"
        ),
    ),
    "storage-full": (
        "storage",
        (
            "check df -h and df -i of that directory and quota -s; on a parallel file system, check every target (lfs "
            "df), since one may be full"
        ),
    ),
    "kv-cache-full": (
        "cache-full",
        (
            "run clusterspec estimate for the context and the requests that fit; use fewer requests at a time, a "
            "shorter context, a larger share of the memory for the engine, or more accelerators for each replica"
        ),
    ),
    "gpudirect-refused": (
        "peer-memory",
        (
            "check lsmod | grep nvidia_peermem, and load it with modprobe nvidia_peermem; unset "
            "PYTORCH_CUDA_ALLOC_CONF=expandable_segments"
        ),
    ),
    "ranks-diverge": (
        "diverging",
        (
            "run with TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1, and find where the calls of the "
            "ranks diverge"
        ),
    ),
    "peer-limit": (
        "peer-limit",
        "start one process for each accelerator by MPI instead of -g; if that is not enough, set NCCL_P2P_LEVEL=PXB",
    ),
    "fabric-manager": (
        "fabric-manager",
        (
            "check systemctl status nvidia-fabricmanager and enable it; if it was restarted while a job ran, restart "
            "the node"
        ),
    ),
    "shared-accelerator": (
        "shared-accelerator",
        "print LOCAL_RANK and CUDA_VISIBLE_DEVICES of every rank; start ranks by srun or by torchrun, not by both",
    ),
    "peer-access-off": (
        "peer-refused",
        "nvidia-smi topo -p2p r; set NCCL_P2P_DISABLE=1 in the environment of every rank, or let each see all devices",
    ),
}
"""Causes that a line of the log states: the name of its evidence, and the next step.

Published: NVIDIA/nccl issues 290 and 342 (shared memory), NVIDIA/nccl-tests issue 206 (limit of locked memory),
vllm-project/vllm issue 19613 (buffers), NVIDIA/nccl issue 1267 (releases), aws/aws-ofi-nccl issue 241 (libfabric),
NVIDIA/nccl issue 976 and NVIDIA/nccl-tests issue 264 (fabric manager), huggingface/accelerate issue 2246 (ranks that
share an accelerator), ray-project/ray_lightning issue 24 (peer access), vllm-project/vllm issue 5222 (hardware),
NVIDIA/nccl issue 1235 (memory), ROCm/rccl issue 429, xljh0520/JOTR issue 4 and NVIDIA/nccl issue 296 (ranks in
different collectives), open-mmlab/mmrotate issue 501 (memory of the host), databrickslabs/dolly issue 139 (storage),
GAIR-NLP/LIMO issue 29, sgl-project/sglang issue 26248 and QwenLM/Qwen3 issue 295 (KV cache), kvcache-ai/Mooncake
issue 351 (GPUDirect).
"""
UNFINISHED_STOPS = {
    "port-in-use": (
        "port",
        (
            "find the process that holds the port of that line with ss -ltnp and end it, or give this job another port "
            "(MASTER_PORT, --master-port, --port)"
        ),
    ),
    "process-limit": (
        "threads",
        (
            "raise ulimit -u within the job and the pids limit of its container (--pids-limit=-1); set "
            "OMP_NUM_THREADS=1, and use fewer workers of the data loader"
        ),
    ),
    "library-release": (
        "library",
        (
            "run pip list, and ldd on the library of that line; unset LD_LIBRARY_PATH and LD_PRELOAD; install releases "
            "that are built for one another"
        ),
    ),
    "unsupported-accelerator": (
        "no-kernel",
        (
            "compare torch.cuda.get_arch_list() with the compute capability of the accelerator, and use a build or a "
            "release for it"
        ),
    ),
    "remote-login": (
        "login",
        (
            "run ssh -o BatchMode=yes HOST which sshd orted for every host of the hostfile, and correct its key and its"
            " PATH; or start ranks by srun or torchrun on each node, which need no login"
        ),
    ),
    "invalid-setting": (
        "setting",
        "print the environment of every rank (env | grep -E 'NCCL|HCCL|MASTER|RANK'): set or correct that variable",
    ),
    "checkpoint-mismatch": (
        "checkpoint",
        (
            "compare the configuration stored with the checkpoint with the run's: layers, hidden size, heads, "
            "vocabulary and its padding, then the parallel degrees; look for an old checkpoint in the directory to "
            "which the run saves"
        ),
    ),
    "file-permission": (
        "permission",
        (
            "run id, and ls -ld on that path and the directories above it, on that host and within the container; "
            "compare owner and group with the user of the job"
        ),
    ),
    "stopped-service": (
        "service",
        (
            "run systemctl status of that service on that host (nvidia-dcgm, docker; ray status), and check that its "
            "socket is in the container"
        ),
    ),
    "nic-fault": (
        "nic-fault",
        "run dmesg | grep mlx5 and mlxfwmanager on the host of that line; update the firmware, or exchange the NIC",
    ),
    "nic-limit": (
        "nic-limit",
        (
            "run dmesg | grep -E 'limits exceeded|no resources' and mlxconfig -d DEVICE q | grep -E "
            "'LOG_BAR|UAR|NUM_OF_VFS'; use fewer processes or queue pairs for each NIC"
        ),
    ),
    "storage-fault": (
        "storage-fault",
        (
            "check dmesg and mount on the host of that line, and mount the file system again; run ls on that path from "
            "every node"
        ),
    ),
    "data-loading": (
        "data-loader",
        (
            "run py-spy dump on the workers of the data loader; read the data from local disks, with more workers or a "
            "longer timeout"
        ),
    ),
    "job-ended": (
        "job-ended",
        "run sacct -j JOB -o State,Reason,NodeList, and sinfo -R for the node; start again from the last checkpoint",
    ),
    "unused-parameters": (
        "unused",
        (
            "run with TORCH_DISTRIBUTED_DEBUG=DETAIL, which names the parameters; set find_unused_parameters=True, or "
            "use all of them in the loss"
        ),
    ),
    "program-fault": (
        "kernel-fault",
        (
            "find the kernel that fails with CUDA_LAUNCH_BLOCKING=1 and compute-sanitizer; then update or disable the "
            "library that contains it"
        ),
    ),
}
"""The statements and next steps of causes that end a program rather than slow it, for runs without a result.

Published: NVIDIA/Megatron-LM issue 343 and pytorch/pytorch issue 85604 (ports), verl-project/verl issue 719
(processes).
"""
STEP_OF = {name: step for name, (_, step) in {**STOPS, **UNFINISHED_STOPS}.items()}
"""The next step for each cause that a line states."""
