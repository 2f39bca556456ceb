"""Values of a service and of its links that the demands of texts bound, where no key states them."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.rules.readers.demands.figures import MEASURES, demand_figures
from clusterspec.rules.readers.demands.parts import Parts, Value
from clusterspec.rules.readers.demands.places import number_of_key, value_of_key
from clusterspec.rules.readers.demands.reading import demands_in, lexicon
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.units import display

_TARGETS = "workload.serving.targets"


def whole_answer(parts: Parts) -> Value | None:
    """The seconds to the last token that the targets of the first token and between tokens let an answer take, for the only length of
    an answer that a sentence with a demand on the whole answer states, or else one that says that answers are complete.
    """
    from clusterspec.rules.readers.demands.answer_values import predicted_latency

    spec = parts.spec
    first, gap = number_of_key(spec, f"{_TARGETS}.ttft"), number_of_key(spec, f"{_TARGETS}.tpot")
    if not first or not gap or value_of_key(spec, f"{_TARGETS}.end_to_end") is not None:
        return predicted_latency(parts, "end_to_end")
    limited = {each.sentence for each in demands_in(parts.text) if each.subject.name == "whole answer"}
    lengths = _lengths_in(limited) or _lengths_in(filter(_says_complete, plain_sentences(parts.text)))
    if len(lengths) != 1:
        return predicted_latency(parts, "end_to_end")
    tokens = lengths.pop()
    seconds = first + (tokens - 1) * gap
    return Value(
        seconds, seconds, f"{display(first, 's')} and {tokens - 1:,.0f} times {display(gap, 's')} by the targets"
    )


def requests_of_engine(parts: Parts) -> Value | None:
    """The requests in flight on an engine where all engines have as many, up to the sequences that it admits."""
    concurrency, admitted = (
        number_of_key(parts.spec, f"workload.serving.{each}") for each in ("concurrency", "max_sequences")
    )
    if parts.layout is None or parts.layout.separate_engines or not concurrency or parts.layout.dp < 1:
        return None
    each = concurrency / parts.layout.dp
    each = min(each, admitted) if admitted else each
    return Value(each, each, f"{concurrency:,.0f} requests on {parts.layout.dp:,} engines")


def _lengths_in(sentences: Iterable[str]) -> set[float]:
    """The tokens that some sentences state."""
    return {
        each.value
        for sentence in sentences
        for each in demand_figures(sentence)
        if each.powers in MEASURES["tokens"] and each.value > 1
    }


def _says_complete(sentence: str) -> bool:
    """Whether a sentence says that an answer of this service has to be complete, or is.

    >>> _says_complete("An answer of 500 tokens must be complete by then."), _says_complete("An answer has 500 tokens.")
    (True, False)
    """
    return {"answer", "completeword"} <= lexicon().meanings(sentence) and not words_of_another(sentence)


def reach_of_spines(parts: Parts) -> Value | None:
    """The meters that the optics between leaf and spine reach, where no key states the distance."""
    return _reach(parts, "leaf_spine")


def reach_of_leaves(parts: Parts) -> Value | None:
    """The meters that the optics between node and leaf reach, where no key states the distance."""
    return _reach(parts, "node_leaf")


def _reach(parts: Parts, level: str) -> Value | None:
    from clusterspec.cluster.fabric import level_optics

    fabric = parts.cluster.scale_out if parts.cluster is not None else None
    if fabric is None or value_of_key(parts.spec, f"cluster.scale_out.distance.{level}") is not None:
        return None
    ends = [end for each in level_optics(fabric) if each.level == level for end in each.ends if end.reach is not None]
    shortest = min(ends, key=lambda end: end.reach.value if end.reach is not None else 0.0, default=None)
    if shortest is None or shortest.reach is None:
        return None
    meters = shortest.reach.value
    return Value(meters, meters, f"the reach of {shortest.name}")
