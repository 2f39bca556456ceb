"""The names by which quotes call accelerators, NICs and switches of the catalog."""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.catalog.names import ids_of_name
from clusterspec.catalog.names_of_parts import names_of_entry, names_of_switch
from clusterspec.procurement.part_names import words_in
from clusterspec.standard import pattern, recent

_ORDER_CODE = pattern(r"m((?:qm|sn)\d{4})(?:-[a-z0-9]+)*$|dcs-(\d{4}[a-z]*\d?(?:-[a-z0-9]+)+?)(?:-[fr])?$")
"""An order code of a Quantum, Spectrum or Arista switch, with its model."""
_PIECE = pattern(r"[^\W_]+")
_COUNTED_CODE = pattern(r"(?<![\w.])(\d{1,3}) ?[x×] ?([a-z]{1,4}\d{3}[\w-]{1,24})")
"""A count and the order code after it: letters, then three figures."""


def named_entries(text: str, catalog: Catalog, kind: str) -> set[str]:
    """The model names of catalog entries of a kind that a description contains, such as `h100`, `qm9700` and
    `connectx-7`. Switches are also found by their maker's order code (`MQM9700-NS2F`, `DCS-7060X6-64PE-F`).
    """
    words = words_in(text.lower().replace("_", " ").replace("/", " "))
    if kind == "switch":
        codes = (_ORDER_CODE.match(word) for word in words)
        words |= {code[1] or code[2] for code in codes if code is not None}
    words |= {*_PIECE.findall(text.lower())} | _joined_words(text.lower())
    return {name for name in _model_names(kind, catalog) if name in words or name.replace("-", "") in words}


def _joined_words(text: str) -> set[str]:
    """Product names without spaces: one to three words of letters joined with the following word that has a digit.

    >>> sorted(_joined_words("8x intel gaudi 3, connectx-7"))
    ['connectx7', 'gaudi3', 'intelgaudi3']
    """
    found: set[str] = set()
    names: list[str] = []
    for word in _PIECE.findall(text):
        if not word[0].isdigit() and word.isalpha():
            names = [*names[-2:], word] if len(word) > 1 else []
        else:
            found |= {"".join(names[at:]) + word for at in range(len(names))}
            names = []
    return found


@recent(3)  # of accelerators, NICs and switches: every line of a quote is compared with them
def _model_names(kind: str, catalog: Catalog) -> frozenset[str]:
    """The names by which quotes call the entries of a kind."""
    return frozenset(name for id_ in catalog.ids(kind) for name in names_of_entry(id_, kind))


def switches_named(text: str, catalog: Catalog) -> list[str]:
    """The ids of the switches of the catalog that a text names."""
    names = named_entries(text, catalog, "switch")
    return [id_ for id_ in catalog.ids("switch") if not names.isdisjoint(names_of_switch(id_))]


def counted_codes(text: str, kind: str) -> list[tuple[int, str]]:
    """The counts in a text with the ids of the parts whose order code is right after them.

    >>> counted_codes("server, 8x mcx75310aas-neat, 2 x 8570", "nic")
    [(8, 'connectx-7')]
    """
    counted = ((int(count), ids_of_name(kind, code)) for count, code in _COUNTED_CODE.findall(text))
    return [(count, ids[0]) for count, ids in counted if len(ids) == 1]


_SERVER_NAME = pattern(r"\b(?:dgx|hgx|hls)-\d\b")
"""Names of servers that end with a number."""


def counts_before(text: str, name: str) -> list[int]:
    """The counts of a part in a text: the whole numbers right before its name.

    >>> counts_before("server, 8x h100", "h100"), counts_before("with 8 x connectx-7", "connectx 7")
    ([8], [8])
    >>> counts_before("dgx-1 v100", "v100")
    []
    """
    # A leading number is that of the line, or its quantity.
    words = _SERVER_NAME.sub(" ", text).replace("-", " ").lstrip("0123456789")
    at = pattern(rf"(?<![\w.])(\d{{1,3}}) ?(?:[x×*] ?)?(?:nvidia |amd |intel )?{name.replace('-', ' ')}\b")
    return [int(count) for count in at.findall(words)]
