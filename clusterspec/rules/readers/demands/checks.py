"""Demands of texts that are no single figure: a longest request in words, parts that are out, and the commitment of a price."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.quantity import DAY, YEAR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_eastern
from clusterspec.rules.readers.demands.figures import demand_figures
from clusterspec.rules.readers.demands.parts import Parts
from clusterspec.rules.readers.demands.places import number_of_key, value_of_key
from clusterspec.rules.readers.demands.reading import demands_in, lexicon
from clusterspec.rules.readers.demands.run_values import predicted_time
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.demands.subjects import BELOW
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text
from clusterspec.standard import pattern
from clusterspec.units import display

ROUNDED = 0.003
"""Relative difference up to which a length keeps a demand."""
DAYS_ROUNDED = 7
"""Days by which a term may exceed the paid time: a month of a term has no fixed number of days."""
LONGEST_COMMITMENT, SHORTEST_COMMITMENT = 7 * YEAR, 0.25 * YEAR
_AMOUNT = pattern(NUMBER)
_TIME = frozenset({("s", 1)})


class BrokenDemand(NamedTuple):
    """A demand that a design breaks: the key, what is wrong, and the remedy."""

    key: str
    message: str
    help: str


def other_broken_demands(text: str, parts: Parts) -> Iterator[BrokenDemand]:
    """The demands of a text without a figure of their own that a design breaks."""
    for found in (
        _cut_request(text, parts),
        _cut_document(text, parts),
        _short_places(text, parts),
        _short_coolant(text, parts),
        _shorter_commitment(text, parts),
        _late_run(text, parts),
        _beyond_context(text, parts),
        _unpaid_term(text, parts),
        _late_parts(text, parts),
    ):
        if found is not None:
            yield found


def _cut_request(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of a longest request, in words or pages, above the longest prompt that a service takes."""
    from clusterspec.rules.readers.demands.lengths import longest_request

    key = next((each for each in _PROMPTS if value_of_key(parts.spec, each) is not None), "")
    most = number_of_key(parts.spec, key) if key else 0.0
    longest = longest_request(text) if most else None
    if longest is None or longest.tokens <= most * (1 + ROUNDED):
        return None
    message = f"according to the text, the longest request is read whole: {longest.how} are {longest.tokens:,.0f} tokens, but `{key}` is {most:,.0f}"
    return BrokenDemand(key, message, "accept longer prompts with a model of a larger context, or split the request")


_PROMPTS = ("workload.serving.input_tokens.max", "workload.rl.input_tokens.max")


