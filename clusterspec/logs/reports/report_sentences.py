"""Sentences that people write in a text with a log, and the sentences among them that report a hanging run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from clusterspec.logs.reports.fault_words import OF_A_PERSON, SUBTLE
from clusterspec.logs.reports.form_lines import has_title, is_of_a_form
from clusterspec.logs.text_lines import lines_of, shown_line

MOST_LINES = 4_000
"""Largest number of lines of a text that are read: longer ones are logs, whose first and last lines may be a report."""
NARROWEST, WIDEST = 12, 1_200
"""Characters of a line of a report."""
FEWEST_WORDS = 2
"""Smallest number of words of a sentence, without those of paths, options and settings."""
FEWEST_CHARACTERS = 4
"""Chinese characters of a sentence."""
_OF_ISSUE = r"\[(?:Bug|BUG|Issue|Question|Usage|Help|Performance)\]"
"""The label before the title of an issue, which a person writes."""
_LOGGED = re.compile(
    rf"\b(?:NCCL|RCCL) (?:INFO|WARN|TRACE|CALL)\b|^\s{{0,8}}(?:(?!{_OF_ISSUE})\[|"
    r"\(\w{1,40} pid|[#|$>+*]{1,3}\s?(?:[A-Z_]{2,40}=|sudo"
    r"|\./)"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]|[A-Z][a-z]{2} [ 0-9]?[0-9] [0-9:]{8} |[A-Z]{4,8}[: ]{1,3}\S{0,60}:[0-9]"
    r"|Traceback|Caused by|File \"|(?:[\w.]{1,60})?(?:Error|Exception|Warning): )"
    r"|^\S{1,80}:[0-9]{1,9}:[0-9]{1,9}[ :]|\b(?:INFO|WARNING|ERROR|DEBUG)\b|\.(?:cc|cpp|cu|h|go|py|rs):[0-9]"
    r"|\b\w{0,40}(?:Error|Exception): |^\s{0,8}\(\w{1,40}\) "
    r"|(?:^|: )(?:[Ee]rror|[Ff]atal|FATAL|[Ww]arning|WARN)\b.{0,20}: |^\s{0,8}Lnk(?:Cap|Sta|Ctl)2?:"
    r"|: (?:Connection (?:timed out|refused|reset)|No route to host|Operation not permitted|Permission denied"
    r"|No such file or directory|Network is unreachable|Name or service not known)\b"
)
"""Beginnings and other marks of lines of logs."""
_WORD = re.compile(r"(?<![\w./=-])[A-Za-z][a-z']{1,20}(?![\w/=(-])")
_SET = re.compile(r"\b[A-Z][A-Z0-9_]{5,40} ?= ?\S")
"""A setting, to which one word is enough for a sentence."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_SENTENCE = re.compile(
    r"(?<=[.!?;])\s+(?=[A-Z`*_(\"'-]|[a-z]{2})|(?<=[a-z]{3})\.(?=[A-Z][a-z]{1,9} [a-z])"
    r"|[。；！？]|,? \b(?:but|however|whereas|although|though)\b|，|: (?=[a-z])"
)
_MODAL = re.compile(
    r"\b(?:may|might|should|could|would|perhaps|maybe|possibly|recommend\w{0,4}|suggest(?:s|ed|ing)?|consider"
    r"|(?<!than )(?<!as )(?<!not )expect(?:ed)?"
    r"|let me|will (?:try|test|check)|going to)\b|\b(?:can|could|did|have|do|would) you\b"
    r"|(?:^|[.:,;] {0,2})(?:[-*] )?(?:please |then |also |just )?try\b|\bif (?:you|it|this|that|the)\b|\?\s*$"
    r"|\b[Ww](?:hat|hich|hether|here) (?:does|do|is|are|did|can)\b|\bto (?:test|check|see|confirm) (?:if|whether"
    r"|it)\b",
    re.IGNORECASE,
)
"""Words of advice, of a question, or of something that was not tried."""
_GENERAL = re.compile(
    r"\W{0,4}(?:When(?:ever)?|Where(?:ver)?|If|Unless|Once|As soon as|As long as) (?:an? |one |some |any |each "
    r"|all |no )"
    r"(?![^,\n]{0,200}\b(?:I|we|my|our)\b)[^,\n]{1,200},"
    r"|\W{0,4}An? (?:\w{1,14} ){0,2}(?:hang|failure|fault|crash|stall|loss|error|outage)s? (?:that|which)\b"
)
"""A condition of any part, before what then happens, or a fault of a kind that the sentence is about."""
_OF_A_FAULT = re.compile(
    r"\bwhy (?:is|are|do|does|did|am|can)\b|\bwhat (?:am|are|do|did) (?:i|we) (?:do|doing) wrong\b"
    r"|\bhow (?:can|do|to|could|should) (?:i |we |you )?"
    r"(?:fix|solve|resolve|avoid|get rid|deal|overcome)\b",
    re.IGNORECASE,
)
"""Words of a question about an existing fault."""
_SOLVED = re.compile(
    r"\b(?:fix(?:es|ed)?|solv(?:es?|ed|ing)|resolv(?:es?|ed|ing)|workaround|work(?:s|ed)? around|solution|(?:goes"
    r"|went|go) away"
    r"|gone|disappear(?:s|ed)?|did the trick|over(?:came|come)|g[eo]t around|bypass(?:es|ed)?|cure[ds]?"
    r"|eliminat(?:es|ed))\b"
    r"|(?:\b(?:no longer|never|not|(?:runs?|ran|works?|worked|trains?|pass(?:es|ed)|completes?) (?:\w{2,10} )?without)"
    r"|n't|n’t) (?:\w{2,10} )?(?:hang|fail|crash|freez|stuck|error|problem"
    r"|issue|dead)\w{0,8}"
    r"|(?:\b(?:not|never|no longer)|n't|n’t) (?:\w{2,10} )?(?:happen|occur|appear|reproduc)\w{0,4}"
    r"|\b(?:hang|fail|crash)(?:s|ed|ing)? (?:no more|anymore|any more)\b|解决|修复",
    re.IGNORECASE,
)
"""Words of an end of what failed."""
_HANGS = re.compile(
    r"\b(?:hangs|hung|hanging|(?:training|job|run|it|they|script|program|process(?:es)?|test) (?:just |always "
    r"|randomly )?hang"
    r"|freezes|frozen|deadlocks?|(?:gets?|got|is|are|was|be|been|keeps?) (?:\w{4,8} )?(?:stuck|struck|blocked|frozen)"
    r"|(?:training|job|run|it|they|program|process(?:es)?|test) (?:just |always |then )?(?:stalls|stalled|froze))\b"
    r"|^\W{0,4}(?:hang|stuck|stall|stalled|freeze)\b (?:\w{2,14} )?(?:in|on|at|when|while|during|after|with)\b"
    r"|\bno (?:further |more )?"
    r"(?:output|progress)\b|\bnothing (?:more |else )?(?:happens|is printed)\b|\bdoes(?: not|n't) (?:proceed"
    r"|progress|continue)\b"
    r"|卡住|卡死|挂起|hang ?住",
    re.IGNORECASE,
)
"""Words of a run that neither ends nor goes on."""
_OF_STEPS = re.compile(
    r"\b(?:step|iter\w{0,6}|batch|epoch)s?\b[ :=#\[]{0,3}[0-9].{0,80}\bloss\b"
    r"|\b(?:after|at|during|in) (?:\w{1,12} ){0,4}(?:epochs?|steps|iterations|batches)\b"
    r"|\b(?:validation|evaluation) (?:loop|epoch|step|end)|\b(?:end|middle) of (?:the |an |each )?(?:epoch|training)\b",
    re.IGNORECASE,
)
"""Words of steps that a run has done: all of its ranks had connected by then."""
_FAULTY = re.compile(
    r"\bwhy (?:is|are|do|does|did|am|can)\b.{0,120}\bnot (?:work|start|connect|communicate)\w{0,3}\b"
    r"|\b(?:hang(?:s|ing)?|hung|stops|freez\w{1,4}|frozen|froze|stuck|stall(?:s|ed|ing)?|deadlock\w{0,3}"
    r"|blocked|crash\w{0,8}"
    r"|segfault\w{0,3}|abort(?:s|ed)?|dies|died|kill(?:s|ed)|terminates?|fail(?:s|ed|ing|ures?)?|errors?|broken|breaks"
    r"|unable|can(?:not|'t)|could ?n['o]t|(?:does|do|did|is|are)(?: not|n't) (?:\w{1,12} )?(?:work|start|run|find|see"
    r"|detect|connect|join|finish|respond|proceed|show|recogni[sz]e|use|available|reach|visible)\w{0,4}"
    r"|not (?:working|detected|found|visible|available|used|recogni[sz]ed|responding)"
    r"|slow(?:er|ly|ness|s|ed|ing|-?downs?)?|bottlenecks?|dips?|sags?|jitters?|spikes?"
    r"|low(?:er)? (?:\w{1,12} ){0,2}(?:bandwidth|throughput|performance|speed|utili[sz]ation|busbw)"
    r"|(?:bandwidth|throughput|performance|speed|busbw|utili[sz]ation|utility) (?:\w{1,12} ){0,8}(?:low|lower|poor"
    r"|drops?|dropped|small|bad|only|half|degrad\w{1,4}|decreas\w{1,3}|worse|varies|unstable|below)"
    r"|utili[sz]ation (?:\w{1,14} ){0,8}(?:is|be|to|at|of) 0(?![0-9.])|time[- ]consuming"
    r"|(?:do|does|did) not exist|no longer (?:exists?|works?|starts?|runs?|found|available|visible|detected)"
    r"|(?:far|much|well) (?:less|below|lower) than"
    r"|only (?:saved|written|created|stored|copied) (?:in|on|at|by)"
    r"|poor (?:\w{1,10} )?(?:performance|bandwidth|scaling)|degrad\w{2,6}|regress\w{2,4}|corrupt\w{0,4}|wrong"
    r"|incorrect|garbage|gibberish|nonsense|garbled|messed up|bad (?:answers?|results?|outputs?|quality|performance)"
    r"|nan|time[sd] out|(?:will|then|to|they|ranks) time ?out|timing out|timeouts"
    r"|timeout errors?|misbehav\w{1,3}"
    r"|(?:very |too |unusually )high (?:cpu|memory|load)"
    r"|(?:cpu|gpu|memory) (?:util\w{0,8}|usage|load) (?:\w{1,8} ){0,2}(?:too|very|extremely|always) (?:high|low)"
    r"|(?:cpu|memory) (?:usage|load) (?:\w{1,8} ){0,3}(?:high|[1-9][0-9]{2,4})"
    r"|used to work|timeouts? (?:during|in|at|after|when|while)"
    r"|(?:get|got|gets|hits?|sees?|with) (?:\w{1,12} ){0,3}timeout|disappear\w{0,3}|lost|times longer"
    r"|(?:takes?|took|need(?:s|ed)?) (?:\w{1,8} ){0,2}longer|takes? (?:a |very |too )(?:very )?long"
    r"|(?:gets?|becomes?|grows?|getting) (?:\w{1,8} ){0,2}longer"
    r"|never (?:finish|complet|start|return|join|continu|proceed|end)\w{0,3}"
    r"|(?:waits?|sits?) (?:\w{1,8} )?forever|reboots?"
    r"|worse than|(?:fell|falls?|fallen|went down|goes down|drop(?:s|ped)?) (?:from|to|by)|unstable|fluctuat\w{1,4}"
    r"|(?:is|are|was|were) (?:\w{1,8} )?(?:bad|poor|terrible|awful)|only one of|out of gpu memory|alternates?"
    r"|(?:counters?|discards?|errors?|drops?|\w{1,30}_\w{1,30}) (?:\w{1,8} )?(?:grow|rise|increase|climb)s?"
    r"|collapses?|vanish\w{0,3}|drops? out|returns? (?:False|false|None|nan)|(?:is|are) (?:missing|idle|ignored|gone)"
    r"|stops (?:during|after|at|in|when)|ends (?:with|after) \w{0,12} ?(?:error|signal|SIG\w{3,4}|timeout|exit)"
    r"|(?:not|n't|never|n\u2019t) (?:\w{1,8} )?(?:freed|released?|returned|deallocated|cleared)"
    r"|(?:remains?|stays?|still) (?:\w{1,8} ){0,2}(?:occup\w{2,4}|allocated|in use|held|used|holds?|shows?|sits?)"
    r"|stop(?:s|ped) working|st(?:ands?|ood) still|no effect|unexpectedly"
    r"|(?:gpu|page|memory access|bus) faults?|(?:very|far too|extremely) (?:low|small|slow)"
    r"|(?:bandwidth|throughput|performance|speed) (?:reduction|loss|penalty)"
    r"|(?:switch|turn|power|shut)(?:e?s|ed)? (?:itself )?(?:off|down)|no faster than|same speed (?:as|of|with)"
    r"|speed is (?:the )?same|suspended|stutter\w{0,3}|starv\w{1,4}|complains? about"
    r"|takes? (?:about |up to |over |more than )?(?:[0-9]{1,4}|two|three|four|five|several|many) ?(?:minutes|hours)"
    r" to (?:start|load|read|launch|save|write|open|initiali[sz]e)"
    r"|jumps? between|stays? at 0|asks? for (?:\w{1,8} )?password|runs? out of|ran out of|oom|crashloopbackoff"
    r"|spikes?|reach(?:es)? (?:only |not even )?less than|as slow as|takes? (?:\w{1,8} ){0,3}(?:times|twice) as long"
    r"|(?:far|much|well) (?:less|below|lower))\b"
    r"|不够|不足|溢出|报错|失败|没有释放|未释放|不释放|很慢|太慢|变慢|无法|不了|卡住|卡死|hang ?住|占用|异常|错误"
    r"|只有|超时|崩溃|挂掉|等待|不通|连不上|断开|不稳定",
    re.IGNORECASE,
)
"""Words of a run that fails, stops, is slow or is wrong."""
_SHORT_OF = re.compile(
    r"\b(?:(?:only|just|barely) (?:\w{1,12} ){0,4}?[0-9][0-9.]{0,8} ?"
    r"(?:[GMKT]i?[Bb](?:it)?(?:/s|ps)?|Gbps|%|TFLOPS?|tokens|samples|GPUs?|NICs?|cards?|nodes?)"
    r"|(?:only|just|exactly) (?:\w{1,12} ){0,3}(?:single|one|half)"
    r"|(?:a|one) (?:half|third|quarter|fifth|tenth|fraction) of"
    r"|[0-9] (?:instead of|out of) [0-9])",
    re.IGNORECASE,
)
"""Words of a figure that is less than a person expects."""
_SMALL = re.compile(
    r"\b(?:i|we|my|our|it|its|the|a|an|when|this|that|is|are|was|were|be|has|have|had|on|with|after|and"
    r"|only|then|both|in"
    r"|of|at|from|all|if|as|so|there|by|for|each|every|than|while|during|using)\b",
    re.IGNORECASE,
)
"""Words between others, which people write and messages of programs leave out."""
_PERSON = re.compile(
    r"\b(?:I|[Ww]e|[Mm]y|[Oo]ur)\b|\b(?:code|script|program|job|training|it) (?:will|would|just|always|then) \w"
    r"|\b(?:[Ee]rrors?|[Pp]roblems?|[Ff]ailures?) (?:occur|happen)(?:s|red|ed)?\b"
)
"""Words of a person who reports."""
_HEAD = re.compile(
    r"\s{0,8}(?:\||(?:Error|Warning|Fatal|Failed|FATAL|NCCL error|RCCL error)\b)"
    r"(?! (?:when|while|with|on|in|occur\w{0,4}|happen\w{0,3}) )"
)
"""The start of messages of programs and of rows of tables."""
_TITLE = re.compile(rf"# [A-Z][a-z]{{1,20}} \w|(?:# )?{_OF_ISSUE}:? \w")
"""The beginning of a title that is a sentence, which has fewer words between others."""
COLUMNS = 2
"""Vertical bars from which a line is a row of a table."""
FEWEST_SMALL = 2
"""Such words of a line that a person wrote about a fault."""


