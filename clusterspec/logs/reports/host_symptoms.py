"""What a person observes of the host of a slow run and of its work: cores, threads, copies, shapes and where data are.

The names of these observations have weights in `catalog/slow-symptoms.csv`, as those of `slow_symptoms` have.
"""

from __future__ import annotations

_GPUS = r"(?:GPUs?|NPUs?|cards?|devices?|accelerators?)"
SEEN_OF_WORK: tuple[tuple[str, str], ...] = (
    (
        "few-cores-busy",
        r"\bonly (?:one|two|[1-9]|a few) (?:out )?(?:of (?:the |my |our |its |[0-9]{1,3} )?(?:\w{1,8} )?)?(?:CPU )?"
        r"(?:cores?|CPUs?|threads?)\b[^.;\n]{0,30}\b(?:bus(?:y|ied)|used?|utili[sz]ed|working|active|run\w{0,4})\b"
        r"|\b(?:workers?|process(?:es)?|threads?|ranks?|affinity)\b[^.;\n]{0,40}?\b(?:us(?:e|es|ing)|shar(?:e|es|ing)"
        r"|runs?|running|are|is|pinned|bound|set|sits?|stays?) (?:all )?(?:on |to )?(?:only )?(?:the same|one|two"
        r"|a single|the first) (?:CPU )?(?:cores?|CPUs?)\b"
        r"|\bnproc\b[^.;\n]{0,40}\b(?:prints?|says?|shows?|returns?|gives?|is) [1-4]\b",
    ),
    (
        "other-processor",
        r"\b(?:same|identical) (?:GPU|card|accelerator)s?\b[^;\n]{0,60}\b(?:different|other|another|unlike|two)\b"
        r"[^;\n]{0,20}\b(?:processors?|CPUs?)\b"
        r"|\b(?:different|other|another|faster|newer|better) (?:processors?|CPUs?)\b[^;\n]{0,60}\b(?:same|identical)"
        r" (?:GPU|card|accelerator)s?\b",
    ),
    (
        "frequent-allocation",
        r"\b(?:cudaMalloc|cudaFree|hipMalloc|hipFree|empty_cache|alloc(?:ation|ator) (?:retries|cache flush\w{0,3}))\b"
        rf"|\bmemory of (?:the |all |our )?{_GPUS}\b[^.;\n]{{0,20}}\b(?:nearly|almost) (?:full|used up|exhausted)\b"
        r"|\b(?:VRAM|GPU memory|HBM)\b[^.;\n]{0,20}\b(?:nearly|almost) (?:full|used up|exhausted)\b",
    ),
    (
        "compiled",
        r"\btorch\.compile\b|\bcompile\.enable\b|\bjax\.jit\b|\b(?:XLA|dynamo|inductor|Triton|JIT)\b[^.;\n]{0,60}"
        r"\bcompil\w{1,6}\b|\brecompil\w{1,6}\b|\b--?compile\b",
    ),
    (
        "unlike-shapes",
        r"\b(?:another|different|distinct|new|unique|varying|variable|dynamic|changing|unlike) (?:\w{1,10} ){0,2}"
        r"(?:shapes?|lengths?|sizes?|padding|resolutions?)\b",
    ),
    (
        "sharded-everywhere",
        r"\bFULL_SHARD\b|\b[Ff]ull(?:y)?[- ][Ss]hard\w{0,3}\b|\bZeRO[- ]?(?:stage )?-?3\b|\bstage[- _]?3\b"
        r"|\bfully_shard\b|\bzero_?3\b|\bshard(?:ed|s|ing)\b[^.;\n]{0,60}\b(?:over|across) all\b",
    ),
    (
        "page-faults",
        r"\bpage[- ]faults?\b|\bmmap\w{0,3}\b|\bmemory[- ]mapp\w{2,3}\b",
    ),
    (
        "host-waits",
        r"\b(?:cuda|hip)(?:Stream|Device)Synchronize\b|\.item\(\)|\b\.cpu\(\)|\bpageable\b"
        r"|\b(?:device|host|GPU|CPU|stream|implicit)[- ](?:to-\w{3,6} )?synchroni[sz]ation\b"
        r"|\b(?:gaps|bubbles) between (?:the )?kernels\b|\blaunch overhead\b",
    ),
    (
        "one-thread",
        r"\b(?:one|single|a single|1) (?:CPU |Python |worker )?(?:thread|process|core)\b|\bsingle-(?:thread|process"
        r"|core)\w{0,3}"
        r"|\bthe GIL\b|\bmax_workers ?= ?1\b|\bsequentially\b|\bone (?:by one|at a time|after (?:the other|another))\b",
    ),
    (
        "prepares-on-host",
        r"\b(?:de)?tokeni[sz](?:er|ers|ing|ation|e|es)\b|\bpre-?process\w{0,4}\b|\bpost-?process\w{0,4}\b"
        r"|\b(?:decod|resiz|augment|render|serializ|pickl)\w{1,5} (?:of )?(?:the )?(?:images?|videos?|audio|pages?)\b"
        r"|\b(?:plots?|figures|maps and|metrics)\b[^.;\n]{0,30}\b(?:CPU|thread|matplotlib|while)\b",
    ),
    (
        "server-slower",
        r"\b(?:offline|LLM class|library|script|engine alone|engine itself"
        r"|direct(?:ly)?)\b[^;\n]{0,80}\b(?:API )?(?:server"
        r"|endpoint|service|HTTP)\b[^;\n]{0,30}\b(?:only|less|lower|slow\w{0,2}|half|[1-6]?[0-9] ?%)"
        r"|\b(?:API )?(?:server|endpoint|HTTP)\b[^;\n]{0,50}\b(?:slow\w{0,3}|less|lower|half)\b[^;\n]{0,40}\bthan\b"
        r"[^;\n]{0,30}\b(?:offline|LLM class|library|script|engine)\b",
    ),
    (
        "object-store",
        r"\b(?:gcs-?fuse|s3fs|goofys|mountpoint[- ]s3|blobfuse\d?|rclone|FUSE|JuiceFS|object stor(?:e|age)|buckets?"
        r"|Cloud Storage|S3|GCS|MinIO)\b",
    ),
    (
        "refused-requests",
        r"\b(?:HTTP|status|code|get|gets|got|answers?|returns?|with) (?:code )?(?:503|429)s?\b|['\"]SlowDown\b"
        r"|\b(?:limit|rate|quota)s? of requests\b|\b(?:request|API) (?:limit|rate"
        r"|quota)s?\b"
        r"|\brate[- ]limit\w{0,3}\b|\bthrottl\w{2,3} by (?:the )?(?:store|storage|bucket|S3|GCS|API)\b",
    ),
    (
        "data-fine",
        r"\b(?:data|input|loader|reader|queue|I/O|disk)\b[^.;\n]{0,40}\b(?:negligible|no bottleneck|not (?:the|a"
        r"|an?) \w{0,8} ?"
        r"(?:bottleneck|limit|problem|issue|cause)|always full|is full|in time|fast enough)\b"
        r"|\b(?:synthetic|dummy|fake|random) (?:data|inputs?|images?|batch)\b",
    ),
    (
        "at-checkpoints",
        r"\b(?:stops?|stall\w{0,3}|paus\w{1,4}|idle|hangs?|slow\w{0,3}|takes?|blocks?"
        r"|freez\w{1,4})\b[^.;\n]{0,50}\b(?:at|during"
        r"|on|after|while|for|when) (?:each |every |the |an? |any )?(?:\w{1,10} )?(?:checkpoint|evaluation"
        r"|validation|sav(?:e|ing))"
        r"|\bwith (?:an? |the )?(?:\w{1,8} )?(?:checkpoint|evaluation|validation)\w{0,3}\b[^;\n]{0,60}\b(?:takes?"
        r"|slow\w{0,3}"
        r"|longer|without)\b",
    ),
    (
        "fixed-batch",
        r"\b(?:mini-?|global |total )?batch(?: size)?\b[^.;\n]{0,20}\b(?:fixed|constant|the same|unchanged|kept)\b"
        r"|\b(?:fixed|constant|same|small|tiny) (?:mini-?|global |total )?batch\b(?! (?:size )?per\b)"
        r"|\bbatch(?: size)? (?:of|="
        r"|is) ?(?:[1-8])\b"
        r"|\bstrong scaling\b",
    ),
    (
        "nics-unused",
        r"\b(?:one|two|three|some|half|[1-7]) of (?:the |its |our |[0-9]{1,2} |eight |four |two )*(?:NICs?|HCAs?"
        r"|ports|rails|adapters"
        r"|links)\b[^.;\n]{0,60}\b(?:zero|idle|unused|no traffic|not used|used|active)\b"
        r"|\bonly (?:one|two|three|[1-7]) (?:of \w{1,6} )?(?:NICs?|HCAs?|ports|rails|adapters)\b",
    ),
    (
        "virtual-machine",
        r"\b(?:KVM|QEMU|hypervisor|ESXi|Hyper-V|vGPU|VFIO|passed? through|passthrough)\b|\bguests?\b"
        r"|\b(?:VMs?|virtual machines?)\b[^.;\n]{0,60}\b(?:slow\w{0,3}|less|half|lower|only)\b",
    ),
)
"""Names of observations and the words of each."""
