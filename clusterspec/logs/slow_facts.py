"""What people see of a run that is slow, in sentences without a word of a reason, and the cause of it."""

from __future__ import annotations

_FEW = r"(?:[12]|one|two|a single)"
_CORES = r"(?:CPU )?(?:cores?|CPUs?)"
SLOW_FACTS: tuple[tuple[str, str], ...] = (
    (
        "data-loading",
        r"\bwait(?:s|ed|ing)? (?:about |for )?[0-9.]{1,6} ?(?:ms|s|sec|seconds|minutes) (?:for|on) (?:the )?data"
        r"|\b[0-9]{2} ?% of (?:the )?(?:\w{1,10} )?time (?:is |was )?(?:spent|consumed|used|goes) (?:by|in|to|on) "
        r"(?:the )?data|读取?(?:图片|数据|文件)?(?:的)?速度过?慢|数据(?:加载|读取)(?:太|过|很|较)?慢",
    ),
    # Threads: ISEEKYAN/Megatron-LM issue 188, pytorch/pytorch issue 107378
    (
        "core-binding",
        rf"\b(?:exposes?|gives?|gets?|has|sees?|may use) (?:only )?{_FEW} {_CORES} (?:to|for) (?:the|each|a|every)\b"
        rf"|\bonly (?:exposes?|gives?|gets?|sees?) {_FEW} {_CORES}\b|\b(?:time-)?shares? (?:~ ?)?{_FEW} {_CORES}\b"
        r"|\bsched_getaffinity\b.{0,60}\{[0-9]{1,3}\}|\bSLURM_CPUS_(?:ON_NODE|PER_TASK)=[12](?![0-9])",
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
    # Thread: horovod/horovod issue 1194
    (
        "uneven-work",
        r"\b(?:heterogeneous|imbalanced|unbalanced|uneven|unequal) (?:work-?loads?|work|loads?|load of)\b"
        r"|\bwork-?loads? (?:is|are|was|were) (?:\w{1,10} )?(?:heterogeneous|imbalanced|unbalanced|uneven|unequal)\b",
    ),
    (
        "socket-fall-back",
        r"\bNCCL (?:only )?(?:uses|used|runs|ran|goes|went|falls back|fell back) (?:over |via |through |to )?"
        r"(?:the )?(?:TCP )?sockets?\b|NCCL ?走的?是? ?socket|没有 ?(?:IB|RDMA) ?(?:网卡|卡)",
    ),
    # Thread: RasmussenLab/vamb issue 111
    (
        "host-memory-full",
        r"\b(?:host|machine|system|node|job|server) (?:is |was |starts? |started |keeps? |kept )?swap(?:s|ping|ped)?\b"
        r"|\bmov(?:es?|ing) data (?:\w{1,5}[- ]){1,4}forth\b.{0,40}\b(?:limited|low|little|small) memory",
    ),
)
"""Causes and what people see of them; a reason of the same sentence is told before."""
