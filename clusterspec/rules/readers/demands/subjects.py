"""What the demands of texts are about: the key or figure of a design, its measure, and the words that name it."""

from __future__ import annotations

from math import inf

from clusterspec.records import NamedTuple

ABOVE, BELOW, OTHER, SAID, CAPPED, FLOORED = "above", "below", "other", "said", "capped", "floored"
"""Values that break a demand: those above it, below it, any other; as its words say; above or below it unless its words say the
other.
"""


class Subject(NamedTuple):
    """A key or figure of a design of which texts state demands.

    ``measures`` are the measures of its figures, and ``hurts`` says which values of the design break a demand: those `above` it,
    `below` it, any `other` one, or those beyond the bound that its words set (`said`). One of the sets of meanings in ``about`` names it, with those of a set joined by `+`;
    ``unless`` are meanings that show another subject.
    """

    name: str
    measures: str
    hurts: str
    about: str
    unless: str = ""
    least: float = 0.0
    """Smallest figure that is read, in SI."""
    reach: int = 90
    """Largest number of characters between a figure and the words that name its subject."""
    most: float = inf
    counted: str = ""
    """The meaning of the words that its number counts, right behind it."""
    facts: str = ""
    """Sets of meanings by which a sentence without a word that binds states the value itself: any other one contradicts it."""


_BINDS = ("most", "least", "must", "duty", "gives", "longest")


def bound_meanings(*subjects: str, by: tuple[str, ...] = _BINDS) -> str:
    """Sets of meanings with one of the meanings that bind; those alone for an empty subject.

    >>> bound_meanings("rack", "", by=("ceil", "upper"))
    'rack+ceil rack+upper ceil upper'
    """
    return " ".join(f"{subject}+{each}" if subject else each for subject in subjects for each in by)


