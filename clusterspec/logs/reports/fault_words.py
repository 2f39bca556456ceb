"""Words of a fault that texts without one have, too: they report one only where a person tells of a case.

A denied verb ("the module does not load"), a refusal, an end, a wait, a message of a program within a sentence, or a
count that is not the one expected. Documents have such words in rules and conditions; in what happened to somebody they
are the fault.
"""

from __future__ import annotations

import re

SUBTLE = re.compile(
    r"\b(?:(?:do(?:es)?|did|is|are|was|were|has|have|had|can|could|will|would)(?: not|n['\u2019]?t)(?! (?:only|need))\b"
    r"|never \w{2,12}|no longer|not (?:\w{1,10} )?(?:\w{3,12}ed|\w{3,12}ing|there|up)\b"
    r"|hardly|barely"
    r"|refus(?:es?|ed|al)|reject(?:s|ed)|complains?|complained|quits?|g(?:ives|ave|ive) up|raises?|raised|throws?|threw"
    r"|denied|forbidden|to stop|stopped"
    r"|waits?|waiting|pending|time out|exits?|exited|restarts|vanish(?:es|ed)|loses?|crawls?|explodes?"
    r"|idle|zeros?|mismatch(?:ed|es)?|invalid|inactive|missing|incompatible|unknown|swaps?|evict(?:s|ed)|preempt(?:s|ed)"
    r"|out of memory|oom\w{0,6}|too (?:many|few|small|large|slow|old|new|long|short)|not enough|insufficient"
    r"|(?:in place|in ?stead) of|as if|except|limited to|no such|nothing|neither|none of"
    r"|without (?:any )?(?:effect|error|output|message)"
    r"|as (?:slow|fast|long) as|terrible|awful|(?<!use )(?<!using )only|just [0-9]|alternat\w{1,4}|differs?|disagree"
    r"|(?:gives?|gave|returns?|returned|shows?|showed|reports?|says?|prints?|counts?|sees?) "
    r"(?:an? |the |only )?(?:0|zero|no|nothing|empty|inf(?:inity)?|unknown|error)\b"
    r"|[0-9.]{1,6} ?(?:x|times|%) (?:\w{1,10} )?(?:slower|longer|less|of (?:the|what|line|our|that))"
    r"|(?:saturated|exhausted|full|down|dead|gone|stale|garbled|truncated|unreachable|unresponsive|unusable|unhealthy)"
    r"|f(?:alls?|ell|allen) off|killed|OOMKilled|ENOMEM|EADDRINUSE|EPERM|errno"
    r"|resets? (?:the )?connection|shutting down)\b"
    r"|\b(?:no|zero) (?:\w{1,14} ){0,2}(?:output|connection|traffic|devices?|gpus?|route|response|answer|progress"
    r"|internet|space|communication|effect|permission|subnet manager)\b"
    r"|\bwhat (?:could|can|might) (?:be the )?(?:cause|reason)\b|\bany (?:ideas?|suggestions?|advice|help|pointers?)\b",
    re.IGNORECASE,
)
"""Words of what went otherwise than a person wanted."""
OF_A_PERSON = re.compile(
    r"(?<![\w./-])(?:[Ii]|[Ww]e|[Mm]y|[Oo]ur|[Mm]e|[Uu]s|[Oo]urs)(?![\w./-])"
    r"|\b(?:[Ss]omebody|[Ss]omeone|[Aa] colleague|[Tt]he (?:sys)?admin\w{0,8}) \w{3,12}"
    r"|\b(?:[Ss]ince|[Aa]fter) (?:this (?:morning|week|update|upgrade|reboot)|last|yesterday|today"
    r"|the (?:update|upgrade|reboot|maintenance|weekend|move|switch)|\w{2,12} (?:got|was|were|has been))\b"
    r"|\b(?:had (?!this\b|[0-9])|got|caused|did not|didn['\u2019]t|was not|were not|wasn['\u2019]t|weren['\u2019]t)\b"
)
"""Words of a person who tells of a case of their own, or of when it began."""
