"""The notice before a machine is taken back is shorter than its last checkpoint takes.

## What it finds

A text that saves a checkpoint on the notice of an interruption (`two-minute notice`, `30 s warning`; without a number
the notice of the cloud that the platform or the text names) or in the grace time of a scheduler (`GraceTime=60`,
`terminationGracePeriodSeconds: 30`, `a grace period of 2 min`), with a checkpoint that takes longer: as stated
(`operations.checkpoint.write_time`, else the pause), else by the storage system. The finding is an error. The rule is
silent where the text saves to memory, to a local drive or to another node during the notice, and for adapters.

## Why it matters

The machine is gone before the checkpoint is complete. Each interruption loses the steps since the last regular one.

## What to do

Save regularly, at an interval derived from the rate of interruptions, or save on the notice to local memory that outlives the machine.

## When to ignore it

Ignore it where the notice is longer than the text says.

## Fires

```yaml description
clusterspec: 1
description: Spot instances; on the two-minute notice the job writes a last full checkpoint to the file system.
cluster: {platform: aws-p4de-24xlarge, nodes: 4}
operations: {checkpoint: {interval: 1 h, write_time: 6 min}}
```

```yaml description
clusterspec: 1
description: The interruption notice of the spot instances triggers a last checkpoint to the file system.
cluster: {platform: aws-p5-48xlarge, nodes: 4}
operations: {checkpoint: {interval: 1 h, write_time: 200 s}}
```

```yaml description
clusterspec: 1
description: GraceTime=60 for the partition. On SIGTERM the job writes a full checkpoint and exits.
cluster: {platform: dgx-h100, nodes: 4}
operations: {checkpoint: {interval: 1 h, write_time: 200 s}}
```

## Silent

```yaml
clusterspec: 1
description: Spot instances; on the two-minute notice the job writes a last full checkpoint to the file system.
cluster: {platform: aws-p4de-24xlarge, nodes: 4}
operations: {checkpoint: {interval: 1 h, write_time: 80 s}}
```

## Sources

- Two minutes before an interruption of a spot instance: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
- Thirty seconds before a preemption: https://cloud.google.com/compute/docs/instances/spot
- SIGKILL follows SIGTERM after the grace time of a preempted job: https://slurm.schedmd.com/preempt.html
- At least thirty seconds before an eviction: https://learn.microsoft.com/en-us/azure/virtual-machines/linux/scheduled-events
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import asynchronous_checkpoint_time, checkpoint_time
from clusterspec.rules.readers.amounts import TIME, amounts_in, amounts_of
from clusterspec.rules.readers.clauses import clauses_of, is_hypothetical
from clusterspec.rules.readers.units import MINUTE, NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import count_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_CUES = (
    "notice",
    "warn",
    "announce",
    "advance",
    "ahead",
    "reclaim",
    "preempt",
    "taken",
    "disappear",
    "instance goes",
    "sigterm",
    "vorlauf",
    "ankündig",
    "entzug",
    "préavis",
    "prévenu",
    "aviso",
    "interrupt",
    "interruption",
)
"""Words for a notice; a text about a notice has at least one of them."""
_GRACE_CUES = ("grace", "killwait", "sigkill", "gnadenfrist", "karenzzeit", "schonfrist", "délai de grâce", "gracia")
_SIGNAL_CUES = (
    "sigterm",
    "sigusr",
    "signal",
    "grace",
    "preempt",
    "evict",
    "präemp",
    "gnadenfrist",
    "karenzzeit",
    "señal",
)
"""Words for the grace time of a job; a sentence about it has at least one of them."""
_LENGTH = rf"(\d{{1,4}}|{'|'.join(NUMBER_WORDS)})[- ]?(s|sec|seconds?|min|minutes?|sekunden|minuten|secondes|segundos|minutos)\b"
_NOTICE = pattern(
    r"\b(?:notices?|warn\w*|reclaim\w*|preempt\w*|shut-?down|terminat\w*|announce\w*|in advance|ahead|before (?:\w+ ){0,4}?(?:reclaim\w*|goes|gone|taken|takes|disappears?|terminat\w*|shut|stops?)|(?:is|are) (?:about to be )?(?:taken|reclaimed)|later|vorwarn\w*|vorlauf\w*|ankündig\w*|entzug\w*|préavis|prévenu\w*|avisos?)\b"
)
"""Pattern of words next to the time between the announcement and the end of a machine."""
_NOTICES = pattern(r"\b(?:notices?|warnings?|vorwarn\w*|vorlauf|ankündig\w*|préavis|avisos?)\b")
_SAVE_TIME = pattern(
    r"\b(?:takes?|needs?|lasts|of a save|a save|checkpoint (?:of|takes|needs)|dauert|braucht|dure|every|interval|hourly|after|tarda)\b"
)
_GRACE = pattern(
    rf"\b(?:gracetime|killwait|terminationgraceperiodseconds)\b ?[=:]? ?(?:of |to |is )?(\d{{1,4}})\b(?! ?h)(?: ?(min)\w{{0,4}}\b)?"
    rf"|\b(?:grace (?:time|period)|gnadenfrist|karenzzeit|schonfrist|délai de grâce|(?:periodo|tiempo) de gracia)(?: (?:of|is|lasts|von|ist|de|dauert|beträgt))? ?(?:only |just |nur )?{_LENGTH}"
    rf"|\b{_LENGTH}[- ](?:\w{{1,10}} )?(?:grace (?:time|period)|gnadenfrist|karenzzeit)"
    rf"|\bsigkill (?:comes |follows |is sent |arrives )?(?:only )?(?:after )?{_LENGTH}"
)
_TAKEN_BACK = pattern(
    r"\b(?:spot|preempt\w*|interruption|interrupted|reclaim\w*|evict\w*|termination|unterbrechung\w*|interrupción)\b"
)
_CLOUDS = {
    "aws": (120.0, pattern(r"\b(?:aws|ec2|amazon)\b")),
    "gcp": (30.0, pattern(r"\b(?:gcp|gce|google)\b")),
    "azure": (30.0, pattern(r"\bazure\b")),
}
"""For each prefix of a cloud's platforms, its seconds of notice and its names in texts."""
_SAVES = pattern(
    r"\b(?:checkpoints (?:to|onto|into)|saves (?!takes)|saved|saving|writes?|writing|written|dump(?:s|ed)?|flush\w*|stores|stored|persist\w*|schreib\w*|geschrieben|speichert?|sichert|gesichert|écri\w+|sauvegarde\w*|guarda\w*|escrib\w*"
    r"|(?:to |can |we )save|(?:last|final|emergency|closing|full|complete|whole|entire|one more|letzte\w*|volle\w*|vollständige\w*|dernier|complet|último|completo) (?:[^\W\d_]+ ){0,2}?(?:checkpoints?|saves?|snapshots?|state|zustand))\b"
)
"""Pattern of words for a job that saves its state."""
_STATE = pattern(
    r"\b(?:checkpoints?|sav(?:es?|ed|ing)|snapshots?|states?|weights|optimizer|everything|zustand|speicher\w*|sicher\w*|gesichert|sauvegard\w*|état|estado|guarda\w*)\b"
)
_ELSEWHERE = pattern(
    r"\b(?:memory|ram|local|nvme|peers?|neighbou?rs?|adapters?|lora|only (?:the )?(?:step|state of|its log)|lokal\w*|every|each|hourly|(?<!last )(?<!final )regular\w*|stündlich\w*|toutes|in the background|the rest|im hintergrund|en arrière-plan)\b"
)
"""Pattern of words for a save that is not a whole checkpoint on the storage system, or that is a regular one."""
_READS = pattern(
    r"\b(?:resum\w*|restor\w*|reload\w*|loads?|restart\w*|roll\w* back|falls? back|go(?:es)? (?:back|on)|since|from (?:the|its) (?:last|latest))\b"
)
"""Pattern of words for a checkpoint that is read or was written earlier."""
_RULED_OUT = pattern(
    r"\b(?:too short|shorter than|less than|not|no (?:\w+ )?(?:checkpoint|save)|nothing|never|cannot|does not|insufficient|given up|abandoned|instead|nicht|kein\w*|zu kurz|trop court|pas|no alcanza|demasiado)\b"
)
_RELIES = pattern(
    r"\b(?:too short|shorter than|(?:do|does|did) not (?!worry|bother|matter|hurt|concern|scare)|given up|abandoned|rel(?:y|ies) on the|writes nothing|zu kurz|trop court|demasiado cort\w)\b"
)
_TIED = pattern(
    r"\b(?:then|in between|within|th(?:at|is) (?:time|window)|fits|that is enough|time in which|last|final|emergency|at once|immediately|handler|hook|dann|darin|alors|entonces)\b"
)
"""Pattern of words in a sentence that continues with what happens during a notice."""


