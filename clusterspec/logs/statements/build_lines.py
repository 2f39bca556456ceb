"""Lines of compilers, assemblers and what starts them: a toolkit, its headers or its parts are missing or of another
release.

Each line has the form of its tool, whatever program is built: GCC and Clang (`FILE:LINE:COLUMN: fatal error:`), CMake
(`CMake Error at`), ptxas of CUDA. Threads: deepspeedai/DeepSpeed issues 2772 and 3223, NVIDIA/TensorRT-LLM issue 1716,
triton-lang/triton issues 5929 and 7263, woct0rdho/triton-windows issue 49.
"""

from __future__ import annotations

import re

BUILD_PATTERNS = (
    # compilers and linkers: an option or a file of another release (GCC, gcc/opts-common.cc; binutils, ld/ldmain.c and
    # ldfile.c; nvcc of CUDA 12). Thread: flashinfer-ai/flashinfer issue 1532
    (
        "build",
        re.compile(
            r"(\b(?:nvcc|gcc|g\+\+|cc|c\+\+|clang(?:\+\+)?|hipcc|ptxas|nvlink)\b.{0,20}?"
            r"(?:[Uu]nknown|[Uu]nrecognized|[Uu]nsupported)(?: command[- ]line)? (?:option|argument).{0,60})"
        ),
    ),
    ("build", re.compile(r"(\bld(?:\.\w{2,5})?: (?:cannot|unable to) find (?:library )?-l\S{1,60})")),
    # the driver of GCC (gcc/collect2.cc), LLD (lld/ELF/Driver.cpp), MSVC (LNK1181, C1083)
    (
        "build",
        re.compile(
            r"(\bcollect2: (?:fatal )?error: cannot find .{1,60}|\bld\.lld: error: unable to find library .{1,60}"
            r"|\bfatal error (?:LNK11[0-9]{2}|C1083): .{1,80})"
        ),
    ),
    ("host-memory", re.compile(r"(fatal error: Killed signal terminated program \w{1,20})")),
    ("build", re.compile(r"(\bfatal error: [\w./+-]{1,120}: No such file or directory)")),
    (
        "build",
        re.compile(r"(No working C\+\+ compiler found|[Ff]ailed to find (?:a )?C(?:\+\+)? compiler.{0,40})"),
    ),  # PyTorch
    ("build", re.compile(r"(^CMake Error(?: at .{1,120})?)")),
    ("build", re.compile(r"(\bC(?:annot|ould not|ouldn't) find (?:ptxas|nvcc|hipcc|ld\.lld)\b\S{0,10})")),
    # triton-lang/triton 2.0 to 3.1. Thread: pytorch/pytorch issue 90136
    ("build", re.compile(r"(\b(?:ptxas|cuobjdump|nvdisasm|ld\.lld)\b.{1,120}\bworking version could not be found)")),
    (
        "build",
        re.compile(
            r"(\b(?:CUDA|ROCM|HIP|CUDNN|TENSORRT|NCCL|MPI)_(?:HOME|PATH|ROOT|DIR)\b"
            r".{0,40}?(?:does not exist|n[o']t (?:be )?(?:set|found|defined)|is unset))"
        ),
    ),
    # a part that was built with another release than the rest, or that asks for a newer one. Threads: NVIDIA/apex
    # issue 723, openai/consistency_models issue 23, lyulyul/shine-cluster issue 29
    (
        "build",
        re.compile(r"(\b(?:compiled|built) with a version of \S{1,40} that (?:does not|doesn't) match.{0,60})"),
    ),
    (
        "build",
        re.compile(
            r"(\bis only supported (?:on|with|by) (?:CUDA|ROCm|HIP|PyTorch|Python|CANN|NCCL) (?:>=? ?)?[0-9][0-9.]{0,6}"
            r"(?:\+| (?:and|or) (?:above|later|newer|higher|greater)))"
        ),
    ),
    ("build", re.compile(r"(\bbug fixed in \w{2,20} (?:version|release) [0-9][0-9.]{0,9})")),
    ("kernel-image", re.compile(r"(\bUnsupported \.version [0-9.]{1,8}; current version is .{1,12})")),
    # passes of a compiler of kernels that stop without a reason
    # Gaudi. Threads: huggingface/optimum-habana pull 1550 (a type that the generation lacks) and issue 1426
    (
        "kernel-compile",
        re.compile(r"(synNodeCreateWithId failed for node: .{1,60}|Graph compile failed\. synStatus.{0,30})"),
    ),
    # compilers of Neuron and of Gaudi, each by the tag of its errors
    ("kernel-compile", re.compile(r"(.{0,100}\[NCC_[A-Z]{1,8}[0-9]{1,4}\].{0,60}|\[NeuronAssert\] .{1,100})")),
    ("kernel-compile", re.compile(r"(MODULE:PT_BRIDGE Exception in Lowering thread.{0,40})")),
    ("kernel-compile", re.compile(r"(PassManager::run failed)")),
    ("kernel-compile", re.compile(r"(UNREACHABLE executed at .{0,160}Triton.{0,120})")),
)
"""Names of statements and the patterns of their lines."""
