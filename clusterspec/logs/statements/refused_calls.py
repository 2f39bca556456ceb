"""Calls that the system refuses: what a line of any program was doing, and the error of the system that it names.

Programs word their errors freely, but the name of the call and the text of the error come from the libraries below
(strerror of the C library, `ibv_*` of rdma-core, `fi_*` of libfabric, the CUDA and HIP runtimes). The pair says more
than either: registration of memory fails with ENOMEM where a limit is reached, and with EFAULT where a NIC does not
reach the memory of an accelerator.
"""

from __future__ import annotations

import re

from clusterspec.logs.text_lines import shown_line

_TEXTS = {
    "EPERM": r"[Oo]peration not permitted|\bNOT_PERMITTED|\bRC: -1\b",
    "ENOENT": r"[Nn]o such file or directory",
    "ENOMEM": r"[Cc]annot allocate memory|[Ee]rr(?:no|or)?:? ?\(?-?12\b|\bRC: -12\b",
    "EAGAIN": r"[Rr]esource temporarily unavailable",
    "EACCES": r"[Pp]ermission denied|\bRC: -13\b",
    "EFAULT": r"[Bb]ad address",
    "ENODEV": r"[Nn]o such device\b",
    "EINVAL": r"[Ii]nvalid (?:argument|device ordinal)|\bCUDA_ERROR_INVALID_(?:VALUE|HANDLE|DEVICE)\b|"
    r"[Ii]nvalid resource handle|hsa_status: 4097|\bRC: -22\b",
    "ENOSPC": r"[Nn]o space left on device",
    "EOPNOTSUPP": r"[Oo]peration not supported|\bCUDA_ERROR_NOT_SUPPORTED\b|"
    r"[Ff]unction not implemented|[Pp]rotocol not supported|[Uu]nknown error 524\b|\berrno:? 524\b|\breturned 38: ",
    "EAFNOSUPPORT": r"[Aa]ddress family not supported",
    "EADDRINUSE": r"[Aa]ddress already in use",
    "EADDRNOTAVAIL": r"[Cc]annot assign requested address",
    "ENETUNREACH": r"[Nn]etwork is unreachable",
    "ECONNABORTED": r"[Ss]oftware caused connection abort",
    "ECONNREFUSED": r"[Cc]onnection refused",
    "ETIMEDOUT": r"[Cc]onnection timed out|[Tt]imed out\b",
    "EHOSTUNREACH": r"[Nn]o route to host",
    "EREMOTEIO": r"[Rr]emote I/O error",
    "ENOTTY": r"[Ii]nappropriate ioctl for device",
}
"""Errors of the system by their symbols, and the texts in which programs print them."""
_NUMBERS = {
    **{"EPERM": 1, "ENOENT": 2, "EAGAIN": 11, "EACCES": 13, "EFAULT": 14, "ENODEV": 19, "EINVAL": 22, "ENOTTY": 25},
    **{"ENOSPC": 28, "EOPNOTSUPP": 95, "EAFNOSUPPORT": 97, "EADDRINUSE": 98, "EADDRNOTAVAIL": 99, "ENETUNREACH": 101},
    **{"ECONNABORTED": 103, "ETIMEDOUT": 110, "ECONNREFUSED": 111, "EHOSTUNREACH": 113, "EREMOTEIO": 121},
}
"""Numbers of these errors on Linux (`include/uapi/asm-generic/errno.h`); some programs print only the number."""


def _words_of(error: str, texts: str) -> str:
    """The words of an error: its texts, or its number after the name of the variable."""
    return rf"{texts}|[Ee]rrno\W{{0,3}}{_NUMBERS[error]}\b" if error in _NUMBERS else texts