_OF_A_CASE = re.compile(
    r"\b(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur|[Mm]e|[Uu]s)\b(?!\.)"
    r"|\b(?:crashed|hung|froze|died|happened|occurred|tried|noticed|observed|saw|started|began|changed|upgraded|updated"
    r"|rebooted|worked|got|used to|did|dropped|fell|went|moved|[Rr]esolved|solved|fixed)\b"
    r"|\bfailed (?:with|to|at|after|in|on|when|because)\b"
    r"|\b(?:does|did|do|is|are|ca|could|wo|was|were|has|have)n['\u2019]t\b|\bnot work|\b[Ww]hy\b"
    r"|\b(?:is|are|was|were|keeps?|gets?|becomes?) (?:\w{1,10} )?"
    r"(?:stuck|hanging|failing|crashing|freezing|blocked|broken|stalling|stalled|slow(?:er)?|poor|worse|starved|gone)\b"
    r"|\b(?:[Tt]hese|[Bb]oth|[Tt]wo|[Tt]hree|[Ff]our|[Ee]ight|[2-9]) (?:\w{1,14} ){0,2}"
    r"(?:nodes|machines|servers|hosts|cards|pods)\b"
    r"|\b(?:[Tt]his|[Tt]he same) (?:machine|node|host|server|cluster|job|run|test|image|script)\b"
    r"|\b(?:was|were) [a-z]{3,12}ing\b|(?:^|[.!:] )(?:It|They|The (?:run|job)|Training"
    r"|Fine-tuning|Inference) (?:\w{1,12} )?"
    r"(?:stops?|hangs?|fails?|crash(?:es)?|freezes?)\b"
    r"|\b(?:Error|NVRM)\b|\b[Aa]gain and again\b|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"
)
"""Words of what happened to somebody or on some machine, which texts about faults in general do not have."""


