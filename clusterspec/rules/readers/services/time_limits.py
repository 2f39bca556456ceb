"""Time limits in texts, for connections, calls and pods of a service."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.written_numbers import sentences_of, time_in_text, unambiguous_setting
from clusterspec.standard import pattern


class TimeLimit(NamedTuple):
    """A time limit, also as ``written``, and the thing that it ends (``of``).

    It ends an `answer`, a connection before its `first token`, or a `pod` with its running answers. ``for_all`` is true
    if the text says that all running answers are completed.
    """

    seconds: float
    written: str
    of: str
    for_all: bool = False


_WHO = (
    r"gateway|ingress|load[- ]balancer|alb|nlb|elb|haproxy|traefik|istio|cloudflare|cdn|proxy|envoy|nginx|client|clients|sdk|front door|lambda|app service"
    r"|lastverteiler|répartiteur|passerelle|balanceador|pasarela|cliente"
)
_ENDS = (
    r"ends|closes|cuts|aborts|drops|kills|gives up|terminates|times? ?out|time-?outs?|deadline|limits?"
    r"|bricht|beendet|trennt|kappt|zeitlimit|coupe|ferme|interrompt|délai|corta|cierra|tiempo de espera"
)
_UNIT = r"(s|secs?|seconds?|min|minutes?|sekunden|minuten|secondes|segundos|minutos|h|hours?)"
_TIMEOUT = pattern(rf"(?i)\b(?:{_WHO})\b[^.;]{{0,60}}?(?:\b|_)(?:{_ENDS})\b[^.;\d]{{0,40}}?(\d{{1,4}}) ?{_UNIT}\b")
_TIMEOUT_BEFORE = pattern(
    rf"(?i)\b(?:time-?out|deadline|limit|zeitlimit|délai|tiempo de espera)s? (?:of |is |von |de )?(\d{{1,4}}) ?{_UNIT}\b [^.;\d]{{0,24}}?\b(?:{_WHO})\b"
    rf"|(?i:\b(?:after|nach|après|tras|después de) (\d{{1,4}}) ?{_UNIT},? [^.;\d]{{0,24}}?\b(?:{_WHO})\b [^.;\d]{{0,20}}?\b(?:{_ENDS})\b)"
    rf"|(?i:\b(\d{{1,4}}) ?{_UNIT},? (?:is |are |which is )?(?:the |an? )?(?:hard |fixed )?(?:limit|time-?out|deadline|maximum) (?:of|at|in) [^.;\d]{{0,16}}?\b(?:{_WHO})\b)"
)
_RAISED = pattern(rf"(?i)^ (?:to|auf|à|a) (\d{{1,4}}) ?{_UNIT}\b")
"""Pattern of the new value after a limit that was changed."""
_CUES = (
    *(
        "gateway",
        "ingress",
        "balance",
        "alb",
        "nlb",
        "elb",
        "haproxy",
        "traefik",
        "istio",
        "cloudflare",
        "cdn",
        "proxy",
    ),
    *("envoy", "nginx", "client", "sdk", "door", "lambda", "app service", "lastverteiler", "répartiteur", "passerelle"),
    "pasarela",
)
"""Lowercase words; every sentence with the limit of a connection has at least one of them."""
_IDLE = pattern(
    r"(?i)\bidle\b|\binacti\w+|\bfirst (?:byte|token)\b|\bread[ _]time-?out\b|\bproxy_(?:read|send)_timeout\b|\b(?:between|without) (?:two )?(?:reads|bytes|tokens|chunks|data)\b|\buntätig\w*|\binaktiv\w*"
)
_NOT_AN_ANSWER = pattern(
    r"(?i)\bconnect(?:ion)? time-?out\b|\bhandshake\b|\bhealth\b|\bprobe\b|\bretry after\b|\bkeep-?alive\b|\brate limit"
)
_STREAM = pattern(r"(?i)\bstream(?:s|ed|ing)?\b(?! or not\b)|\bsse\b")
_WHOLE_STREAM = pattern(
    r"(?i)\b(?:stream duration|total|absolute|hard limit|regardless|whether|even|also (?:for|of|a) |(?:ends|closes|cuts|aborts|limits) (?:a|any|every|each|all) (?:\w+ )?streams?|streams? (?:is|are) (?:ended|closed|cut|limited))"
)
_WHOLE = ("stream", "in one piece", "as one")
"""Words for answers that are not streamed; a text about such answers has at least one of them."""
_NOT_STREAMED = pattern(
    r"(?i)\b(?:not|un|non|without|no|never)[- ]?stream(?:ed|ing|s)?\b|\bstream(?:ing)? ?(?:=|:|is) ?(?:false|off)\b|\bin one piece\b|\bas one (?:json|document|response)\b|\bnicht gestreamt\b|\bsans streaming\b|\bsin streaming\b"
)
_STREAMED = pattern(r"(?i)\bstream(?:ed|ing|s)?\b|\bsse\b|\bserver-sent\b|\bgestreamt\b")
_GRACE = pattern(
    rf"(?i)\b(?:terminationGracePeriodSeconds|TimeoutStopSec)\b\W{{0,3}}(?:is |of |to |set to |= ?)?(\d{{1,5}})\b ?{_UNIT}?(?!\w|\.\d)"
    rf"|\b(?:grace period|termination grace|drain(?:s|ing)?(?: (?:time|period|timeout|window))?|(?:stop|shutdown) time-?out|deregistration delay|sigkill|karenzzeit|gnadenfrist|schonfrist|délai de grâce|période de grâce|periodo de gracia)\b[^.;\d]{{0,40}}?(\d{{1,5}}) ?{_UNIT}\b"
    rf"|\b(?:pods?|containers?|engines?|vllm|process(?:es)?)\b[^.;\d]{{0,30}}\bkilled (?:after )?(\d{{1,5}}) ?{_UNIT}\b"
    rf"|\b(?:kubernetes|kubelet|k8s|docker|systemd)\b[^.;\d]{{0,30}}(\d{{1,5}}) ?{_UNIT}\b[^.;\d]{{0,24}}\bkills?\b"
)
_GRACE_CUES = (
    "grace",
    "timeoutstopsec",
    "drain",
    "stop time",
    "shutdown time",
    "deregistration",
    "sigkill",
    "karenz",
    "gnadenfrist",
    "schonfrist",
    "grâce",
    "gracia",
    "kill",
)
_KEPT = pattern(
    r"(?i)(?<!not )(?<!never )(?<!cannot )\b(?:retr(?:y|ies|ied)|resum(?:e|es|ed)|reconnects?|resends?|migrates?|moved to|handed (?:over|on)|(?:may|can|will) be (?:cut|broken|aborted|lost))\b"
)
"""Pattern of words that say that interrupted answers continue elsewhere, or that interruptions are accepted."""
_ALL_COMPLETED = pattern(
    r"(?i)\b(?:every|all|each|no|none|nothing|nichts|rien|nada|zero|without|not an?|kein\w{0,2}|alle|jede\w?|ohne|aucune?|toutes?|sans|ningun[ao]?|todas?|sin)\b[^.;]{0,60}"
    r"\b(?:ends?|end in order|broken|lost|dropped|finish(?:es|ed)?|completes?|completed|interrupted|interruption|cut|downtime|abort\w{0,3}|verlor\w{0,3}|beendet|abgebrochen|coupée?s?|perdue?s?|terminent|perdid[ao]s?|pierd\w|termina\w?|cort\w{1,4})\b"
)


def limits_in(text: str) -> Iterator[TimeLimit]:
    """The time limits that a text states, at most one per sentence.

    >>> [(each.seconds, each.of) for each in limits_in("The gateway ends every call after 30 s. Pods drain for 2 min.")]
    [(30.0, 'answer'), (120.0, 'pod')]
    >>> [(each.seconds, each.of) for each in limits_in("Answers are streamed. nginx: proxy_read_timeout is 60 s.")]
    [(60.0, 'first token')]
    """
    whole, kept = any(each in text.lower() for each in _WHOLE) and _NOT_STREAMED.search(text) is not None, None
    for sentence in sentences_of(text):
        match = unambiguous_setting(_TIMEOUT, sentence, _CUES) or unambiguous_setting(_TIMEOUT_BEFORE, sentence, _CUES)
        if match is not None and _NOT_AN_ANSWER.search(sentence) is None:
            of = _limited_answer(sentence, whole, text)
            changed = _RAISED.search(sentence[match.end() :])
            number, unit = [each for each in (changed or match).groups() if each][:2]
            if of:
                yield TimeLimit(time_in_text(number, _unit_in_english(unit)), f"{number} {unit}", of)
            continue
        match = unambiguous_setting(_GRACE, sentence, _GRACE_CUES)
        if match is not None:
            kept = _KEPT.search(text) is not None if kept is None else kept
            number, unit = ([each for each in match.groups() if each] + ["s"])[:2]
            if not kept:
                completed = _ALL_COMPLETED.search(text) is not None
                yield TimeLimit(time_in_text(number, _unit_in_english(unit)), f"{number} {unit}", "pod", completed)


def _limited_answer(sentence: str, whole: bool, text: str) -> str:
    """What the limit of a connection ends; empty if the text does not make it clear."""
    if whole:
        return "answer"
    if _IDLE.search(sentence) is not None:
        return "first token" if _STREAMED.search(text) is not None else ""
    if _STREAM.search(sentence) is not None and _WHOLE_STREAM.search(sentence) is None:
        return ""
    return "answer"


def _unit_in_english(unit: str) -> str:
    """The unit as the keys of a spec write it."""
    folded = unit.lower()
    return "min" if folded.startswith("m") else "h" if folded.startswith("h") else "s"
