"""The names by which texts call the entries of the catalog, by their ids."""

from __future__ import annotations

from collections.abc import Iterator

GPU_MODELS = r"A(?:10|16|30|40)|[ABHV][1238]00|L(?:4|20|40S?)|T4|P100|H20|GB\d00|GB10|GH200|MI\d{3}[AX]"
"""Pattern of the models of data-center GPUs in texts, in upper case and without a plural ending."""
_FAMILIES = frozenset({"quantum", "spectrum", "switch", "silicon"})
"""The first words of ids of switches whose model is the last word."""


def accelerator_family(id: str) -> str:  # noqa: A002
    """The name of an accelerator family in texts: the id up to the first word with a digit.

    >>> [accelerator_family(id) for id in ("h100-sxm-80gb", "rtx-pro-6000-workstation", "rubin-ultra")]
    ['h100', 'rtx-pro-6000', 'rubin']
    """
    words = id.split("-")
    last = next((place for place, word in enumerate(words) if any(sign.isdigit() for sign in word)), 0)
    return "-".join(words[: last + 1])


def names_of_entry(id: str, kind: str) -> Iterator[str]:  # noqa: A002
    """The names by which quotes call an entry: the family of an accelerator, the model of a switch."""
    if kind == "nic":
        yield id
        if id.startswith("connectx-"):
            yield id.replace("connectx", "cx")
    elif kind == "accelerator":
        if any(sign.isdigit() for sign in accelerator_family(id)):
            yield accelerator_family(id)
    else:
        yield from names_of_switch(id)


def names_of_switch(id: str) -> Iterator[str]:  # noqa: A002
    """The model in the id of a switch, after its maker or family; without the end that Dell's models have.

    >>> [[*names_of_switch(id)] for id in ("spectrum-4-sn5600", "dell-z9864f-on", "arista-7060x6-64pe", "tomahawk-5")]
    [['sn5600'], ['z9864f-on', 'z9864f'], ['7060x6-64pe'], []]
    """
    maker, _, model = id.partition("-")
    if maker in _FAMILIES:
        model = model.rpartition("-")[2]
    if any(sign.isdigit() for sign in model) and any(sign.isalpha() for sign in model):
        yield model
        if model.endswith("-on"):
            yield model.removesuffix("-on")
