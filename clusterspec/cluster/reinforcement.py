"""Resolves reinforcement learning: its samples, its roles on their nodes, and the trainer as an ordinary workload.

The trainer packs samples into sequences of `sequence_length` tokens. Each sequence holds the same whole number of
samples of mean length, so the tokens per step are exact for every layout.
"""

from __future__ import annotations

from math import exp

from clusterspec.cluster.degrees import job_nodes, nodes_per_domain
from clusterspec.cluster.model import Cluster, Workload
from clusterspec.cluster.requests import NORMAL_99, Lengths
from clusterspec.cluster.resolution import ResolutionLog
from clusterspec.cluster.samples import Rl, Role, WeightSync
from clusterspec.cluster.serving import resolved_lengths
from clusterspec.finding import Problem
from clusterspec.records import replace
from clusterspec.source import Path
from clusterspec.spec.model import LayoutSpec, LengthsSpec, RlSpec, RoleSpec, RolloutSpec, WeightSyncSpec, WorkloadSpec
from clusterspec.units import plural
from clusterspec.units.display import joined_words

KEY = "workload.rl"
RL_PATH: Path = ("workload", "rl")
ROLES = {"ppo": ("reference", "critic"), "grpo": ("reference",), "rloo": ("reference",), "dapo": ()}
"""The models in addition to the trained one, by algorithm: PPO (arXiv 2203.02155), GRPO (arXiv 2402.03300), RLOO (arXiv
2402.14740), and DAPO, which has no reference (arXiv 2503.14476, section 2.3).
"""
USUAL_SPREAD = 0.7
"""Standard deviation of the logarithms of answers where the spec states no 99th percentile."""
SPREAD_99 = exp(NORMAL_99 * USUAL_SPREAD - USUAL_SPREAD * USUAL_SPREAD / 2)
"""The 99th percentile of such answers over their mean."""
BUCKET = float(2**30)
"""Bytes of weights sent at a time: 1 GiB."""


def resolve_rl(section: WorkloadSpec, layout: LayoutSpec | None, cluster: Cluster, log: ResolutionLog) -> Rl | None:
    """The samples and roles; None, with problems, where a number is missing."""
    rl = section.rl or RlSpec()
    needed = (
        ("prompts_per_step", "the samples of a step depend on it", "write the prompts of one step"),
        ("input_tokens", "the cache and every time depend on it", "write the tokens of a prompt"),
        ("output_tokens", "rollout and training depend on it", "write the tokens that a sample generates"),
    )
    for key, why, remedy in needed:
        if getattr(rl, key) is None:
            log.report_missing((*RL_PATH, key), why, remedy)
    inputs = resolved_lengths(rl.input_tokens, (*RL_PATH, "input_tokens"), log)
    outputs = _with_spread(rl.output_tokens, log) or resolved_lengths(
        rl.output_tokens, (*RL_PATH, "output_tokens"), log
    )
    if inputs is None or outputs is None or rl.prompts_per_step is None:
        return None

    def stated_number(key: str, otherwise: int, why: str) -> int:
        found: int = log.written_or_assumed(getattr(rl, key), f"{KEY}.{key}", otherwise, why)
        return found

    pool = rl.rollout.pool if rl.rollout else None
    samples_of_prompt = stated_number("samples_per_prompt", 1, "one sample of each prompt")
    minibatches = stated_number("minibatches", 1, "one optimizer step on each batch: on policy")
    algorithm = log.written_or_assumed(rl.algorithm, f"{KEY}.algorithm", "grpo", "usual for verifiable rewards")
    placement = _resolved_placement(rl, log)
    trainer, rollout = _trainer_and_rollout_nodes(rl, layout or LayoutSpec(), placement, cluster, log)
    return Rl(
        algorithm=algorithm,
        prompts=rl.prompts_per_step,
        samples_per_prompt=samples_of_prompt,
        inputs=inputs,
        outputs=outputs,
        turns=rl.turns or 1,
        environment_time=rl.environment_time.value if rl.environment_time else 0.0,
        minibatches=minibatches,
        epochs=rl.epochs or 1,
        max_staleness=stated_number("max_staleness", 0, "rollout waits for new weights: on policy"),
        placement=placement,
        trainer_nodes=trainer,
        rollout_nodes=rollout,
        roles=tuple(_used_roles(rl, algorithm)),
        sync=_weight_sync(rl.weight_sync or WeightSyncSpec(), placement, section, log),
        rollout_pool=pool,
        recorded=rl.log_probabilities == "rollout",
        batches_in_flight=rl.batches_in_flight or float(rl.max_staleness or 0),
    )