def reported_fault(text: str) -> tuple[str, int] | None:
    """The first sentence that reports a fault of a run, with its line; None without any. Words that rules have, too,
    report one where a person tells of a case of their own.

    >>> reported_fault("Hi!\\nThe bandwidth between two nodes is only 3 GB/s.")
    ('The bandwidth between two nodes is only 3 GB/s.', 2)
    >>> reported_fault("Does UCX support TCPX? If a transfer fails, is it retried?")
    """
    plain = titled_fault(text) or next(_clauses_with(text, _FAULTY, is_written), None)
    if plain is not None or not any(OF_A_PERSON.search(line) for _, line in report_sentences(text)):
        return plain
    return next(_clauses_with(text, SUBTLE, is_written), None)


def titled_fault(text: str) -> tuple[str, int] | None:
    """The title of a text with its line, if it names a fault: titles have few words between others, and may guess.

    >>> titled_fault("# All jobs may be stuck")
    ('# All jobs may be stuck', 1)
    >>> titled_fault("# Support for wider links")
    """
    title = text.partition("\n")[0]
    named = has_title(text) and _FAULTY.search(title) and not is_logged(title) and not _SOLVED.search(title)
    return (shown_line(title), 1) if named else None


def tells_of_a_case(text: str) -> bool:
    """Whether a text tells of one case, by a line that a program prints or by words of what happened, rather than of
    faults in general.

    >>> tells_of_a_case("Our run hangs after the switch of the rack."), tells_of_a_case("A failed switch stops a rack.")
    (True, False)
    """
    return any(is_logged(line) or _OF_A_CASE.search(line) for line in lines_of(text))


