"""Lines of frameworks and services of a node: checkpoints of another model, stopped services.

The words of each line were compared on 2026-11-25 with the file that prints them, in its repository and at the commit
that stands above the patterns. Lines above which a thread stands were not found in a source: their words are those of
that thread.
"""

from __future__ import annotations

import re

_OF_A_CALL = r"(?:[Cc]uda|CUDA|[Hh]ip[A-Z]|[Ss]tatus|[Nn]ccl|ibv_|errno|ok\(\))"
"""Words of a check that a call succeeded, whose error is for other patterns to read."""
_NETWORK = r"(?:tcp|ib|rc|ud|dc|gga|srd)\w{0,10}/\S{1,40}"
"""A transport of UCX over a network and its device; shared memory and `self` never reach another node."""
_LACKING = r"(?:no |disabled for |not available)"
"""How UCX says that a transport was not tried: it lacks an operation, is off, or the other end has none of its kind."""
FRAMEWORK_PATTERNS = (
    # openucx/ucx 9466d104, src/ucp/wireup/select.c lines 640 to 723: why each transport was not chosen; then the status
    # that follows from it, src/ucs/type/status.c line 36
    (
        "unreached-transport",
        re.compile(rf"(\bno [\w ]{{1,40}} transport to .{{1,400}}?\b{_NETWORK} - (?!{_LACKING}).{{1,60}})"),
    ),
    (
        "no-network-transport",
        re.compile(rf"(\bno [\w ]{{1,40}} transport to (?!.{{1,400}}?\b{_NETWORK} - (?!{_LACKING})).{{1,160}})"),
    ),
    ("no-common-transport", re.compile(r"^(?!.{0,200}\btransport to\b)(.{0,60}\bDestination is unreachable\b)")),
    # ucp_ep.c, ucp_ep_config_name and its lanes: all of them over TCP. Thread: openucx/ucx issue 10854
    (
        "tcp-lanes",
        re.compile(
            r"(\binter-node cfg#[0-9]{1,6}(?: \w{1,12}\(tcp/[\w.:-]{1,40}(?: tcp/[\w.:-]{1,40}){0,16}\)){1,16})"
            r"(?! \w{1,12}\()"
        ),
    ),
    # numactl/numactl 93c1fe5f, libnuma.c lines 2157 and 2273: processors or memory outside the set of the job
    ("binding", re.compile(r"(libnuma: Warning: (?:cpu|node) argument .{1,60}? ?(?:is )?out of range)")),
    # NVIDIA/Megatron-LM d98e8a64, megatron/core/dist_checkpointing/strategies/torch.py line 513
    ("checkpoint", re.compile(r"([Gg]lobal shape mismatch for loaded .{1,120})")),
    # pytorch/pytorch d4cc86dc, torch/nn/modules/module.py (`_load_from_state_dict`, `load_state_dict`)
    ("checkpoint", re.compile(r"(size mismatch for [\w.]{1,120}: copying a param with shape.{0,60})")),
    ("checkpoint", re.compile(r"(Error\(s\) in loading state_dict for .{1,60})")),
    # pytorch/pytorch 0140b62d, torch/distributed/checkpoint/default_planner.py (`create_default_local_load_plan`)
    (
        "checkpoint",
        re.compile(r"^(?:\[\w{1,20}\]: ?)?\s{0,12}((?:Missing|Unexpected) key\(s\) in state_dict: .{1,80})"),
    ),
    ("checkpoint", re.compile(r"(Missing key in checkpoint state_dict: .{1,80})")),
    # NVIDIA/Megatron-LM d98e8a64, megatron/training/checkpointing.py line 195
    (
        "checkpoint",
        re.compile(r"(\w{1,40} value from checkpoint \(.{1,40}\) is not equal to the input argument value.{0,40})"),
    ),
    # NVIDIA/DCGM 72fa3fea, dcgmlib/src/dcgm_errors.c line 240 and dcgmi/Command.cpp line 105
    ("service", re.compile(r"(Host engine connection invalid/disconnected|Unable to connect to host engine)")),
    # moby/moby b985e231, client/errors.go line 40
    ("service", re.compile(r"(Cannot connect to the Docker daemon at \S{1,80})")),
    # ray-project/ray ed6534e9, python/ray/_private/services.py (`find_redis_address_or_die`)
    ("service", re.compile(r"(Could not find any running Ray instance.{0,60})")),
    # thread: Unakar/Logic-RL issue 30
    ("releases", re.compile(r"(Version mismatch: The cluster was started with.{0,40})")),
    # the backend that a program asks for is not in its PyTorch: of the catalog (`messages.csv`), with its line
    ("no-collectives", re.compile(r"(Distributed package doesn't have NCCL built in)")),
    # pytorch/pytorch 26e79290, torch/utils/cpp_extension.py (`_build_extension_module`)
    ("build", re.compile(r"(Error building extension '[^']{1,80}')")),
    # pytorch/pytorch d4cc86dc, torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp (the constructor)
    ("no-collectives", re.compile(r"(ProcessGroupNCCL is only supported with GPUs.{0,30})")),
    # the same file: a limit of less than ten seconds, which a first step that compiles exceeds
    ("short-limit", re.compile(r"(Watchdog caught collective operation .{1,200}\bTimeout\(ms\)=[0-9]{1,4}\b.{0,60})")),
    # below the ten minutes of PyTorch: NVIDIA-NeMo/Automodel pull request 2748
    (
        "set-limit",
        re.compile(
            r"(Watchdog caught collective operation .{1,200}"
            r"\bTimeout\(ms\)=(?:[1-9][0-9]|[1-5][0-9]{2})[0-9]{3}\b.{0,60})"
        ),
    ),
    # ray-project/ray ed6534e9, src/ray/gcs/gcs_worker_manager.cc (`HandleReportWorkerFailure`)
    ("worker-ended", re.compile(r"(Reporting worker failure.{1,200}exit_type = SYSTEM_ERROR)")),
    # gRPC (`dns_resolver_ares.cc`), with an empty address. Thread: jax-ml/jax issue 10218
    ("empty-target", re.compile(r"(no server name supplied in dns URI)")),
    # a name of an environment variable that a program takes from `os.environ`
    ("unset-variable", re.compile(r"(\bKeyError: '[A-Z][A-Z0-9]{1,20}(?:_[A-Z0-9]{1,20}){1,6}')")),
    # caches of compiled kernels that several processes write (Triton, Inductor, PyTorch, FlashInfer, vLLM, Neuron).
    # Threads: triton-lang/triton issues 2688 and 11512
    (
        "kernel-cache",
        re.compile(
            r"((?:FileNotFoundError|FileExistsError|OSError|ImportError|EOFError|BadZipFile|JSONDecodeError): .{0,200}"
            r"(?:/\.triton/|\btriton_cache|/torchinductor_|/torch_extensions/|/\.cache/(?:flashinfer|vllm|deep_gemm|tvm)"
            r"|neuron-compile-cache|torch_compile_cache).{0,120})"
        ),
    ),
    # a file that is renamed, and is no longer there. Thread: huggingface/pytorch-image-models pull 693
    # HDF5, and Safetensors, whose exception has no number
    (
        "missing-file",
        re.compile(
            r"(name = '[^']{1,200}', errno = 2, error message = 'No such file or directory'"
            r"|FileNotFoundError: No such file or directory: .{1,160}"
            r"|(?:[Ff]ail\w{0,3}|[Uu]nable|[Cc]annot) (?:to )?creat\w{1,3} directory .{1,160}: ?[Nn]o such file or dir)"
        ),
    ),
    (
        "renamed-file",
        re.compile(
            r"(FileNotFoundError: \[Errno 2\] (?!.{0,200}(?:/\.triton/|/torchinductor_|/torch_extensions/))"
            r".{1,200}' -> '.{1,120})"
        ),
    ),
    # a class that another release has otherwise; of a worker that did not start vLLM says so of its executor
    (
        "absent-attribute",
        re.compile(
            r"(AttributeError: '(?!NoneType|str'|list'|dict'|tuple'|int'|float'|bool'|set'|bytes'|function|method"
            r"|Tensor'|MultiprocExecutor)\w{1,60}' object has no attribute '\w{1,60}')"
        ),
    ),
    # a file that another rank took away first. Threads: mosaicml/llm-foundry issue 1848, modelscope/ms-swift pull 10121
    (
        "renamed-file",
        re.compile(
            r"(\b(?:os\.(?:remove|unlink|chmod|rename|replace|link)|shutil\.move)\(.{1,160}FileNotFoundError: "
            r"(?!.{0,200}(?:/\.triton/|/torchinductor_|/torch_extensions/)).{1,160})"
        ),
    ),
    # CANN, of a process before it. Thread: hiyouga/LlamaFactory issue 3839
    ("earlier-process", re.compile(r"(Failed to initialize the HCCP process\..{0,80})")),
    # cuDNN's frontend finds no engine. Threads: NVIDIA/TransformerEngine issue 1591 and pull 3091, pytorch pull 192843
    (
        "no-engine",
        re.compile(
            r"((?:cuDNN (?:[Ff]rontend )?|\[cudnn_frontend\] )[Ee]rror: "
            r"(?!.{0,200}CUDNN_STATUS_(?!NOT_SUPPORTED)).{1,160})"
        ),
    ),
    # NVML of a device that left the bus. Thread: leptonai/gpud issue 604
    ("hardware", re.compile(r"(\b(?:NVML_)?ERROR_GPU_IS_LOST\b|\bGPU is lost\b.{0,60})")),
    # linux-rdma/perftest 00b55b6, src/perftest_resources.c lines 2887 and 3022
    ("no-queue", re.compile(r"((?:Unable|Failed) to create QP\.)")),
    # OSU micro-benchmarks (`osu_bw.c`) and the tests of NVSHMEM, started with another number of processes
    ("process-count", re.compile(r"(This test requires exactly two processes)")),
    # python/cpython 8ea6cc14, Lib/argparse.py
    ("arguments-refused", re.compile(r"(error: argument -{1,2}\w[\w/, -]{0,120}: .{1,80})")),
    (
        "arguments-refused",
        re.compile(r"(error: (?:unrecognized arguments: |the following arguments are required: ).{1,80})"),
    ),
    # pypa/setuptools 7d531288, setuptools/_distutils/spawn.py line 29 and core.py line 198
    (
        "build",
        re.compile(r"(error: command '[^']{0,120}(?:nvcc|hipcc|gcc|g\+\+|c\+\+)' failed with exit code [0-9]{1,3})"),
    ),
    # an assertion on the device, as CUDA prints it. Thread: NVIDIA/TensorRT-LLM issue 10417
    (
        "kernel-fault",
        re.compile(r"(: block: \[[0-9]{1,9},[0-9,]{3,20}\], thread: \[[0-9]{1,5},[0-9,]{3,12}\] Assertion .{0,80})"),
    ),
    # triton-lang/triton 0b057fca, python/triton/runtime/errors.py (`OutOfResources`)
    ("kernel-resources", re.compile(r"(out of resource: (?:shared memory|registers|threads), Required: .{1,60})")),
    # an assembler older than the device. Thread: triton-lang/triton issue 8539
    ("no-kernel", re.compile(r"(ptxas fatal {1,4}: Value 'sm_\w{1,6}' is not defined for option 'gpu-name')")),
    # a status of cuDNN, and what PyTorch prints where every algorithm fails. Thread: TQTQliu/MVSGaussian issue 18
    ("device-resource", re.compile(r"(CUDNN_STATUS_NOT_INITIALIZED|Unable to find a valid cuDNN algorithm.{0,40})")),
    # abseil/abseil-cpp 926f1d05, absl/log/internal/log_message.cc line 746
    ("check-failed", re.compile(rf"(\bCheck failed: (?!.{{0,120}}?{_OF_A_CALL}).{{1,160}})")),
    # openxla/xla aeac767a, xla/stream_executor/integrations/stream_executor_allocator.cc (`Alloc`)
    ("pinned", re.compile(r"(could not allocate pinned host of size: [0-9]{1,16})")),
    # what loggers of training programs print of a step, in no one form
    ("pin-thread", re.compile(r"(Pin memory thread exited unexpectedly)")),  # torch/utils/data/dataloader.py
    ("non-finite", re.compile(r"(\bloss['\"]?\s{0,3}[:=]\s{0,3}(?:nan|NaN|NAN)\b)")),
    # PyTorch's search for anomalies of the gradient (torch/csrc/autograd/engine.cpp)
    ("outside", re.compile(r"(Could not connect to the endpoint URL: .{1,100})")),  # boto/botocore, exceptions.py
    ("non-finite", re.compile(r"(Minimum loss scale reached.{0,60})")),  # fairseq, optim/dynamic_loss_scaler.py
    ("non-finite", re.compile(r"(\bLoss is (?:NaN|nan|inf|Inf)\b.{0,40})")),
    ("non-finite", re.compile(r"(Function '\w{1,80}' returned nan values in its .{1,20})")),
    # cudaErrorContained (CUDA runtime API, error 721): of memory or links, or of an access to a peer's memory
    ("contained", re.compile(r"((?:CUDA error: |[Ff]ailure .{0,8}')Contained error.{0,40})")),
    # libfabric, prov/rxr and later prov/efa. Thread: aws/aws-ofi-nccl issue 20
    ("fabric-event", re.compile(r"(Unable to write to EQ: .{1,120})")),
    # hosts and containers: `str` of Python's OSError; coreutils/coreutils aa0c0de3, src/copy.c, remove.c and touch.c
    ("permission", re.compile(r"(PermissionError: \[Errno 13\] Permission denied: '(?!/dev/)[^']{1,160}')")),
    (
        "permission",
        re.compile(
            r"(cannot (?:create|open|access|touch|remove|make)\b.{0,12} ['\"‘](?!/dev/)\S{1,160}: Permission denied)"
        ),
    ),
    # GNU tar, and shells: the file before the call. Thread: NVIDIA/pyxis issue 121
    (
        "permission",
        re.compile(r"((?!/dev/)/\S{1,160}: [Cc]annot (?:open|mkdir|write|create|stat)\b.{0,20}: Permission denied)"),
    ),
    # Ray: a node by an address that none has. Threads: vllm-project/vllm issue 7815, eugr/spark-vllm-docker issue 227
    ("node-address", re.compile(r"(\{[^{}]{0,60}'node:[0-9A-Fa-f.:]{7,40}': 0\.[0-9]{1,3}[^{}]{0,60}\})")),
    ("same-address", re.compile(r"(Every node should have a unique IP address\..{0,80})")),
    ("fewer-devices", re.compile(r"(exceeds available GPUs \([0-9]{1,6}\))")),  # vLLM warns so on several nodes, too
    ("cluster-store", re.compile(r"((?:Unable|Failed) to connect to GCS\b.{0,60})")),
    ("small-shm", re.compile(r"(object store is using /tmp instead of /dev/shm.{0,80})")),
    # SchedMD/slurm 284c3b95, src/srun/launch.c line 409
    ("killed", re.compile(r"(srun: error: \S{1,60}: tasks? [0-9,-]{1,40}: Killed)")),
    # the same, src/slurmctld/job_mgr.c: the signal by which the batch script ended
    ("killed", re.compile(r"(_job_complete: JobId=[0-9_+]{1,20} WTERMSIG 9)\b")),
    # Gloo's TCP transport: an address of one rank is of IPv4, that of another of IPv6. Thread: pytorch issue 135355
    ("no-address", re.compile(r"(enforce fail at .{0,80}ss1\.ss_family == ss2\.ss_family.{0,20})")),
    # NVIDIA/enroot 8ea147d3, bin/enroot-nsenter.c line 339
    ("capability", re.compile(r"(failed to create user namespace: Operation not permitted)")),
    # huggingface/huggingface_hub ee0a4510, src/huggingface_hub/errors.py line 455; gated repositories: transformers
    ("outside", re.compile(r"((?<!['\"])\bLocalEntryNotFoundError\b.{0,80}|trying to access a gated repo.{0,40})")),
    # PyTorch's store. Thread: pytorch/pytorch issue 55571
    ("rendezvous", re.compile(r"(RuntimeError: Socket Timeout)\s*$")),
    # ROCm/MIOpen 2d1fd997, src/include/miopen/errors.hpp line 100 and hipoc_kernel.hpp line 229
    ("library", re.compile(r"(MIOpen(?:\(HIP\): | )[Ee]rror.{0,10}: .{0,120}Failed to get function: \w{1,60})")),
    # NVIDIA/TensorRT-LLM, cpp/tensorrt_llm: worldConfig.cpp, executor. Threads: its issues 1992 and 2021
    ("setting", re.compile(r"(MPI world[Ss]ize is expected to be equal to tp\*pp.{0,60})")),
    (
        "setting",
        re.compile(r"(Assertion failed: mpiSize == tp \* pp|MPI size \d{1,6} != TP size \d{1,6} \*.{1,20})"),
    ),
    # shards that fit no rank. Threads: Lightning-AI/pytorch-lightning 16815, X-Square-Robot/wall-x 114
    (
        "flat-shapes",
        re.compile(
            r"(size of tensor a \(\d{5,12}\) must match .{1,20} tensor b \(\d{5,12}\) at non-singleton dimension 0)"
        ),
    ),
    # torch/_inductor/cudagraph_utils.py, torch/_dynamo/convert_frame.py. Threads: pytorch/pytorch issues 188150, 105279
    ("recompiles", re.compile(r"(observed [0-9]{1,6} distinct sizes\b)")),
    ("recompiles", re.compile(r"(torch\._dynamo hit config\.(?:recompile|cache_size)_limit \([0-9]{1,6}\))")),
    # torch/cuda/memory.py: freed and allocated again, since memory was full. Thread: pytorch/pytorch issue 65078
    ("allocator-full", re.compile(r"(\bnum_alloc_retries\W{1,4}[1-9][0-9]{0,8}\b)")),
    ("allocator-full", re.compile(r"(\bcudaMalloc retries: [1-9][0-9]{0,8}\b)")),
    # kernel/sched/fair.c, mm/memory.c and mm/migrate.c of Linux. Thread: deepseek-ai/DeepEP pull 644
    (
        "numa-moves",
        re.compile(r"(\b(?:task_numa_work|task_numa_fault|do_numa_page|migrate_misplaced_(?:page|folio))\b)"),
    ),
    # JAX and libtpu. Threads: AI-Hypercomputer/maxtext pull 1330, jax-ml/jax issue 14552, maxdiffusion pull 471
    ("library", re.compile(r"(\b\w{3,80} not available in this library)")),
    ("library", re.compile(r"(unable to find backend library for backend .{1,60})")),  # Triton Inference Server
    ("library", re.compile(r"(requires a libTPU version that's at most .{1,40})")),
    ("library", re.compile(r"(UNIMPLEMENTED: Only \d{1,6} computation per replica supported.{0,40})")),
    ("tpu-release", re.compile(r"(TPU initialization failed: No \w{1,30} device found)")),
    # Gaudi: opea-project/GenAIExamples issue 137, huggingface/tgi-gaudi issue 93
    ("taken-device", re.compile(r"(Device already acquired\].{0,40}|Device acquire failed)")),
    # vLLM v0.6.6, vllm/executor/ray_gpu_executor.py. Threads: vllm-project/vllm issues 2406 and 12983
    ("driver-node", re.compile(r"(Ray does not allocate any GPUs on the driver node.{0,80})")),
    # events of pods. Threads: huggingface/Google-Cloud-Containers issue 126, cortexlabs/cortex issue 1685
    # ray-project/ray, autoscaler and job_manager.py; volcano, pkg/scheduler/plugins/gang; kueue, pkg/scheduler
    (
        "unplaced",
        re.compile(
            r"((?:resource request|actor|task|job)s? (?:cannot|can't|could not) be scheduled\b.{0,100}"
            r"|\btasks? in (?:the )?gang unschedulable.{0,60}|insufficient (?:unused )?quota for .{1,60}"
            r"|\bcluster cannot satisfy its resource requirements.{0,20})"
        ),
    ),
    ("unplaced", re.compile(r"(Node scale up in zones .{1,160}? failed: .{1,80}|pod didn't trigger scale-up.{0,120})")),
)
"""Names of statements and the patterns of their lines."""