def _with_spread(written: int | LengthsSpec | None, log: ResolutionLog) -> Lengths | None:
    """The output lengths with an assumed 99th percentile, if the spec states a mean but no 99th percentile;
    else None.
    """
    if not isinstance(written, LengthsSpec) or written.mean is None or written.p99 is not None:
        return None
    if written.max is not None and written.max < written.mean:
        return None  # the two disagree
    why = f"answers vary log-normally, the logarithms by {USUAL_SPREAD:g}, before they are cut"
    return Lengths(
        written.mean, log.assume(f"{KEY}.output_tokens.p99", int(SPREAD_99 * written.mean), why), written.max
    )


def _resolved_placement(rl: RlSpec, log: ResolutionLog) -> str:
    own = rl.rollout is not None and (rl.rollout.nodes is not None or rl.rollout.pool is not None)
    why = "rollout has nodes of its own" if own else "rollout states no nodes of its own"
    found: str = log.written_or_assumed(rl.placement, f"{KEY}.placement", "split" if own else "colocated", why)
    if found != "split" and rl.rollout is not None and rl.rollout.pool is not None:
        message = f"rollout is on pool `{rl.rollout.pool}`, and the placement `{found}` has it on the trainer's nodes"
        log.problems.append(
            Problem(
                "keys-disagree",
                (*RL_PATH, "placement"),
                message,
                "write `placement: split`, or drop the pool of rollout",
            )
        )
        return "split"
    return found


def _trainer_and_rollout_nodes(
    rl: RlSpec, layout: LayoutSpec, placement: str, cluster: Cluster, log: ResolutionLog
) -> tuple[int, int]:
    """Number of nodes of the trainer, and of separate rollout nodes."""
    rollout, key = rl.rollout or RolloutSpec(), f"{KEY}.rollout.nodes"
    free = cluster.nodes - sum(nodes for _, nodes in _role_nodes(rl))
    of_domains = placement == "colocated" and nodes_per_domain(layout, cluster) is not None
    stated = job_nodes(layout, cluster) if of_domains else layout.nodes
    own = 0
    split = rollout.pool is None and placement != "colocated"
    if split:
        left = free - stated if stated is not None else free // 2
        why = "the nodes that the trainer leaves" if stated is not None else "half of the nodes"
        own = rollout.nodes or _assumed_role_nodes(key, left, why, log)
    why = "all nodes of the pool" if rollout.pool is not None else "the nodes that rollout leaves"
    trainer = stated or (
        _assumed_role_nodes("layout.nodes", free - own, why, log) if split or rollout.pool is not None else max(0, free)
    )
    lacking = [*["the trainer"] * (not trainer), *["rollout"] * (split and not own)]
    if (trainer + own > free or lacking) and (stated or 0) <= cluster.nodes:
        log.problems.append(_missing_nodes_problem(rl, layout, cluster.nodes, lacking))
    if rollout.pool is None:
        return trainer, own
    away = (log.spec.pools or {}).get(rollout.pool)
    there = (away.nodes if away is not None else None) or 1
    return trainer, rollout.nodes or log.assume(key, there, "all nodes of the pool of rollout")


def _assumed_role_nodes(key: str, left: int, why: str, log: ResolutionLog) -> int:
    """The number of nodes that a role is assumed to have; 0 if the other roles leave no node."""
    found: int = log.assume(key, left, why) if left > 0 else 0
    return found


