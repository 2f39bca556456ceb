"""Causes by an object and what happened to it, for lines of errors in words that no known program is listed with.

A line is compared with these after the words of `common_words`. Each pattern needs both parts in one line, such as an
interface and that it has no address, so that a line about the object alone tells nothing.
"""

from __future__ import annotations

_RANKS = r"(?:worker|rank|node|peer|host|process|replica|member)(?:e?s)?\b"
_DEVICES = r"(?:GPU|NPU|TPU|HPU|XPU|DCU|NeuronCore|accelerator|device|chip)s?\b"
_NUMERIC = r"(?:[Ll]oss|[Gg]rad\w{0,10}|logits?|weights?|norm|activations?|probabilit(?:y|ies))\b"
GENERAL = (
    (
        "port-in-use",
        r"\b[Pp]ort (?:[0-9]{1,5} )?(?:is |was )?(?:taken|used|busy|not (?:free|available))"
        r"|\b(?:listen|listening|bind)\b.{0,60}(?:\bport\b|:[0-9]{2,5}\b)",
    ),
    (
        "driver-release",
        r"\b[Dd]river\b.{0,40}(?:\bnot (?:running|loaded|installed|found)|\bfail|\bmismatch)"
        r"|\b[Ff]ail.{0,40}\bdriver\b",
    ),
    # number formats that a part lacks
    (
        "unsupported-accelerator",
        r"\b(?:GPU|[Dd]evice|card|hardware)\b.{0,40}\b(?:does not|doesn't|do not) support"
        r" (?:b?float(?:16|8)|bf16|fp(?:16|8|4))",
    ),
    ("locked-memory", r"\block(?:ed|ing)? (?:the )?memory|\bulimit -l\b"),
    (
        "host-memory-full",
        r"\b(?:pinned|host|page-locked) memory|\bmemory limit|\bMemoryError\b"
        r"|\b[Uu]nable to allocate [0-9.]+ ?[KMGT]i?B",
    ),
    (
        "memory-full",
        r"\b(?:alloc\w{0,12}|memory)\b.{0,80}\b(?:GPU|device|HBM|VRAM|CUDA|HIP|cuda:[0-9])"
        r"|\b(?:GPU|device|HBM|VRAM|CUDA|HIP)\b.{0,40}\balloc|\b(?:cuda|hip)Malloc\w{0,12}\b",
    ),
    ("absent-ranks", rf"[Tt]ime[d-]? ?out.{{0,80}}\b{_RANKS}|\b[0-9]+ (?:out )?of [0-9]+ (?:\w{{1,20}} )?{_RANKS}"),
    (
        "storage-fault",
        r"\bRan out of input\b|\binvalid load key\b|\b[Tt]runcated (?:file|data|header)|\bend of (?:file|data)\b"
        r"|\bbad magic number\b",
    ),
    (
        "outside-server",
        r"\b[45][0-9]{2} (?:Client|Server) Error\b|\bHTTP.{0,40}\b[45][0-9]{2}\b|\bGatedRepo|\bRepositoryNotFound"
        r"|\bUnauthorized\b",
    ),
    ("mixed-releases", r"\bdifferent (?:versions?|releases?)\b|\bversions? .{0,30}\bdiffer"),
    ("unstable-link", r"\bflap(?:s|ping|ped)\b|\b[Ll]ink (?:error )?recover"),
    (
        "non-finite-values",
        rf"\b{_NUMERIC}.{{0,60}}\b(?:NaNs?|nan|[Ii]nf|[Nn]on-?finite|infinite)\b"
        rf"|\b(?:NaNs?|nan|Inf|[Nn]on-?finite)\b.{{0,60}}\b{_NUMERIC}",
    ),
    (
        "ranks-diverge",
        r"\b[Rr]ank [0-9]+ .{0,60}\b(?:while|but|whereas)\b.{0,20}\brank [0-9]+"
        r"|\b(?:mismatch\w{0,4}|inconsistent|differ(?:s|ent)?)\b.{0,60}\b(?:ranks|processes|workers)\b",
    ),
    (
        "unreachable-peer",
        r"\bconnection\b.{0,60}\brefused|\b(?:reach|contact)\b.{0,40}\b(?:peer|rank|node|host|server|worker|master)\b",
    ),
    (
        "peer-ended",
        r"\b(?:lost|closed|dropped)\b.{0,20}\b(?:connection|contact)\b|\bconnection\b.{0,20}\b(?:lost|closed|reset)\b"
        r"|\b[Hh]eartbeats?\b.{0,40}\b(?:lost|missed|timed? ?out|expired)"
        rf"|\b{_RANKS} .{{0,30}}\b(?:exited|terminated|disappeared|disconnected)\b",
    ),
    (
        "missing-accelerator",
        r"\b(?:[Ee]xpect(?:ed|s)?|[Nn]eed(?:ed|s)?|[Rr]equires?|[Rr]equested) (?:at least )?[0-9]+ "
        rf"(?:\w{{1,12}} )?{_DEVICES}",
    ),
    (
        "accelerator-fault",
        rf"\b{_DEVICES} (?:[0-9]{{1,3}} |is |was |has been ){{0,3}}(?:lost|hung|dead|unhealthy|faulty|not responding)"
        rf"|\b{_DEVICES}.{{0,20}}\bhealth\b.{{0,20}}\bfail",
    ),
    (
        "wrong-interface",
        r"\b[Ii]nterface\b.{0,60}\b(?:not (?:found|exist)|(?:no|without an?) (?:IP|address)|is down)"
        r"|\b[Nn]o (?:such |network |matching |suitable |valid |usable ){1,3}interface",
    ),
    (
        "invalid-setting",
        r"\b(?:[Ll]ack of|[Mm]issing|without) (?:an? |the )?(?:\w{1,20} ){0,2}"
        r"(?:specification|configuration|setting|option|definition|entry|label|annotation)s?\b"
        r"|\b(?:[Dd]uplicate|[Cc]onflicting|[Oo]verlapping) (?:\w{1,20} ){0,2}"
        r"(?:record|entr(?:y|ie)|definition|option)s?\b",
    ),
    (
        "invalid-setting",
        r"\b(?:yaml|omegaconf|hydra|configparser|toml|pydantic(?:_core)?)\.[\w.]{0,60}(?:Error|Exception)\b|\bJSONDecodeError\b"
        r"|\bis not in struct\b",
    ),
    # settings that exclude or bound each other, and one by its form that is invalid, in errors of any program
    (
        "invalid-setting",
        r"\b(?:cannot|can not|can't|could not|may not) be (?:used|combined|mixed|requested|specified|bigger|larger"
        r"|greater|smaller|higher|lower) (?:with|together|without|when|than|in combination)\b"
        r"|\b[A-Z][A-Za-z]{2,40}=\S{0,60} (?:is )?(?:invalid|not valid|not allowed)\b"
        r"|\b[Ii]nvalid [A-Z][A-Za-z]{2,40}(?:=| ['\"])|\bcount must equal\b",
    ),
    # a feature that a build of a library leaves out, by the names of options of CMake
    (
        "library-release",
        r"\brequires? (?:-D)?[A-Z][A-Z0-9_]{4,40}=(?:ON|1)\b|\bneed [A-Z][A-Z0-9_]{4,40}=(?:ON|1)\b"
        r"|\b(?:[Pp]lease )?rebuild \w{1,30} (?:from source|with)\b"
        r"|\b(?:not|n't|isn't|wasn't) (?:been )?(?:compiled|built) with\b|\b(?:compiled|built) without\b",
    ),
    # limits of a setting in an error of glog (google/glog, `src/logging.cc`)
    (
        "invalid-setting",
        r"^[EF][0-9]{4} [0-9:.]{8,16} .{0,80}?\] .{0,160}?\b(?:must be (?:between|greater|larger|smaller|less|lower"
        r"|positive|non-negative|in|one of|set|>|<)|must (?:not|be) \w{1,12} (?:when|if)\b|must not be\b"
        r"|cannot be enabled with\b|incompatible with\b|is not set\b)",
    ),
    # errors of a device's runtime that no other words explain, such as those of a capture
    ("program-error", r"\b(?:CUDA|HIP) (?:driver |runtime )?error: \S|\bC(?:uda|UDA) failure\b|\bCUDA_ERROR_[A-Z]"),
)
"""Causes and such pairs of words, the more specific before the more common."""