def _cut_document(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of a longest document above the longest one, or the sequence, of a training run that must not cut documents."""
    from clusterspec.rules.readers.demands.lengths import longest_document

    if parts.work is None or parts.work.kind != "train":
        return None
    limits = {each: most for each in _DOCUMENTS if (most := number_of_key(parts.spec, each))}
    longest = longest_document(text) if limits else 0.0
    key = next((each for each, most in limits.items() if longest > most * (1 + ROUNDED)), "")
    if not key or _is_read_as_prompt(text, limits.get(_SEQUENCE, 0.0)):
        return None
    message = f"according to the text, documents are not cut, and the longest has {longest:,.0f} tokens, but `{key}` is {limits[key]:,.0f}"
    return BrokenDemand(key, message, "train on longer sequences, or leave out the longer documents")


_SEQUENCE = "workload.sequence_length"
_DOCUMENTS = ("workload.document_tokens.max", _SEQUENCE)


def _is_read_as_prompt(text: str, sequence: float) -> bool:
    """Whether a sentence of a text alone demands documents longer than a sequence, which the comparison of keys reports."""
    found = [each.value for each in demands_in(text) if each.subject.name == "prompt"]
    return bool(found) and bool(sequence) and min(found) > sequence


def _beyond_context(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of a prompt and an answer that a text demands in one sentence, and that together exceed the context of the model."""
    key = next((each for each in _PROMPTS if value_of_key(parts.spec, each) is not None), "")
    context = parts.work.model.max_sequence_length if parts.work is not None else None
    if not key or not context:
        return None
    found: dict[str, dict[str, float]] = {}
    for each in demands_in(text):
        if each.hurts == BELOW and each.subject.name in ("prompt", "answer"):
            lengths = found.setdefault(each.sentence, {})
            lengths[each.subject.name] = max(each.value, lengths.get(each.subject.name, 0.0))
    pairs = [(each["prompt"], each["answer"]) for each in found.values() if len(each) > 1]
    prompt, answer = max(pairs, key=sum, default=(0.0, 0.0))
    if prompt + answer <= context * (1 + ROUNDED):
        return None
    message = f"according to the text, a prompt of {prompt:,.0f} tokens is answered with up to {answer:,.0f}, together {prompt + answer:,.0f}, but the context of the model has {context:,.0f}"
    return BrokenDemand(key, message, "serve a model of a larger context, or shorten the prompt or the answer")


def _unpaid_term(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of a term that goes on after the last day that somebody pays."""
    from clusterspec.rules.readers.demands.dates import paid_term

    buying = parts.spec.procurement
    if buying is None or buying.term is None:
        return None
    term = paid_term(text)
    if term is None:
        return None
    unpaid = buying.term.value / DAY - (term.paid_until - term.start).days
    if unpaid <= DAYS_ROUNDED:
        return None
    message = f"according to the text, the term starts on {term.start} and is paid until {term.paid_until}, but `procurement.term` is {buying.term.written}, {unpaid:,.0f} days longer"
    return BrokenDemand("procurement.term", message, "shorten the term, or find money for the rest")


def _late_parts(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of parts that arrive after the day by which the text demands all of them."""
    from clusterspec.rules.readers.demands.dates import late_delivery

    buying = parts.spec.procurement
    late = late_delivery(text, buying)
    if late is None or buying is None or buying.delivery is None:
        return None
    due, arrives = late
    message = f"according to the text, all parts are delivered by {due}, but `procurement.delivery.weeks` is {buying.delivery.weeks:g}: the last part arrives on {arrives}"
    return BrokenDemand("procurement.delivery.weeks", message, "order earlier, or agree on a later day")


def _short_places(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of a service that must hold all requests while a node or an engine is out, and has too few places then."""
    from clusterspec.rules.readers.demands.losses import Engines, short_places

    cluster, layout, work = parts.cluster, parts.layout, parts.work
    sequences, concurrency = (
        number_of_key(parts.spec, f"workload.serving.{each}") for each in ("max_sequences", "concurrency")
    )
    if cluster is None or layout is None or work is None or not sequences or layout.separate_engines:
        return None
    engines = Engines(layout.dp, cluster.ranks_per_node / layout.replica_ranks, int(sequences))
    found = short_places(text, engines, concurrency)
    if found is None:
        return None
    message = (
        f"{_saying(text, found.words)}, which takes {found.asked:,.0f} places, but {found.how} are {found.left:,.0f}"
    )
    return BrokenDemand(
        "workload.serving.max_sequences", message, "admit more sequences on each engine, or add an engine"
    )


def _short_coolant(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of coolant units of which the text wants the others to carry all heat when one is out."""
    from clusterspec.cost.heat import cooling_units, loop_heat
    from clusterspec.rules.readers.demands.losses import demands_whole_heat

    units = cooling_units(parts.power)
    if units is None or units.installed < 2 or parts.cluster is None or parts.power is None:
        return None
    sentence, heat = demands_whole_heat(text), loop_heat(parts.cluster, parts.counts.fabric, parts.power)
    left = units.carried_watts(1)
    if not sentence or heat is None or heat[0] <= left * (1 + ROUNDED):
        return None
    message = f"{_saying(text, sentence)}, but {units.installed - 1} of the {units.installed} units carry {display(left, 'W')} of {display(heat[0], 'W')}"
    return BrokenDemand("cluster.power.cdus.redundancy", message, "add a unit, or larger ones")


def _late_run(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of a run that may take, or is predicted to take, longer than the days that the text leaves for it."""
    from clusterspec.rules.readers.demands.dates import span_of_run

    work = parts.work
    if work is None or work.kind != "train" or parts.spec.jobs:
        return None
    span = span_of_run(text)
    if span is None:
        return None
    target, predicted = number_of_key(parts.spec, _RUN_TIME), predicted_time(parts.plan)
    days = f"the training starts on {span.start}, and its result is due on {span.due}, {span.days} days later"
    if target > span.days * DAY * (1 + ROUNDED):
        message = f"according to the text, {days}, but `{_RUN_TIME}` is {display(target, 's')}"
        return BrokenDemand(_RUN_TIME, message, "train fewer tokens, use more accelerators, or move one of the days")
    if not target and predicted is not None and predicted.low > span.days * DAY:
        message = f"according to the text, {days}, but the run takes longer: {predicted.how}"
        return BrokenDemand("workload.tokens", message, "train fewer tokens, or use more accelerators")
    return None


_RUN_TIME = "operations.targets.run_time"


def _saying(text: str, sentence: str) -> str:
    """The words of a message for a sentence of a text, without a quote of words that the text has in another language."""
    if is_eastern(text):
        return "the text demands that all requests or all heat are served while a part is out"
    return f"the text says `{sentence.strip()}`"


def _shorter_commitment(text: str, parts: Parts) -> BrokenDemand | None:
    """The problem of a price that the text offers for a longer commitment than the key states."""
    buying = parts.spec.procurement
    if buying is None or buying.commitment is None or not buying.prices:
        return None
    prices = {float(each) for each in buying.prices.values() if isinstance(each, int | float)}
    for sentence in plain_sentences(text):
        if "commit" not in lexicon().meanings(sentence) or words_of_another(sentence):
            continue
        times = {
            each.value: each.words
            for each in demand_figures(sentence)
            if each.powers == _TIME and SHORTEST_COMMITMENT <= each.value <= LONGEST_COMMITMENT
        }
        named = [each for match in _AMOUNT.finditer(sentence) if (each := number_in_text(match[1])) in prices]
        if len(times) == 1 and named:
            ((needed, words),) = times.items()
            if buying.commitment.value < needed * 0.97:
                message = f"according to the text, the price of {named[0]:g} is for a commitment of `{words}`, but `procurement.commitment` is {buying.commitment.written}"
                return BrokenDemand(
                    "procurement.commitment",
                    message,
                    "commit for as long, or state the price of the shorter commitment",
                )
    return None