def _role_nodes(rl: RlSpec) -> list[tuple[str, int]]:
    """The roles on separate nodes in the cluster of the trainer, each with its nodes."""
    roles = ((name, getattr(rl, name)) for name in ("reference", "critic", "reward"))
    return [(name, role.nodes) for name, role in roles if role is not None and role.pool is None and role.nodes]


def _missing_nodes_problem(rl: RlSpec, layout: LayoutSpec, nodes: int, lacking: list[str]) -> Problem:
    """The problem reported if the roles need more nodes than the cluster has, or leave no node for the ``lacking``
    roles.
    """
    stated = rl.rollout.nodes if rl.rollout is not None and rl.rollout.pool is None else None
    named = [*([("the trainer", layout.nodes)] if layout.nodes else []), *([("rollout", stated)] if stated else [])]
    named += _role_nodes(rl)
    remedy = "let the nodes of all roles fit the cluster"
    if not named:
        message = f"the trainer and rollout need a node each, but the cluster has {plural(nodes, 'node')}"
        return Problem("keys-disagree", (*RL_PATH, "placement"), message, remedy)
    have = joined_words([f"{name} {'has ' if not at else ''}{count:,}" for at, (name, count) in enumerate(named)])
    rest = f", which leaves none for {joined_words(lacking)}" if lacking else ""
    of_roles: Path = (*RL_PATH, named[-1][0], "nodes")
    path = (*RL_PATH, "rollout", "nodes") if stated else ("layout", "nodes") if layout.nodes else of_roles
    return Problem("keys-disagree", path, f"{have} of the {plural(nodes, 'node')}{rest}", remedy)


def _used_roles(rl: RlSpec, algorithm: str) -> list[Role]:
    """The models that the algorithm needs, and further ones that the spec names."""
    found = []
    for name in ("reference", "critic", "reward"):
        written: RoleSpec | None = getattr(rl, name)
        if written is not None or name in ROLES[algorithm]:
            section = written or RoleSpec()
            found.append(Role(name, section.model, section.nodes, bool(section.offload), section.pool))
    return found


def rollout_weights(rollout: RolloutSpec, work: WorkloadSpec) -> str:
    """The precision of the weights that rollout engines receive: the trainer's precision, not the checkpoint's."""
    return rollout.parameter_precision or work.parameter_precision or "bf16"


def _weight_sync(section: WeightSyncSpec, placement: str, work: WorkloadSpec, log: ResolutionLog) -> WeightSync:
    usual = "ipc" if placement == "colocated" else "nccl"
    why = "the engines are on the trainer's accelerators" if placement == "colocated" else "usual between nodes"
    rollout = (work.rl.rollout if work.rl else None) or RolloutSpec()
    kept = rollout_weights(rollout, work)
    return WeightSync(
        method=log.written_or_assumed(section.method, f"{KEY}.weight_sync.method", usual, why),
        precision=log.written_or_assumed(
            section.precision, f"{KEY}.weight_sync.precision", kept, "the precision in which the engines keep weights"
        ),
        bucket=section.bucket.value if section.bucket else BUCKET,
        ranks=section.ranks or "all",
        gather=section.gather or "packed",
        load=section.load or "packed",
        requests=section.requests or "stopped",
    )


# The trainer as an ordinary workload and layout


