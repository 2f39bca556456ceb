"""Next steps for causes of launches, schedulers, Ray and containers, each with the thread that it is from."""

from __future__ import annotations

SUBMISSION = "compare the options of sbatch with what one node of that partition has (sinfo -o '%P %G %c %m')"
"""interTwin-eu/itwinai issue 415, facebookincubator/submitit issue 1710."""
SHORT = "raise the timeout of init_process_group (default: ten minutes) above the longest step, save and compilation"
"""instructlab/training pull request 520."""
LATE = "set HCCL_CONNECT_TIMEOUT=900 for all ranks; if they then connect, some had started more than 120 s after others"
"""vllm-project/afd-plugin issue 229."""
ENDS = (
    "compare the release, the backend and the NIXL variables of both ends (NIXL_BACKEND, TRTLLM_NIXL_KVCACHE_BACKEND)"
)
"""NVIDIA/TensorRT-LLM issue 10024."""
DEFAULT_RUNTIME = (
    "make nvidia the default runtime of docker or containerd on that node (nvidia-ctk runtime configure "
    "--set-as-default, and restart it), or set runtimeClassName: nvidia in the pod"
)
"""NVIDIA/k8s-device-plugin issue 23."""
DEVICES_OF_CONTAINER = (
    "run nvidia-smi in a new container on that node: if it works, a reload of systemd took the devices of the old "
    "one (cgroups; CDI avoids it); if not, change the release of runc, crun or the toolkit"
)
"""containers/crun issue 1802, NVIDIA/nvidia-docker issue 1730."""
PROGRAM = "run which PROGRAM and echo $PATH within the job on every node; install it there, or add its directory"
"""flashinfer-ai/flashinfer issue 1781."""
TOOL = (
    "run that program with --version in the image of the ranks: another package has the option (hostname -I is of "
    "Debian's hostname, not of inetutils or busybox)"
)
"""deepspeedai/DeepSpeed issues 826 and 6497."""
RESOURCES = "run ray list nodes --detail and nvidia-smi -L on each node; start ray with --num-gpus where it counts none"
"""gpustack/gpustack issue 5509."""
COPY = (
    "run lsmod | grep gdrdrv and ls -l /dev/gdrdrv on the host; with both, give it to the container: docker run "
    "--device=/dev/gdrdrv"
)
"""NVIDIA/gdrcopy issue 138."""
TARGET = (
    "print env of every rank, and check the variables that name its coordinator or its workers "
    "(TPU_WORKER_HOSTNAMES, MASTER_ADDR)"
)
VARIABLE = (
    "print env of every rank on every node; if the launcher does not set the variable, export it (srun "
    "--export=ALL, mpirun -x)"
)
"""deepspeedai/DeepSpeed pull request 5318."""
RENAMED = "let one rank alone write and rename that file (RANK 0, not LOCAL_RANK 0, on a file system that nodes share)"
"""huggingface/pytorch-image-models pull request 693."""
SPOOL = (
    "check SlurmdSpoolDir on that node with df and mount; put it on a local disk of each node, and restart slurmd there"
)
"""ArjunaCluster/ArjunaUsers issue 20."""
BACKEND = (
    "run python -c 'import torch; print(torch.version.cuda)'; if it prints None, call init_process_group with gloo"
)
"""OFA-Sys/Chinese-CLIP issue 279."""
SELINUX = "run ausearch -m avc -ts recent; to test it, run setenforce 0 and then nvidia-smi within the container"
"""NVIDIA/gpu-operator issue 32."""
PLUGIN = (
    "check by kubectl logs that the device plugin on that node started, and started after the node; then delete the"
    " rejected pod"
)
"""kubernetes/kubernetes issue 125579."""
FIRMWARE = (
    "compare cat /sys/kernel/debug/dri/*/amdgpu_firmware_info, dkms status and apt list of amdgpu; install another "
    "release of driver and firmware"
)
"""ROCm/legacy-rocm-build issue 5616."""
RDMA = (
    "run lspci | grep -i -E 'mellanox|infiniband', and search lsmod and dmesg for mlx and ib_core; check driver and"
    " firmware of the NIC"
)
"""clustervision/trinity issue 219."""
PERSISTENCE = (
    "enable persistence (nvidia-smi -pm 1, or systemctl status nvidia-persistenced); then try another release of "
    "the driver"
)
"""NVIDIA/nvidia-container-toolkit issue 556, NVIDIA/nvidia-docker issue 1137."""
MODULE = (
    "check dmesg, dkms status and mokutil --sb-state; if modinfo -F vermagic of the module differs from uname -r, "
    "build it again"
)
HARDWARE = (
    "run dmesg | grep Xid: 13, 31 and 43 point to the program, 48, 63, 79, 94 and 95 to the hardware; try another host"
)
FABRIC_HANDLE = (
    "ls -l /dev/nvidia-caps-imex-channels on the host and within the container: nvidia-modprobe -i 0:1 creates channel "
    "0, --device gives it to a container; without a domain of several nodes, handles that are no fabric's "
    "(NCCL_MNNVL_ENABLE=0, MC_FORCE_MNNVL=0)"
)
ACCESS_CONTROL = "run sudo lspci -vvv | grep -i 'ACSCtl: SrcValid+'; turn ACS off in the firmware of the host"
IDENTITY = "unset NCCL_HOSTID; by default NCCL derives it from the name and the boot of each host"
"""NVIDIA/nccl issue 879."""
HEAD = (
    "run ray status on the head node and read gcs_server.out in its /tmp/ray/session_latest/logs; pip install "
    "'ray[default]'"
)
"""vllm-project/vllm issue 15385."""
WORKERS = "run dmesg | grep -i oom on that node, and read raylet.err and worker-*.err in /tmp/ray/session_latest/logs"
QUEUES = "run ibv_devinfo -v | grep -E 'max_qp|max_cq|max_srq'; use fewer queue pairs (-q) and a smaller depth (-t)"
ALL_GPUS = (
    "compare the parallel sizes with nvidia-smi -L of each node; check by ray status that every node of the job has"
    " joined"
)
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
LAUNCHER = "find the program's MPI with ldd, and start it with that MPI's mpiexec or with srun --mpi=pmi2"
"""NVIDIA/nccl-tests issue 92."""
LAUNCHER_SETTINGS = (
    "run env | grep -E 'SLURM|PMI|OMPI' in that process; unset what another launcher left, or start it by srun"
)
"""NVIDIA/TensorRT-LLM issue 2286 (SLURM_NODELIST in a shell of a job)."""
TOOLKITS = (
    "run ldconfig -p | grep libcublas and print LD_LIBRARY_PATH of the rank, which should find only the library of "
    "its own wheel"
)
"""awslabs/awsome-distributed-training 0edaf152, `3.test_cases/pytorch/deepspeed/qlora/docs/TROUBLESHOOTING.md`."""
EFA = (
    "run fi_info -p efa within every rank's container, the head's included: either all ranks have the device, or "
    "none may use it"
)
"""awslabs/awsome-distributed-training 0edaf152, `3.test_cases/pytorch/verl/hyperpod-eks/rlvr/README.md`."""
COMPILER = (
    "read the first compiler error above that line; compare nvcc --version with torch.version.cuda; install the "
    "development packages of CUDA (cusparse, cublas, curand), ninja and a compiler that nvcc supports"
)
"""databrickslabs/dolly issue 199."""
CUDNN = (
    "compare python -c 'import torch; print(torch.backends.cudnn.version())' with the release that supports this "
    "accelerator and head size; run pip install -U nvidia-cudnn-cu12, or set NVTE_FUSED_ATTN=0"
)
"""NVIDIA/TransformerEngine issue 1591."""
ONE_DEVICE = (
    "give each process one device (CUDA_VISIBLE_DEVICES), or launch one process per device (torchrun), without "
    "device_map='auto'"
)
"""casper-hansen/AutoAWQ issue 558."""
ASSEMBLER = (
    "set TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas, with a CUDA release that supports the device and fits the driver"
)
FORK = "start workers by spawn instead of fork, and call CUDA only after they have started"
BLOCKS = (
    "use smaller blocks or fewer stages in that kernel, or a release of its library that is tuned for this accelerator"
)
OUTSIDE = (
    "run curl on that address on a compute node; set a proxy (HTTPS_PROXY) or a mirror (HF_ENDPOINT), or fetch the "
    "files beforehand (HF_HUB_OFFLINE=1) and load the image on the nodes"
)
FINITE = (
    "run that batch again from the last checkpoint on another node: with the same value there, the data, the "
    "learning rate or the precision is the cause; with another, the accelerator (dcgmi diag -r 3)"
)
RUNTIME = (
    "run nvidia-ctk runtime configure --runtime=docker, and restart docker; install nvidia-container-toolkit if "
    "nvidia-ctk is missing"
)
"""luigifreda/rosdocker issue 5, eduidl/ElasticFusion-Dockerfile issue 11, NVIDIA/dcgm-exporter issue 33."""
OFFERED = (
    "compare nvidia.com/gpu under Allocatable and under Allocated resources in kubectl describe node; look for the "
    "device plugin in kubectl get pods -A"
)
PREPARE = (
    "prepare the data before the run, on local disks; or set a longer timeout (ddp_timeout, "
    "--distributed-timeout-minutes, init_process_group(timeout=…))"
)
SERVICE = (
    "check systemctl status nvidia-fabricmanager and its journalctl -u; its release must be that of the driver "
    "(nvidia-smi); if it was restarted or updated while a job ran, restart the node"
)
NODE_ADDRESS = (
    "compare ray list nodes with the address on that line; set VLLM_HOST_IP and ray start --node-ip-address to the "
    "same interface on each node"
)
"""vllm-project/vllm issue 7815, eugr/spark-vllm-docker issue 227."""
ARGUMENTS = (
    "compare the command line that the launcher prints with --help of that release: an option or its value is missing"
)
DRIVER_NODE = (
    "set VLLM_HOST_IP on each node to exactly the address that ray status names; start the driver on a node with GPUs"
)
"""vllm-project/vllm issues 2406 and 12983."""
RESHARD = (
    "load it on as many ranks as wrote it, or save it in a format for any number of ranks "
    "(torch.distributed.checkpoint)"
)
"""Lightning-AI/pytorch-lightning issue 16815, X-Square-Robot/wall-x issue 114."""
OOPS = (
    "find the module that failed in the trace below that line; check uname -r, and dkms status or modinfo of the "
    "module; install another release of it"
)
DATA = (
    "run iostat -x and nfsiostat on the nodes during such a step, and run once with the data in memory. If that run"
    " is fast, read from local disks, with more workers or larger files"
)
"""NVIDIA/DALI issues 1325 and 2608, horovod/horovod issue 824."""
BINDING = (
    "check the processors of each rank with taskset -cp and nproc within the job; set --cpus-per-task of srun and "
    "of sbatch, and use --bind-to none or only processors that the job holds (numactl)"
)
"""mlcommons/training_results_v0.7 issue 6, openai/baselines issue 325."""
NEURON_ROOT = (
    "export NEURON_RT_ROOT_COMM_ID=ADDRESS_OF_THE_FIRST_NODE:PORT for every rank on every node, and open that port "
    "in the security group"
)
"""ray-project/ray issue 65070."""
LANES = (
    "run ucx_info -d | grep -E 'Transport|Device'; if it lists no rc or srd of the NICs, use a NIXL backend for "
    "this network"
)
"""openucx/ucx issue 10854: UCX has no GPUDirect-TCPX."""
SPECIFICATION = (
    "run nvidia-ctk cdi list on that node, and check the directories that the runtime reads (/etc/cdi, "
    "/var/run/cdi); run nvidia-ctk cdi generate after each change of the driver or of its devices"
)
QUEUE = (
    "check the limits of that queue (qstat -Qf, or sinfo and the site's pages), and the lines that its filter "
    "printed before"
)
PROVIDER = (
    "run fi_info -l within the job, on the nodes that fail and on one that works; unset FI_PROVIDER and "
    "I_MPI_FABRICS of the job, or set tcp"
)
KERNELS = (
    "give each node or job a cache of its own on a local disk (TRITON_CACHE_DIR, TORCHINDUCTOR_CACHE_DIR, "
    "TORCH_EXTENSIONS_DIR), remove the old one, and compile once before all ranks start"
)
"""triton-lang/triton issue 2688, PrimeIntellect-ai/prime-rl pull 2305."""
GRAPHS = (
    "raise --cuda-graph-max-bs (SGLang) or the largest size of compilation_config (vLLM) to the requests that run at "
    "once; with DP attention SGLang may count those of all ranks. Do without --disable-cuda-graph and --enforce-eager"
)
"""sgl-project/sglang issue 5527 and pull 37898."""
GOVERNOR = "run sudo cpupower frequency-set -g performance on every node, and measure again"
"""tenstorrent/tt-metal issue 5281."""
