"""What a person observes of a slow run: since when, on which part, at which sizes, with which utilization.

Each observation makes some causes likelier and others less likely (`catalog/slow-symptoms.csv`); none names a cause by
itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.logs.reports.host_symptoms import SEEN_OF_WORK
from clusterspec.logs.reports.report_sentences import report_sentences, tells_of_a_case
from clusterspec.logs.statements.host_figures import job_statistics, unlike_copies
from clusterspec.logs.text_lines import shown_line

SYMPTOM = "symptom "
"""Prefix of the names of statements of an observation."""
MOST_SENTENCES = 40
"""Sentences of a report that are read: later ones are of what was tried."""
_PART = (
    r"(?:GPUs?|NPUs?|TPUs?|XPUs?|ranks?|nodes?|hosts?|machines?|servers?|cards?|workers?|devices?|accelerators?|pods?)"
)
_NODES = r"(?:nodes?|hosts?|machines?|servers?|computers?|workstations?)"
_GPUS = r"(?:GPUs?|NPUs?|cards?|devices?|accelerators?)"
_STEP = r"(?:steps?|iterations?|iters?|batch(?:es)?|epochs?|requests?|calls?|runs?)"
_SLOW = (
    r"(?:slow\w{0,6}|long(?:er)?|lower|delay\w{0,3}|lag\w{0,5}|behind|drop\w{0,4}|worse|(?:takes?|took) [0-9.]{1,7}"
    r"|[0-9.]{1,5} ?(?:x|times) (?:the time|as long))"
)
_GAP = r"[^.;\n]{0,80}?"
_PAUSED = (
    r"(?:slow\w{0,6}|long\w{0,3}|paus\w{1,4}|stall\w{0,4}|freez\w{1,4}|fr?oze|hangs?|stuck|spik\w{1,3}|dips?|drops?"
    r"|waits?|waiting|jumps?|idle|takes?|took|blocks?|lag\w{0,5}|gap|hiccups?|sags?|troughs?|stops?|stutter\w{0,3}"
    r"|loads?)"
)
_EVERY = (
    rf"every (?:[0-9.k]{{1,7}}|few|n|num_workers"
    rf"|other|so many|couple of) ?(?:\w{{3,12}} )?(?:{_STEP}|seconds?|minutes?|ms)?\b"
)
REPORTED = (
    r"\btakes? (?:\w{1,8} ){0,3}(?:minutes|hours) to \w"
    r"|\bslow(?:er|ly|ness|s|ed|ing|-?downs?)?\b|\btakes? (?:\w{1,8} ){0,2}(?:long|longer|ages|forever|hours|minutes)\b"
    r"|\b(?:gets?|becomes?|grows?|getting) (?:\w{1,8} ){0,2}longer\b|\btimes longer\b"
    r"|\b(?:low|poor|bad|lower|reduced|half|less|drop in|decreased?|degraded) (?:\w{1,12} ){0,3}"
    r"(?:bandwidth|throughput|performance|speed|utili[sz]ation|usage|busbw|MFU|efficiency|scaling|TFLOPS)\b"
    r"|\b(?:bandwidth|throughput|performance|speed|utili[sz]ation|busbw|MFU|usage|scaling|efficiency)\b"
    r"[^.;\n]{0,60}?\b(?:low(?:er)?|poor|drop\w{0,4}|half|decreas\w{1,3}|degrad\w{1,4}|bad|worse|less|only|under"
    r"|below|varies|unstable|fluctuat\w{1,4}|jitter\w{0,2}|not exceed)\b"
    r"|\b(?:jitter|latency spikes?|spikes?|dips?|sags?|paus(?:es?|ing)|stutter\w{0,3}|stragglers?|bottlenecks?)\b"
    r"|\bno(?:t| )? ?(?:faster|speed-?up|scal\w{1,4})\b|\bscal(?:es?|ing) (?:\w{1,12} ){0,3}(?:poor|bad|not)\w{0,2}\b"
    r"|\b(?:poor|bad|terrible|high|long|worse) (?:\w{1,8} ){0,2}(?:TTFT|TPOT|ITL|latency|latencies|scaling)\b"
    r"|\b(?:TTFT|TPOT|ITL|latency) (?:\w{1,8} ){0,5}(?:poor|bad|high|higher|long|longer|worse|terrible)\b"
    r"|\b(?:GPUs?|NPUs?|accelerators?|cards?) (?:\w{1,8} ){0,2}starv\w{2,4}\b|\bidle time\b"
    r"|\butil(?:i[sz]ation)?\b[^.;\n]{0,30}\b(?:intermittent|spiky|below|drops?|under [1-7]?[0-9])\b"
    r"|\btakes? [0-9.]{1,6}[^;\n]{0,60}\b(?:without|instead of|against|rather than)\b[^;\n]{0,30}[0-9]"
    r"|\b(?:time|latency) (?:goes|went) up\b|\b(?:hardly|barely|scarcely) (?:falls?|drops?|decreas\w{1,3}|shrinks?"
    r"|scales?)\b"
    r"|\b(?:one|a single|1) (?:node|GPU|card|machine|server)\b[^.;\n]{0,20}\bfaster than\b|\btroughs?\b"
    r"|\bstops? for (?:\w{1,10} )?(?:seconds|minutes|hours)\b|\bonly (?:gets?|reach(?:es)?|has|have|[0-9.]{1,6} (?:x"
    r"|times|it/s|tokens))\b|\b(?:valleys"
    r"|periods) of inactivity\b"
    r"|\btakes? (?:about |nearly |over |more than )?[0-9.]{1,5} ?(?:min(?:ute)?s?|hours?|h)\b"
    r"|慢|吞吐.{0,8}低|利用率.{0,8}(?:低|[1-5]?[0-9]%)"
)
"""Words of a run that is slow."""
MEASURED = (
    r"(?<![\w.])[0-9]{1,7}(?:\.[0-9]{1,3})? ?(?:%|ms|µs|us|s|sec|seconds|min|minutes|hours|h|x|times|(?:[GMKT]i?B"
    r"|[GMK]b"
    r"|Gbit|it|iter\w{0,6}|tok\w{0,3}|samples?|images?|img|pages?|req\w{0,5}|steps?)(?:/s\w{0,5}|ps)?)(?!\w)"
    r"|\b(?:faster|slower) than (?:one|two|a single|with|on)\b"
)
"""A figure with a unit that somebody measured."""
OBSERVED: tuple[tuple[str, str], ...] = (
    (
        "later-slower",
        rf"\b(?:gets?|becomes?|getting|grows?) (?:\w{{1,8}} ){{0,3}}(?:slower|longer)\b|\bslower and slower\b"
        rf"|\blonger and longer\b|\b(?:after|within|over) (?:about |a |some |several |the first )*(?:few |[0-9]"
        rf"[0-9.,k]{{0,8}} )?(?:{_STEP}|hours?|minutes?|days?|time)\b{_GAP}\b(?:slow\w{{0,6}}|longer|drop\w{{0,4}}"
        rf"|decreas\w{{1,3}}|degrad\w{{1,4}})\b|\b(?:slow\w{{0,6}}|drop\w{{0,4}}|decreas\w{{1,3}}|degrad\w{{1,4}})\b"
        rf"{_GAP}\b(?:after|over) (?:a |some |several )*(?:few |[0-9][0-9.,k]{{0,8}} )?(?:{_STEP}|hours?|minutes?|days?"
        r"|time)\b|\bat (?:first|the (?:start|beginning))\b.{0,60}\b(?:later|then|after)\b|越来越慢|变慢",
    ),
    (
        "first-slower",
        rf"\b(?:first|initial) (?:few |couple of |[0-9]{{1,5}} |two |three )?(?:\w{{1,10}} )?{_STEP}\b{_GAP}\b{_SLOW}\b"
        rf"|\b{_SLOW}\b{_GAP}\b(?:first|initial) (?:few |[0-9]{{1,5}} |two )?{_STEP}\b"
        r"|\b(?:start-?up|warm-?up|start|launch|cold start)\b.{0,30}\b(?:slow|takes?|took|long)\b"
        r"|\bslow(?:er)? (?:at (?:first|the (?:start|beginning))|in the beginning|initially)\b"
        r"|\bbecame normal\b|\bthen (?:it )?(?:runs|is|goes) (?:fast|normal|at full speed)\b",
    ),
    (
        "one-part",
        rf"\b(?:one|a single|only one|1|this|that|the same|the (?:second|third|fourth|last|slowest)) (?:of the |of our "
        rf"|of (?:[0-9]{{1,4}}|eight|four|two) )?(?:\w{{1,10}} )?{_PART}\b[^.,;\n]{{0,80}}?\b{_SLOW}\b"
        rf"|\b(?:rank|GPU|node|card|device|worker|host)[ -]?#?[0-9]{{1,5}}\b{_GAP}\b(?:slower|behind|lags?|lower"
        rf"|longer)\b"
        rf"|\b(?:some|a few|certain) (?:of the )?{_PART} (?:are|is|run|were)\b[^.;\n]{{0,40}}?\bslow\w{{0,4}}\b"
        rf"|\bstragglers?\b|\b{_SLOW}\b{_GAP}\bthan (?:the |all |all the )*(?:other|rest of the|remaining) "
        rf"(?:\w{{1,8}} )?{_PART}",
    ),
    (
        "idle-accelerators",
        rf"\b{_GPUS}(?:'s|-)?\b[^.;\n]{{0,60}}?(?:\b(?:idle|starv\w{{2,4}}|waits?|waiting|under-?utili[sz]ed"
        rf"|inactiv\w{{2,4}}"
        r"|intermittent\w{0,2}|capacity left|unused)\b"
        r"|(?<![0-9.])(?:[0-9]|[1-5][0-9]) ?%)|\b(?:low|poor|little) (?:GPU[- ]?)?(?:utili[sz]ation|usage|util)\b"
        r"|\b(?:utili[sz]ation|usage|util)\b[^.;\n]{0,40}?(?:\blow\b|(?<![0-9.])(?:[0-9]|[1-5][0-9]) ?%)"
        r"|\b(?:utili[sz]ation|usage|util)\b[^.;\n]{0,20}\b(?:not (?:very )?high|drops?|intermittent|spiky|below"
        r"|under)\b"
        r"|\b(?:valleys|periods|phases|gaps) of (?:inactivity|idleness|no activity)\b"
        r"|利用率.{0,8}(?:低|[1-5]?[0-9]%)",
    ),
    (
        "busy-accelerators",
        rf"\b(?:utili[sz]ation|usage|util|{_GPUS})\b[^.;\n]{{0,40}}?\b(?:9[0-9]|100) ?%|\b100 ?% (?:GPU )?utili",
    ),
    (
        "busy-host",
        r"\b(?:CPUs?|cores?|processors?|host|threads?)\b[^.;\n]{0,40}?(?:\b(?:9[0-9]|1[0-9]{2,3}|100) ?%"
        r"|\b(?:stress\w{0,3}"
        r"|overload\w{0,3}|maxed|saturat\w{2,4}|full|insufficient|too (?:slow|weak)|contend\w{0,3}|compet\w{1,4}"
        r"|busy)\b)"
        r"|\bCPU (?:usage|utili[sz]ation|time)\b[^.;\n]{0,60}\b(?:maximum|limit|quota|allocated|all)\b"
        r"|\b(?:high|heavy) (?:CPU|load)\b|\bload average\b|\b(?:single|one) (?:CPU )?(?:core|thread)\b",
    ),
    (
        "full-host-memory",
        r"\b(?:RAM|host memory|system memory|buff/cache|page cache|swap)\b[^.;\n]{0,60}?\b(?:full|grow\w{0,3}"
        r"|increas\w{1,3}"
        r"|as large|used up|exhaust\w{2,3}|leak\w{0,4}|[89][0-9] ?%)|\bdrop_caches\b|\bswapp(?:ing|ed)\b",
    ),
    (
        "between-nodes",
        rf"\b(?:multi[- ]?|two |2 |several |multiple |more |three |four |[0-9]{{1,4}} )-?{_NODES}\b{_GAP}\b{_SLOW}\b"
        rf"|\b{_SLOW}\b{_GAP}\b(?:over|on|with|across|between) (?:multi[- ]?|two |2 |several |multiple |more "
        rf"|three |four "
        rf"|[0-9]{{1,4}} |the )-?{_NODES}\b|\b{_SLOW}\b{_GAP}\bthan (?:on |with )?(?:a |one |1 "
        rf"|single ){{1,2}}-?{_NODES}\b"
        rf"|\b{_SLOW}\b{_GAP}\bthan on one of them\b"
        rf"|\b(?:one|a single|1) {_NODES}\b[^.;\n]{{0,20}}\bfaster than (?:two|three|four|[0-9]{{1,4}}|several|more)\b"
        rf"|\b(?:two|both|all|several|three|four) (?:of them|{_NODES}) together\b{_GAP}\b(?:{_SLOW}|takes?|needs?)\b",
    ),
    (
        "within-node",
        rf"(?<!of )\b(?:two|2|four|4|eight|8|multi(?:ple)?|both|several)[- ]{_GPUS}\b{_GAP}\b(?:slower|longer|no faster"
        rf"|not faster|same (?:speed|time)|as (?:long|slow) as)\b|\bslower (?:with|on) (?:two|2|four|4"
        rf"|multiple) {_GPUS}\b"
        r"|\btensor[- ]parallel\w{0,3}\b[^.;\n]{0,60}?\bslow\w{0,3}\b",
    ),
    (
        "varies",
        r"\b(?:jitter\w{0,2}|fluctuat\w{1,4}|var(?:y|ies|iance|iation)|unstable|spik\w{1,3}|sometimes|randomly"
        r"|sporadic\w{0,4}"
        r"|intermittent\w{0,2}|occasional\w{0,2}|from run to run|between runs)\b|时快时慢",
    ),
    (
        "periodic",
        rf"\b{_PAUSED}\b{_GAP}\b{_EVERY}|\b{_EVERY}\b{_GAP}\b{_PAUSED}\b"
        r"|\bperiodic\w{0,4}\b|\bat (?:regular )?intervals\b|\b(?:regular|deterministic|recurring) (?:dips?|sags?"
        r"|pauses?|stalls?)\b",
    ),
    (
        "since-change",
        r"\b(?:since|after) (?:the |an? |our |we |i |it was )?(?:\w{1,12} )?(?:updat|upgrad|chang|migrat|switch"
        r"|mov)\w{1,5}\b"
        r"|\b(?:used to be|was) (?:\w{1,8} )?(?:fast|twice|normal)\w{0,3}\b|\b(?:than|of that of) last (?:week|month)\b"
        r"|\b(?:previous|older|earlier) (?:version|release)\b|\bregress\w{2,6}\b",
    ),
    (
        "large-sizes",
        r"\b(?:large|larger|big|bigger|long) (?:(?!batch|model)\w{2,12} )?(?:messages?|sizes?|tensors?|buffers?"
        r"|transfers?)\b[^.;\n]{0,60}?"
        r"\b(?:drop\w{0,4}|slow\w{0,3}|lower|collaps\w{1,2}|worse)\b|\b(?:drops?|collapses?|lower"
        r"|slower)\b[^.;\n]{0,40}?"
        r"\b(?:above|beyond|from|larger than) [0-9.]{1,6} ?[KMG]i?B?\b|\blower with size\b",
    ),
    (
        "in-container",
        r"\b(?:in|inside|within) (?:a |the |our )?(?:docker|containers?|pods?|image|VMs?|virtual machines?)\b"
        r"[^.;\n]{0,80}?\b(?:slow\w{0,3}|lower|less|half|worse)\b|\b(?:slow\w{0,3}|lower|less|half"
        r"|worse)\b[^.;\n]{0,80}?"
        r"\b(?:in|inside|within) (?:a |the |our )?(?:docker|containers?|pods?|VMs?|virtual machines?)\b",
    ),
    (
        "links-fine",
        r"\b(?:ib_(?:write|read|send)_\w{2,10}|perftest|iperf3?|ib tests?)\b[^.;\n]{0,80}?\b(?:line rate|full|fine"
        r"|normal|good"
        r"|expected|ok|[0-9.]{2,6} ?(?:Gb|GB)\w{0,4})",
    ),
    (
        "collectives-fine",
        r"\b(?:nccl|rccl)[-_ ]tests?\b[^.;\n]{0,60}?\b(?:fine|good|normal|full|expected|ok|healthy|line rate)\b"
        r"|\ball_reduce_perf\b[^.;\n]{0,60}?\b(?:fine|good|normal|full|expected|ok)\b",
    ),
    (
        "side-by-side",
        r"\b(?:two|2|several|both|multiple|three|3) (?:\w{1,12} )?(?:models?|jobs?|tasks?|trainings?|runs?"
        r"|experiments?)\b"
        r"[^.;\n]{0,30}?\b(?:at the same time|simultaneously|at once|in parallel|concurrently|side by side)\b",
    ),
    (
        "slow-writes",
        r"\b(?:sav(?:e|es|ing)|writ(?:e|es|ing)|checkpoint\w{0,4}|torch\.save)\b[^.;\n]{0,80}?\b(?:slow\w{0,3}"
        r"|long|takes?"
        r"|took|minutes|hours)\b|\b(?:slow|long)\b[^.;\n]{0,40}?\b(?:checkpoint|saving)\w{0,4}\b",
    ),
    (
        "slow-reads",
        r"\b(?:minutes|hours) to (?:load|read|open)\b|\b(?:time|it) is spent (?:on|in|by) (?:reading|loading|data"
        r"|I/?O)\b"
        r"|\b(?:load(?:s|ing)?|read(?:s|ing)?|data ?sets?|data|images?|files?|samples?|data ?loaders?)\b[^.;\n]{0,80}?"
        r"\b(?:slow\w{0,3}|long|HDDs?|hard (?:disks?|drives?)|NFS|spinning|tens of minutes"
        r"|network (?:drive|share|disk|mount|volume|storage|file ?system)s?)\b"
        r"|\b(?:HDDs?|hard (?:disks?|drives?)|NFS)\b[^.;\n]{0,80}?\b(?:slow\w{0,3}|long|load\w{0,3})\b",
    ),
    *SEEN_OF_WORK,
)
"""Names of observations and the words of each."""
_OF_CAP = r"(?<![\w.])([0-9]{2,4}) ?W(?:atts?)? ?(?:of|/|out of) ?([0-9]{2,4}) ?W\b"
LOW_POWER = 0.6
"""Share of the limit of power below which accelerators at work wait, as those that spin in a collective (assumed)."""
_OF_RAM = r"(?<![\w.])([0-9.]{1,6}) ?([GT])i?B? ?(?:of|/|out of) ?([0-9.]{1,6}) ?\2i?B?\b"
FULL = 0.8
"""Share of the memory of a host from which little is left for the caches of files (assumed)."""
_PATTERNS: dict[str, re.Pattern[str]] = {}


def _pattern(name: str, words: str) -> re.Pattern[str]:
    """The pattern of an observation, compiled when a text first needs it."""
    if name not in _PATTERNS:
        _PATTERNS[name] = re.compile(words, re.IGNORECASE)
    return _PATTERNS[name]


def symptom_statements(text: str) -> Iterator[tuple[str, str, int]]:
    """The observations of a person whose run is slow, each once, with the sentence and its line; none of a text that
    tells of no slow run, or of no case.

    >>> [each[0] for each in symptom_statements("Our training is slow. The GPUs are idle most of the time.")]
    ['symptom idle-accelerators']
    >>> list(symptom_statements("Our training crashed. The GPUs are idle most of the time."))
    []
    """
    if stated := job_statistics(text):
        yield f"{SYMPTOM}idle-accelerators", *stated
    sentences = list(report_sentences(text))[:MOST_SENTENCES]
    slow = _pattern("", REPORTED)
    if not any(slow.search(line) for _, line in sentences):
        return
    if copies := unlike_copies(sentences):
        yield "unlike-copies", *copies
    measured = _pattern("measured", MEASURED)
    if not tells_of_a_case(text) and not any(slow.search(line) and measured.search(line) for _, line in sentences):
        return
    for name, words in OBSERVED:
        pattern = _pattern(name, words)
        for number, line in sentences:
            if pattern.search(line):
                yield f"{SYMPTOM}{name}", shown_line(line.strip()), number
                break
    yield from _figure_observations(sentences)


def _figure_observations(sentences: list[tuple[int, str]]) -> Iterator[tuple[str, str, int]]:
    """The observations that figures of sentences make: power far below its limit, memory of the host nearly full.

    >>> list(_figure_observations([(3, "All cards are at 160 W of 350 W, host memory 214G of 252G used.")]))
    [('symptom low-power', '160 of 350 W', 3), ('symptom full-host-memory', '214 of 252 G', 3)]
    """
    for number, line in sentences:
        if (match := _pattern("cap", _OF_CAP).search(line)) and int(match[1]) < LOW_POWER * int(match[2]):
            yield f"{SYMPTOM}low-power", f"{match[1]} of {match[2]} W", number
        match = _pattern("ram", _OF_RAM).search(line)
        if match and "memory" in line.lower() and _is_full(match[1], match[3]):
            yield f"{SYMPTOM}full-host-memory", f"{match[1]} of {match[3]} {match[2]}", number


def _is_full(used: str, whole: str) -> bool:
    """Whether figures of used and of whole memory are of a full host.

    >>> _is_full("214", "252"), _is_full("21.4", "252"), _is_full("2.1.4", "252")
    (True, False, False)
    """
    if used.count(".") > 1 or whole.count(".") > 1 or "." in (used, whole):
        return False
    return FULL * float(whole) <= float(used) <= float(whole)