ERRORS = {error: _words_of(error, texts) for error, texts in _TEXTS.items()}
"""Errors of the system by their symbols, and the words in which programs name them."""
CALLS = {
    "device": r"(?<!CDI host device .)(?<!CDI host device )/dev/(?:kfd|dri|nvidia(?!-caps-imex)\w{0,12})\b",
    "mapping": r"\bcuMem(?:SetAccess|ImportFromShareableHandle|ExportToShareableHandle|RetainAllocationHandle)\b",
    "ipc": r"(?:cuda|hip|cu)Ipc(?:Get|Open)\w{1,20}|memory for IPC|IPC memory|(?:CUDA|HIP) IPC handle",
    "multicast": r"cuMulticast\w{0,30}|[Mm]ulticast (?:memory|object|group)",
    "register": (
        r"ibv_(?:exp_)?reg_(?:mr|dmabuf)\w{0,12}|\bGNI_IOC_MEM_REGISTER\b|MemoryRegion::register\w{0,20}|fi_mr_reg\w{0,8}|uct_md_mem_reg|ucp_mem_map"
        r"|\b[Rr]egist\w{2,6} (?:the )?(?:GPU |host |device |CUDA |local )?(?:memory|buffer|MR\b|mr\b)"
    ),
    "init": r"[Mm]odify(?:ing)? (?:\w{1,8} )?(?:QP|DCT)\b.{0,30} to INIT\b|curr state RESET, next state INIT",
    "address": (
        r"ibv_modify_qp|[Mm]odify(?:ing)? (?:\w{1,8} )?(?:QP|DCT)\b|ibv_create_ah|fi_av_insert"
        r"|[Aa]ddress (?:handle|vector)"
    ),
    "provider": (
        r"\bfi_(?:getinfo|fabric|domain2?|endpoint2?|scalable_ep|passive_ep|av_open|cq_open|cntr_open|enable"
        r"|ep_bind)\b"
    ),
    "firmware": r"\bmlx5dv_devx_\w{1,24}",
    "create": (
        r"ibv_create_(?:cq|qp|srq)\w{0,8}|ibv_alloc_pd|mlx5dv_create_\w{1,8}"
        r"|[Cc]reat(?:e|ing|ion of) (?:an? |the )?(?:\w{1,4} )?"
        r"(?:completion queue|queue pair|srq|SRQ|qp|QP|cq|CQ)\b"
    ),
    "query": r"ibv_(?:exp_)?query_(?:device|port)\w{0,12}",
    "gid": r"ibv_query_gid\w{0,12}",
    "open": r"ibv_(?:open_device|get_device_list)|/dev/infiniband|\buverbs[0-9]|rdma_create_\w{1,16}",
    "lock": (
        r"\bmlock(?:all)?\b|\bio_uring_\w{1,20}|(?:cuda|hip|cuMem)HostRegister\w{0,4}"
        r"|\bpin(?:ning)? (?:host |user )?memory\b"
    ),
    "shm": r"\bshm_?(?:open|get)\b|/dev/shm\b|\bshared memory\b",
    "bind": r"\b(?:[Bb]ind|[Ll]isten)(?:ing)?\b",
    "exchange": r"\b[Cc]all to (?:recv|send)\w{0,4}\b|\b(?:recv|send|readv|writev|recvmsg|sendmsg): [Cc]onnection\b",
    "connect": r"\b[Cc]onnect(?:ion|ing|ed)?\b|\bdial tcp\b|\bsocket(?:StartConnect|PollConnect)\b",
}
"""What a program was doing, in the words of the libraries below it; the narrower before the wider."""
NO_PATH = ("ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT", "ECONNABORTED", "ECONNREFUSED")
"""Errors of the system where no path leads to a peer, or the peer does not answer."""
TELLING = {
    "device": ("EACCES", "EPERM", "ENOENT"),
    "mapping": ("EINVAL", "EOPNOTSUPP"),
    "ipc": ("EINVAL", "EPERM", "EOPNOTSUPP"),
    "multicast": ("EPERM", "EINVAL", "EOPNOTSUPP"),
    "register": ("ENOMEM", "EAGAIN", "EFAULT", "EINVAL", "EPERM", "EOPNOTSUPP", "EREMOTEIO", "ENOSPC"),
    "init": ("EINVAL", "ENODEV", "EREMOTEIO"),
    "address": ("EREMOTEIO", "EINVAL", "ENOMEM", *NO_PATH),
    "provider": ("EOPNOTSUPP", "EINVAL", "EPERM", "EACCES"),
    "firmware": ("ENOMEM", "EAGAIN", "EREMOTEIO", "EINVAL", "EPERM"),
    "create": ("ENOMEM", "EAGAIN", "EPERM", "EREMOTEIO", "ENOSPC"),
    "query": ("ENOTTY", "EOPNOTSUPP"),
    "gid": ("EINVAL",),
    "open": ("ENOENT", "EPERM", "EACCES", "ENODEV", "ENOMEM"),
    "lock": ("ENOMEM", "EPERM", "EAGAIN"),
    "shm": ("ENOSPC", "ENOENT", "EACCES", "EPERM", "ENOMEM"),
    "bind": ("EADDRINUSE", "EADDRNOTAVAIL"),
    "exchange": ("ETIMEDOUT",),
    "connect": ("bridge", "EAFNOSUPPORT", "ENETUNREACH"),
}
"""The errors of each call that identify a cause."""
_BRIDGE = re.compile(
    r"\bfe80::[0-9a-fA-F:]{1,40}|\b(?:172\.17\.[0-9]{1,3}|169\.254\.[0-9]{1,3}|192\.168\.122)\.[0-9]{1,3}\b"
    r"|\b172\.(?:1[89]|2[0-9]|3[01])\.0\.1\b|\bsocket(?:StartConnect|PollConnect)\b.{0,24}\b127\.0\.0\.1\b"
)
"""Addresses that every host uses internally: the default bridges of Docker and libvirt, the first address of Docker's
further bridges (172.18.0.0/16 to 172.31.0.0/16; gpustack/gpustack issue 2275), and those of the link alone; of NCCL
also the host's own address, which its ranks announce if they use the loopback interface (awslabs/awsome-distributed-ai
issue 192).
"""
_ERROR = re.compile("|".join(f"(?P<{name}>{words})" for name, words in ERRORS.items()))
_CALL = {name: re.compile(words) for name, words in CALLS.items()}
_QUIET = re.compile(r"\bDEBUG\b|\bTRACE\b|\bcannot (?:remove|stat|access)\b")
_OF_A_SERVER = re.compile(r"https?://|HTTPS?Connection|\burllib3\b|\bport (?:80|443)\b|:(?:80|443)\b")
"""Words of a client of a server outside the cluster."""
_RETRIED = re.compile(r", retrying\b")
_NEXT_ADDRESS = re.compile(r"client socket cannot be initialized to connect to ")
"""A warning of PyTorch, which goes on with the next address of the name (pytorch/pytorch 1c94016e,
torch/csrc/distributed/c10d/socket.cpp, `tryConnect`, read on 2026-11-25).
"""
LONGEST = 2_000
"""Largest number of characters of a line that are read."""
CALL = "call "
"""The prefix of the names of these statements."""
CALL_WORDS = (
    *(
        "peration not permitted",
        "NOT_PERMITTED",
        "o such file or directory",
        "annot allocate memory",
        "ermission denied",
    ),
    *("ad address", "o such device", "nvalid argument", "nvalid resource handle", "hsa_status", "o space left on"),
    *("CUDA_ERROR_INVALID_", "CUDA_ERROR_NOT_SUPPORTED", "nvalid device ordinal", "temporarily unavail"),
    *("nknown error 524", "rrno 524", "rrno: 524"),
    *("peration not supported", "unction not implemented", "rotocol not supported", "ddress family not"),
    *("ddress already in use", "annot assign requested", "etwork is unreachable", "caused connection abort"),
    *(
        "onnection refused",
        "onnection timed out",
        "imed out",
        "o route to host",
        "emote I/O error",
        "ppropriate ioctl",
        "rrno",
        "err -12",
        "RC: -1",
        "RC: -22",
    ),
)
"""Words: a line that may be a refused call has at least one of them."""


def refused_call(line: str) -> tuple[str, str] | None:
    """The statement of a line that names a call and the error of the system, and its text; None for other lines.

    >>> refused_call("NCCL WARN Call to ibv_reg_mr failed with error Bad address")[0]
    'call register EFAULT'
    >>> refused_call("connect() to 172.17.0.1 failed: Connection refused (111)")[0]
    'call connect bridge'
    >>> refused_call("socketStartConnect: Connect to 127.0.0.1<45069> failed : Connection refused")[0]
    'call connect bridge'
    >>> refused_call("open(model.bin): No such file or directory")
    """
    line = line[:LONGEST]
    error = _ERROR.search(line)
    if error is None or _QUIET.search(line) or _NEXT_ADDRESS.search(line):
        return None
    call = next((name for name, words in _CALL.items() if words.search(line)), None)
    if call is None:
        return None
    name = str(error.lastgroup)
    if call == "connect" and _BRIDGE.search(line):
        name = "bridge"
    elif _RETRIED.search(line) or (call == "connect" and _OF_A_SERVER.search(line)):
        return None
    return (f"{CALL}{call} {name}", shown_line(line)) if name in TELLING[call] else None
