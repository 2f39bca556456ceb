"""Scripts of OLMo-core (Python), which call the classes of its configuration.

Names and units: allenai/OLMo-core 66d8fb2e (as edu-llm/OLMo-core has it),
src/olmo_core/train/train_module/transformer/train_module.py line 76 and data/data_loader.py line 274:
``rank_microbatch_size`` and ``global_batch_size`` count tokens; internal/experiment.py lines 325 to 383: ``common``
holds what the script gives to ``build_config``. ``NumpyFSLDatasetConfig`` fills its samples to one length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.workloads.call_values import KeywordValue, keyword_values
from clusterspec.exchange.workloads.keys import OPEN_COUNT, positive_integer_of

OLMO_CORE = "olmo-core"
_MARKS = (
    re.compile(r"^[ \t]*(?:from|import)[ \t]+olmo_core\b", re.MULTILINE),
    re.compile(r"\bTransformerTrainModuleConfig\("),
    re.compile(r"\brank_microbatch_size[ \t]*="),
)
_LENGTHS = ("max_sequence_length", "sequence_length")
_DEGREES = {
    "layout.tp": ("TransformerTensorParallelConfig", "TensorParallelConfig"),
    "layout.cp": ("TransformerContextParallelConfig", "ContextParallelConfig"),
    "layout.pp": ("TransformerPipelineParallelConfig", "PipelineParallelConfig"),
    "layout.ep": ("TransformerExpertParallelConfig", "ExpertParallelConfig"),
}
_SHARDING = {"fsdp": "fsdp", "hsdp": "hsdp", "ddp": "none"}
_DTYPES = {"bfloat16": "bf16", "float32": "fp32", "float16": "fp16"}


def matches_olmo_core(file: InputFile) -> bool:
    return file.name.endswith(".py") and all(mark.search(file.text) for mark in _MARKS)


def read_olmo_core(file: InputFile) -> ImportResult:
    """The batch, the lengths and the layout of a run. Raises `FormatError` if its length or batches are undecided."""
    found, builder = keyword_values(file), ImportBuilder(OLMO_CORE, file.name)
    length = _decided(found, _LENGTHS, builder)
    if length is None:
        raise FormatError("is no script of OLMo-core that states one length of its samples")
    builder.set("workload.kind", "train", length.line)
    builder.set("workload.sequence_length", length.value, length.line)
    for path, name in (("workload.global_batch", "global_batch_size"), ("layout.micro_batch", "rank_microbatch_size")):
        if not _is_changed(name, file, builder):
            _set_samples(path, _decided(found, (name,), builder), length.value, builder)
    if nodes := _decided(found, ("num_nodes",), builder):
        builder.set("layout.nodes", nodes.value, nodes.line)
    _set_degrees(found, builder)
    _set_sharding(found, builder)
    model = next((each for each in found if each.name.startswith("TransformerConfig.")), None)
    line = model.line if model else file.line_of(r"\bTransformerConfig\.")
    builder.unknown("the model", "a function of OLMo-core makes it: state workload.model", line)
    return builder.reading()


def _decided(found: Iterable[KeywordValue], names: tuple[str, ...], builder: ImportBuilder) -> KeywordValue | None:
    """The one positive count that calls give a keyword of these names; what differs is listed."""
    for name in names:
        stated = [each for each in found if each.keyword == name]
        counts = {positive_integer_of(each.value): each for each in stated if each.is_known and each.value is not None}
        counts.pop(None, None)
        if len(counts) == 1:
            return next(iter(counts.values()))
        if stated:
            why = "calls give it different values" if len(counts) > 1 else OPEN_COUNT
            builder.unknown(name, why, stated[0].line)
        if len(counts) > 1:
            return None
    return None


def _is_changed(name: str, file: InputFile, builder: ImportBuilder) -> bool:
    """Whether the script assigns a keyword of a call again, as an attribute; such a keyword is listed."""
    changed = re.search(rf"[\w.]{{1,60}}\.{name}[ \t]{{0,9}}(?://|[*+-])?=(?!=)", file.text)
    if changed:
        name = excerpt(changed[0].rstrip("/*+-= \t"))
        builder.unknown(name, "assigned again after the call", file.line_at(changed.start()))
    return changed is not None


def _set_samples(path: str, tokens: KeywordValue | None, length: int, builder: ImportBuilder) -> None:
    """Set a number of samples by the number of their tokens."""
    if tokens is None:
        return
    if tokens.value % length == 0:
        builder.set(path, tokens.value // length, tokens.line)
    else:
        why = f"not a multiple of samples of {length} tokens"
        builder.unknown(f"{tokens.keyword}: {excerpt(tokens.value)}", why, tokens.line)


def _set_degrees(found: list[KeywordValue], builder: ImportBuilder) -> None:
    """Set the degrees of parallelism that one call each states."""
    for path, classes in _DEGREES.items():
        stated = [each for each in found if each.called.partition(".")[0] in classes and each.keyword == "degree"]
        degrees = {positive_integer_of(each.value) if each.is_known else None for each in stated}
        if len(degrees) == 1 and (degree := degrees.pop()):
            builder.set(path, degree, stated[0].line)
        elif stated:
            builder.unknown(path, "several degrees, or computed elsewhere", stated[0].line)


def _set_sharding(found: list[KeywordValue], builder: ImportBuilder) -> None:
    """Set the kind of data parallelism and the type of its parameters, each by the one name that calls give it."""
    kinds = {each.name.rpartition(".")[2]: each for each in found if "DataParallelType." in each.name}
    types = {each.name.rpartition(".")[2]: each for each in found if each.keyword == "param_dtype"}
    if len(kinds) == 1 and (kind := next(iter(kinds))) in _SHARDING:
        builder.set("layout.framework", "fsdp" if kind != "ddp" else None, kinds[kind].line)
        builder.set("layout.sharding", _SHARDING[kind], kinds[kind].line)
    elif kinds:
        builder.unknown(
            "layout.sharding", "calls give several kinds of data parallelism", next(iter(kinds.values())).line
        )
    if len(types) == 1 and (kind := next(iter(types))) in _DTYPES:
        builder.set("workload.precision", _DTYPES[kind], types[kind].line)