def trainer_section(
    section: WorkloadSpec, rl: Rl, layout: LayoutSpec, cluster: Cluster, log: ResolutionLog
) -> WorkloadSpec:
    """The trainer's workload: packed sequences, as many as a minibatch fills."""
    samples = rl.samples // dividing_minibatches(rl)
    degrees = (layout.tp or 1) * (layout.cp or 1) * (layout.pp or 1)
    replicas = max(1, rl.trainer_nodes * cluster.ranks_per_node // degrees)
    if rl.samples % rl.minibatches:
        message = f"{rl.samples:,} samples are not a multiple of {rl.minibatches:,} minibatches"
        remedy = f"write {_divisors_text(rl.samples, rl.minibatches, replicas)}"
        log.problems.append(Problem("keys-disagree", (*RL_PATH, "minibatches"), message, remedy))
    divisor = (layout.tp or 1) * (2 * layout.cp if layout.cp and layout.cp > 1 else 1)
    padded = -(-rl.longest_sample // divisor) * divisor
    why = "samples are packed up to the longest" + (f", padded to a multiple of {divisor}" if divisor > 1 else "")
    length = log.written_or_assumed(section.sequence_length, "workload.sequence_length", padded, why)
    together = samples_per_sequence(max(1, samples), rl.sample_tokens, length, replicas * (layout.micro_batch or 1))
    packed = max(1, samples // together)
    if rl.samples % rl.minibatches == 0 and section.global_batch not in (None, samples, packed):
        log.problems.append(_batch_problem(rl, samples, packed, section.global_batch or 0))
    return replace(section, kind="train", sequence_length=length, global_batch=packed)


def _batch_problem(rl: Rl, samples: int, packed: int, stated_batch: int) -> Problem:
    """A `global_batch` that equals neither the samples of a minibatch nor the number of their packed sequences."""
    own = f"a minibatch has {rl.samples:,} / {rl.minibatches:,} = {samples:,} samples"
    own += f", packed into {plural(packed, 'sequence')}" if packed != samples else ""
    message = f"{own}, and `global_batch` is {stated_batch:,}"
    return Problem("keys-disagree", ("workload", "global_batch"), message, "drop it, or change `minibatches`")


def dividing_minibatches(rl: Rl) -> int:
    """The largest number of minibatches, up to the stated one, that divides the samples of a step: 6 for 480 samples
    and 7 stated minibatches.
    """
    return next(each for each in range(min(rl.minibatches, rl.samples), 0, -1) if rl.samples % each == 0)


def _divisors_text(samples: int, minibatches: int, replicas: int) -> str:
    """The nearest smaller and larger numbers of minibatches that divide the samples, as text. Numbers whose minibatches
    also divide evenly over the replicas are preferred.
    """
    found = [each for each in range(1, min(samples, 2 * minibatches) + 1) if samples % each == 0]
    found = [each for each in found if samples // each % replicas == 0] or found
    near = [*[each for each in found if each < minibatches][-1:], *[each for each in found if each > minibatches][:1]]
    return " or ".join([f"`minibatches: {near[0]}`", *map(str, near[1:])])


def samples_per_sequence(samples: int, tokens: float, length: int, batch: int = 1) -> int:
    """Samples of ``tokens`` mean tokens in a packed sequence: the largest divisor of the samples that fits.

    Where ``batch`` divides the samples, it also divides the sequences.

    >>> samples_per_sequence(512, 1060.0, 4096), samples_per_sequence(480, 1000.0, 4096)
    (2, 4)
    >>> samples_per_sequence(480, 1000.0, 4096, 96)
    1
    """
    most, own = max(1, int(length / tokens)), batch if samples % batch == 0 else 1
    return next(each for each in range(min(most, samples), 0, -1) if samples % (each * own) == 0)


def trainer_workload(workload: Workload, rl: Rl) -> Workload:
    """The resolved workload of the trainer, with the filled share of a sequence and the samples packed into it."""
    samples = rl.samples // dividing_minibatches(rl)
    together = samples / workload.global_batch
    fill = min(1.0, together * rl.sample_tokens / workload.sequence_length)
    document = rl.sample_tokens + spread_tokens(rl)
    return replace(workload, rl=rl, fill=fill, document_length=min(document, workload.sequence_length * fill))


def spread_tokens(rl: Rl) -> float:
    """The mean length of the sample that a random token belongs to, minus the mean sample length: variance over mean,
    in tokens.
    """
    return (_length_variance(rl.inputs) + _length_variance(rl.outputs)) / rl.sample_tokens


def _length_variance(lengths: Lengths) -> float:
    """The variance of lengths in tokens². With a cut at ``most``, the standard deviation is at most half of
    ``most``.
    """
    found = lengths.mean**2 * lengths.variation
    return min(found, (lengths.most / 2) ** 2) if lengths.most else found
