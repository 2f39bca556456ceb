"""What a program was doing when it raised an exception, by the files and functions of the traceback above it."""

from __future__ import annotations

import re
from itertools import takewhile

FRAME = re.compile(r'\bFile "([^"]{1,400})", line [0-9]{1,6}(?:, in ([\w<>.]{1,80}))?')
_SETTINGS = re.compile(
    r"(?:/|^)(?:config(?!uration_auto)\w{0,20}|\w{0,20}_config|arg_utils|server_args|llm_args|training_args|arguments|argparse"
    r"|(?:config|configs|arg_groups|omegaconf|hydra|pydantic)/(?:\w{1,40}/)?\w{1,60})\.py$"
)
"""Files of programs that check their settings: vllm-project/vllm (`vllm/config`, `engine/arg_utils.py`),
sgl-project/sglang (`srt/server_args.py`, `srt/arg_groups`), NVIDIA/Megatron-LM (`megatron/training/arguments.py`),
deepspeedai/DeepSpeed (`runtime/config.py`), NVIDIA/TensorRT-LLM (`llmapi/llm_args.py`), huggingface/transformers
(`training_args.py`, `configuration_*.py`), hydra, OmegaConf, pydantic and Python's argparse.
"""
_REGISTRY = re.compile(r"/transformers/models/auto/\w{1,40}\.py$")
"""Files of Transformers that look a model up by its name."""
_ABSENT_KEY = re.compile(r"\bKeyError: '[a-z][a-z0-9]{0,20}(?:_[a-z0-9]{1,20}){1,5}'$")
"""A key with the form of an option. Thread: PHOENIXcenter/pi-PrimeNovo issue 4."""
_ENVIRONMENT = re.compile(r"/python[0-9.]{1,5}/os\.py$")
"""The file of Python that looks an environment variable up. Thread: The-AI-Summer/pytorch-ddp issue 2."""
_LOOKED_UP = re.compile(r"\b(?:Key|Attribute)Error: (?!'NoneType')")
"""Exceptions about a name that is not there."""
_MODEL = re.compile(r"/(?:models?|modeling)/\S{1,80}\.py$|/modeling_\w{1,60}\.py$")
"""Files of libraries with the code of one model."""
_INSTALLED = re.compile(r"/(?:site|dist)-packages/")
_REFUSAL = re.compile(r"(?:^|[\s:])(?:Value|Assertion|NotImplemented)Error(?::|$)")
"""Exceptions with which an installed library refuses its input. Threads: QwenLM/Qwen pull 833, verl-project/verl issue
3296, huggingface/accelerate issue 1840.
"""
_COMPUTED = re.compile(
    r"\b(?:Index|ZeroDivision|Overflow)Error\b|\b[Tt]ensors?\b|\bshapes?\b|\bsizes? of\b|\bdimensions?\b"
    r"|\bgrad(?:_fn)?\b"
)
"""Exceptions about the arrays of a program, which a library only computes with."""
MISUSE = re.compile(
    r"\b(?:Type|Name|UnboundLocal|Index|ZeroDivision|Recursion|NotImplemented)Error: \S"
    r"|\bRuntimeError: .{0,160}(?:\b[Ss]hapes?\b|\bscalar type\b|\binplace operation|\bsame device\b|\bdtype\b"
    r"|\bgrad(?:_fn|ient computation)?\b|\bon the expected device\b|\bsize of tensor\b|\b[Dd]imension\b|\bautograd\b)"
)
"""Exceptions of Python and of PyTorch about how a program uses names, types and arrays, which show an error of the
program even without its traceback (docs.python.org, "Built-in Exceptions").
"""
_SIGNATURE = re.compile(
    r"\bTypeError: .{0,200}\b(?:missing [0-9]+ required|takes (?:from )?[0-9]+ |unexpected keyword)"
)
"""Exceptions about a function that takes other arguments than the caller gives."""
_CALL_OF_MODULE = re.compile(r"(?<![\w.])(?!(?:self|cls|super)\b)[a-z]\w{0,40}(?:\.[a-z]\w{0,40}){1,6}\.\w{1,60}\(")
"""A call through a module of a package, thus of a library whose release takes other arguments. Thread:
NVIDIA/Megatron-LM issue 1280.
"""
CALL_LINES = 3
"""Lines before an exception among which the code is that raised it, and the marks below that."""
FRAME_LINES = 8
"""Lines before an exception among which the frame that raised it is: its code, and marks below that."""
TRACED_LINES = 60
"""Lines before an exception among which the frames of its callers are."""
_BEGIN = "Traceback (most recent call last)"
_OPERATIONS = (
    ("weights", r"", r"(?:\w{0,30}_)?load_(?:weights?|state_dict|hf_weights)\w{0,30}|\w{0,30}weight_loader\w{0,12}"),
    ("model", _MODEL.pattern, r""),
    ("weights", r"/weight_utils\.py$|/(?:model_loader|weight_loading|weight_conversion)/", r""),
    (
        "compile",
        r"/triton/(?:compiler|backends|runtime/(?:jit|build|autotuner|driver))"
        r"|/torch/(?:_inductor|utils/cpp_extension)|_jit\.py$|/jit/|/(?:tilelang|cutlass|deep_gemm|nvrtc)/",
        r"",
    ),
    ("rendezvous", r"/torch/distributed/(?:rendezvous|elastic/rendezvous/\w{1,40})\.py$", r""),
    (
        "device",
        r"/torch/(?:cuda|xpu|mps)/__init__\.py$|/torch_npu/npu/utils\.py$",
        r"_lazy_init|set_device|\w{0,20}count",
    ),
    ("download", r"/(?:huggingface_hub|requests|urllib3|httpx|aiohttp|botocore|google/cloud|modelscope/hub)/", r""),
    ("start", r"/subprocess\.py$", r""),
    ("import", r"/(?:site|dist)-packages/", r"<module>"),
)
"""What a program was doing, and the file and the function of the frame that shows it; an empty pattern matches any."""
_COMPILED = tuple((family, re.compile(file), re.compile(function)) for family, file, function in _OPERATIONS)
OPERATIONS = tuple(dict.fromkeys(f"{family} operation" for family, _, _ in _OPERATIONS))
"""The families of what a program was doing."""
LONGEST = 1_000
"""Largest number of characters of a line that is read."""


