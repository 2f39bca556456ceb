"""Lines of TensorRT-LLM, XLA, Kubernetes and programs that mount file systems about why a run stopped.

The words of TensorRT-LLM are those of `cpp/tensorrt_llm` (NVIDIA/TensorRT-LLM, `batch_manager/kvCacheManager.cpp`,
`plugins/*/*.cpp`, read on 2026-11-26), those of the kubelet of `pkg/kubelet/eviction/eviction_manager.go` and
`kuberuntime` (kubernetes/kubernetes). Lines below the name of a thread were not found in a source; their words are from
that thread.
"""

from __future__ import annotations

import re

_NETWORK_STORES = r"(?:NFS|EFS|FSx|Lustre|WEKA|[Ww]eka(?:FS)?|GPFS|BeeGFS|CephFS|Ceph|[Ff]ilestore|JuiceFS)"
_IMEX_STATE = (
    r"(?:(?:NOT READY|INITIALIZING|STARTING_AUTH_SERVER|WAITING_FOR_PEERS|WAITING_FOR_RECOVERY|INIT_GPU|SHUTTING_DOWN"
    r"|UNAVAILABLE)$|Query Status returned error|.{0,120}nvidia-imex-ctl failed)"
)
"""What a probe by `nvidia-imex-ctl -q` prints (NVIDIA/DCGM, `dcgm_fields.h`, DCGM_FI_IMEX_DAEMON_STATUS)."""
ENGINE_PATTERNS = (
    # an engine that another release, or another accelerator, built. Threads: NVIDIA/TensorRT-LLM issues 583 and 4241,
    # triton-inference-server/tensorrtllm_backend issues 213 and 679
    (
        "library",
        re.compile(r"(Assertion failed: (?:d == a \+ length|Expected length \([0-9]{1,12}\) != real).{0,120})"),
    ),
    ("library", re.compile(r"(Assertion failed: (?:sizeof\(T\) <= )?remaining_buffer_size\b.{0,60})")),
    ("library", re.compile(r"(caused by using different TensorRT-LLM version to build engine and run engine)")),
    (
        "library",
        re.compile(
            r"((?:[Ee]ngine (?:plan )?(?:file )?(?:is|was) (?:not compatible|built|serialized) with (?:another|a "
            r"different|this) version|[Ee]ngine plan file is not compatible with this version|Version tag does not "
            r"match).{0,120})"
        ),
    ),
    ("library", re.compile(r"(Assertion failed: Failed to deserialize .{0,40}engine)")),
    ("no-kernel", re.compile(r"(engine plan file is generated on an incompatible device.{0,80})")),
    ("cache-full", re.compile(r"(Can't allocate new blocks\b.{0,60})")),
    ("cache-full", re.compile(r"(\b[Nn]o (?:free|available) (?:KV )?cache blocks?\b.{0,40})")),
    # XLA and its runtimes. Threads: jax-ml/jax issue 15361 (another process), pytorch/xla issue 7138
    # and EnzymeAD/Reactant.jl pull 780 (a runtime without the platform that is asked for)
    ("no-device", re.compile(r"(Could not find registered platform with name: .{1,40})")),
    ("device-reset", re.compile(r"(\b(?:[Cc]ore|[Aa]ccelerator device) halted (?:unexpectedly|prematurely)\b.{0,80})")),
    ("device-resource", re.compile(r"(DNN library initialization failed)")),
    (
        "kernel-image",
        re.compile(r"(ptxas (?:exited with non-zero error code|returned an error during compilation).{0,60})"),
    ),
    ("kernel-compile", re.compile(r"(Mosaic failed to compile .{1,40}kernel)")),
    # of TensorFlow too. Threads: tensorflow/tensorflow issue 38257, megagonlabs/t5-japanese issue 1
    ("peer-ended", re.compile(r"(\b(?:[Dd]ifferent|unexpected|[Nn]ew) (?:device )?incarnation\b.{0,60})")),
    ("peer-ended", re.compile(r"(\blame workers found\b)")),
    # a compiler that stopped of itself. Thread: aws-neuron/aws-neuron-sdk issue 1122
    # NIXL (`libfabric_backend.cpp`): NVIDIA/TensorRT-LLM issue 10024
    ("unlike-ends", re.compile(r"(Failed to deserialize .{0,40}\b(?:endpoints?|connection|agent|metadata)\b.{0,60})")),
    ("library", re.compile(r"(\b[Ii]nternal [Cc]ompiler [Ee]rror\b.{0,80})")),
    # Neuron, of its runtime before 2. Thread: aws-neuron/aws-neuron-sdk issue 493
    ("no-device", re.compile(r"(NERR_RESOURCE_NC\b.{0,80})")),
    ("library", re.compile(r"(NERR_UNSUPPORTED_VERSION\b.{0,60})")),
    # libnvidia-container, of a device that its driver reports as failed. Thread: NVIDIA/dcgm-exporter issue 46
    ("unknown-error", re.compile(r"(\bnvml error: unknown error)")),
    ("capability", re.compile(r"(\bnvml error: insufficient permissions)")),
    # TensorFlow without libcuda. Thread: apptainer/singularity issue 4687
    ("library", re.compile(r"(failed call to cuInit: UNKNOWN ERROR \(303\))")),
    # the kubelet
    ("service", re.compile(r"(\bcni (?:plugin|config) not initialized|\bNetworkPluginNotReady\b.{0,80})")),
    ("storage", re.compile(r"(ephemeral local storage usage exceeds the total limit.{0,60})")),
    ("storage", re.compile(r"(\bnode ha[sd] conditions?: \[[^\]]{0,60}DiskPressure)")),
    ("storage", re.compile(r"(Usage of EmptyDir volume .{1,80} exceeds the limit.{0,40})")),
    ("setting", re.compile(r"(couldn't find key \S{1,80} in (?:Secret|ConfigMap) .{1,80})")),
    ("setting", re.compile(r"(\b(?:configmap|secret|persistentvolumeclaim) \"[^\"]{1,120}\" not found)")),
    (
        "short-limit",
        re.compile(rf"((?:Liveness|Startup) probe failed: (?!{_IMEX_STATE}).{{1,120}})"),
    ),
    ("imex-probe", re.compile(rf"((?:Liveness|Readiness|Startup) probe failed: {_IMEX_STATE}.{{0,60}})")),
    # nodes as `sinfo` lists them. Thread: elasticluster/elasticluster issue 272
    ("service", re.compile(r"(\bdown\* .{0,160}\bNot responding)$")),
    ("submission-refused", re.compile(r"(Resources cannot be allocated with Topology locality)")),
    ("no-device", re.compile(r"(requested number of devices unavailable for .{1,80})")),
    # Thread: ray-project/kuberay issue 1414
    ("no-device", re.compile(r"(unable to find \S{1,20} device allocation by scheduler\b.{0,40})")),
    # vLLM where its other side of prefill and decode is late, HCL of Gaudi. Threads: vllm-project/vllm issue 50719,
    # HabanaAI/hccl_demo issue 44
    ("rendezvous", re.compile(r"(\bTimeout waiting for [PD] side ready\b.{0,40})")),
    ("setting", re.compile(r"(\b[Ii]nvalid server type \(.{1,60})")),
    # Ray, of its store of objects, its autoscaler and the metadata of a TPU
    ("host-memory", re.compile(r"(\bObjectStoreFullError\b.{0,80})")),
    ("no-device", re.compile(r"(autoscaler could not find a node type to satisfy the request.{0,80})")),
    ("service", re.compile(r"(Failed to get TPU metadata \(.{1,40}\) from instance metadata)")),
    # what mounts a file system, as of nfs-utils, Lustre and WekaFS. Threads: RSE-Cambridge/data-acc issue 119,
    # tenstorrent/tt-metal issue 17603
    (
        "storage-fault",
        re.compile(r"(\bmount\.(?:nfs4?|lustre|wekafs|gpfs|ceph|cifs|beegfs|fuse\S{0,20}|efs): .{1,120})"),
    ),
    (
        "storage-fault",
        re.compile(
            rf"((?:\b{_NETWORK_STORES}|/(?:mnt|shared|fsx|lustre|scratch|data)\S{{0,60}})\b.{{0,40}}\bnot mounted\b)"
        ),
    ),
    (
        "storage-fault",
        re.compile(
            rf"(\b(?:{_NETWORK_STORES}|weka\w{{1,8}}|mmfs\w{{0,4}}|lustre|beegfs)\b.{{0,100}}?\b(?:suspended|disconnected"
            r"|[Uu]nmounting|lost connection|not responding|evicted)\b.{0,40})"
        ),
    ),
    (
        "storage-fault",
        re.compile(rf"(\b{_NETWORK_STORES}\b.{{0,60}}\bmount(?:ing)? (?:failed|failure|error)\b.{{0,40}})"),
    ),
    ("storage-fault", re.compile(r"(SQUASHFS error: .{1,80})")),
    # a write that a file system cut short. Thread: OpenNMT/OpenNMT issue 463
    (
        "torn-file",
        re.compile(r"(\bwrote (?:only )?[0-9]{1,15} (?:blocks|bytes|items) (?:instead of|of|out of) [0-9]{1,15}\b)"),
    ),
)
"""Names of statements and the patterns of their lines."""
