"""The names by which quotes call accelerators, NICs and switches of the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.names import ids_of_name
from clusterspec.procurement.part_names import words_in
from clusterspec.standard import pattern, recent

_ORDER_CODE = pattern(r"m((?:qm|sn)\d{4})(?:-[a-z0-9]+)*$|dcs-(\d{4}[a-z]*\d?(?:-[a-z0-9]+)+?)(?:-[fr])?$")
"""An order code of a Quantum, Spectrum or Arista switch, with its model."""
_FAMILIES = frozenset({"quantum", "spectrum", "switch", "silicon"})
"""The first words of ids of switches whose model is the last word."""
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


def names_of_entry(id: str, kind: str) -> Iterator[str]:  # noqa: A002
    """The names by which quotes call an entry: the family of an accelerator, the model of a switch."""
    if kind == "nic":
        yield id
        if id.startswith("connectx-"):
            yield id.replace("connectx", "cx")
    elif kind == "accelerator":
        if any(sign.isdigit() for sign in family_of(id)):
            yield family_of(id)
    else:
        yield from _names_of_switch(id)


def _names_of_switch(id: str) -> Iterator[str]:  # noqa: A002
    """The model in the id of a switch, after its maker or family; without the end that Dell's models have.

    >>> [[*_names_of_switch(id)] for id in ("spectrum-4-sn5600", "dell-z9864f-on", "arista-7060x6-64pe", "tomahawk-5")]
    [['sn5600'], ['z9864f-on', 'z9864f'], ['7060x6-64pe'], []]
    """
    maker, _, model = id.partition("-")
    if maker in _FAMILIES:
        model = model.rpartition("-")[2]
    if any(sign.isdigit() for sign in model) and any(sign.isalpha() for sign in model):
        yield model
        if model.endswith("-on"):
            yield model.removesuffix("-on")


def switches_named(text: str, catalog: Catalog) -> list[str]:
    """The ids of the switches of the catalog that a text names."""
    names = named_entries(text, catalog, "switch")
    return [id_ for id_ in catalog.ids("switch") if not names.isdisjoint(_names_of_switch(id_))]


def family_of(id: str) -> str:  # noqa: A002
    """The name of an accelerator family in texts: the id up to the first word with a digit.

    >>> family_of("h100-sxm-80gb"), family_of("rtx-pro-6000-workstation"), family_of("rubin-ultra")
    ('h100', 'rtx-pro-6000', 'rubin')
    """
    words = id.split("-")
    last = next((place for place, word in enumerate(words) if any(sign.isdigit() for sign in word)), 0)
    return "-".join(words[: last + 1])


def counted_codes(text: str, kind: str) -> list[tuple[int, str]]:
    """The counts in a text with the ids of the parts whose order code is right after them.

    >>> counted_codes("server, 8x mcx75310aas-neat, 2 x 8570", "nic")
    [(8, 'connectx-7')]
    """
    counted = ((int(count), ids_of_name(kind, code)) for count, code in _COUNTED_CODE.findall(text))
    return [(count, ids[0]) for count, ids in counted if len(ids) == 1]


def counts_before(text: str, name: str) -> list[int]:
    """The counts of a part in a text: the whole numbers right before its name.

    >>> counts_before("server, 8x h100", "h100"), counts_before("with 8 x connectx-7", "connectx 7")
    ([8], [8])
    """
    words = text.replace("-", " ").lstrip("0123456789")  # a leading number is that of the line, or its quantity
    at = pattern(rf"(?<![\w.])(\d{{1,3}}) ?(?:[x×*] ?)?(?:nvidia |amd |intel )?{name.replace('-', ' ')}\b")
    return [int(count) for count in at.findall(words)]
