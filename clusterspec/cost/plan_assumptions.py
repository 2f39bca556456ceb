"""The assumptions behind a plan: of its design, of its memory and of its times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.model import Assumption
from clusterspec.cost import CONSTANTS
from clusterspec.cost.compute import BIASES, FIXED, KERNELS, SHARDED
from clusterspec.cost.compute.attention import RECURRENCE, SPARSE
from clusterspec.quantity import Figure
from clusterspec.source import Assumed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.models import Model
    from clusterspec.cluster.model import Design
    from clusterspec.cost.plan import Plan
    from clusterspec.cost.serving.latency import ServingTimes


OF_EXPERTS = (
    *("products.grouped", "fusion.routing", "routing.", "launch.expert", "unevenness"),
    *("experts.", "router."),
)
"""Prefixes of figure names about experts and routing; a dense model does not use them."""
OF_RECURRENCE = ("scan.",)
"""Prefixes of figure names about linear attention and state spaces; other models do not use them."""


def plan_assumptions(plan: Plan) -> tuple[Assumption, ...]:
    """The assumptions of the design, then those of memory and time, each key once."""
    found = list(plan.design.assumptions)
    parts: list[Iterable[Assumption]] = []
    if plan.stored is not None:
        from clusterspec.cost.memory.explain import memory_assumptions  # a check explains no term

        parts.append(memory_assumptions(plan.stored.job, plan.stored.rank))
    if plan.serving is not None:
        parts.append(_serving_assumptions(plan, plan.serving))
    if plan.step is not None:
        from clusterspec.cost.estimate import range_figures

        parts.append(
            (
                *_assumed_figures(_time_figures(plan)),
                *_assumed_figures(range_figures(plan.design, plan.step.seconds)),
            )
        )
    for part in parts:
        keys = {key for key, _, _ in found}
        found += [each for each in part if each[0] not in keys]
    return tuple(found)


def _serving_assumptions(plan: Plan, times: ServingTimes) -> Iterator[Assumption]:
    """The assumed figures of serving, with those of the software on the accelerator."""
    from clusterspec.cost.serving.constants import ASSUMED  # a training plan needs none of its modules
    from clusterspec.cost.serving.host import AHEAD, compiled_figure, host_figures, sending_figure

    cluster, layout = plan.design.cluster, plan.design.layout
    assert cluster is not None and layout is not None  # what a timed plan has
    first = (times.compiled_first,) if times.compiled_first is not None else ()
    compiled = compiled_figure(layout.stack, layout.software_year)
    sent = sending_figure(layout.stack) if layout.tp > 1 else None
    launches = (AHEAD, *(one for one in (compiled, sent) if one is not None))
    workload = plan.design.workload
    latent = workload is not None and bool(workload.model.latent)
    host = host_figures(layout.stack, cluster.accelerator.architecture, latent=latent)
    figures = (*host, *launches, *ASSUMED, *first)
    yield from _routing_assumption(plan.design)
    yield from _assumed_figures((one.origin.key, one) for one in figures if isinstance(one.origin, Assumed))


ROUTING = (
    "serving.routing",
    "fewest requests",
    "each request goes to the engine that has the fewest, as with `load_balancing` in NVIDIA's harness of MLPerf and"
    " with the queue depth by which llm-d chooses among engines without cached prefixes; with requests sent in turn, as"
    " a Kubernetes service sends them, waits are longer",
)
"""The assumption about how requests are spread over engines."""


def _routing_assumption(design: Design) -> Iterator[Assumption]:
    """How requests are spread, if there are several engines or attention ranks and no conversation holds one."""
    from clusterspec.cost.serving.times import serving_pools

    pools = serving_pools(design)
    if pools is not None and pools.engines_of_choice > 1 and pools.load.load in {"open", "closed"}:
        yield ROUTING


def _time_figures(plan: Plan) -> Iterator[tuple[str, Figure]]:
    """The figures of accelerator and software in the order of their entries, and the figures of the kernels in use."""
    cluster, workload, step = plan.design.cluster, plan.design.workload, plan.step
    assert cluster and workload and step  # what a timed plan has
    stack, model = step.software.stack, workload.model
    unused, widths = unused_figures(model), unused_spreads(plan.design)
    if step.choices.host is not None:
        from clusterspec.cost.host_memory import UPDATE_SHARE, host_memory_figure  # few designs offload

        figures = (UPDATE_SHARE, host_memory_figure(cluster))
        yield from ((each.origin.key, each) for each in figures if isinstance(each.origin, Assumed))
    yield from ((f"{cluster.accelerator.id} {name}", figure) for name, figure in step.rates.figures.items())
    achieved = ((name, figure) for name, figure in stack.achievable.items() if not name.startswith(unused))
    achieved = ((name, figure) for name, figure in achieved if name not in widths)
    yield from ((f"{stack.id} {name}", figure) for name, figure in achieved)
    fixed = sorted(name for name in FIXED if not name.startswith(("usual.", *unused)))
    yield from ((f"{KERNELS} {name}", FIXED[name]) for name in fixed)
    biased = (step.software.biases or step.software.repeated) and (model.expert_biases or model.limited_activation)
    cut = step.software.sharded and plan.design.layout is not None and plan.design.layout.tp > 1
    for group, held in ((RECURRENCE, model.linear), (SPARSE, model.sparse), (BIASES, biased), (SHARDED, cut)):
        if held:
            yield from ((f"{group} {name}", figure) for name, figure in sorted(CONSTANTS[group].items()))


def unused_figures(model: Model) -> tuple[str, ...]:
    """Prefixes of the names of software and kernel figures that no layer of the model uses."""
    return (() if model.experts else OF_EXPERTS) + (() if model.linear else OF_RECURRENCE)


def unused_spreads(design: Design) -> frozenset[str]:
    """Names of the figures with the uncertainty of software in a case that the design is not."""
    from clusterspec.cost.estimate import SPREADS, spread_name  # imports this package

    return frozenset(SPREADS.values()) - {spread_name(design)}


def _assumed_figures(figures: Iterable[tuple[str, Figure]]) -> Iterator[Assumption]:
    """The assumed figures. If several have the same key, the last one counts."""
    for key, figure in dict(figures).items():
        if isinstance(figure.origin, Assumed):
            yield key, figure, figure.origin.why