_STRICT = ("most", "must", "duty")
SUBJECTS = (
    Subject(
        "power",
        "watts",
        ABOVE,
        bound_meanings("site", "supply"),
        "cooling backup rowof each total psu leftover freeword pdu removing unworked !unworked inclcooling !inclcooling !pdu !alone !rack loadstep swingword reservedpower",
        2e3,
        160,
    ),
    Subject(
        "load",
        "watts",
        OTHER,
        "draw",
        "maydraw unworked !unworked towater toair district inclcooling outword !outword loadstep swingword",
    ),
    Subject(
        "store",
        "size",
        BELOW,
        bound_meanings(
            "store",
            "stored+kept",
            by=("most", "must", "duty", "gives", "floor", "longest", "kept", "whole", "each", "once"),
        ),
        "away hostram devicemem read drive leftover",
        1e12,
    ),
    Subject(
        "retention",
        "kept size",
        BELOW,
        bound_meanings("kept", by=("must", "most", "least", "duty", "gives", "store", "stored")),
        "away",
        1e12,
        120,
    ),
    Subject(
        "store write", "rate", BELOW, bound_meanings("store+write", "stored+write"), "read devicemem total", 1e8, 160
    ),
    Subject(
        "store read", "rate", BELOW, bound_meanings("store+read", "stored+read"), "write devicemem total", 1e8, 160
    ),
    Subject("host memory", "size of a node", BELOW, "hostram", "devicemem drive", 1e10),
    Subject(
        "prompt",
        "tokens",
        BELOW,
        bound_meanings("prompt", by=("longest", "most", "whole")) + " longest+whole whole+must whole+most",
        "context chunk mean once persecond checkpoint total",
        256,
        120,
        most=4e6,
    ),
    Subject(
        "answer",
        "tokens",
        BELOW,
        bound_meanings("answer", by=("longest", "most", "whole", "must")),
        "context chunk mean once persecond total",
        64,
        most=1e6,
    ),
    Subject(
        "token rate",
        "tokens/s",
        BELOW,
        bound_meanings("answer", by=("must", "duty", "least")),
        "each mean read",
        10.0,
        60,
    ),
    Subject(
        "context",
        "tokens",
        BELOW,
        bound_meanings("context", by=("must", "duty", "least")),
        "prompt answer chunk once mean persecond",
        1024,
        50,
        most=4e6,
    ),
    Subject("batch", "sequences", SAID, bound_meanings("batch", by=("ceil", "floor")), "each mean", 2, 50),
    Subject("concurrency", "requests", BELOW, "once", "seatsnot supply rack each", 4, 45),
    Subject("request rate", "requests/s", BELOW, "arrive longest most", "mean each ahead-of-engines", 0.0),
    Subject("first token", "time", ABOVE, bound_meanings("firstword"), "mean latencynot"),
    Subject("token gap", "time", ABOVE, bound_meanings("pertoken"), "mean latencynot firstword"),
    Subject(
        "run time",
        "time",
        ABOVE,
        bound_meanings("slot", by=("run", "machine", *_BINDS)) + " " + bound_meanings("run", by=_STRICT),
        "partofrun firstword delivery idle default peak",
        86400.0,
        80,
        facts="slot+lasts",
    ),
    Subject(
        "tokens",
        "tokens",
        BELOW,
        bound_meanings("seen", by=("must", "duty", "gives", "least")),
        "context once",
        1e9,
    ),
    Subject(
        "delivery",
        "time",
        ABOVE,
        "delivery",
        "deliverynot handover !handover response repair warranty idle kept",
        604800.0,
    ),
    Subject("advance", "share", ABOVE, "advance", "penalty retain", reach=130),
    Subject("retained", "share", BELOW, "retain", "penalty advance", reach=130),
    Subject("paid on delivery", "share", OTHER, "ondelivery", "penalty", reach=130),
    Subject("warranty", "time", BELOW, "warranty", "warrantynot delivery response", 15778800.0, 120),
    Subject(
        "commitment",
        "time",
        BELOW,
        bound_meanings("commit", by=("must", "gives", "most", "least")),
        "delivery warranty service advance",
        15778800.0,
        60,
    ),
    Subject(
        "term",
        "time",
        BELOW,
        bound_meanings("lifetime", by=("must", "duty", "least", "gives")),
        "service warranty delivery",
        15778800.0,
        60,
    ),
    Subject("response", "time", ABOVE, "response", "responsenot"),
    Subject(
        "checkpoint interval",
        "time",
        ABOVE,
        "checkpoint",
        "savenot keeps delivery mean !notice writtenword",
        0.0,
        60,
    ),
    Subject("checkpoint interval", "time", ABOVE, "checkpoint+atevery", "keeps delivery mean", 0.0, 60),
    Subject("checkpoints kept", "checkpoints", BELOW, "checkpoint+keeps", "each", counted="checkpoint"),
    Subject(
        "kept time",
        "time",
        BELOW,
        bound_meanings("checkpoint+keeps", by=("must", "duty", "most", "least", "gives")),
        "delivery mean lostwork restart advance retain pausing",
        21600.0,
        80,
    ),
    Subject(
        "kept time",
        "time",
        BELOW,
        bound_meanings("anystate+keeps", by=("must", "duty", "least", "gives")),
        "delivery mean away advance retain pausing",
        21600.0,
        160,
    ),
    Subject(
        "checkpoint pause",
        "time",
        ABOVE,
        bound_meanings("checkpoint+pausing", by=("most", "must", "duty")),
        "restart keeps delivery repair lostwork",
        0.0,
        80,
        most=3600.0,
    ),
    Subject(
        "checkpoint write",
        "time",
        ABOVE,
        bound_meanings("checkpoint+ondisk", by=("most", "must", "duty")) + " checkpoint+writtenword+must",
        "restart keeps delivery repair lostwork pausing",
        0.0,
        80,
        most=36000.0,
    ),
    Subject(
        "repair time",
        "time",
        ABOVE,
        bound_meanings("repair+nodeend", "repair+partword", "repair+devicemem", by=_STRICT),
        "response checkpoint restart delivery warranty",
        3600.0,
        120,
    ),
    Subject(
        "goodput",
        "share",
        BELOW,
        bound_meanings("productive", by=("must", "duty", "least")),
        "percent_served mean discount",
        0.3,
    ),
    Subject(
        "lost time",
        "share of a time",
        ABOVE,
        bound_meanings("lostwork", "downword", "rollback", by=("most", "must", "gives", "ceil", "upper", "limitword")),
        "delivery response warranty notice mean repair service cooling servicenot",
        0.0,
        70,
        0.5,
    ),
    Subject(
        "frontend rate",
        "rate",
        BELOW,
        bound_meanings("inflow+dayword", by=("arrive", "write", "must", "duty", "gives", "stored")),
        "checkpoint total devicemem nicword",
        1e6,
        300,
    ),
    Subject("frontend rate", "rate", BELOW, "inflow+dayword", "checkpoint total devicemem mean nicword", 1e6, 120),
    Subject(
        "whole answer",
        "time",
        ABOVE,
        bound_meanings("endtoend") + " " + bound_meanings("answer+finished", by=_STRICT) + " answer+cutoff+limitword",
        "mean otherthing !otherthing otherlines latencynot firstword pertoken",
        most=7200.0,
    ),
    Subject(
        "whole answer",
        "time",
        ABOVE,
        "cutverb",
        "mean firstword pertoken draw delivery response warranty checkpoint",
        1.0,
        60,
        7200.0,
    ),
    Subject(
        "tokens of a step",
        "tokens",
        SAID,
        bound_meanings("batch", by=("ceil", "floor")),
        "prompt answer persecond total",
        1e5,
        40,
        most=1e9,
    ),
    Subject("tokens of a step", "tokens of each step", SAID, "ceil floor", "mean prompt answer", 1e4, 60, 1e9),
    Subject(
        "accelerators of a license",
        "accelerators",
        ABOVE,
        bound_meanings("license+devicemem", by=_BINDS),
        "each nodeend",
        2,
        90,
        counted="devicemem",
    ),
    Subject(
        "nodes of a license",
        "nodes",
        ABOVE,
        bound_meanings("license+nodeend", by=_BINDS),
        "each devicemem",
        1,
        90,
        counted="nodeend",
    ),
    Subject("nics", "nics", ABOVE, "", "store frontend", 1, 60, 64, counted="nicword", facts="nicword+nodeend+each"),
    Subject(
        "accelerators of an engine",
        "accelerators",
        OTHER,
        "",
        "nodeend rack fails",
        1,
        60,
        512,
        counted="devicemem",
        facts="engineword+devicemem+each",
    ),
    Subject(
        "racks",
        "racks",
        ABOVE,
        bound_meanings("rack", by=("ceil", "limitword")) + " rack+covers+duty rack+covers+site",
        "each rowof store stored draw weight",
        1,
        30,
        1000,
        counted="rack",
        facts="rack+standing+nodeend",
    ),
    Subject(
        "racks",
        "rack places",
        ABOVE,
        bound_meanings("rackplace", by=(*_BINDS, "ceil", "limitword", "permits")),
        "each rowof store stored draw weight",
        1,
        60,
        1000,
        counted="rackplace",
    ),
    Subject(
        "racks of a row",
        "racks of a row",
        ABOVE,
        bound_meanings("rowof+rack", by=("ceil", "limitword", "upper", "permits", "gives")),
        "store stored draw weight total",
        1,
        60,
        200,
        counted="rack",
    ),
    Subject("nodes per rack", "nodes", ABOVE, bound_meanings("rack", by=(*_STRICT, "permits")), "rowof spare idle"),
    Subject(
        "rack power",
        "watts",
        ABOVE,
        bound_meanings("rack", by=(*_STRICT, "gives")),
        "cooling total draw pdu reservefeed freeword",
        1e3,
        30,
    ),
    Subject("rack power", "watts of a rack", ABOVE, "rack+maydraw", "cooling total pdu reservefeed freeword", 1e3, 60),
    Subject(
        "rack power", "watts of a rack", ABOVE, "rack+ceil", "cooling total pdu draw reservefeed freeword", 1e3, 60
    ),
    Subject("leaf to spine", "length", BELOW, "leaf+spine", "", 0.0, 200),
    Subject("node to leaf", "length", BELOW, "leaf+nodeend", "spine", 0.0, 140),
    Subject("cable route", "length", BELOW, "leaf+length", "spine !spine nodeend total money drive", 0.0, 110, 2000.0),
    Subject("cable route", "length", BELOW, "spine+length", "leaf !leaf nodeend total money drive", 0.0, 110, 2000.0),
    Subject("samples", "samples", OTHER, "sample+question", "samplenot", counted="sample"),
    Subject("discount", "share", OTHER, "discount", "discountnot advance tax"),
    Subject("pue", "bare", ABOVE, "pue", "mean", 1.01, most=4.0),
    Subject("percentile", "share", BELOW, bound_meanings("percent_served"), ""),
    Subject("spare nodes", "spares", BELOW, bound_meanings("spare", by=("must", "duty", "least")), "rack", 1),
    Subject(
        "restart time",
        "time",
        ABOVE,
        bound_meanings("restart", by=(*_STRICT, "most")),
        "response delivery checkpoint anystate !anystate",
    ),
    Subject(
        "prompts of a step",
        "requests",
        OTHER,
        bound_meanings("question+batch", by=("must", "duty", "gives")),
        "samplenot",
        counted="question",
    ),
    Subject(
        "support term",
        "time",
        BELOW,
        bound_meanings("service", by=("must", "duty", "least", "gives")),
        "servicenot response delivery warranty",
        15778800.0,
        facts="service+lasts",
    ),
    Subject(
        "heat",
        "watts",
        ABOVE,
        bound_meanings("cooling+site", "cooling+supply", "cooling", by=("most", "must", "duty", "gives", "permits")),
        "each backup rack leftover rowof draw tariff money towater toair district floor lower",
        2e3,
        60,
    ),
    Subject("tax", "share", OTHER, "tax", "discount advance retain", 0.0, 16),
    Subject("electricity", "money/kWh", OTHER, bound_meanings("tariff", by=("duty", "must", "gives")), "peak mean"),
    Subject(
        "burn-in", "time", BELOW, bound_meanings("burnin", by=("most", "must", "duty", "least")), "total slot", 0.0, 40
    ),
)