def check(
    own_remarks: str,
    operations: OperationsSpec,
    cluster: Cluster | None,
    networks: NetworksSpec | None,
    model: Model | None,
    workload: Workload | None,
    layout: Layout | None,
) -> Iterator[Problem]:
    folded = own_remarks.lower() if own_remarks else ""
    if not any(cue in folded for cue in (*_CUES, *_GRACE_CUES)):
        return
    saved = asynchronous_checkpoint_time(operations, networks, model, workload, layout)
    saved = saved or checkpoint_time(operations, networks, model, workload, layout)
    if saved is None:
        return
    for text, notice in _notices_in(sentences_of(" ".join(folded.split())), cluster):
        if _saves_within(text) and saved.seconds > notice:
            message = f"according to the text, a checkpoint is written within {display(notice, 's')}, but it takes {display(saved.seconds, 's')}"
            yield RULE.problem("description", message, "choose the checkpoint interval by the rate of interruptions")
            return


def _notices_in(sentences: Sequence[str], cluster: Cluster | None) -> Iterator[tuple[str, float]]:
    """Each lowercase sentence about a notice, joined with a continuation, and the seconds until the job ends."""
    notices = [_notice_of(each, cluster) for each in sentences]
    stated = {notice for notice in notices if notice is not None}
    usual = stated.pop() if len(stated) == 1 else None
    grace = _grace_time(sentences)
    for index, (sentence, own) in enumerate(zip(sentences, notices, strict=True)):
        notice = usual if own is None and _NOTICES.search(sentence) is not None else own
        if notice is None and any(cue in sentence for cue in _SIGNAL_CUES):
            notice = grace
        if notice is None:
            continue
        following = sentences[index + 1] if index + 1 < len(sentences) else ""
        tied = own is not None and _TIED.search(following) is not None
        yield (f"{sentence}. {following}" if tied else sentence), notice


