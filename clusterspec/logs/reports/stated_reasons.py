"""Reasons that people write of a run that failed: "it turned out that a cable was bad", "caused by the firewall".

A sentence with words of a reason names the cause by its noun, where the error of a program names what happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from clusterspec.logs.reports.report_sentences import report_sentences
from clusterspec.logs.reports.slow_facts import SLOW_FACTS
from clusterspec.logs.text_lines import shown_line

REASON = "reason "
"""The prefix of the names of these statements; the cause, and whether it is sure, follow."""
SURE, SEEN, GUESSED = "sure", "seen", "guessed"
"""The certainty of a sentence that states a reason, a fact without a word for a reason, or a guess."""
MOST = 40
"""Largest number of sentences with a reason that are read."""
_BECAUSE = re.compile(
    r"\broot[- ]caused?\b|\bcaused by\b|\bdue to\b|\bbecause\b|\bthe (?:\w{4,12} )?(?:problem|issue|cause|reason"
    r"|culprit)s?"
    r" (?:here )?(?:is|was|were|turned out|lies?|originates?|comes?)\b|\bturn(?:s|ed) out\b|\boriginates? from\b"
    r"|\bculprit\b"
    r"|\b(?:figured|found) out\b|\bfound (?:that|the (?:problem|issue|cause|reason|bug))\b|\btraced (?:it "
    r"|this )?(?:back )?to\b"
    r"|\bc[ao]mes? from\b|\brealized\b|\bthere (?:is|was) an? (?:problem|issue|error|mistake) (?:with|in|between)\b"
    r"|\b(?:it|this|that) (?:is|was) an? .{3,60} (?:issue|problem)\b|\bsince the\b|原因"
    r"|\b(?:pick|choos|select|us)(?:e?s|ed|ing) (?:up )?the wrong\b",
    re.IGNORECASE,
)
"""Words before or around a reason."""
GUESS = re.compile(
    r"\b(?:may|might|maybe|perhaps|probabl[ey]|possibl[ey]|likely|seems?|looks? like|suspect(?:ed)?|think|thought|guess"
    r"|could|not sure|wonder\w{0,3}|suggest(?:s|ed)?|appears? to|assum(?:e|ed|ing))\b",
    re.IGNORECASE,
)
"""Words of a sentence that guesses."""
_NO_REASON = re.compile(
    r"\?\s*$|(?:\bnot|n't|n’t|\bnever) (?:be |been )?(?:due to|because|caused|the (?:problem|cause|reason|issue))"
    r"|\brul(?:e|ed|ing) out\b|\bwhether\b|\bunrelated\b|\b(?:no|any) idea\b|\b(?:don't|do not) know\b|\bif (?:it"
    r"|this|that)\b",
    re.IGNORECASE,
)
REASONS: tuple[tuple[str, str], ...] = (
    ("acs", r"\bACS\b|\baccess control services?\b"),
    ("iommu-translation", r"\bIOMMU\b|\bVT-?d\b|\bIO_PAGE_FAULT\b"),
    (
        "name-resolution",
        r"\bDNS\b|\bhost ?names?\b.{0,80}\b(?:resol\w{2,8}|reachable|lookup|wrong|match)|/etc/hosts\b|\bFQDN\b"
        r"|\bgetfqdn\b"
        r"|\bresol\w{2,6}\b.{0,40}\bhost ?name|\bhost ?name resolution",
    ),
    ("unreachable-peer", r"\b(?:firewall|iptables|ufw|security group|network policy|istio|proxy between)\b|防火墙"),
    ("unreachable-peer", r"\b(?:MTU|GID(?: index| table)?|subnet|VLAN|routing|routes?|connectivity)\b"),
    ("unreachable-peer", r"\bports? (?:was|were|is|are|being) (?:blocked|closed|not open)"),
    (
        "wrong-interface",
        r"\b(?:wrong|incorrect|other|virtual|docker0|bridge|loopback)\b.{0,40}\b(?:interfaces?|NICs?|IP|network)\b"
        r"|\bdocker0\b|\b\w{0,6}_SOCKET_IFNAME\b",
    ),
    ("clock-skew", r"\b(?:clocks?|time) (?:skew|drift|not synchronized|out of sync)|\bNTP\b"),
    (
        "unstable-link",
        r"\b(?:cables?|transceivers?|optics?|link flap\w{0,4}|flapping|port (?:was|is) down|SFP|QSFP)\b",
    ),
    ("nic-fault", r"\b(?:faulty|bad|broken|defective|dead|failed) (?:\w{2,12} )?(?:NIC|HCA|adapter|network card)\b"),
    (
        "accelerator-fault",
        r"\b(?:faulty|bad|broken|defective|dead|failing|damaged) (?:\w{2,12} )?(?:GPUs?|cards?|NVLink|hardware"
        r"|memory)\b"
        r"|\bGPU hardware\b|\bhardware (?:fault|failure|issue|problem|defect)\b|\bNVLink (?:error|fault|issue)s?\b"
        r"|\bXid [0-9]"
        r"|\bcards? (?:do|does|did)(?: not|n't) work together\b",
    ),
    ("shared-memory", r"\bshared memory\b|/dev/shm\b|\bshm(?:[-_ ]size)?\b"),
    ("locked-memory", r"\bmemlock\b|\blocked memory\b|ulimit -l\b"),
    ("file-limit", r"\b(?:open files?|file descriptors?|ulimit -n)\b"),
    (
        "host-memory-full",
        r"\b(?:host|system|CPU|container|cgroup) (?:RAM|memory|OOM)\b|\bOOM[- ]?kill\w{0,4}\b|\bout of RAM\b"
        r"|\b[Mm]emory cgroup\b|\bdmesg\b.{0,60}\b(?:out of memory|OOM)\b",
    ),
    ("memory-full", r"\b(?:GPU|CUDA|device) (?:memory|OOM)\b|\bout of memory\b|\bOOM\b"),
    (
        "storage-full",
        r"\b(?:disk|storage|quota|file ?system) (?:was |is |were )?(?:full|exceeded|out of space)|\bno space\b",
    ),
    (
        "data-loading",
        r"\b(?:data ?loader|data loading|input pipeline|num_workers|dataset loading|reading data)\b"
        r"|\bI/?O (?:speed|is|was)\b.{0,80}\b(?:GPU|utili[sz]\w{0,6}|training)\b",
    ),
    (
        "storage-fault",
        r"\b(?:slow|hung|stuck|overloaded|unreliable)\b.{0,40}\b(?:disks?|storage|NFS|Lustre|GPFS|file ?systems?"
        r"|I/?O|mounts?)\b"
        r"|\b(?:NFS|Lustre|GPFS|file ?system|storage|I/?O|disk)\b.{0,40}\b(?:slow|hang|hung|stuck|latency|speed"
        r"|bottleneck)",
    ),
    (
        "unshared-files",
        r"\b(?:not|no|n't) (?:a )?shared (?:file ?system|storage|disk)|\bshared (?:file ?system|storage)\b",
    ),
    (
        "unused-parameters",
        r"\bunused param\w{0,8}|\bfind_unused_parameters\b|\bparameters? .{0,30}\bnot (?:used|receive)",
    ),
    (
        "concurrent-communicators",
        r"\b(?:multiple|two|several|many|concurrent|different|both) (?:\w{2,12} )?(?:communicators?|process groups?)\b"
        r".{0,80}\b(?:concurrent\w{0,2}|order|at once|same time|deadlock\w{0,3}|race|simultaneous\w{0,2})\b",
    ),
    (
        "ranks-diverge",
        r"\b(?:different|uneven|unequal|mismatched|unbalanced|fewer|more|not the same) (?:\w{2,12} )?(?:numbers?"
        r"|amounts?|counts?"
        r"|lengths?|sizes?|batches|steps|samples|order)\b.{0,60}|\b(?:only|one of the|some) (?:the )?(?:rank|process"
        r"|worker)s?\b"
        r"|\brank ?0\b.{0,60}\b(?:while|but|only|waits?|others?)|\b(?:deadlock|race condition|out of sync"
        r"|desync\w{0,6})\b",
    ),
    (
        "mixed-releases",
        r"\b(?:different|mismatch\w{0,4}|inconsistent|not the same)\b.{0,40}\bversions?\b.{0,40}\b(?:nodes?"
        r"|machines?|hosts?|ranks?)"
        r"|\bversions?\b.{0,40}\b(?:differ|different|mismatch|not the same)\w{0,4}.{0,40}\b(?:nodes?|machines?"
        r"|hosts?|ranks?)",
    ),
    ("fabric-manager", r"\bfabric ?-?manager\b|\bIMEX\b"),
    (
        "driver-release",
        r"\b(?:driver|kernel module|kernel)\b.{0,40}\b(?:bug|version|mismatch|old|outdated|regression|issue|update)",
    ),
    ("driver-release", r"\b(?:bug|regression|issue|problem) (?:in|of|with) (?:the )?(?:nvidia |GPU |CUDA )?driver"),
    (
        "release-fault",
        r"\b(?:bug|regression|issue|problem|deadlock|race)\b.{0,30}\b(?:in|of|with) (?:the )?NCCL\b|\bNCCL (?:bug"
        r"|regression)\b",
    ),
    (
        "plugin-missing",
        r"\b(?:aws-ofi-nccl|net(?:work)? plugin|libnccl-net)\b.{0,60}\b(?:not|missing|n't|without|absent)",
    ),
    ("plugin-mismatch", r"\b(?:aws-ofi-nccl|net(?:work)? plugin|libnccl-net|HPC-?X)\b"),
    (
        "shared-accelerator",
        r"\b(?:all|both|two|multiple|several|every) (?:\w{2,12} )?(?:ranks?|process(?:es)?"
        r"|workers?)\b.{0,60}\b(?:same|one|single"
        r"|cuda:0|GPU ?0|device ?0)\b|\b(?:same|first) (?:GPU|device|card)\b|\bset_device\b|\bLOCAL_RANK\b",
    ),
    (
        "throttled-clocks",
        r"\b(?:thermal|throttl\w{2,4}|overheat\w{0,3}|temperature|power (?:cap|limit|supply|brake)|clocks?)\b",
    ),
    (
        "wrong-pcie-generation",
        r"\bPCIe?\b.{0,30}\b(?:gen(?:eration)? ?[1-5]|x[1248]\b|width|speed|downgrad\w{0,3}|degraded|lanes?)",
    ),
    ("numa-balancing", r"\bNUMA balancing\b"),
    ("nic-distance", r"\b(?:NUMA|other socket|wrong socket|cross[- ]socket|QPI|UPI)\b"),
    ("gpudirect-off", r"\b(?:GDR|GPU ?Direct|nv(?:idia)?[-_]peer_?mem)\b"),
    (
        "packet-loss",
        r"\b(?:PFC|ECN|DCQCN|packet (?:loss|drops?)|dropp(?:ed|ing) packets|congestion|flow control|lossy)\b",
    ),
    (
        "shared-paths",
        r"\b(?:ECMP|hash(?:ing)? collisions?|routing collisions?|(?<!cross )(?<!cross-)entropy"
        r"|load balancing|adaptive routing)\b",
    ),
    (
        "core-binding",
        r"\b(?:CPU|core|process) (?:affinity|binding|pinning)\b|\b(?:bound|pinned) to (?:the )?(?:same|one"
        r"|a single) core",
    ),
    ("wrong-topology", r"\b(?:topology|topo) file\b|NCCL_TOPO_FILE"),
    ("container-permission", r"\b(?:seccomp|capabilit(?:y|ies)|unprivileged|SYS_PTRACE|SELinux|AppArmor|privileged)\b"),
    ("remote-login", r"\b(?:passwordless|ssh)\b"),
    ("port-in-use", r"\bport\b.{0,30}\b(?:in use|taken|occupied|conflict|already used)"),
    (
        "unsupported-accelerator",
        r"\b(?:does not|doesn't|not) support\b.{0,30}\b(?:GPU|architecture|compute capability|sm_[0-9]{2})",
    ),
    ("checkpoint-mismatch", r"\bcheckpoint\b.{0,60}\b(?:different|mismatch|other|old|trained with)"),
    (
        "library-release",
        r"\b(?:versions?|release)\b.{0,40}\b(?:mismatch|incompatib\w{2,5}|conflict|wrong|old|bug|issue|problem)"
        r"|\b(?:mismatch\w{0,4}|incompatib\w{2,5}|wrong|conflicting|old|outdated)\b.{0,40}\b(?:versions?|release"
        r"|library|libraries)"
        r"|\b(?:bug|regression) in (?:\w{2,20} )?(?:[A-Za-z][\w.-]{2,30})\b",
    ),
    (
        "invalid-setting",
        r"\b(?:misconfigur\w{2,6}|wrong (?:config\w{0,10}|setting|parameter|value|flag|argument|option)s?|typo)\b",
    ),
    (
        "invalid-setting",
        r"\b(?:environment variables?|env vars?)\b.{0,60}\b(?:not|n't|wrong|missing|override|overwrit)",
    ),
    ("driver-release", r"\bdrivers?\b"),
    ("release-fault", r"\bNCCL (?:version )?v?2\.[0-9]"),
)
"""Causes and their nouns in a sentence with words of a reason, the more specific before the more common."""
_HAS_A_FAULT = (
    r"v?[0-9]{1,3}\.[0-9]{1,3}\S{0,8} (?:has|shows|introduces|introduced|brings|contains) .{0,40}"
    r"\b(?:regress\w{2,5}|bugs?|deadlocks?|hangs?|slow-?downs?|leaks?)\b"
)
_A_HOST = r"(?:servers?|machines?|hosts?|computers?|nodes?|PC|system|O/?S|workstations?)"
FACTS: tuple[tuple[str, str], ...] = (
    (
        "power-supply",
        r"\b(?:reboots|restarts|(?<!tried )(?<!Tried )(?<!after )(?<!by )(?<!without )rebooting|powers off|turns off"
        rf"|shuts down) (?:the |my |our )?(?:whole |entire )?{_A_HOST}\b"
        rf"|\b(?:the|my|our) (?:whole |entire )?{_A_HOST} (?:\w{{2,10}} (?:and )?)?"
        r"(?:reboots|restarts|rebooted|powers off|turns off|shuts down)\b",
    ),
    ("release-fault", rf"\b[NR]CCL (?:version )?{_HAS_A_FAULT}"),
    ("driver-release", rf"\bdrivers? (?:version )?{_HAS_A_FAULT}"),
    ("library-release", rf"\b[A-Za-z][\w-]{{2,20}} (?:version )?{_HAS_A_FAULT}"),
    (
        "shared-accelerator",
        r"\b(?:more|most|extra|too much) (?:\S{1,12} ){0,3}memory\b.{0,40}\b(?:first|GPU ?0|rank[- ]0|cuda:0)\b"
        r"|\bnot on (?:different|separate|distinct) (?:GPU|device|card)s?\b"
        r"|\brank[- ]0 GPU\b.{0,40}\b(?:more|extra)\b"
        r"|\b(?:all|every|both) (?:of )?(?:the )?(?:\w{2,10} )?(?:process(?:es)?|ranks?|workers?)\b.{0,40}\b(?:on"
        r"|us(?:e|es|ing)|to) (?:the )?(?:GPU ?0|cuda:0|same GPU|first GPU)\b",
    ),
    (
        "library-release",
        r"\b(?:NCCL|RCCL|UCX|libfabric|lib\w{2,30}\.so\S{0,10}|the library) (?:is|was) not found\b",
    ),
    (
        "library-release",
        r"\b(?:in|with) (?:[A-Za-z][\w-]{1,30} )?v?[0-9]{1,2}\.[0-9]{1,3}\S{0,8} .{0,60}\b(?:but|and) not (?:in|with"
        r"|on) (?:[A-Za-z][\w-]{1,30} )?v?[0-9]{1,2}\.[0-9]{1,3}"
        r"|\bpython (?:path|executable|interpreter)s?\b.{0,40}\b(?:chang|differ|other|wrong)",
    ),
    ("driver-release", r"/dev/nvidia-uvm\S{0,8}.{0,60}\b(?:missing|absent|not (?:there|found|present)|n't exist)"),
    (
        "name-resolution",
        r"\bhost ?names?\b.{0,60}\b(?:only resolv|not resolv|n't resolv|cannot be resolved|resolves? to 127)",
    ),
    (
        "wrong-interface",
        r"\b(?:select|choos|us|pick)(?:e?s|ed|ing)? (?:another|a different|the wrong|other) "
        r"(?:IP|address|interface|NIC)\b",
    ),
    (
        "unreachable-peer",
        r"\b(?:cannot|can't|can not|unable to|could not|couldn't) (?:ping|telnet|reach|connect to)\b.{0,40}"
        r"\b(?:node|host|machine|server|other|master|IP|port)s?\b",
    ),
    (
        "ranks-diverge",
        r"\b(?:only|just) (?:on )?(?:the )?(?:rank ?0|main process)\b.{0,60}\b(?:eval|validat|sav|log|run)\w{0,6}\b"
        r"|\b(?:different|uneven|unequal) (?:number|amount|length)s? of (?:batch|sample|step|data|iteration)\w{0,4}\b",
    ),
    (
        "data-loading",
        r"\b(?:waiting for|stall\w{0,3} (?:on|for)|starv\w{2,4} (?:of|for)) (?:the )?data\b"
        r"|\bdata ?loader\b.{0,40}\b(?:slow|stuck|hang|block|bottleneck)\w{0,3}\b",
    ),
    (
        "storage-fault",
        r"\b(?:sav|load|writ|read)(?:e|es|ing|ed) (?:the |a )?(?:checkpoint|model|dataset|data)s?\b.{0,60}"
        r"\b(?:takes?|took|taking) .{0,20}\b(?:minutes|hours|forever)\b",
    ),
    (
        "throttled-clocks",
        r"\bclocks?\b.{0,40}\b(?:drop|stuck|low|lower|only|fixed)\w{0,4} .{0,20}\bMHz\b",
    ),
    (
        "wrong-pcie-generation",
        r"\b(?:LnkSta|PCIe?|link)\b.{0,40}\b(?:x1|x2|x4|x8|gen ?[1-3]|2\.5 ?GT/s|5 ?GT/s|8 ?GT/s)\b.{0,40}"
        r"\b(?:instead of|downgraded|rather than)\b",
    ),
    (
        "accelerator-fault",
        r"\b(?:two|one|some) of the (?:GPUs?|GPU cards|cards)\b.{0,40}\b(?:not work|fail|faulty|broken)\w{0,3}\b",
    ),
)
"""Causes and what people see of them, without a word of a reason."""


@cache
def _fact_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns of facts, compiled when a text has sentences."""
    return tuple((cause, re.compile(words, re.IGNORECASE)) for cause, words in (*FACTS, *SLOW_FACTS))


