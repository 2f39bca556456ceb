"""The outcome that a sentence reports for something that was tried: it helped, or it did not."""

from __future__ import annotations

import re

HELPED, VAIN = "helped", "vain"
GOOD = re.compile(
    r"\b(?<![-/])(?:works|worked|working(?!-| (?:on|towards?|through)\b)|fix(?:es|ed)"
    r"|solve[sd]|resolve[sd]|helps|helped"
    r"|succeed(?:s|ed)|(?:went|goes|gone) away"
    r"|tests? (?:\w{1,10} ){0,2}pass(?:es|ed|ing)?|pass(?:es|ed) (?:now|both|again|fine|when|if|once|with)"
    r"|disappear(?:s|ed)|eliminate[sd]|cure[sd]|mitigate[sd]|doubles|improve[sd]|did the trick|back to normal"
    r"|work ?around (?:is|was)|(?:actual|real|the|my|our|final) (?:fix|solution) (?:is|was)"
    r"|(?:fix|work ?around)\b.{0,20} (?:verified|confirmed)"
    r"|(?:did|as a) work ?around"
    r"|(?:the|my|our|real|actual|only) (?:fix|solution) (?:\w{1,8} ){1,3}(?:is|was)|doubled|tripled|go away"
    r"|(?:makes?|made|lets?) (?:the |all |our )?\w{1,12} (?:pass|work|run|start|connect|go away)"
    r"|no (?:hang|error|issue|problem|crash|timeout|failure)s? (?:any ?more|now|at all)"
    r"|(?:got|gets|made|makes|making) it (?:(?:to )?work|run|start)|did it$|was the fix|all is (?:good|well|fine)"
    r"|brings? .{1,40} back|restore[sd]|avoid(?:s|ed)|is a work ?around|works? around|got rid of|clear(?:s|ed) it"
    r"|it (?:starts|completes|finishes|trains)|(?:transfer|run|job|test|training) (?:starts|completes|finishes)"
    r"|(?:errors?|hangs?|problem|issue|fault)s? (?:has |have )?(?:stopped|vanished|cleared|moved with"
    r"|follow(?:s|ed)(?! by))"
    r"|r[au]n(?:s|ning)? (?:fine|ok|okay|well|normally|correctly|successfully|through|without)"
    r"|(?:is|was|are|were|becomes|looks) (?:all )?(?:fine|ok|okay|gone|normal|good)"
    r"|no (?:more|longer any|longer) (?:hang|error|issue|problem|crash|timeout|fail|occur|happen|appear)\w{0,4}"
    r"|(?:there (?:is|are|was|were)|has|have|had|with|ran) no (?:such )?(?:problem|issue)s?"
    r"|allow(?:s|ed)? (?:\w{1,12} ){0,5}to (?:run|work|pass|start|finish)"
    r"|reach(?:es|ed) (?:the )?(?:full|line|expected)|over(?:came|come)"
    r"|(?:it|everything|training|run|test)s? completes?"
    r"|(?:both|all|each|either) (?:\w{1,14} )?(?:fix|solve|resolve|help)"
    r"|(?:rais|increas|boost|improv)(?:es|ed) (?:\w{1,12} ){0,4}(?:bandwidth|busbw|throughput|performance|speed)"
    r"|(?:bandwidth|busbw|throughput|performance|speed) (?:\w{1,12} ){0,2}"
    r"(?:improv|increas|recover|doubl|restor)(?:ed|e?s)"
    r"|(?:did|does)(?: not|n[o']t|n't) (?:reproduce|occur|happen|appear)"
    r"|did (?:indeed |in fact )?(?:fix|solve|resolve|help)"
    r"|(?:get|gets|got|goes|went) through|no longer reproduces|ended (?:it|that|this)|brought (?:.{1,40} )?back"
    r"|(?:gave|gives|g[oe]ts?|has|had|reach(?:es|ed)) (?:us |me )?"
    r"(?:twice|double|line rate|the full|[0-9.]{1,4} ?(?:x|times))|evens out"
    r"|(?:makes?|made|is|was|are|were) (?:it |this |them )?(?:[0-9.]{1,4} ?(?:x|times)|twice as|much|far) faster"
    r"|[0-9.]{1,5} ?(?:%|x|times|percent) faster|(?:much|way|a lot|significantly|now) faster|sped up"
    r"|only (?:takes?|took|needs?) [0-9.]{1,6} ?(?:s|sec\w{0,4}|min\w{0,4}|h|hours?)|(?:it|they|library) (?:is"
    r"|are) found|speeds? up"
    r"|(?:full|normal|original|usual|old|expected) speed|(?:spikes?|pauses?|stalls?|jitter) (?:are|is) gone"
    r"|(?:stays?|remains?|is|was) (?:constant|stable|as fast|as at the start)"
    r"|d(?:id|oes) the job|gets rid of|for (?:it|this|them) to (?:run|work|start)|only way (?:\w{1,12} ){0,6}(?:is|was)"
    r"|only (?:runs|works|starts|trains|passes) (?:if|when|with|after|once))\b|✅|\bit (?:runs|works|starts)(?=[,;.])"
    r"|\b(?:the|my|this) (?:test|job|program|script|training|server|engine|benchmark) (?:runs|works|starts)"
    r"(?=[,;.]|\W{0,4}$)"
    r"|\b(?:work ?around|(?:actual|real|the|my|our|final) (?:fix|solution)|solution): |解决了|可以了",
    re.IGNORECASE,
)
BAD = re.compile(
    r"\b(?:(?:does|did|do|is|was|has|have|could|can|would|were|are)(?: not|n[o']t|n't)(?: \w{1,10}){0,2} "
    r"(?:work|help|fix|solv|resolv|change|improv|matter|affect|make (?:a|any) diff)\w{0,5}"
    r"|no (?:effect|change|difference|luck|improvement|help|impact)|to no avail|chang(?:es|ed) nothing"
    r"|without (?:success|effect|any (?:effect|change|success))"
    r"|still (?:the same|hang|fail|crash|get|see|slow|persist|happen|occur|there|broken|stuck|tim)\w{0,4}"
    r"|same (?:error|issue|problem|result|hang|behaviou?r|failure|symptom)s?|unchanged|in vain"
    r"|(?:issue|problem|error|hang) (?:persists|remains)"
    r"|neither(?=\W.{0,119}\b(?:help|work|fix|chang|solv)\w{0,4}\b)"
    r"|none (?:of (?:them|these|that) )?(?:helped|worked|survived)"
    r"|only (?:shifted|delayed|postponed)|hangs? (?:identically|too|as well|either way))\b"
    r"|没用|无效|还是(?:报错|卡|不行)",
    re.IGNORECASE,
)
WORSE = re.compile(
    r"\b(?:fail(?:s|ed|ing)|hangs?|hanging|hung|crash(?:es|ed|ing)|breaks|broke|broken|stuck|errors? out|time[sd] out"
    r"|slow(?:er)?|deadlocks?|regress\w{0,6}|segfaults?|errors?|happens|occurs|drops?|dropped)\b|❌",
    re.IGNORECASE,
)
"""Words for the behavior of a run that has the fault."""
_UNTIL = re.compile(r"\b(?:until|unless)\b(?! (?:you|the end|the time|it times?|timeout)\b)", re.IGNORECASE)
"""Words between a fault and the remedy that ended it."""
_NEGATED = re.compile(r"(?:\bnot|n't|\bnever|\bno longer|\bstops?|\bstopped) (?:\w{1,10} )?$", re.IGNORECASE)
"""Words that negate a good outcome after them."""
_SUCCESS = re.compile(
    r"^\W{0,6}(?:(?:the |my |this )?(?:problem|issue|bug|error)s? (?:is |was |has been |got |now )?"
    r"(?:solved|fixed|resolved|gone)"
    r"|(?:solved|fixed|resolved)(?: it)?"
    r"|(?:the |my )?(?:actual )?(?:solution|fix|work ?around) (?:is|was)(?: to)?(?: \w{2,8})?"
    r"|th(?:is|e following) (?:fixed|solved|resolved|works for|worked for) (?:it|me|the \w{3,8}))\W{0,6}$",
    re.IGNORECASE,
)
_UNIT = r"(?:[GMT]i?[Bb](?:/s|ps|it/s)|tok(?:ens)?/s|TFLOPS)"
GAIN = re.compile(
    rf"\b([0-9]{{1,5}}(?:\.[0-9]{{1,4}})?) ?{_UNIT}?(?: [\w-]{{1,20}}){{0,2}} ?(?:→|->|to) ?~?"
    rf"([0-9]{{1,5}}(?:\.[0-9]{{1,4}})?) ?{_UNIT}"
)
"""Two rates, the second after a change."""
GAINED = 1.3
"""Minimum ratio of the rate after a remedy to the rate before it."""


