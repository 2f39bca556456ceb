"""Lines by which tools and people state a fact of a machine: a module that is not loaded, a copy that arrives wrong,
memory that may not be shared.
"""

from __future__ import annotations

import re

_ABSENT = r"(?:not|n't|isn't|wasn't) (?:been )?(?:loaded|installed|open(?:ed)?|running|available|found|enabled|present)"
FACT_PATTERNS = (
    # modprobe(8) of kmod; and its absence in words (NVIDIA/nccl-tests issue 257, uccl-project/uccl issue 937)
    (
        "peer-memory",
        re.compile(
            r"(\bFATAL: Module (?:nvidia[-_]peermem|nv_peer_mem|efa_nv_peermem|amdp2p|ib_peer_mem)\S{0,8} not found)"
        ),
    ),
    (
        "peer-memory",
        re.compile(
            rf"(\b(?:nvidia|efa_nv|nv)[-_]peer_?mem(?:ory)? (?:(?:is|was|module|kernel|driver) ){{0,3}}{_ABSENT})"
        ),
    ),
    # memory with a handle of the fabric, which a process may create with a channel of IMEX alone (CUDA driver API,
    # `CU_MEM_HANDLE_TYPE_FABRIC`; microsoft/mscclpp issue 467, kvcache-ai/Mooncake issue 1297)
    (
        "fabric-handle",
        re.compile(r"(\bcuMemCreate\b.{0,120}?(?:operation not permitted|CUDA_ERROR_NOT_PERMITTED|: 800\b))"),
    ),
    # what simpleP2P of NVIDIA/cuda-samples prints of data that a peer wrote (`simpleP2P.cu`)
    ("copied-wrong", re.compile(r"(\bVerification error @ element [0-9]{1,9}: val = \S{1,20}, ref = \S{1,20})")),
)
"""Names of statements and the patterns of their lines."""
