"""Host time of serving software: scheduling, launching of kernels, and requests outside the engine."""

from __future__ import annotations

from clusterspec.catalog.stacks import Stack
from clusterspec.cost import assumed_figure
from clusterspec.cost.serving.constants import COMPILED, HABITS, RECENT
from clusterspec.quantity import Figure
from clusterspec.records import dataclass

AHEAD = assumed_figure(
    "serving",
    "ahead",
    0.5e-3,
    "time that a step still waits for the host if the host prepares each step during the one before; of 0.3, 0.5 "
    "and 0.7 ms the best fit to published plans",
    "s",
)


@dataclass(frozen=True)
class HostOverhead:
    """Host time of one generation of serving software, in seconds.

    - ``host`` per step, not hidden by the device, with the time to send it to other ranks
    - ``sequence`` more for each sequence of the step
    - ``eager`` to launch one kernel of a prompt without captured graphs
    - ``request`` per request before and after the engine: scheduling, transport
    - ``prompt_token`` for each token of its prompt, into which its text is split
    - ``compiled`` to launch one kernel of compiled code beyond its graphs, ``eager`` where the software does not
      compile
    - ``ahead`` replaces ``host`` per step if each step is prepared while the one before it runs
    """

    host: float
    sequence: float
    eager: float
    request: float
    prompt_token: float
    compiled: float
    ahead: float

    @classmethod
    def of(
        cls, stack: Stack | None, architecture: str = "", year: float = 0, ranks: int = 1, *, latent: bool = False
    ) -> HostOverhead:
        """The figures of an entry on an architecture of accelerators, or of software of a ``year`` without an entry;
        missing ones are assumed. ``ranks`` have the same steps of a model, with ``latent`` attention or without.
        """
        figures = host_figures(stack, architecture, latent=latent)
        host, sequence, eager, request, token = (figure.value for figure in figures)
        compiled, sent = compiled_figure(stack, year), sending_figure(stack)
        others = (ranks - 1) * (sent.value if sent is not None else 0.0)
        return cls(
            host + others,
            sequence,
            eager,
            request,
            token,
            compiled.value if compiled is not None else eager,
            min(host, AHEAD.value) + others,
        )


def host_figures(stack: Stack | None, architecture: str, *, latent: bool = False) -> tuple[Figure, ...]:
    """The figures of `HABITS` that apply to an entry of software: the values that it states for models with ``latent``
    attention, else for the architecture of the accelerator, else for all, else the defaults.
    """
    stated, kinds = stack.achievable if stack is not None else {}, (*(("latent",) if latent else ()), architecture)
    usual = {name: stated.get(name, figure) for name, figure in HABITS.items()}
    own = {name: [stated[key] for kind in kinds if (key := f"{name}.{kind}") in stated] for name in usual}
    return tuple(own[name][0] if own[name] else figure for name, figure in usual.items())


def sending_figure(stack: Stack | None) -> Figure | None:
    """Seconds in which one process sends a step to another rank, where an entry of software states them."""
    return stack.achievable.get("serving.rank") if stack is not None else None


def compiled_figure(stack: Stack | None, year: float) -> Figure | None:
    """Seconds to launch one kernel of compiled code with prompts: as the software entry states, or without an entry
    `COMPILED` for a ``year`` from `RECENT` on; None for software that does not compile.
    """
    if stack is None:
        return COMPILED if year >= RECENT else None
    return stack.achievable.get("serving.compiled")
