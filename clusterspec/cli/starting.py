"""Starting specs for a platform and a model: the first of some common layouts without findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, product

from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.catalog.entries import Accelerator, Platform
from clusterspec.catalog.frameworks import framework_of
from clusterspec.catalog.models import Model
from clusterspec.cli import UsageFault
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Severity
from clusterspec.records import NamedTuple, dataclass
from clusterspec.rules.fabric.roce_without_flow_control import TECHNOLOGIES as LOSSY
from clusterspec.source import Path
from clusterspec.studies import Settings, Study, study_text

DEGREES = (1, 2, 4, 8, 16, 32, 64)
EXPERT_DEGREES = (8, 16, 32, 64)
NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
PRECISIONS = {"train": ("bf16", "fp16", "fp8", "fp32"), "serve": ("bf16", "fp16", "fp8", "fp4", "fp32")}
"""Precisions of GEMMs by kind of work, most usual first. A template uses the first with a published peak."""
LEAST_BYTES = {"train": 16, "serve": 1}
"""Minimum bytes per parameter over all accelerators: Adam with fp32 states in training, fp8 weights in serving."""
LEAST_BYTES_OF_RANK = {"train": 6, "serve": 1}
"""The part of `LEAST_BYTES` that data parallelism does not divide: bf16 weights and fp32 gradients in training, fp8
weights in serving.
"""
FRAMEWORKS = {"train": ("megatron-core", "maxtext", "neuronx-distributed"), "serve": ("vllm", "sglang")}
"""Frameworks by kind of work, most usual first. A template uses the first that runs on the vendor's accelerators."""
OTHER_FRAMEWORK = "custom"
OUTPUT_TOKENS = 256
"""Output tokens of a typical request. Prompt and output together fit in the model's context."""
USUAL_CONCURRENCY = 16
"""Requests in flight of a template. With more engines than this, one request per engine."""
COMMENTS = 32
"""The column of comments."""
UNSOUND = (100, 0, 0.0)
"""The rank of a spec with an error (see `_spec_rank`)."""
UNFIT = 10_000
"""The first number of the rank of a plan that does not fit. It is above the ranks of plans with errors."""
FLAWLESS = (0, 0, 0.0)
"""The rank of a spec without a warning or a note about the layout whose speed is not known; known speeds rank lower."""
MOST_ADVISED = 3
"""Maximum number of times that a spec is changed as its check advises, since advice on a key may lead to advice on its
value.
"""
UNEVEN = "layers-indivisible-by-pp"
"""The rule that asks for the layers of each stage. If there are many stages, its message does not list the layers."""
MOST_BETTERED = 100
"""Number of layouts to try after the first without a warning, to find a faster one without a note about the layout."""
ADVISED = (
    ("cluster", "scale_out", "placement"),
    ("cluster", "scale_out", "collective_plugin"),
    ("layout", "stage_layers"),
)
"""Keys that a template states with the advised value if the check asks for them."""
MOST_TRIED = 1000
"""Maximum number of layouts to try; an estimate takes a millisecond."""
MOST_NAMED = 16
"""Maximum number of ids to list if a name is the first word of several ids."""
INHERENT = {
    "unreleased-hardware": "announced; confirm the delivery date",
    "precision-unsupported": "no peak is published; state `peak_flops` once it is known",
    "shared-nic": "the NICs that the platform has",
}
"""Warnings about the platform itself that no layout avoids, each with the reason for the template's waiver."""
KEEPING = frozenset({"tp-over-latent-attention"})
"""Rules whose notes on a small load advise keeping the layout."""
MOST_OF_NODES = 400
"""Maximum number of layouts tried for one number of nodes."""


