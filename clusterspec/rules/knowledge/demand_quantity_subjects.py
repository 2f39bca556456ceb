"""What the demands of texts on quantities of a design are about: the measure of the figure, the bound, and the words that name it."""

from __future__ import annotations

from clusterspec.rules.knowledge.demand_answer_subjects import ANSWER_SUBJECTS
from clusterspec.rules.knowledge.demand_bill_subjects import BILL_SUBJECTS
from clusterspec.rules.knowledge.demand_fabric_subjects import FABRIC_SUBJECTS
from clusterspec.rules.knowledge.demand_job_subjects import JOB_SUBJECTS
from clusterspec.rules.knowledge.demand_site_subjects import SITE_SUBJECTS
from clusterspec.rules.knowledge.demand_subjects import ABOVE, CAPPED, FLOORED, OTHER, SAID, Subject

_BINDS = ("most", "least", "must", "duty", "gives", "longest", "binds", "upper", "lower")
_CARRIES = tuple(each for each in _BINDS if each not in ("gives", "binds"))
_STRICT = ("most", "must", "duty", "binds", "upper")
_TOTAL = ("least", "floor", "lower", "must", "duty")


def _bound(*subjects: str, by: tuple[str, ...] = _BINDS) -> str:
    """Sets of meanings with one of the meanings that bind."""
    return " ".join(f"{subject}+{each}" for subject in subjects for each in by)


