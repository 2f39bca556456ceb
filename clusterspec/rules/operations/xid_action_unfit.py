"""A runbook answers an Xid with less than the driver's list asks for.

## What it finds

An action for an Xid of NVIDIA's driver in the description or a comment that is less than the immediate action of NVIDIA's list: a reset
or nothing where the node has to be restarted, a restart of the application or nothing where the GPU has to be reset. A runbook that
takes the node out of service or replaces the part is silent. The actions are a column of the catalog's table `catalog/xids.csv`.

## Why it matters

A GPU that has fallen off the bus does not answer a reset, and a GPU with an uncontained error keeps the error until it
is reset. The job restarts on the same part and fails again, or runs with one GPU less.

## What to do

Take the action of the list, and put the node back only after a check of its GPUs.

## When to ignore it

Ignore it where the node is watched by hand.

## Fires

```yaml description
clusterspec: 1
description: "Runbook. Xid 79: reset the GPU with nvidia-smi --gpu-reset, and return the node to the scheduler."
cluster: {platform: hgx-h200, nodes: 20}
```

## Silent

```yaml
clusterspec: 1
description: "Runbook. Xid 79: reboot the node, check its GPUs, and return it to the scheduler."
cluster: {platform: hgx-h200, nodes: 20}
```

## Sources

- Immediate actions by Xid: https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.logs.statements.catalogued_messages import xids
from clusterspec.rules.readers.written_numbers import MOST_MATCHES
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_XIDS = pattern(
    r"(?i)\bxids?:? ?(\d{1,3}(?:(?:, | and | or |, and | und | et | y |/)(?:xid )?\d{1,3}){0,8})(?![\d.%]| (?:h|hours?|times?|a (?:day|week))\b)"
)
_NUMBER = pattern(r"\d{1,3}")
_NEGATED = r"(?:do not|don['’]t|never|no|without(?: an?)?|not|nicht|kein\w*|ohne|ne pas|pas de|sans|sin|no se)"
_RESTART_NODE = pattern(
    r"(?i)\b(?:re-?boot\w*|(?:restart|power[- ]?cycl|reset)\w* (?:of )?(?:the |its |this )?(?:node|host|server|machine)|power[- ]?cycl\w*|neu ?start\w* (?:des|den) (?:knotens?|servers?)|(?:knoten|server) (?:wird )?neu ?(?:ge)?start\w*|redémarr\w* (?:le |du )?(?:nœud|serveur)|reinici\w* (?:el |del )?(?:nodo|servidor))"
)
_NO_REBOOT = pattern(rf"(?i)\b{_NEGATED} (?:a )?(?:re-?boot\w*|(?:restart|power[- ]?cycl)\w*)")
_RESET = pattern(
    r"(?i)(?:\b(?:reset\w*|setzt? (?:die |den )?gpu zurück|zurückgesetzt|réinitialis\w*|restablec\w*)\b|--gpu-reset|nvidia-smi -r\b)"
)
_RESTART_JOB = pattern(
    r"(?i)\b(?:(?:restart|requeue|resubmit|relaunch)\w* (?:of )?(?:the |this |its )?(?:job|application|process|training|run)|(?:job|application|run) (?:is )?(?:restart|requeu)\w*|job neu\w* ?start\w*|relanc\w* le (?:job|travail)|reinici\w* (?:el )?(?:trabajo|proceso))\b"
)
_NOTHING = pattern(
    r"(?i)\b(?:ignor\w*|no action|nothing|log only|only logged|logged only|keeps? running|carry on|continues?|goes on|finish(?:es)? the (?:job|run)|keine (?:aktion|maßnahme)|weiterlaufen|aucune action|on ignore|ninguna acción|se ignora)\b"
)
_OUT = pattern(
    r"(?i)\b(?:drain\w*|cordon\w*|isolat\w*|quarantin\w*|replac\w*|rma|(?:open|raise)s? an? (?:case|ticket)|support|out of (?:service|the pool)|leaves? the pool|remov\w*|swap\w*|spare|(?:another|other|healthy|second) nodes?|ersetz\w*|austausch\w*|remplac\w*|sustitu\w*)\b"
)
_LEVELS = ("none", "restart-application", "reset-gpu", "restart-node")
_ASKED = {"reset-gpu": "a reset of the GPU", "restart-node": "a restart of the node"}
_TAKEN = ("nothing", "a restart of the job", "a reset of the GPU")


def check(remarks: str, cluster: Cluster | None) -> Iterator[Problem]:
    if "xid" not in remarks.lower() or (cluster is not None and cluster.accelerator.vendor != "NVIDIA"):
        return
    text = " ".join(remarks.replace("#", " ").split())
    actions = {each.code: (each.action, each.name) for each in xids() if each.action in _ASKED}
    matches = [*islice(_XIDS.finditer(text), MOST_MATCHES)]
    for number, match in enumerate(matches):
        end = matches[number + 1].start() if number + 1 < len(matches) else len(text)
        taken = _level(text[match.end() : end].partition(". ")[0])
        for code in _NUMBER.findall(match[1]) if taken is not None else ():
            action, name = actions.get(code, ("", ""))
            if action and taken is not None and taken < _LEVELS.index(action):
                message = f"Xid {code} ({name}) asks for {_ASKED[action]}, but the text answers it with {_TAKEN[taken]}"
                yield RULE.problem(
                    "description",
                    message,
                    "take the action of the driver's list, and check the GPUs before the node returns",
                )
                return


def _level(words: str) -> int | None:
    """The index in `_LEVELS` of the strongest action in the words; None if there is none, or if the node is taken out
    of service.

    >>> _level(": reboot the node"), _level(": do not reboot; run nvidia-smi --gpu-reset"), _level(": finish the job"), _level(": drain it")
    (3, 2, 0, None)
    """
    if _OUT.search(words) is not None:
        return None
    if _RESTART_NODE.search(_NO_REBOOT.sub(" ", words)) is not None:
        return 3
    if _RESET.search(words) is not None:
        return 2
    if _RESTART_JOB.search(words) is not None:
        return 1
    return 0 if _NOTHING.search(words) is not None else None