def _saves_within(text: str) -> bool:
    """Whether a lowercase text about a notice says that the job saves its whole state within it.

    >>> _saves_within("on the notice the job saves a checkpoint"), _saves_within("the notice is too short for a full checkpoint")
    (True, False)
    """
    if _RELIES.search(text) is not None:
        return False
    promised, _, _ = text.partition(", so no")
    found = False
    for start, end in clauses_of(promised):
        clause = promised[start:end]
        if _SAVES.search(clause) is None or is_hypothetical(clause) or _READS.search(clause) is not None:
            continue
        if _ELSEWHERE.search(clause) is not None or _RULED_OUT.search(clause) is not None:
            return False
        found |= _STATE.search(promised) is not None
    return found


def _grace_time(sentences: Sequence[str]) -> float | None:
    """Seconds from the signal to the end of a job that a sentence states; None if it states none or several."""
    found = [_GRACE.search(each) for each in sentences if any(cue in each for cue in _GRACE_CUES)]
    stated = [[each for each in match.groups() if each] for match in found if match is not None]
    if len(stated) != 1:
        return None
    count, unit = (*stated[0], "s")[:2]
    return count_in_text(count) * (MINUTE if unit.startswith("min") else 1.0)


def _notice_of(sentence: str, cluster: Cluster | None) -> float | None:
    """Seconds of the notice in a sentence: as stated, else of the cloud that it names, else of the platform's cloud;
    None if unknown.
    """
    times = [each for each in amounts_in(sentence) if each.kind == TIME]
    found = {each.value for each in amounts_of(sentence, times, _NOTICE, _SAVE_TIME)}
    if found:
        return found.pop() if len(found) == 1 else None
    if times or _NOTICES.search(sentence) is None or _TAKEN_BACK.search(sentence) is None:
        return None
    platform = cluster.platform.id if cluster is not None and cluster.platform is not None else ""
    named = [seconds for seconds, names in _CLOUDS.values() if names.search(sentence)]
    own = [seconds for cloud, (seconds, _) in _CLOUDS.items() if platform.startswith(f"{cloud}-")]
    return next(iter((*named, *own)), None)