@dataclass(frozen=True)
class Attempt:
    """A candidate layout: number of nodes, degrees of parallelism and precision."""

    nodes: int
    tp: int
    pp: int
    ep: int
    recompute: str
    precision: str
    ranks: int

    @property
    def global_batch(self) -> int:
        """A global batch in sequences that is divisible by the data-parallel ranks: at least 256, at least eight per
        node, and large enough that the pipeline bubble, (pp - 1) / (micro-batches + pp - 1), is at most a tenth of the
        step.
        """
        copies = max(self.ranks // (self.tp * self.pp), 1)
        least = max(256, self.nodes * 8, 9 * (self.pp - 1) * copies)
        return -(-least // copies) * copies

    def text(
        self, platform: Platform, model: Model, kind: str, framework: str, advised: Mapping[Path, str] | None = None
    ) -> str:
        """The commented spec; ``advised`` are the values of `ADVISED` keys."""
        advised = advised or {}
        length = min(model.max_sequence_length or 8192, 8192)
        training = f"""\
  sequence_length: {length}  # tokens
  global_batch: {self.global_batch}  # sequences per optimizer step
  precision: {self.precision}
"""
        published = _checkpoint_text(model) if kind == "serve" and self.precision == PRECISIONS[kind][0] else ""
        stated = "" if published else f"  precision: {self.precision}\n"
        prompt = min(2048, max(length - OUTPUT_TOKENS, 1))
        serving = f"""\
  kind: serve
{stated}  serving:
    input_tokens: {prompt}  # of a usual request
    output_tokens: {OUTPUT_TOKENS}
    concurrency: {max(USUAL_CONCURRENCY, self.ranks // (self.tp * self.pp))}  # requests in flight
"""
        layout = f"  framework: {framework}\n  tp: {self.tp}  # ranks that divide each layer (tensor parallelism)\n"
        if kind == "train" or self.pp > 1:
            layout += f"  pp: {self.pp}  # pipeline stages\n"
        if self.ep > 1:
            layout += f"  ep: {self.ep}  # ranks that the experts of a layer lie on\n"
            layout += "  expert_tp: 1  # ranks that divide each expert\n" if self.tp > 1 else ""
        if (stages := advised.get(("layout", "stage_layers"))) is not None:
            layout += f"  stage_layers: {stages}\n"
        if kind == "train":
            layout += "  micro_batch: 1  # sequences\n"
            layout += f"  recompute: {self.recompute}  # none, selective or full\n"
        return aligned_spec(f"""\
# yaml-language-server: $schema=https://raw.githubusercontent.com/clusterspec/clusterspec/main/schemas/editor.schema.json
# {platform.name}, for {"training" if kind == "train" else "serving"} {model.name}. `clusterspec check FILE` checks it,
# `clusterspec estimate FILE` predicts memory and time.
clusterspec: 1
name: {platform.id}-{model.id}

cluster:
  platform: {platform.id}  # fills every key of the cluster that is not given here
  nodes: {self.nodes}  # nodes that do work; `spare_nodes` come on top
{_scale_out_text(platform, advised)}
workload:
  model: {model.id}  # {published or "a catalog entry, or a mapping that describes the model"}
{training if kind == "train" else serving}
layout:
{layout}""")


def _scale_out_text(platform: Platform, advised: Mapping[Path, str]) -> str:
    """The `scale_out` keys of a template: advised values, and flow control of a RoCE fabric unless the platform's
    provider states it.
    """
    lines = [f"    {path[-1]}: {value}\n" for path, value in advised.items() if path[:2] == ("cluster", "scale_out")]
    stated = platform.cloud or platform.pfc is not None or platform.ecn is not None
    if not stated and LOSSY.intersection(platform.technologies[:1]):
        lines.append("    flow_control: {pfc: true, ecn: true}  # RoCE drops packets without it\n")
    return "  scale_out:\n" + "".join(lines) if lines else ""


def _checkpoint_text(model: Model) -> str:
    """A comment on the weight precision that comes from the model's published checkpoint; empty for plain bf16."""
    weights, experts = model.checkpoint_precision, model.checkpoint_expert_precision
    if weights is None or {weights, experts} <= {"bf16", None}:
        return ""
    return f"weights as in the published checkpoint: {weights}" + (f", experts {experts}" if experts else "")


def aligned_spec(text: str) -> str:
    """A spec with its comments in one column.

    >>> print(aligned_spec("nodes: 4  # that work\\nplatform: dgx-h100  # an entry"))
    nodes: 4                        # that work
    platform: dgx-h100              # an entry
    """
    split = (line.partition("  # ") for line in text.split("\n"))
    return "\n".join(f"{left.ljust(COMMENTS - 2)}{mark}{right}" if mark else left for left, mark, right in split)


class RankedSpec(NamedTuple):
    """A spec with its study and its rank: `FLAWLESS` or lower is best, `UNSOUND` or higher has errors."""

    text: str
    study: Study
    rank: tuple[int, int, float]


class StartingSpec(NamedTuple):
    """The text of a spec, and whether the plan has no errors and fits in memory. ``errors`` are the errors of a plan
    that fits, as sentences.
    """

    text: str
    sound: bool
    errors: tuple[str, ...] = ()

    @classmethod
    def of(cls, best: RankedSpec | None) -> StartingSpec:
        """The spec with waivers of what is inherent to its platform; an empty text without one."""
        if best is None:
            return cls("", False)
        sound = best.rank < UNSOUND
        return cls(_waived_spec(best.text, best.study), sound, () if sound else _error_sentences(best.study))


def starting_spec(settings: Settings, platform: str, model: str, kind: str, nodes: int | None = None) -> StartingSpec:
    """The best spec of the candidate layouts, on the fewest nodes that have one without a warning or a note about the
    layout. Without candidates, the text is empty. Raises `UsageFault` for unknown names.
    """
    machine = _catalog_entry(settings.catalog, "platform", platform)
    network = _catalog_entry(settings.catalog, "model", model)
    if not isinstance(machine, Platform) or not isinstance(network, Model):
        raise UsageFault("the catalog entry is of another kind")
    chip = settings.catalog.find("accelerator", machine.accelerator or "")
    tried = candidate_layouts(machine, chip if isinstance(chip, Accelerator) else None, network, kind, nodes)
    usual = [*_usual_frameworks(settings.catalog, chip.vendor if isinstance(chip, Accelerator) else "", kind)]
    framework = ""

    def spec_of(attempt: Attempt) -> RankedSpec:
        nonlocal framework
        framework = framework or _running_framework(usual, partial(attempt.text, machine, network, kind), settings)
        return _advised_spec(partial(attempt.text, machine, network, kind, framework), settings)

    return StartingSpec.of(_best_spec(tried, spec_of))


def _best_spec(tried: Iterable[Attempt], spec_of: Callable[[Attempt], RankedSpec]) -> RankedSpec | None:
    """The spec of the lowest rank on the fewest nodes that have one without flaws of its layout; None without layouts.

    After a sound one, at most `MOST_BETTERED` others are tried.
    """
    best, on, left = None, 0, MOST_TRIED
    for attempt in tried:
        if best is not None and best.rank <= FLAWLESS and attempt.nodes > on:
            break
        found = spec_of(attempt)
        if best is None or found.rank < best.rank:
            best, on = found, attempt.nodes
        left = min(left, MOST_BETTERED + 1) - 1 if best.rank[0] == 0 else left - 1
        if best.rank == FLAWLESS or left <= 0:
            break
    return best


def _error_sentences(study: Study) -> tuple[str, ...]:
    """The errors of a plan that fits, each with its rule; none for a plan that does not fit."""
    if study.plan.fits is False:
        return ()
    errors = [one for one in study.checked.findings if one.severity is Severity.ERROR]
    return tuple(f"{one.message} ({one.rule})" for one in errors)


def _advised_spec(text_with: Callable[[Mapping[Path, str]], str], settings: Settings) -> RankedSpec:
    """The spec of a layout, with the `ADVISED` keys that its check asks for."""
    advised: dict[Path, str] = {}
    best = _ranked_spec(text_with(advised), settings)
    last = best
    for _ in range(MOST_ADVISED):
        asked = {} if last.rank >= UNSOUND else _advised_values(last.study)
        if asked.items() <= advised.items():
            break
        advised |= asked
        last = _ranked_spec(text_with(advised), settings)
        best = last if last.rank <= best.rank else best
    return best


def _ranked_spec(text: str, settings: Settings) -> RankedSpec:
    """A spec with its study and its rank."""
    study = study_text(text, settings)
    return RankedSpec(text, study, _spec_rank(study))


def _advised_values(study: Study) -> dict[Path, str]:
    """The values of `ADVISED` keys that findings name in their help."""
    offered = [(one.path, match) for one in study.checked.findings for match in _ADVICE.findall(one.help or "")]
    found: dict[Path, str] = {
        path: value
        for path in ADVISED
        for at, (key, value) in offered
        if key == path[-1] and at[: len(path) - 1] == path[:-1]
    }
    layout = study.design.layout
    if UNEVEN in {one.rule for one in study.checked.findings} and layout is not None and layout.stage_layers:
        found.setdefault(("layout", "stage_layers"), str([*layout.stage_layers]))
    return found


_ADVICE = re.compile(r"`(\w{1,40}): ([^`]{1,400})`")
"""A key with a value, as the help of a finding writes it."""


def _usual_frameworks(catalog: Catalog, vendor: str, kind: str) -> Iterator[str]:
    """The frameworks that run on accelerators of a vendor, the most usual first."""
    yield from (name for name in FRAMEWORKS[kind] if vendor in framework_of(name, catalog).vendors)
    yield OTHER_FRAMEWORK


def _running_framework(usual: Sequence[str], text_with: Callable[[str], str], settings: Settings) -> str:
    """The first framework whose release of today runs on the accelerator."""
    for name in usual:
        findings = study_text(text_with(name), settings).findings
        if all(each.rule != "framework-not-on-accelerator" for each in findings):
            return name
    return OTHER_FRAMEWORK


def _waived_spec(text: str, study: Study) -> str:
    """A spec with waivers of the warnings about the platform itself, each with its reason."""
    lines = text.split("\n")
    found = [one for one in study.checked.findings if one.rule in INHERENT and one.severity is Severity.WARNING]
    for one in sorted(found, key=lambda one: one.span.start.line, reverse=True):
        at = one.span.start.line - 1
        indent = " " * (len(lines[at]) - len(lines[at].lstrip(" ")))
        lines.insert(at, f"{indent}# clusterspec: ignore[{one.rule}]: {INHERENT[one.rule]}")
    return "\n".join(lines)


def _spec_rank(study: Study) -> tuple[int, int, float]:
    """The rank of a spec; lower is better. Without errors it consists of the numbers of warnings and of notes about the
    layout, and of the negative tokens per second of an accelerator in training. With errors it consists of their
    number, the nodes and the warnings, since more nodes do not fix errors of the machine. For a plan that does not
    fit, it contains the memory in bytes.

    The rules do not run for a plan that does not fit, since that is already an error. Findings that no layout avoids do
    not count.
    """
    if study.plan.fits is False:
        return UNFIT, 0, study.plan.memory_bytes or 0.0
    found = [one for one in study.checked.findings if one.rule not in INHERENT or one.severity is Severity.ERROR]
    notes = [one for one in found if one.severity is Severity.NOTE and one.path[:1] == ("layout",)]
    notes = [one for one in notes if one.rule not in KEEPING]
    errors, warnings = (sum(one.severity is each for one in found) for each in (Severity.ERROR, Severity.WARNING))
    if errors:
        return UNSOUND[0] * errors, study.design.cluster.nodes if study.design.cluster else 0, float(warnings)
    return warnings, len(notes), -(study.plan.tokens_per_second_per_accelerator or 0.0)


def candidate_layouts(
    platform: Platform, chip: Accelerator | None, model: Model, kind: str, nodes: int | None
) -> Iterator[Attempt]:
    """Candidate layouts on ``nodes`` nodes. If no number is given, on increasing numbers of nodes, or of the units in
    which the platform is sold, that have enough memory for the parameters.
    """
    units = NODES[_fewest_nodes(platform, chip, model, kind) :]
    for number in (nodes,) if nodes else (platform.sold_nodes * each for each in units):
        yield from islice(_layouts_on_nodes(number, platform, chip, model, kind), MOST_OF_NODES)


def _layouts_on_nodes(
    nodes: int, platform: Platform, chip: Accelerator | None, model: Model, kind: str
) -> Iterator[Attempt]:
    """Candidate layouts on some nodes, with the lowest degrees first, whose ranks hold their share of the model.

    Pipeline stages are added once tp fills a node, or the largest power of two that divides it (`node & -node`). On
    accelerators joined by PCIe, over which tp is slow, they are added from the start.
    """
    each = chip.ranks_per_accelerator if chip else 1
    node = (platform.accelerators_per_node or 1) * each
    reach, ranks = (platform.domain or platform.accelerators_per_node or 1) * each, nodes * node
    precision = _usual_precision(chip, kind)
    cut = model_weights(model).total * LEAST_BYTES_OF_RANK[kind] / chip.memory.value if chip and chip.memory else 1
    stages = sorted({*DEGREES, *(pp for pp in range(1, DEGREES[-1] + 1) if nodes % pp == 0)})
    usual = 1 if _is_joined_by_pcie(platform, chip) else min(node & -node, 4)
    for recompute in ("none", "selective", "full") if kind == "train" else ("none",):
        for ep in _expert_degrees(model, ranks, kind):
            for pp, tp in product(stages, DEGREES):
                split = pp * max(tp, ep)  # whole experts on each rank of ep: tp divides only the other weights
                whole = tp <= reach and split <= ranks and ranks % split == 0 and split >= cut
                if whole and pp <= (model.layers or pp) and (pp == 1 or ep > 1 or tp >= usual):
                    yield Attempt(nodes, tp, pp, ep, recompute, precision, ranks)


def _is_joined_by_pcie(platform: Platform, chip: Accelerator | None) -> bool:
    """Whether the accelerators of a node have no scale-up interconnect of their own."""
    joined = (platform.interconnect,) if platform.interconnect else chip.interconnects[:1] if chip else ()
    return any(name.startswith("pcie") for name in joined)


def _usual_precision(chip: Accelerator | None, kind: str) -> str:
    """The most usual precision with a published peak, else one that the accelerator supports."""
    supported = (chip.peaks, chip.unpublished_peaks) if chip else ()
    return next((one for known in supported for one in PRECISIONS[kind] if one in known), "bf16")


def _fewest_nodes(platform: Platform, chip: Accelerator | None, model: Model, kind: str) -> int:
    """The index in `NODES` of the smallest number of nodes, or of units of sale, with enough memory for the
    parameters.
    """
    if chip is None or not chip.memory:
        return 0
    needed = model_weights(model).total * LEAST_BYTES[kind]
    each = platform.sold_nodes * (platform.accelerators_per_node or 1) * chip.memory.value
    return next((number for number, nodes in enumerate(NODES) if nodes * each >= needed), len(NODES) - 1)


def _expert_degrees(model: Model, ranks: int, kind: str) -> tuple[int, ...]:
    """The degrees of expert parallelism to try."""
    if kind != "train" or not model.experts:
        return (1,)
    return (*(ep for ep in EXPERT_DEGREES if model.experts % ep == 0 and ep <= ranks), 1)


def _catalog_entry(catalog: Catalog, kind: str, name: str) -> object:
    try:
        found = catalog.find(kind, name)
    except BrokenEntry as fault:
        raise UsageFault(str(fault)) from None
    if found is None:
        whole_word = re.compile(re.escape(name.lower()) + ("(?![a-z0-9])" if name[-1:].isdigit() else "(?![a-z])"))
        begun = [id_ for id_ in catalog.ids(kind) if whole_word.match(id_)]
        near = ", ".join(catalog.nearest_ids(kind, name))
        advice = f"nearest: {near}" if near else f"`clusterspec catalog list {kind}` lists them"
        if len(begun) > 1:  # the first word of several names: the nearest by spelling are only the shortest
            more = f" … (`clusterspec catalog list {kind}` lists all)" if len(begun) > MOST_NAMED else ""
            advice = f"there are {', '.join(begun[:MOST_NAMED])}{more}"
        raise UsageFault(f"the catalog has no {kind} {name!r}; {advice}")
    return found
