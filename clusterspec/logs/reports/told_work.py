"""Whether a program that ran out of memory trains or serves, by what it printed or what a person tells of it."""

from __future__ import annotations

import re

from clusterspec.logs.text_lines import line_at

WORK = "work"
"""The name of the statement; its text is `TRAINS` or `SERVES`."""
TRAINS, SERVES = "train", "serve"
_FULL = re.compile(r"[Oo]ut ?[Oo]f ?[Mm]emory|\bOOM\b|ALLOC_FAILED|\b[Oo]om\b|OUT_OF_(?:DEVICE_)?MEMORY|memory is full")
_OF_TRAINING = re.compile(
    r"\bloss(?:\.backward|\b['\"]?[ :=]{1,3}[0-9n])|\.backward\(|\boptimizers?(?:\.step|\b)"
    r"|\b(?:pre|fine-?)?train(?:er|ing|s)?\b"
    r"|\b(?:pretrain|finetun\w{0,3}|grad(?:ient)?s?(?:_norm)?|micro-?batch(?:es)?|epochs?|SFT|DDP|FSDP2?|ZeRO|DeepSpeed"
    r"|deepspeed|Megatron(?:-LM)?|torchtitan|MaxText|LoRA)\b"
)
"""Words of a run that trains."""
_OF_SERVING = re.compile(
    r"\b(?:vLLM|vllm|SGLang|sglang|sglang::\w{1,20}|TensorRT-LLM|trtllm\w{0,12}|EngineCore|api_server|launch_server|LMDeploy"
    r"|lmdeploy|text-generation-inference|KV cache|kv_cache|max_model_len|max-model-len|gpu_memory_utilization"
    r"|gpu-memory-utilization|mem[-_]fraction[-_]static|inference|requests?|[Pp]refill|[Dd]ecode)\b"
)
"""Words of an engine that serves."""


def work_statement(text: str) -> tuple[str, str, int] | None:
    """What a program that ran out of memory did, with the line that tells it; None where it did both or neither.

    >>> work_statement("step 3 loss: 2.1\\ntorch.OutOfMemoryError: CUDA out of memory.")
    ('work', 'train', 1)
    >>> work_statement("EngineCore failed\\ntorch.OutOfMemoryError: CUDA out of memory.")
    ('work', 'serve', 1)
    >>> work_statement("torch.OutOfMemoryError: CUDA out of memory.") is None
    True
    """
    if not _FULL.search(text):
        return None
    trains, serves = _OF_TRAINING.search(text), _OF_SERVING.search(text)
    if (trains is None) == (serves is None):
        return None
    found = trains or serves
    assert found is not None
    return WORK, TRAINS if trains else SERVES, line_at(text, found.start())