def family_of_frame(lines: list[str], number: int) -> str:
    """The family of an exception in a line, from the frame that raised it, else from the frames of its callers.

    >>> family_of_frame(['  File "/a/site-packages/b/models/c.py", line 7, in load_weights', "KeyError: 'd.w13'"], 2)
    'weights operation'
    """
    raised = lines[number - 1][:LONGEST]
    before = list(reversed(lines[max(0, number - 1 - TRACED_LINES) : number - 1]))
    raising = next((found[1] for line in before[:FRAME_LINES] if (found := FRAME.search(line[:LONGEST]))), "")
    looked_up = _LOOKED_UP.search(raised) is not None
    if "KeyError" in raised and _REGISTRY.search(raising):
        return "registry"
    if _ABSENT_KEY.search(raised) and not (looked_up and _MODEL.search(raising)):
        return "key"
    if _SETTINGS.search(raising) or ("KeyError" in raised and _ENVIRONMENT.search(raising)):
        return "settings"
    if _SIGNATURE.search(raised) and any(_CALL_OF_MODULE.search(line[:LONGEST]) for line in before[:CALL_LINES]):
        return "installed"
    if _REFUSAL.search(raised):
        return "library" if _INSTALLED.search(raising) else "program"
    traced = takewhile(lambda line: _BEGIN not in line, before)
    frames = [(found[1], found[2] or "") for line in traced if (found := FRAME.search(line[:LONGEST]))]
    in_library = "computed" if _COMPUTED.search(raised) else "installed"
    return _operation_of(frames, looked_up=looked_up) or (in_library if _INSTALLED.search(raising) else "program")


def _operation_of(frames: list[tuple[str, str]], *, looked_up: bool) -> str:
    """The operation that the innermost possible frame shows; empty if no frame shows one. The code of a model shows one
    only if it looked up a name.
    """
    for file, name in frames:
        for family, of_file, of_function in _COMPILED:
            if (
                (family != "model" or looked_up)
                and of_file.search(file)
                and (not of_function.pattern or of_function.fullmatch(name))
            ):
                return f"{family} operation"
    return ""
