"""Next steps for causes of launches, schedulers, Ray and containers, each with the thread that it is from."""

from __future__ import annotations

SUBMISSION = (
    "sinfo -o '%P %G %c %m' and the options of sbatch: what one node of that partition has, in the site's terms"
)
"""interTwin-eu/itwinai issue 415, facebookincubator/submitit issue 1710."""
SHORT = (
    "the timeout that init_process_group gets (default: ten minutes): more than the longest step, save and compilation"
)
"""instructlab/training pull request 520."""
LATE = "HCCL_CONNECT_TIMEOUT=900 for all ranks: if they then connect, some had started later than 120 s after others"
"""vllm-project/afd-plugin issue 229."""
ENDS = "the release, the backend and the variables of NIXL of both ends (NIXL_BACKEND, TRTLLM_NIXL_KVCACHE_BACKEND)"
"""NVIDIA/TensorRT-LLM issue 10024."""
DEFAULT_RUNTIME = (
    "the default runtime of docker or containerd on that node is to be nvidia (nvidia-ctk runtime configure "
    "--set-as-default, and restart it), or runtimeClassName: nvidia in the pod"
)
"""NVIDIA/k8s-device-plugin issue 23."""
DEVICES_OF_CONTAINER = (
    "nvidia-smi in a new container of that node: there, a reload of systemd took its devices (cgroups; CDI avoids it); "
    "not there, the release of runc, crun or the toolkit"
)
"""containers/crun issue 1802, NVIDIA/nvidia-docker issue 1730."""
PROGRAM = "which PROGRAM, and echo $PATH, within the job on every node: install it there, or add its directory"
"""flashinfer-ai/flashinfer issue 1781."""
TARGET = "env of every rank: the variables that name its coordinator or its workers (TPU_WORKER_HOSTNAMES, MASTER_ADDR)"
VARIABLE = (
    "env of every rank on every node: the launcher sets it, or the job is to export it (srun --export=ALL, mpirun -x)"
)
"""deepspeedai/DeepSpeed pull request 5318."""
RENAMED = "one rank alone writes and renames that file (RANK 0, not LOCAL_RANK 0, on a file system that nodes share)"
"""huggingface/pytorch-image-models pull request 693."""
SPOOL = "SlurmdSpoolDir on that node: df and mount of it; a local disk of each node; restart slurmd there"
"""ArjunaCluster/ArjunaUsers issue 20."""
BACKEND = "python -c 'import torch; print(torch.version.cuda)'; init_process_group with gloo, where it prints None"
"""OFA-Sys/Chinese-CLIP issue 279."""
SELINUX = "ausearch -m avc -ts recent; setenforce 0 to test it; nvidia-smi within the container"
"""NVIDIA/gpu-operator issue 32."""
PLUGIN = (
    "kubectl logs of the device plugin on that node: did it start, and after the node? then delete the rejected pod"
)
"""kubernetes/kubernetes issue 125579."""
FIRMWARE = "cat /sys/kernel/debug/dri/*/amdgpu_firmware_info, dkms status, apt list of amdgpu: another release of both"
"""ROCm/legacy-rocm-build issue 5616."""
RDMA = "lspci | grep -i -E 'mellanox|infiniband'; lsmod and dmesg | grep -E 'mlx|ib_core': its driver and firmware"
"""clustervision/trinity issue 219."""
PERSISTENCE = "nvidia-smi -pm 1 or systemctl status nvidia-persistenced; then another release of the driver"
"""NVIDIA/nvidia-container-toolkit issue 556, NVIDIA/nvidia-docker issue 1137."""
MODULE = "dmesg; dkms status; modinfo -F vermagic of the module against uname -r: build it anew; mokutil --sb-state"
HARDWARE = "dmesg | grep Xid: 13, 31 and 43 are the program's, 48, 63, 79, 94 and 95 the hardware's; on another host?"
FABRIC_HANDLE = (
    "ls -l /dev/nvidia-caps-imex-channels on the host and within the container: nvidia-modprobe -i 0:1 creates channel "
    "0, --device gives it to a container; without a domain of several nodes, handles that are no fabric's "
    "(NCCL_MNNVL_ENABLE=0, MC_FORCE_MNNVL=0)"
)
ACCESS_CONTROL = "sudo lspci -vvv | grep -i 'ACSCtl: SrcValid+'; turn ACS off in the firmware of the host"
IDENTITY = "unset NCCL_HOSTID: by default it is taken from the name and the boot of each host"
"""NVIDIA/nccl issue 879."""
HEAD = "ray status on the head node, gcs_server.out in its /tmp/ray/session_latest/logs; pip install 'ray[default]'"
"""vllm-project/vllm issue 15385."""
WORKERS = "dmesg | grep -i oom on that node, and raylet.err and worker-*.err in /tmp/ray/session_latest/logs"
QUEUES = "ibv_devinfo -v | grep -E 'max_qp|max_cq|max_srq'; fewer queue pairs (-q) and a smaller depth (-t)"
ALL_GPUS = "the parallel sizes against nvidia-smi -L of each node; ray status: every node of the job has joined"
HEADERS = (
    "uname -r on that node: boot the latest kernel of its system, mount a repository that has the packages of this one "
    "into the driver's container, or use a precompiled driver"
)
"""NVIDIA/gpu-operator issue 85; docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest,
install-gpu-operator-outdated-kernels.html (2026-11-25).
"""
HOROVOD = (
    "HOROVOD_GPU_OPERATIONS=NCCL pip install --no-cache-dir --force-reinstall horovod; then horovodrun --check-build"
)
"""horovod/horovod issue 2686."""
LAUNCHER = "ldd of the program names its MPI: start it with mpiexec of that one, or with srun --mpi=pmi2"
"""NVIDIA/nccl-tests issue 92."""
LAUNCHER_SETTINGS = (
    "env | grep -E 'SLURM|PMI|OMPI' of that process: unset what another launcher left, or start it by srun"
)
"""NVIDIA/TensorRT-LLM issue 2286 (SLURM_NODELIST in a shell of a job)."""
TOOLKITS = "ldconfig -p | grep libcublas, and LD_LIBRARY_PATH of the rank: only the library of its own wheel"
"""awslabs/awsome-distributed-training 0edaf152, `3.test_cases/pytorch/deepspeed/qlora/docs/TROUBLESHOOTING.md`."""
EFA = "fi_info -p efa within every rank's container, the head's, too: all ranks have the device, or none uses it"
"""awslabs/awsome-distributed-training 0edaf152, `3.test_cases/pytorch/verl/hyperpod-eks/rlvr/README.md`."""
COMPILER = (
    "the first error of the compiler above that line; nvcc --version against torch.version.cuda; the development "
    "packages of CUDA (cusparse, cublas, curand), ninja and a compiler that nvcc takes"
)
"""databrickslabs/dolly issue 199."""
CUDNN = (
    "python -c 'import torch; print(torch.backends.cudnn.version())', against the release that supports this "
    "accelerator and head size; pip install -U nvidia-cudnn-cu12, or NVTE_FUSED_ATTN=0"
)
"""NVIDIA/TransformerEngine issue 1591."""
ONE_DEVICE = (
    "CUDA_VISIBLE_DEVICES of one device for each process, or a launch of one process for each (torchrun); without "
    "device_map='auto'"
)
"""casper-hansen/AutoAWQ issue 558."""
ASSEMBLER = "TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas: that of a CUDA which knows the device and fits the driver"
FORK = "start workers by spawn in place of fork; no call of CUDA before them"
BLOCKS = "smaller blocks or fewer stages of that kernel; a release of its library that is tuned for this accelerator"
OUTSIDE = (
    "curl of that address on a compute node: a proxy (HTTPS_PROXY), a mirror (HF_ENDPOINT), or files fetched before "
    "(HF_HUB_OFFLINE=1); the image loaded on the nodes"
)
FINITE = (
    "run that batch again from the last checkpoint on another node: with the same value there, the data, the "
    "learning rate or the precision is the cause; with another, the accelerator (dcgmi diag -r 3)"
)
RUNTIME = (
    "nvidia-ctk runtime configure --runtime=docker, and restart docker; install nvidia-container-toolkit where "
    "nvidia-ctk is missing"
)
"""luigifreda/rosdocker issue 5, eduidl/ElasticFusion-Dockerfile issue 11, NVIDIA/dcgm-exporter issue 33."""
OFFERED = (
    "kubectl describe node: nvidia.com/gpu of Allocatable, and of Allocated resources; kubectl get pods -A: the plugin"
)
PREPARE = (
    "prepare the data before the run, on local disks; or a longer timeout (ddp_timeout, --distributed-timeout-minutes, "
    "init_process_group(timeout=…))"
)
SERVICE = (
    "systemctl status nvidia-fabricmanager and journalctl -u of it: its release is that of the driver (nvidia-smi); "
    "restart the node where it was restarted or updated below a job"
)
NODE_ADDRESS = (
    "ray list nodes, against the address on that line: VLLM_HOST_IP and ray start --node-ip-address of one interface "
    "on each node"
)
"""vllm-project/vllm issue 7815, eugr/spark-vllm-docker issue 227."""
ARGUMENTS = (
    "the command line as the launcher prints it, against --help of that release: an option or its value is missing"
)
DRIVER_NODE = (
    "VLLM_HOST_IP on each node: its address as ray status names it, and no more; the driver on a node with GPUs"
)
"""vllm-project/vllm issues 2406 and 12983."""
RESHARD = "load it on as many ranks as wrote it, or of a format for any number of ranks (torch.distributed.checkpoint)"
"""Lightning-AI/pytorch-lightning issue 16815, X-Square-Robot/wall-x issue 114."""
OOPS = "the trace below that line: the module that failed; uname -r, and dkms status or modinfo of it: another release"
DATA = (
    "iostat -x and nfsiostat on the nodes during such a step; one run with data in memory. If that run is "
    "fast, read from local disks, with more workers or larger files"
)
"""NVIDIA/DALI issues 1325 and 2608, horovod/horovod issue 824."""
BINDING = (
    "taskset -cp and nproc within the job: the processors that each rank has; --cpus-per-task of srun and of sbatch, "
    "--bind-to none or numactl without processors that the job does not hold"
)
"""mlcommons/training_results_v0.7 issue 6, openai/baselines issue 325."""
NEURON_ROOT = (
    "export NEURON_RT_ROOT_COMM_ID=ADDRESS_OF_THE_FIRST_NODE:PORT for every rank on every node; the security group is "
    "to let that port through"
)
"""ray-project/ray issue 65070."""
LANES = "ucx_info -d | grep -E 'Transport|Device': rc or srd of the NICs; else a backend of NIXL for this network"
"""openucx/ucx issue 10854: UCX has no GPUDirect-TCPX."""
SPECIFICATION = (
    "nvidia-ctk cdi list on that node; the directories that the runtime reads (/etc/cdi, /var/run/cdi); nvidia-ctk cdi "
    "generate after each change of the driver or of its devices"
)
QUEUE = (
    "qstat -Qf, or sinfo and the site's pages: the limits of that queue, and the lines that its filter printed before"
)
PROVIDER = (
    "fi_info -l within the job, on the nodes that fail and on one that does not; FI_PROVIDER and I_MPI_FABRICS of the "
    "job, unset or tcp"
)
