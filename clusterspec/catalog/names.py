"""Ids of the entries that a name belongs to: product names, instance types, repositories of checkpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from clusterspec.catalog.export import CatalogRow, shipped_rows
from clusterspec.document.schema import letters_and_digits

CLOUDS = ("aws-", "azure-", "gcp-", "oci-")
"""Prefixes of the ids of instance types; the cloud's own name of the type lacks them."""
SHORT_NAMES = {"Google": "GCP", "Microsoft": "Azure", "Oracle": "OCI"}
"""The names of clouds in front of names of their instance types, by the first word of the vendor."""
_TUNING = re.compile(r"[-_ ](?:base|chat|hf|instruct|it)(?=[-_ ]|$)")
"""Words in repository names for variants that differ only in weights, not in shape."""
_PRECISION = re.compile(
    r"[-_](?:w-)?(?:(?:nv|mx)?fp[48]|(?:int|w)[248](?:a(?:4|8|16))?|[bf][pf](?:16|32)|[248]-?bit|awq|gptq|gguf|qat|quantized"
    r"|(?:unsloth-)?bnb-4bit)"
    r"(?:[-_.](?:v\d|dynamic|static|block|pertensor|ct|a-fp8|fp8|w\da\d+|int4|awq|mobile))*(?=[-_]|$)"
)
"""Words in repository names for quantized variants of the same shape: ``-NVFP4-v2``, ``-quantized.w8a8``."""
_QUANTIZED = (
    (r"nvfp4|(?<![a-z])fp4(?![a-z0-9])", "nvfp4"),
    (r"mxfp4", "mxfp4"),
    (r"fp8", "fp8"),
    (r"(?:int|w)8(?:a(?:8|16))?(?![a-z0-9])|8-?bit", "int8"),
    (r"(?:int|w)4(?:a(?:8|16))?(?![a-z0-9])|4-?bit|awq|gptq", "int4"),
)
"""Precisions of weights named in checkpoint names; AWQ and GPTQ without a width mean four bits."""
_DATED = re.compile(r"[-_](?:2[3-9](?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])[0-3]\d)(?=[-_]|$)")
"""Month and year, or month and day, of a later training of the same shape: ``-2512``, ``-0813``."""
_RELEASE = re.compile(r"(?:==|[ @]v?)\d[\w.]*$")
"""The release after the name of a framework or a library: ``vllm 0.30``, ``vllm==0.30.0``."""
_DESIGNATED = ("accelerator", "nic", "optics", "switch")
"""Kinds whose products are searched by a word of their name: B300, SN5600, BCM78900."""
_SOFTWARE = ("framework", "library")
_INSTANCE_PREFIX = re.compile(r"\b(?:ml\.|standard_)", re.IGNORECASE)
_BRACKETED = re.compile(r"\(([^()]*)\)")
_WORD = re.compile(r"[\w-]+")
_LONGEST = 96
"""Largest number of characters of a name that are compared; no name of the catalog is longer."""


def ids_of_name(kind: str, name: str) -> tuple[str, ...]:
    """The shipped ids of a kind that have this name, without regard to case, spaces and punctuation.

    A name may be the product name with or without its vendor, the designation in it, or another sales name. It may also
    be the instance type of a cloud, the repository of a checkpoint, or the name of software before a release. A part
    number matches an alias with a star by its start. A quantized or dated checkpoint without its own entry has the
    model's entry.

    >>> ids_of_name("platform", "ml.p5.48xlarge"), ids_of_name("model", "meta-llama/Llama-3.1-70B-Instruct")
    (('aws-p5-48xlarge',), ('llama-3.1-70b',))
    >>> ids_of_name("switch", "SN5600"), ids_of_name("accelerator", "Ironwood")
    (('spectrum-4-sn5600',), ('tpu-v7x',))
    >>> ids_of_name("nic", "MCX75310AAS-NEAT"), ids_of_name("model", "deepseek-ai/DeepSeek-R1-0528")
    (('connectx-7',), ('deepseek-r1',))
    >>> ids_of_name("platform", "GCP ct6e-standard-8t"), ids_of_name("nic", "Cornelis CN5000")
    (('tpu-v6e',), ('cn5000-hfa',))
    >>> ids_of_name("model", "RedHatAI/Qwen3-8B-quantized.w4a16"), ids_of_name("model", "Qwen/Qwen3-4B-2507-FP8")
    (('qwen3-8b',), ('qwen3-4b-2507',))
    """
    wanted = _comparable_name(kind, name[:_LONGEST])
    if not wanted:
        return _ids_of_plain_name(kind, name)
    found = _ids_of_full_names(kind).get(wanted) or _ids_of_designations(kind).get(wanted)
    return found or _ids_of_part_number(kind, wanted) or _ids_of_plain_name(kind, name)


_FILLERS = re.compile(
    r"\b(?:nvidia|amd|instinct|intel|tesla|geforce|tensor|core|blackwell|grace|hopper|ampere"
    r"|accelerators?|(?:[0-9]+[- ])?gpus?|hbm[0-9]?e?)\b"
)
"""Words of product names that ids leave out."""
_FORM = re.compile(r"\b(?:sxm[0-9]|nvlink)\b")
"""Sockets with NVLink; clouds name parts in one by the link (``H100_NVLINK_80GB``)."""


