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
STOPS = {
    "plugin-mismatch": (
        "registration",
        "update the plugin and libfabric (the EFA installer) to releases that fit; see the release notes of both",
    ),
    "shared-memory": (
        "shared-memory",
        "df -h /dev/shm; docker run --shm-size=16g or --ipc=host; in Kubernetes, an emptyDir of medium Memory there",
    ),
    "locked-memory": (
        "locked-memory",
        "ulimit -l within the job: unlimited (docker run --ulimit memlock=-1); unset NCCL_BUFFSIZE",
    ),
    "mixed-releases": (
        "family",
        "NCCL_DEBUG=VERSION on every node, and pip list | grep -E 'nccl|ray', python3 -V: one release for all ranks",
    ),
    "file-limit": (
        "open-files",
        "ulimit -n within the job: as its hard limit (ulimit -Hn), 65536 or more; LimitNOFILE of the service below it",
    ),
    "driver-release": (
        "driver-release",
        "nvidia-smi and nvcc --version: update the driver, or use a release of the program for its CUDA",
    ),
    "missing-accelerator": (
        "no-device",
        "print the hostname, LOCAL_RANK and nvidia-smi -L of every rank; ranks of a node times -g is its accelerators",
    ),
    "accelerator-fault": (
        "hardware",
        "dmesg | grep Xid and nvidia-smi -q -d ECC on the host of that line; dcgmi diag -r 3; exchange the part",
    ),
    "throttled-clocks": (
        "throttled",
        "nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER on the host of that line: cooling, power supplies, power limit",
    ),
    "memory-full": (
        "out-of-memory",
        "nvidia-smi on the host of that line: other processes; give the engine a smaller share of the memory",
    ),
    "host-memory-full": (
        "host-memory",
        "free -g and dmesg | grep -i oom on that host; fewer workers of the data loader; more memory for the job",
    ),
    "storage-full": (
        "storage",
        "df -h and df -i of that directory, quota -s; of a parallel file system every target (lfs df): one may be full",
    ),
    "kv-cache-full": (
        "cache-full",
        "clusterspec estimate: the context and the requests that fit; fewer requests at a time, a shorter context, "
        "a larger share of the memory for the engine, or more accelerators for each replica",
    ),
    "gpudirect-refused": (
        "peer-memory",
        "lsmod | grep nvidia_peermem, else modprobe nvidia_peermem; unset PYTORCH_CUDA_ALLOC_CONF=expandable_segments",
    ),
    "ranks-diverge": (
        "diverging",
        "TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1: the calls of each rank; find where they part",
    ),
    "peer-limit": (
        "peer-limit",
        "one process for each accelerator, started by MPI, instead of -g; NCCL_P2P_LEVEL=PXB where that is not enough",
    ),
    "fabric-manager": (
        "fabric-manager",
        "systemctl status nvidia-fabricmanager; enable it, and restart the node where it was restarted below a job",
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
        "ss -ltnp | grep the port of that line: end the process that holds it, or give this job another port "
        "(MASTER_PORT, --master-port, --port)",
    ),
    "process-limit": (
        "threads",
        "ulimit -u within the job and the pids limit of its container (--pids-limit=-1); set OMP_NUM_THREADS=1 and "
        "fewer workers of the data loader",
    ),
    "library-release": (
        "library",
        "pip list and ldd of the library of that line; unset LD_LIBRARY_PATH and LD_PRELOAD; install releases built "
        "for one another",
    ),
    "unsupported-accelerator": (
        "no-kernel",
        "torch.cuda.get_arch_list() against the compute capability of the accelerator: a build or a release for it",
    ),
    "remote-login": (
        "login",
        "ssh -o BatchMode=yes HOST which sshd orted for every host of the hostfile: its key and its PATH; "
        "or start ranks by srun or torchrun on each node, which need none",
    ),
    "invalid-setting": (
        "setting",
        "print the environment of every rank (env | grep -E 'NCCL|HCCL|MASTER|RANK'): set or correct that variable",
    ),
    "checkpoint-mismatch": (
        "checkpoint",
        "the configuration stored with the checkpoint against that of the run: layers, hidden size, heads, vocabulary "
        "and its padding; then the parallel degrees; or an old checkpoint in the directory that the run saves to",
    ),
    "file-permission": (
        "permission",
        "id and ls -ld of that path and of the directories above it, on that host and within the container: its owner, "
        "its group, and the user that the job runs as",
    ),
    "stopped-service": (
        "service",
        "systemctl status of that service on that host (nvidia-dcgm, docker; ray status); its socket "
        "within the container",
    ),
    "nic-fault": (
        "nic-fault",
        "dmesg | grep mlx5 and mlxfwmanager on the host of that line: update its firmware, or exchange the NIC",
    ),
    "nic-limit": (
        "nic-limit",
        "dmesg | grep -E 'limits exceeded|no resources'; fewer processes or queue pairs for each NIC; mlxconfig -d "
        "DEVICE q | grep -E 'LOG_BAR|UAR|NUM_OF_VFS'",
    ),
    "storage-fault": (
        "storage-fault",
        "dmesg and mount on the host of that line: mount the file system again; ls of that path from every node",
    ),
    "data-loading": (
        "data-loader",
        "py-spy dump of the workers of the data loader; read the data from local disks, with more workers or a longer "
        "timeout",
    ),
    "job-ended": (
        "job-ended",
        "sacct -j JOB -o State,Reason,NodeList; sinfo -R for the node; start again from the last checkpoint",
    ),
    "unused-parameters": (
        "unused",
        "TORCH_DISTRIBUTED_DEBUG=DETAIL names the parameters; find_unused_parameters=True, or use all in the loss",
    ),
    "program-fault": (
        "kernel-fault",
        "CUDA_LAUNCH_BLOCKING=1 and compute-sanitizer: the kernel that fails; then update or turn off what brings it",
    ),
}
"""The same for runs without a result only: causes that end a program rather than slow it.

Published: NVIDIA/Megatron-LM issue 343 and pytorch/pytorch issue 85604 (ports), verl-project/verl issue 719
(processes).
"""
STEP_OF = {name: step for name, (_, step) in {**STOPS, **UNFINISHED_STOPS}.items()}
"""The next step for each cause that a line states."""
