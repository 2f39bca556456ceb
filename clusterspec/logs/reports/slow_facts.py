"""What people see of a run that is slow, in sentences without a word of a reason, and the cause of it."""

from __future__ import annotations

_FEW = r"(?:[12]|one|two|a single)"
_CORES = r"(?:CPU )?(?:cores?|CPUs?)"
SLOW_FACTS: tuple[tuple[str, str], ...] = (
    (
        "data-loading",
        r"\bwait(?:s|ed|ing)? (?:about |for )?[0-9.]{1,6} ?(?:ms|s|sec|seconds|minutes) (?:for|on) (?:the )?data"
        r"|\b[0-9]{2} ?% of (?:the )?(?:\w{1,10} )?time (?:is |was )?(?:spent|consumed|used|goes) (?:by|in|to|on) "
        r"(?:the )?data"
        r"|\b[Mm]ost of (?:the |its )?time (?:is |was )?(?:spent (?:on|in|by)|goes (?:to|into)) (?:the )?(?:read"
        r"|load|data|I/?O)\w{0,4}"
        r"|读取?(?:图片|数据|文件)?(?:的)?速度过?慢|数据(?:加载|读取)(?:太|过|很|较)?慢",
    ),
    # Threads: ISEEKYAN/Megatron-LM issue 188, pytorch/pytorch issue 107378
    (
        "core-binding",
        rf"\b(?:exposes?|gives?|gets?|has|sees?|may use) (?:only )?{_FEW} {_CORES} (?:to|for) (?:the|each|a|every)\b"
        rf"|\bonly (?:exposes?|gives?|gets?|sees?) {_FEW} {_CORES}\b|\b(?:time-)?shares? (?:~ ?)?{_FEW} {_CORES}\b"
        r"|\bsched_getaffinity\b.{0,60}\{[0-9]{1,3}\}|\bSLURM_CPUS_(?:ON_NODE|PER_TASK)=[12](?![0-9])",
    ),
    # a quota stops all threads for the rest of its period. Thread: moby/moby issue 38839
    (
        "core-binding",
        r"-{1,2}cpu-quota\b.{0,80}\bslow\w{0,4}|\bslow\w{0,4}\b.{0,80}-{1,2}cpu-quota\b"
        r"|-{1,2}cpu-quota\b.{0,80}\b(?:twice|half|faster|[0-9.]{1,4} ?(?:x|times))\b"
        r"|\b(?:twice|half|faster|[0-9.]{1,4} ?(?:x|times))\b.{0,80}-{1,2}cpu-quota\b"
        r"|\bCPU quotas?\b.{0,60}\b(?:slow|throttl|below|fewer|less)\w{0,5}"
        r"|(?:--cgroup-parent|\bcgroups?|\bcpu\.(?:shares|weight|max))\b.{0,80}\bslow\w{0,4}",
    ),
    # Threads: vllm-project/vllm issues 3384, 4806 and 14538
    (
        "host-bound",
        r"\bCPU\b.{0,60}\b(?:at|to|reach\w{0,3}|is|of|>) ?(?:max\w{0,3} )?(?:at )?100 ?%.{0,40}\bGPU\b.{0,60}"
        r"(?:\b[1-9][0-9]? ?%|\blow\b|\bidle\b)"
        r"|\b(?:GIL|coroutines?)\b.{0,80}\b(?:one|single|1) (?:CPU|core|thread)\b"
        r"|CPU使用率?.{0,12}100%|只使?用一个 ?(?:CPU|核)",
    ),
    # docs.pytorch.org, "Performance Tuning Guide". Threads: pytorch/pytorch pull 22501, hiyouga/LlamaFactory pull 10825
    (
        "host-bound",
        r"\b(?:single|one)[- ]thread(?:ed)?\b.{0,60}\bOMP_NUM_THREADS|\bOMP_NUM_THREADS ?= ?1\b.{0,60}"
        r"\b(?:slow|single|one thread)\w{0,8}"
        r"|\btoo many (?:\w{1,10} )?threads\b.{0,60}\b(?:overload|oversubscri|compet|contend|slow|regress)\w{0,8}"
        r"|\b(?:CPU|CPUs|cores|machine|host|node|processors?) (?:\w{1,6} ){0,2}over-?subscribed\b"
        r"|\bover-?subscrib(?:es?|ing) (?:the |all )?(?:CPU|CPUs|cores|machine|host|node|processors?)\b",
    ),
    # Thread: vllm-project/vllm issue 689
    (
        "small-work",
        r"\b(?:communication|synchroni[sz]ation|overhead)\b.{0,60}\b(?:outweighs?|dominates?|exceeds?|more than)\b"
        r".{0,60}\b(?:small|comput|parallel)\w{0,12}"
        r"|\b(?:small|tiny|simple) (?:\w{1,10} )?(?:model|batch|workload)\b.{0,60}\blatency\b",
    ),
    # Threads: turboderp-org/exllamav2 issue 734, huggingface/accelerate issue 71
    (
        "no-direct-links",
        r"\b(?:bound|limited|bottlenecked|capped) by (?:the )?PCI-?e\b|\bPCI-?e (?:bandwidth )?(?:is|was) (?:the |a )?"
        r"(?:bottleneck|limit)|\bnvlink\b.{0,30}<?\b(?:inactive|inActive)\b",
    ),
    # Threads: horovod/horovod issue 1194, sgl-project/sglang pull 37741, tenstorrent/tt-metal issue 56304
    (
        "uneven-work",
        r"\b(?:heterogeneous|imbalanced|unbalanced|uneven|unequal) (?:work-?loads?|work|loads?|load of)\b"
        r"|\bload[- ]imbalance\b|\b(?:ranks?|experts?|GPUs?|chips?) (?:are |is )?(?:left with|gets?|receives?|draws?) "
        r"(?:zero|no|all|most of the|more) (?:the )?tokens\b|\b(?:the slowest|(?:one|a single|a) (?:hot|slow"
        r"|busy)) (?:\w{1,10} )?sets the (?:time|pace|cost|size)\b"
        r"|\bhot experts?\b"
        r"|\bwork-?loads? (?:is|are|was|were) (?:\w{1,10} )?(?:heterogeneous|imbalanced|unbalanced|uneven|unequal)\b",
    ),
    # Threads: malllabiisc/EmbedKGQA issue 50, NVIDIA/nccl issue 1094
    (
        "shared-accelerator",
        r"\b(?:two|2|several|more) (?:\w{1,10} )?(?:process(?:es)?|programs?|jobs?|instances?)\b.{0,60}\b(?:on"
        r"|shar\w{1,3}"
        r"|us\w{1,3}) (?:the |one )?same (?:GPU|card|device|accelerator)s?\b"
        r"|\b(?:other|another) (?:\w{1,10} )?(?:process(?:es)?|programs?|jobs?|users?) (?:is |are )?(?:run|us"
        r"|shar)\w{0,4} "
        r"(?:on )?(?:the |this |that |our )?(?:same )?(?:GPU|card|device|accelerator)s?\b"
        r"|\b(?:still|keeps?|continues? to) (?:\w{1,10} )?(?:hold\w{0,3}|occup\w{1,4}|retain\w{0,3})\b.{0,40}"
        r"\bmemory\b|显存.{0,6}(?:被占用|未释放|没有释放|不释放)",
    ),
    (
        "ranks-diverge",
        r"(?:batch|样本|数据|step).{0,6}(?:数目|数量|个数|数).{0,6}(?:不同|不一致|不等|变化)"
        r"|\bdata of (?:the )?(?:shards?|ranks?|workers?) (?:are|is) (?:imbalanced|uneven|unequal)\b"
        r"|\bnot enough (?:elements|samples|data|batches) for\b.{0,40}\b(?:both|all|each|every)\b",
    ),
    (
        "host-fault",
        r"\b(?:RAM|DIMM|memory module|memory test|memtest\w{0,4})\b.{0,40}\berrors?\b",
    ),
    (
        "fabric-manager",
        r"\bfabric[- ]?manager\b.{0,120}\b(?:not match|mismatch|out of sync|not in sync|differ|other version)\w{0,3}\b",
    ),
    (
        "data-loading",
        r"\b(?:need|needs|use|get|buy) (?:an? )?(?:SSD|NVMe)s?\b",
    ),
    # Thread: NVIDIA/nccl issue 1309
    (
        "peer-access-off",
        r"\b(?:cards?|GPUs?|GeForce|drivers?|accelerators?)\b.{0,40}\b(?:ha(?:ve|s)|supports?|gives?) no (?:\w{1,10} )?"
        r"(?:direct|peer|P2P)\b|\b(?:do|does)(?: not|n't) support (?:\w{1,10} ){0,3}(?:P2P|peer[- ]to[- ]peer"
        r"|peer access)\b",
    ),
    # Thread: vllm-project/vllm issue 5405
    (
        "storage-fault",
        r"\b(?:NFS|Lustre|GPFS|JuiceFS|CephFS|EFS|BeeGFS|HDD|hard (?:disk|drive))\b.{0,40}\b[0-9]{1,3} ?MB?/s\b",
    ),
    (
        "socket-fall-back",
        r"\bNCCL (?:only )?(?:uses|used|runs|ran|goes|went|falls back|fell back) (?:over |via |through |to )?"
        r"(?:the )?(?:TCP )?sockets?\b|NCCL ?走的?是? ?socket|没有 ?(?:IB|RDMA) ?(?:网卡|卡)",
    ),
    # Thread: bradrlaw/ai-server pull 32
    (
        "throttled-clocks",
        r"\b(?:limited|bound|capped) by (?:the )?(?:power|clocks?|heat|temperature|thermals?)\b"
        r"|\b(?:power|clock|thermal(?:ly)?)[- ]limited\b"
        r"|\bthermal (?:slow-?down|throttling) (?:\w{1,4} )?(?:active|asserted|engaged|set in)\b",
    ),
    # Thread: RasmussenLab/vamb issue 111
    (
        "host-memory-full",
        r"\b(?:host|machine|system|node|job|server) (?:is |was |starts? |started |keeps? |kept )?swap(?:s|ping|ped)?\b"
        r"|\bmov(?:es?|ing) data (?:\w{1,5}[- ]){1,4}forth\b.{0,40}\b(?:limited|low|little|small) memory",
    ),
)
"""Causes and what people see of them; a reason of the same sentence is told before."""