def ids_with_words(kind: str, name: str) -> tuple[str, ...]:
    """The shipped accelerators or platforms whose ids have all words of a name, in any order; empty for a name
    without a designation (``a100``, ``6000``), which tells one product from others.

    >>> ids_with_words("accelerator", "A100 80GB SXM4"), ids_with_words("platform", "HGX H100 8-GPU")
    (('a100-sxm-80gb',), ('hgx-h100',))
    >>> ids_with_words("accelerator", "nvidia-a100-80gb"), ids_with_words("accelerator", "80GB")
    (('a100-pcie-80gb', 'a100-sxm-80gb'), ())
    """
    plain = re.sub(r"[_/ ]+", " ", name[:_LONGEST].lower())
    joined = re.sub(r"\b([0-9]+) ?(?:gi?b)\b", r"\1gb", plain)
    words = set(re.findall(r"[a-z0-9.]+", _FORM.sub("sxm", _FILLERS.sub(" ", joined))))
    numbers = [word for word in words if not word.isalpha() and not word.endswith("gb")]
    telling = [word for word in numbers if not word.isdigit() or len(word) > 2]
    if kind not in {"accelerator", "platform"} or not telling or (kind == "platform" and len(words) < 2):
        return ()
    return tuple(row.id for row in _rows_of_kind(kind) if words <= {*row.id.split("-")})


@cache
def _ids_of_full_names(kind: str) -> dict[str, tuple[str, ...]]:
    """The ids of a kind by whole names in comparison form."""
    return _ids_by_name((row.id, _compared_names(row, _full_names(row))) for row in _rows_of_kind(kind))


@cache
def _ids_of_designations(kind: str) -> dict[str, tuple[str, ...]]:
    """The ids of a kind by the identifying parts of their names, in comparison form."""
    return _ids_by_name((row.id, _compared_names(row, _designations(row))) for row in _rows_of_kind(kind))


def _ids_by_name(named: Iterable[tuple[str, Iterable[str]]]) -> dict[str, tuple[str, ...]]:
    """The ids that have each name, in the order given."""
    found: dict[str, tuple[str, ...]] = {}
    for id_, names in named:
        for name in {*names}:
            found[name] = (*found.get(name, ()), id_)
    return found


def _ids_of_part_number(kind: str, name: str) -> tuple[str, ...]:
    """The ids whose part number begins a name in comparison form."""
    return tuple(id_ for id_, numbers in _part_numbers_of_kind(kind) if name.startswith(numbers))


@cache
def _part_numbers_of_kind(kind: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The ids of a kind that have part numbers, with these numbers."""
    found = ((row.id, tuple(_part_numbers(row))) for row in _rows_of_kind(kind))
    return tuple(each for each in found if each[1])


def _rows_of_kind(kind: str) -> Iterator[CatalogRow]:
    return (row for row in shipped_rows() if row.kind == kind)


def _ids_of_plain_name(kind: str, name: str) -> tuple[str, ...]:
    """The ids for a name without its suffix: the release of software, or the precision or else the date of a
    checkpoint.
    """
    name = name[:_LONGEST].lower() if kind == "model" else name[:_LONGEST]
    dropped = {"model": (_PRECISION, _DATED)}.get(kind, (_RELEASE,) if kind in _SOFTWARE else ())
    for pattern in dropped:
        if (shorter := pattern.sub("", name)) != name:
            return ids_of_name(kind, shorter)
    return ()


def _part_numbers(row: CatalogRow) -> Iterator[str]:
    """Prefixes of part numbers in comparison form: an alias that ends with a star matches any continuation."""
    for alias in row.aliases.split(", "):
        if alias.endswith("*"):
            yield _comparable_name(row.kind, alias)


def _compared_names(row: CatalogRow, names: Iterable[str]) -> Iterator[str]:
    """Each name in comparison form, alone and after its vendor, the vendor's first word or the cloud's short name."""
    makers = {"", row.vendor, row.vendor.partition(" ")[0], SHORT_NAMES.get(row.vendor.partition(" ")[0], "")}
    for name in names:
        yield from (_comparable_name(row.kind, f"{maker} {name}") for maker in makers)


def _full_names(row: CatalogRow) -> tuple[str, ...]:
    return (row.id, row.name, *filter(None, row.aliases.split(", ")))


def _designations(row: CatalogRow) -> Iterator[str]:
    """The identifying parts of a product name: words in brackets, a word with letters and digits, and an instance
    type's id without its cloud.
    """
    if row.kind == "platform":
        yield from map(row.id.removeprefix, CLOUDS)
    if row.kind not in _DESIGNATED:
        return
    yield from _BRACKETED.findall(row.name)
    words = [word for word in _WORD.findall(row.name.partition("(")[0].partition(",")[0]) if _is_designation(word)]
    if words and row.kind == "switch":  # after its family, and with the direction of its air: Quantum-X800 Q3400-RA
        yield from (words[-1], words[-1].rpartition("-")[0])
    elif words:
        yield words[0]


def _is_designation(word: str) -> bool:
    """Whether a word has letters and digits."""
    return any(each.isalpha() for each in word) and any(each.isdigit() for each in word)


def _comparable_name(kind: str, name: str) -> str:
    """A name in comparison form: its letters and digits. The owner and tuning words of a checkpoint are removed, and
    the prefixes of instance types: SageMaker's ``ml.``, Azure's ``Standard_``.
    """
    if kind == "model":
        name = _TUNING.sub("", name.lower().rpartition("/")[2])
    return letters_and_digits(_INSTANCE_PREFIX.sub("", name) if kind == "platform" else name)


def quantized_precision(name: str) -> str | None:
    """The precision of a checkpoint's weights, if its name says that they are quantized.

    >>> quantized_precision("nvidia/Llama-3.3-70B-Instruct-NVFP4"), quantized_precision("Qwen/Qwen3-32B-AWQ")
    ('nvfp4', 'int4')
    """
    plain = name[:_LONGEST].rstrip("/").split("/")[-1].lower().replace("_", "-")
    return next((kept for pattern, kept in _QUANTIZED if re.search(rf"-(?:{pattern})", plain)), None)