@cache
def _reason_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns of reasons, compiled when a text has a sentence with words of one."""
    return tuple((cause, re.compile(words, re.IGNORECASE)) for cause, words in REASONS)


def reason_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The causes that sentences give as the reason, each once, with the sentence and its line.

    >>> [each[0] for each in reason_statements("It turned out that a cable was bad.")]
    ['reason unstable-link sure']
    >>> list(reason_statements("Is this caused by the firewall?"))
    []
    """
    seen = set()
    for cause, certainty, sentence, number in islice(_reasons_of_sentences(text), MOST):
        if cause and cause not in seen:
            seen.add(cause)
            yield f"{REASON}{cause} {certainty}", shown_line(sentence), number


def _reasons_of_sentences(text: str) -> Iterator[tuple[str, str, str, int]]:
    """The cause that a sentence gives, empty without any, its certainty, the sentence and its line."""
    for number, line in report_sentences(text):
        for sentence in _SENTENCE.split(line):
            if _NO_REASON.search(sentence):
                continue
            reasoned = bool(_BECAUSE.search(sentence))
            if reasoned and (causes := _causes_of(sentence)):
                yield causes[0], GUESSED if GUESS.search(sentence) else SURE, sentence, number
            elif facts := [cause for cause, words in _fact_patterns() if words.search(sentence)]:
                yield facts[0], SEEN, sentence, number
            elif reasoned:
                yield "", SURE, sentence, number


_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`*_(\"'-]|[a-z]{2})|[。；！？]")


def _causes_of(sentence: str) -> tuple[str, ...]:
    """The causes that a sentence names after the words of the reason, else before them."""
    found = _BECAUSE.search(sentence)
    after = sentence[found.start() :] if found else sentence
    for part in (after, sentence):
        if causes := tuple(cause for cause, words in _reason_patterns() if words.search(part)):
            return causes
    return ()