def is_written(line: str) -> bool:
    """Whether a sentence is more likely of a person than the message of a program: it has words between others.

    >>> is_written("With 4 nodes it fails."), is_written("Failed to create the socket")
    (True, False)
    """
    if not is_sentence(line) or line.count("|") >= COLUMNS or _HEAD.match(line):
        return False
    fewest = 1 if _TITLE.match(line) else FEWEST_SMALL
    return len(_SMALL.findall(line)) >= fewest or bool(_PERSON.search(line) or _CHINESE.search(line))


def reported_hang(text: str) -> tuple[str, int] | None:
    """The first sentence that reports a run that does not go on, with its line; None without any.

    >>> reported_hang("It works on one node.\\nWith two nodes the training hangs.")
    ('With two nodes the training hangs.', 2)
    >>> reported_hang("If it hangs, set NCCL_DEBUG=INFO.")
    """
    return next(_clauses_with(text, _HANGS), None)


def has_steps(text: str) -> bool:
    """Whether a run did steps before it hung: a line with the loss of one, or words of a person about them.

    >>> has_steps("step: 12 loss: 3.1\\nIt hangs."), has_steps("It hangs after some epochs."), has_steps("It hangs.")
    (True, True, False)
    """
    return any(_OF_STEPS.search(line) for line in lines_of(text))