def in_small_letters(*patterns: re.Pattern[str]) -> tuple[re.Pattern[str], ...]:
    """Patterns of small letters for texts after `str.casefold`: without regard to case a search takes four times as
    long.

    >>> in_small_letters(GOOD)[0].search("With X it WORKS".casefold()) is not None
    True
    """
    return tuple(re.compile(each.pattern) for each in patterns)


def outcome_of(clause: str) -> str:
    """The outcome of a remedy in a clause: `helped`, `vain`, or empty.

    >>> outcome_of("with X it works"), outcome_of("X does not help"), outcome_of("it no longer works with X")
    ('helped', 'vain', '')
    >>> outcome_of("3 GB/s -> 23.7 GB/s with X"), outcome_of("23.7 GB/s -> 23.9 GB/s with X")
    ('helped', '')
    """
    if BAD.search(clause):
        return VAIN
    if (rates := GAIN.search(clause)) and float(rates[2]) >= GAINED * float(rates[1]):
        return HELPED
    for match in GOOD.finditer(clause):
        good = match[0].lower().startswith("no ") or not _NEGATED.search(clause[: match.start()])
        return HELPED if good else ""
    return ""


def is_success(clause: str) -> bool:
    """Whether a clause says that a fault is mended, and nothing of how: the next one does.

    >>> is_success("Problem solved"), is_success("The solution was to use"), is_success("NCCL solved it with X")
    (True, True, False)
    """
    return _SUCCESS.search(clause) is not None


def ended_by(clause: str) -> str:
    """What ended a fault, behind "until" or "unless"; empty without a fault before it.

    >>> ended_by("it hangs unless NCCL_P2P_DISABLE=1 is set"), ended_by("it runs until midnight")
    (' NCCL_P2P_DISABLE=1 is set', '')
    """
    word = _UNTIL.search(clause)
    return clause[word.end() :] if word and WORSE.search(clause[: word.start()]) else ""
