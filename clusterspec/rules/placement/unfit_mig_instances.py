"""MIG instances in a text do not fit on the accelerator, or are combined into one engine or job.

## What it finds

- More instances of a MIG profile for each GPU than its seven compute slices and eight memory slices hold: `k`g takes `k`
  compute slices, and its memory whole eighths of the memory. So are instances of several profiles on one GPU, and more in
  all than the GPUs of the text hold.
- Instances that tensor parallelism, NCCL or NVLink joins. A process uses one instance, and instances do not reach each
  other's memory.

## Why it matters

`nvidia-smi mig` refuses the partition, and the engine or job does not start.

## What to do

Use fewer instances or a smaller profile; run a model that needs more than one instance on the whole GPU.

## When to ignore it

Ignore it where instances exchange data through the host only, and the text means that.

## Fires

```yaml description
clusterspec: 1
description: By day all 48 H100 are partitioned with MIG into four 2g.20gb instances each.
cluster: {platform: hgx-h100, nodes: 6}
```

```yaml description
clusterspec: 1
description: At night each GPU is cut with MIG into two 3g.40gb instances, which one engine joins over NVLink with tensor-parallel size 2.
cluster: {platform: dgx-h100, nodes: 1}
```

## Silent

```yaml
clusterspec: 1
description: By day all 48 H100 are partitioned with MIG into three 2g.20gb instances each, and each instance runs an engine with tensor-parallel size 1.
cluster: {platform: hgx-h100, nodes: 6}
```

```yaml
clusterspec: 1
description: MIG is off, since two instances of a GPU cannot be joined over NVLink.
cluster: {platform: dgx-h100, nodes: 1}
```

## Sources

- Profiles, their slices and the number of instances of each: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
- No peer-to-peer between instances: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/deployment-considerations.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_bounds
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
COMPUTE_SLICES, MEMORY_SLICES = 7, 8
"""Numbers of slices of a GPU with multi-instance GPU (MIG): NVIDIA MIG User Guide, concepts."""
_PROFILES = pattern(
    r"(?i)(?<![\w.,])(?P<count>\d{1,4}|one|an?|eine?) ?(?:(?:x|×|of|de|instances?|slices?|mig|profiles?|gpu|partitions?|instanzen|partitionen|von|instancias)(?: |(?=\d)|(?<=[x×]))){0,4}"
    r"(?P<compute>[1-7])g\.(?P<memory>\d{1,3})gb\b(?![^,.;]{0,12}\b(?:per|a|each|pro|je|par) instanc)"
    r"|(?<![\w.])(?P<compute_before>[1-7])g\.(?P<memory_before>\d{1,3})gb ?(?:[x×] ?|(?:instances?|slices?|instanzen)?,? )(?P<count_behind>\d{1,2})(?= ?[,.;)]|$| (?:of them |each )?(?:to|per|on|in|for|je|pro|par|auf|times|of them|each|x)\b| ?[x×])"
)
"""Pattern of a number of instances of a MIG profile."""
_PROFILE = pattern(r"(?i)\b[1-7]g\.\d{1,3}gb\b")
_GPU = r"(?:gpus?|[abh]\d00s?|gh200s?|b300s?|accelerators?|(?:graphics? |grafik)?cards?|(?:grafik)?karten?|cartes?|tarjetas?)"
_PER_GPU = pattern(
    rf"(?i)\b(?:each|every|per|a|an|one|single|jede[rns]?|pro|je|eine[rn]?|chaque|par|une?|cada|por|alle?|all|the|les|der)(?: of)?(?: the| der| des)? (?:\d{{1,5}} |whole |of the )?(?:[\w-]{{1,12}} ){{0,2}}?{_GPU}\b"
    r"|\b(?:each|apiece|je|chacune?)\b"
)
_ONE_GPU = pattern(
    rf"(?i)\b(?:each|every|per|a|an|one|single|jede[rns]?|pro|je|eine[rn]?|chaque|par|une?|cada|por)(?: of)?(?: the| der| des)? (?:\d{{1,5}} )?(?:[\w-]{{1,12}} ){{0,2}}?{_GPU}\b|\b(?:each|apiece|je|chacune?)\b"
)
_GPUS = pattern(rf"(?i)(?<![\w.,])(?P<count>\d{{1,5}}) (?:[a-z][\w-]{{0,8}} ){{0,2}}?{_GPU}\b")
_INSTANCES = pattern(
    r"(?i)\b(?:instances?|slices?|partitions?|instanzen|scheiben|partitionen|instancias|halves|hälften|[1-7]g\.\d{1,3}gb)\b"
)
_OF_SEVERAL = (
    r"(?:(?:the |both |all |these |its |les |die |beiden? |alle )*(?:[2-7]|two|both|beide[nr]?|deux|dos|several|mehrere[nr]?|all|alle)"
    r"(?: of (?:them|these|the))?|them|die beiden)"
)
_JOINED = pattern(
    r"(?i)\b(?:joins?|joined|joining|combine[sd]?|combining|verbind\w+|zusammengefasst|zusammengeschaltet|reli[eé]\w*|réuni\w*|unen|unidas)\b"
    r"|\b(?:tensor[- ]?parallel(?:ism)?(?:[- ]size)?|tensorparallelität|parallélisme tensoriel|tp)[ =:-]{0,2}(?:(?:of|over|across|degree|size|von|mit|de|grad|à) ){0,2}(?:[2-8]|two|four|eight|zwei|deux)\b"
    r"|\b(?:[2-8]|two|four|zwei|deux)-way (?:tensor|tp)\b"
    r"|\b(?:over|via|through|by|with|between|über|zwischen|par|por|entre) (?:the |their )?(?:nvlink|nccl|nvswitch|p2p|peer-to-peer)\b"
    r"|\b(?:nccl|nvlink|nvswitch|p2p|all-?reduces?|peer-to-peer)\b[^.;]{0,40}\b(?:between|across|among|over|zwischen|entre)\b"
    rf"|\b(?:one|a single|a|an|the|its|same|eine[nrm]?|un|une) (?:[\w-]+ ){{0,2}}?(?:engine|model|job|replica|server|modell|modèle|moteur|process)\b[^.;,]{{0,30}} (?:over|across|on|spans?|uses?|sharded over|spread over|split over|auf|über|sur) {_OF_SEVERAL}(?: |$)"
    rf"|\b{_OF_SEVERAL} [^.;,]{{0,50}}\b(?:form|forms|make|make up|act as|serve|serve as|work as|bilden|ergeben|forment|font|forman) (?:together |zusammen |ensemble )?(?:one|a single|eine[nrm]?|une?|una?) (?:[\w-]+ ){{0,2}}?(?:engine|model|job|replica|server|gpu|modell|modèle|moteur|process|motor)"
    r"|\b(?:spread|sharded|split|spans?|spanning|distributed|verteilt|réparti\w*)\b[^.;,]{0,20}\b(?:over|across|auf|über|sur|both|two|2)\b"
)
"""Pattern of words that combine several instances into one engine or job."""
_DENIED = pattern(
    r"(?i)\b(?:no|not|never|cannot|can't|without|none|nor|neither|instead|un(?:able|supported)|would|only if|too many|exceeds?|off|own|disabled|nicht|kein\w*|ohne|statt|eigene\w*|pas|sans|sin|jamais|(?:on|of|per|use|uses|need|needs) whole gpus?|whole gpus?|ganze[nr]? gpus?)\b"
)


class Instances(NamedTuple):
    """A number of instances of a MIG profile in a text: the compute slices of one instance, and its GB by the profile's
    name.
    """

    words: str
    number: int
    compute: int
    memory: int
    place: tuple[int, int]


def check(own_remarks: str, cluster: Cluster | None) -> Iterator[Problem]:
    if not own_remarks or cluster is None:
        return
    if "MIG" not in own_remarks and "g." not in own_remarks:
        return
    text = " ".join(own_remarks[:MOST_CHARACTERS].split())
    if "MIG" not in text and _PROFILE.search(text) is None:
        return
    for sentence in sentences_of(with_numerals(text)):
        problem = _excess_problem(sentence, cluster) or _joint_problem(sentence)
        if problem is not None:
            yield problem
            return


def _joint_problem(sentence: str) -> Problem | None:
    """The problem of a sentence that combines several instances into one engine or job."""
    if _INSTANCES.search(sentence) is None:
        return None
    for joined in _JOINED.finditer(sentence):
        start, end = clause_bounds(sentence, *joined.span())
        if _DENIED.search(sentence, start, end) is None and _DENIED.search(sentence, 0, joined.start()) is None:
            message = f"`{joined[0].strip()}`: a process uses one MIG instance, and instances do not reach each other over NVLink or by peer-to-peer"
            return RULE.problem("description", message, "use the whole GPU for this engine or job")
    return None


def instances_in(sentence: str) -> Sequence[Instances]:
    """The instances that a sentence counts; denied ones are omitted.

    >>> [(each.number, each.compute) for each in instances_in("8 slices of 1g.10gb, 2g.20gb x 3; not 4 3g.40gb")]
    [(8, 1), (3, 2)]
    """
    found = []
    for match in _PROFILES.finditer(sentence):
        start, end = clause_bounds(sentence, *match.span())
        if _DENIED.search(sentence, start, end) is None:
            count, compute, memory = (match[name] or match[other] for name, other in _GROUPS)
            found.append(
                Instances(match[0], int(count) if count.isdigit() else 1, int(compute), int(memory), match.span())
            )
    return found


_GROUPS = (("count", "count_behind"), ("compute", "compute_before"), ("memory", "memory_before"))


def _excess_problem(sentence: str, cluster: Cluster) -> Problem | None:
    """The problem of more instances in a sentence than one GPU has slices for."""
    found = instances_in(sentence)
    capacity = cluster.accelerator.memory
    if capacity is None or not found:
        return None
    eighth = capacity.value / MEMORY_SLICES
    for each in found:
        eighths = max(1, round(each.memory * 1e9 / eighth))
        most = min(COMPUTE_SLICES // each.compute, max(1, MEMORY_SLICES // eighths))
        if each.number > most * _gpus_of(sentence, each, cluster):
            message = f"`{each.words}`: {most} of them fit on a GPU, which has {COMPUTE_SLICES} compute and {MEMORY_SLICES} memory slices; each takes {each.compute} and {eighths}"
            return RULE.problem("description", message, "use fewer instances, or a smaller profile")
    return _mixed_problem(sentence, found, eighth)


def _gpus_of(sentence: str, instances: Instances, cluster: Cluster) -> int:
    """The number of GPUs for some instances: 1 if the sentence counts the instances per GPU, else the stated number,
    else all GPUs.
    """
    if _is_of_each(sentence, instances):
        return 1
    start, end = instances.place
    stated = [int(each["count"]) for each in _GPUS.finditer(sentence) if not start <= each.start() < end]
    return max(stated, default=cluster.accelerators)


def _is_of_each(sentence: str, instances: Instances) -> bool:
    """Whether a sentence counts the instances of one GPU: fewer instances than GPUs, with words such as `each`."""
    return instances.number <= MEMORY_SLICES and _PER_GPU.search(sentence) is not None


def _mixed_problem(sentence: str, found: Sequence[Instances], eighth: float) -> Problem | None:
    """The problem of instances of several profiles that together need more slices than one GPU has."""
    if len({(each.compute, each.memory) for each in found}) < 2 or _ONE_GPU.search(sentence) is None:
        return None
    if any(each.number > COMPUTE_SLICES for each in found) or _ALTERNATIVE.search(sentence) is not None:
        return None
    compute = sum(each.number * each.compute for each in found)
    memory = sum(each.number * max(1, round(each.memory * 1e9 / eighth)) for each in found)
    if compute <= COMPUTE_SLICES and memory <= MEMORY_SLICES:
        return None
    words = " and ".join(f"`{each.words}`" for each in found)
    message = f"{words} take {compute} compute and {memory} memory slices together; a GPU has {COMPUTE_SLICES} and {MEMORY_SLICES}"
    return RULE.problem("description", message, "use fewer instances, or a smaller profile")


_ALTERNATIVE = pattern(
    r"(?i)\b(?:or|either|oder|ou|half of|some|others?|rest|at night|by night|then|later|nodes?|team|nachts|instead)\b"
)
"""Pattern of words for alternative partitions; a GPU has one of them at a time."""