def _clauses_with(
    text: str, words: re.Pattern[str], is_of_a_person: Callable[[str], bool] = bool
) -> Iterator[tuple[str, int]]:
    """The clauses of a report with some words, each with its line: none that asks, advises, or is of a fault solved."""
    for number, line in report_sentences(text):
        for clause in _SENTENCE.split(line) if is_of_a_person(line) else ():
            asked = _OF_A_FAULT.search(clause) is not None
            if _tells_of(words, clause, line) and (asked or not (_supposes(words, clause) or _SOLVED.search(clause))):
                yield shown_line(clause), number


def _supposes(words: re.Pattern[str], clause: str) -> bool:
    """Whether a clause advises, asks or supposes: a condition behind the words of a fault tells when it occurs, and one
    before them supposes the fault, unless it is of a person's own run.

    >>> _supposes(_HANGS, "it hangs if the data differ"), _supposes(_HANGS, "if the data differ it hangs")
    (False, True)
    """
    found = words.search(clause)
    if found is not None and (general := _GENERAL.match(clause)) and found.end() <= general.end():
        return True
    return any(
        not (each[0].lower().startswith("if ") and found is not None and found.start() < each.start())
        for each in _MODAL.finditer(clause)
    )


def _tells_of(words: re.Pattern[str], clause: str, line: str) -> bool:
    """Whether a clause has some words, or, for those of faults, a figure that the person of its line calls small."""
    short = words is _FAULTY and _PERSON.search(line) is not None and _SHORT_OF.search(clause) is not None
    return short or words.search(clause) is not None


def report_sentences(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text that a person may have written, with their numbers; of a long text the first and last. Lines
    of the form that the person filled in are left out.
    """
    lines = list(enumerate(lines_of(text), 1))
    if len(lines) > MOST_LINES:
        lines = lines[: MOST_LINES // 2] + lines[-(MOST_LINES // 2) :]
    return (
        (number, line)
        for number, line in lines
        if NARROWEST <= len(line) <= WIDEST and is_sentence(line) and not is_of_a_form(line)
    )


def is_logged(line: str) -> bool:
    """Whether a line has the form of those that programs print.

    >>> is_logged("n1:2:2 [0] NCCL INFO Using network Socket"), is_logged("2.18.6 works")
    (True, False)
    """
    return _LOGGED.search(line) is not None


def is_sentence(line: str) -> bool:
    """Whether a person may have written a line, rather than a program.

    >>> is_sentence("I tried this on two nodes"), is_sentence("n1:2:2 [0] NCCL INFO Using network Socket")
    (True, False)
    """
    if is_logged(line):
        return False
    fewest = 1 if _SET.search(line) else FEWEST_WORDS
    return len(_WORD.findall(line)) >= fewest or len(_CHINESE.findall(line)) >= FEWEST_CHARACTERS