_ALONE = "ceil upper limitword permits"
"""Meanings that bind a figure whose unit names its subject."""
QUANTITY_SUBJECTS = (
    Subject(
        "heat to water",
        "watts",
        CAPPED,
        _bound("towater+heat", "towater+cooling"),
        "each district rack rowof backup toair",
        2e3,
        110,
    ),
    Subject(
        "delivered heat",
        "watts",
        FLOORED,
        _bound("district") + " wasteheat+floor wasteheat+lower heat+heatbuyer",
        "rack rowof backup",
        2e3,
        140,
    ),
    Subject(
        "heat to air",
        "watts",
        CAPPED,
        _bound("toair+heat", "toair+cooling", "toair", by=_CARRIES),
        "each rack rowof backup towater district",
        2e3,
        110,
    ),
    Subject(
        "heat to air",
        "watts",
        CAPPED,
        _bound("toair", by=("gives", "binds")),
        "each rack rowof backup towater district nodeend",  # nodes that give heat to the air state no bound
        2e3,
        110,
    ),
    Subject(
        "idle power",
        "watts",
        ABOVE,
        _bound("unworked", by=_STRICT),
        "each rack rowof backup cooling heat",
        1e3,
        130,
    ),
    Subject(
        "facility power",
        "watts",
        ABOVE,
        _bound("site+inclcooling", "supply+inclcooling", "inclcooling", by=(*_STRICT, "gives")),
        "each rack rowof backup",
        2e3,
        110,
    ),
    Subject("row power", "watts of a row", ABOVE, _bound("rowof", by=(*_STRICT, "gives")), "rack backup", 2e3, 60),
    Subject("energy of a year", "energy of a year", ABOVE, f"{_ALONE} budgeted", "mean", reach=130),
    Subject("carbon of a year", "carbon of a year", ABOVE, f"{_ALONE} budgeted", "mean", reach=130),
    Subject("carbon of the term", "carbon", ABOVE, _ALONE, "mean runword !runword", reach=130),
    Subject(
        "passes",
        "bare",
        CAPPED,
        _bound("password+corpusword"),
        "mean slot copying",
        1,
        90,
        60,
        counted="password",
    ),
    Subject(
        "steps",
        "steps",
        CAPPED,
        _bound("stepword", by=("ceil", "upper", "limitword", "floor", "duty")),
        "mean each",
        100,
        60,
    ),
    Subject(
        "lost work",
        "time",
        ABOVE,
        _bound("rollback+ofwork", "rollback+lossevent", by=_STRICT)
        + " "
        + _bound("lossevent+ofwork", by=("ceil", "upper"))
        + " "
        + _bound("lostwork", by=("most", "must")),
        "mean !mean delivery warranty restart starting keeps !engineword stopword",
        30.0,
        110,
        86400.0,
    ),
    Subject(
        "weight transfer",
        "time",
        ABOVE,
        _bound("weightword+transfer", "newweights", by=(*_STRICT, "gives")),
        "checkpoint mean",
        0.1,
        140,
        36000.0,
    ),
    Subject(
        "cold start",
        "time",
        ABOVE,
        _bound("starting+engineword", by=(*_STRICT,)),
        "checkpoint delivery mean firstword",
        1.0,
        110,
        36000.0,
    ),
    Subject(
        "checkpoint read",
        "time",
        ABOVE,
        _bound("checkpoint+restoring", by=_STRICT),
        "delivery mean repair",
        0.1,
        90,
        36000.0,
    ),
    Subject("compute", "flops", CAPPED, "ceil upper limitword floor lower", "each mean", 1e18),
    Subject(
        "all nodes",
        "nodes or none",
        FLOORED,
        _bound("nodeend+alwaysword", by=("gives", "duty", "must", "least")),
        "each license engineword fails spare rack repair lossevent",
        4,
        60,
        counted="nodeend",
    ),
    Subject(
        "all accelerators",
        "accelerators",
        FLOORED,
        _bound("devicemem+alwaysword", by=("gives", "duty", "must", "least")),
        "each license engineword fails spare rack repair lossevent",
        8,
        60,
        counted="devicemem",
    ),
    Subject(
        "acceptance time",
        "time",
        ABOVE,
        _bound("accepttest+testwindow", by=("testwindow", "most", "must", "lasts", "ceil")),
        "delivery mean warranty repair advance retain burnin",
        1800.0,
        120,
        2592000.0,
    ),
    Subject(
        "device memory",
        "size",
        SAID,
        _bound("gpumemory", by=_TOTAL),
        "each stored checkpoint nodeend drive",
        1e12,
        50,
    ),
    Subject(
        "all accelerators",
        "accelerators",
        SAID,
        _bound("devicemem", by=("floor", "lower")),
        "each license engineword fails spare rack",
        8,
        30,
        counted="devicemem",
    ),
    Subject(
        "all nodes",
        "nodes or none",
        SAID,
        _bound("nodeend", by=("floor", "lower"))
        + " "
        + _bound("nodeend+groupword", by=("gives", "duty", "must", "least")),
        "each license engineword fails spare rack repair",
        4,
        60,
        counted="nodeend",
    ),
    Subject(
        "spare share",
        "share",
        FLOORED,
        _bound("sparenode+nodeend", by=("floor", "lower", "must", "duty", "least")),
        "money discount",
        0.001,
        70,
        0.5,
    ),
    Subject(
        "paid before delivery",
        "money",
        ABOVE,
        _bound("prepaid+payable", "prepaid", by=("most", "ceil", "upper", "limitword")),
        "each penalty",
        1e3,
        90,
    ),
    Subject(
        "share paid before acceptance",
        "share",
        ABOVE,
        _bound("unaccepted+payable", "unaccepted", by=("most", "ceil", "upper", "limitword")),
        "penalty retain tax discount",
        0.05,
        90,
        1.0,
    ),
    Subject(
        "paid before acceptance",
        "money",
        ABOVE,
        _bound("unaccepted+payable", "unaccepted", by=("most", "ceil", "upper", "limitword")),
        "each penalty",
        1e3,
        90,
    ),
    Subject(
        "free power of a rack",
        "watts of a rack",
        FLOORED,
        _bound("rack+freeword", by=_TOTAL),
        "rowof backup cooling pdu towater toair heat money",
        500.0,
        90,
    ),
    Subject(
        "cost of a failure",
        "time",
        ABOVE,
        _bound("lossevent+costword", by=("ceil", "upper", "limitword")),
        "mean !mean delivery warranty starting keeps cooling ofwork rollback lostwork",
        30.0,
        110,
        86400.0,
    ),
    Subject(
        "cost of a failure",
        "time",
        ABOVE,
        _bound("lossevent+costword+stopword", by=("ceil", "upper", "limitword")),
        "mean !mean delivery warranty starting keeps cooling",
        30.0,
        110,
        86400.0,
    ),
    Subject(
        "rent of a month",
        "money",
        ABOVE,
        _bound("rentword+monthword", by=("ceil", "upper", "limitword")),
        "store stored service servicenot eachnode site rackplace penalty",
        1e3,
        90,
    ),
    Subject(
        "free share of the power",
        "share",
        FLOORED,
        _bound("powerword+freeword", by=_TOTAL),
        "rack rowof backup cooling pdu towater toair heat money each nodeend",
        0.01,
        90,
        0.8,
    ),
    Subject(
        "money after acceptance",
        "money",
        OTHER,
        "heldback+accepttest heldback+unaccepted retain+payable",
        "each penalty discount service bond rentword site budgeted",
        1e3,
        60,
    ),
    Subject(
        "money with the order",
        "money",
        OTHER,
        "advance",
        "each penalty discount service bond rentword site budgeted duty",
        1e3,
        60,
    ),
    Subject(
        "requests of an engine",
        "requests of an engine",
        ABOVE,
        _bound("engineword+each", by=("ceil", "upper", "limitword", "maydraw")),
        "mean fails",
        2,
        80,
    ),
    Subject(
        "power of a node",
        "watts of a node",
        ABOVE,
        _bound("nodeend", by=("maydraw", "draw+ceil", "draw+limitword")),
        "store stored psu rack rowof unworked devicemem nicword cooling partofnode mean",
        300.0,
        60,
    ),
    *(
        each._replace(unless=f"{each.unless} otherthing !otherthing")
        for each in (*BILL_SUBJECTS, *SITE_SUBJECTS, *JOB_SUBJECTS, *ANSWER_SUBJECTS, *FABRIC_SUBJECTS)
    ),
)
