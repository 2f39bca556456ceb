"""Problems of names that the catalog or the format does not have, with the names that may be meant."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Interconnect, Nic
from clusterspec.catalog.frameworks import UNNAMED, Framework
from clusterspec.cluster.layout import SOFTWARE_KEY, SOFTWARE_PATH
from clusterspec.cluster.resolution import Lookup
from clusterspec.document.schema import alternatives_text, letters_and_digits, nearest_words
from clusterspec.finding import Fix, Problem, Replacement, Severity
from clusterspec.records import replace
from clusterspec.source import Path

CLEARLY_MEANT = 0.85
"""Similarity (Ratcliff and Obershelp) above which the nearest id is offered as a fix."""
CLEAR_LEAD = 0.05
"""Minimum lead in similarity of the nearest id over the second nearest for this fix."""
LONGEST = 64
"""Largest number of characters of a name that are compared; no id is longer."""
LISTED = 12
"""Members of a family that a message lists."""


def unknown_id_problem(catalog: Catalog, kind: str, name: str, path: Path, usual: str = "") -> Problem:
    """The problem with an unknown name: it may denote a family of entries, or be similar to the names of some.

    ``usual`` is the entry that other parts of the design suggest; the help lists it first.
    """
    if kind in {"accelerator", "platform"} and (machine := _machine_problem(catalog, kind, name, path, usual)):
        return machine
    named, family, near = catalog.ids_meant(kind, name), catalog.family(kind, name), catalog.nearest_ids(kind, name)
    family = named if kind == "platform" and named[1:] else family or (named if kind == "accelerator" else ())
    if len(named) == 1:
        message = f"`{name}` is a name of the {kind} `{named[0]}`, and no id of the catalog"
        precision = _precision_remedy(name) if kind == "model" else ""
        help_ = f"write `{named[0]}`{precision}; the rest is checked with it"
        severity = Severity.ERROR if precision else Severity.NOTE
        return Problem("unknown-catalog-id", path, message, help_, severity, fix=_fix_to_id(named[0], path))
    if kind == "accelerator" and len(family) > 1:
        return _ambiguous_family_problem(name, path, family)
    if len(family) > len(near) or len(named) > 1:
        help_ = f"write one of: {_listed_ids(family)}"
    elif near:
        help_ = f"nearest: {', '.join(near)}"
    else:
        help_ = f"`clusterspec catalog list` shows every {kind}"
    network = _network_named(name, catalog) if kind == "nic" else None
    if isinstance(network, Interconnect) and network.scope == "scale-out":
        help_ = _technology_remedy(network, catalog)
    help_ = f"{usual}; {help_}" if usual else help_
    help_ += "; `--catalog DIR` adds entries of your own"
    meant = family[0] if len(family) == 1 else _clearly_meant_id(name[:LONGEST].lower(), near)
    others = " and ".join(_kind_with_article(other) for other in catalog.kinds_of(name))
    message = f"the catalog has no {kind} `{name}`"
    if others:
        message = f"`{name}` is {others}, not {_kind_with_article(kind)}"
    elif len(named) > 1:
        message = f"`{name}` is a name of {len(named)} {kind}s, and no id of the catalog"
    return Problem("unknown-catalog-id", path, message, help_, fix=_fix_to_id(meant, path) if meant else None)


def family_problem(name: str, member: str, why: str, path: Path) -> Problem:
    """The note for the name of a family of networks, of which the rest of the spec tells the generation."""
    message = f"`{name}` is a family of networks; {why} `{member}`"
    help_ = f"write `{member}`; the rest is checked with it"
    return Problem("unknown-catalog-id", path, message, help_, Severity.NOTE, fix=_fix_to_id(member, path))


def _machine_problem(catalog: Catalog, kind: str, name: str, path: Path, usual: str) -> Problem | None:
    """The problem with a name of a machine that is no name of a platform, or of an accelerator: a slice, a server of
    another maker, a count of accelerators, or an accelerator as a platform. None for any other name.
    """
    if slice_ := _slice_remedy(name, catalog):
        return Problem("unknown-catalog-id", path, f"`{name}` names a slice, not {_kind_with_article(kind)}", slice_)
    found = _server_problem(name, path, catalog) if kind == "platform" else None
    found = found or _count_problem(kind, name, path, catalog)
    if kind == "platform" and found is None and (found := _chip_problem(name, path, catalog)) and usual:
        return replace(found, help=f"{usual}; {found.help}")
    return found


def _network_named(name: str, catalog: Catalog) -> object:
    """The entry of a network with this id or name; None if there is none, or several."""
    found = catalog.find("interconnect", name)
    named = catalog.ids_named("interconnect", name) if found is None else ()
    return catalog.find("interconnect", named[0]) if len(named) == 1 else found


def _server_problem(name: str, path: Path, catalog: Catalog) -> Problem | None:
    """The problem with a platform name that denotes another maker's server with a catalogued board; None if it does
    not.
    """
    from clusterspec.catalog.product_names import boards_of_server  # only for names that are no ids

    held = boards_of_server(name, catalog)
    if not held:
        return None
    message = f"`{name}` is a server that holds a board of the catalog, and no id"
    help_ = f"write {alternatives_text(list(held))}, and the NICs of the server"
    fix = _fix_to_id(held[0], path) if len(held) == 1 else None
    return Problem("unknown-catalog-id", path, message, help_, fix=fix)


def _count_problem(kind: str, name: str, path: Path, catalog: Catalog) -> Problem | None:
    """The problem with a name that counts accelerators (``16xB200``); None for another name, or a platform that has as
    many in a node.
    """
    from clusterspec.catalog.series_names import counted_accelerators, platforms_with  # only for names that are no ids

    count, chips = counted_accelerators(name) or (0, ())
    chips = tuple(each for each in chips if catalog.find("accelerator", each) is not None)
    held = platforms_with(chips)
    if not chips or (kind == "platform" and count in held.values()):
        return None
    part = f"`accelerator: {chips[0]}`" if len(chips) == 1 else f"`accelerator` as one of {_listed_ids(chips)}"
    message = f"`{name}` counts {count} accelerators"
    if kind == "platform":
        message += ", and no platform has that many in a node"
    counts = f"`accelerators_per_node: {count}`, or `accelerators: {count}` for those of all nodes"
    help_ = f"write {part}, and {counts}"
    several = {id_: count // each for id_, each in held.items() if count % each == 0}
    if kind == "platform" and several:
        nodes = sorted(set(several.values()))
        groups = ((each, tuple(id_ for id_, number in several.items() if number == each)) for each in nodes)
        help_ = "; or ".join(f"{_choice_of(ids)} with `nodes: {each}`" for each, ids in groups)
    return Problem("unknown-catalog-id", path, message, help_)


def _chip_problem(name: str, path: Path, catalog: Catalog) -> Problem | None:
    """The problem with a platform that has the name of an accelerator (``gaudi-3``); None for another name."""
    from clusterspec.catalog.series_names import accelerators_named, platforms_with  # only for names that are no ids

    if catalog.ids_meant("platform", name):
        return None
    chips = (name,) if name in catalog.ids("accelerator") else accelerators_named(name)
    chips = tuple(each for each in chips if catalog.find("accelerator", each) is not None)
    if not chips:
        return None
    what = f"a name of {len(chips)} accelerators"
    if len(chips) == 1:
        what = "an accelerator" if chips[0] == name else f"the accelerator `{chips[0]}`"
    own = f"`accelerator{f': {chips[0]}' if len(chips) == 1 else ''}` with `accelerators_per_node`"
    held = tuple(platforms_with(chips))
    help_ = f"{_choice_of(held)}, or {own}" if held else f"write {own}: no platform of the catalog has it"
    fix = _fix_to_id(held[0], path) if len(held) == 1 else None
    return Problem("unknown-catalog-id", path, f"`{name}` is {what}, not a platform", help_, fix=fix)


def _choice_of(ids: Sequence[str]) -> str:
    return f"write one of: {_listed_ids(ids)}" if len(ids) > 1 else f"write `{ids[0]}`"


def _precision_remedy(name: str) -> str:
    """The advice to add `parameter_precision` to a model id if the checkpoint name states a precision; else empty."""
    from clusterspec.catalog.names import quantized_precision  # only for names that are no ids

    kept = quantized_precision(name)
    return f", and `parameter_precision: {kept}` unless it is stated" if kept else ""


def _technology_remedy(network: Interconnect, catalog: Catalog) -> str:
    """The remedy for a NIC that was given as the technology of its network."""
    entries = (catalog.get("nic", id_) for id_ in catalog.ids("nic"))
    nics = [nic.id for nic in entries if isinstance(nic, Nic) and _runs_at_port_rate(nic, network)]
    adapter = f"`nic` as one of {_listed_ids(nics)}" if nics[1:] else f"`nic: {nics[0]}`" if nics else ""
    adapter = adapter or "no `nic`: the catalog has no adapter of this network"
    return f"write `technology: {network.id}` and {adapter}"


def _runs_at_port_rate(nic: Nic, network: Interconnect) -> bool:
    """Whether an adapter has ports for a network, at the network's usual rate if it has one."""
    port, usual = nic.port_bandwidth, network.bandwidth
    return network.family in nic.families and (usual is None or (port is not None and port.value == usual.value))


def _fix_to_id(id_: str, path: Path) -> Fix:
    return Fix(f"write `{id_}`", (Replacement(path, id_),))


def _slice_remedy(name: str, catalog: Catalog) -> str:
    """The keys that describe a slice of this name; empty if the name does not denote a slice.

    >>> _slice_remedy("v5p-512", Catalog.open())
    'write `accelerator: tpu-v5p` and `accelerators: 256`: the name counts TensorCores, of which a chip has two'
    """
    from clusterspec.catalog.product_names import slice_of_name  # only for names that are no ids

    found = slice_of_name(name, catalog)
    if found is None:
        return ""
    chip, chips = found.chip, found.chips
    if found.shape:
        return f"write `accelerator: {chip.id}`, `accelerators: {chips}` and `scale_up: {{shape: {list(found.shape)}}}`"
    several = {2: "TensorCores, of which a chip has two"}.get(chip.units_of_slices)
    counts = several or ("chips" if chip.units_of_slices == 1 else f"units, of which a chip has {chip.units_of_slices}")
    return f"write `accelerator: {chip.id}` and `accelerators: {chips}`: the name counts {counts}"


def _kind_with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _ambiguous_family_problem(name: str, path: Path, family: tuple[str, ...]) -> Problem:
    message = f"`{name}` is a family of {len(family)} parts that differ in form factor or memory"
    return Problem("ambiguous-form-factor", path, message, f"write one of: {_listed_ids(family)}")


def _listed_ids(ids: Sequence[str]) -> str:
    """The first ids, with a sign that there are more."""
    return ", ".join(ids[:LISTED]) + (" …" if len(ids) > LISTED else "")


def _clearly_meant_id(name: str, near: tuple[str, ...]) -> str:
    from difflib import SequenceMatcher

    scores = [SequenceMatcher(None, name, id_).ratio() for id_ in near] + [0.0, 0.0]
    return near[0] if scores[0] >= CLEARLY_MEANT and scores[0] - max(scores[1:]) >= CLEAR_LEAD else ""


# Names of frameworks and of their releases


def unknown_framework_problem(name: str, lookup: Lookup) -> Problem:
    """The problem with an unknown framework name. The fix is a framework with this name as a synonym, or with a similar
    name.
    """
    path = (SOFTWARE_KEY, "framework")
    meant, underneath = _likely_frameworks(name, lookup)
    ids = [id_ for id_ in lookup.catalog.ids("framework") if id_ != UNNAMED]
    choices = alternatives_text(ids)
    message = f"`{name}` is not one of the choices of `framework`"
    if named := framework_named(name, lookup):
        is_spelling = letters_and_digits(named) == letters_and_digits(name)
        certain = Fix(f"write `{named}`", (Replacement(path, named),), safe=is_spelling)
        message = f"`{name}` is a name of the framework `{named}`, and no id of the catalog"
        help_ = f"write `{named}`; the rest is checked with it"
        return Problem("unknown-choice", path, message, help_, Severity.NOTE, fix=certain)
    if underneath:
        advice = f"name what `{name}` runs underneath: {alternatives_text(underneath)}"
    else:
        own = "write `custom` for one without an entry, whose time and memory are then assumed"
        advice = f"the choices are {choices}; {own}; `--catalog DIR` adds entries of your own"
    if meant:
        advice = f"did you mean {alternatives_text(meant)}? {advice[0].upper()}{advice[1:]}"
    only = meant or underneath
    fix = Fix(f"write `{only[0]}`", (Replacement(path, only[0]),)) if len(only) == 1 else None
    return Problem("unknown-choice", path, message, advice, fix=fix)


def framework_named(name: str, lookup: Lookup) -> str | None:
    """The only framework whose id or name is this but for case and signs; None if none or several are."""
    wanted = letters_and_digits(name)
    entries = [lookup.named_entry("framework", id_) for id_ in lookup.catalog.ids("framework") if id_ != UNNAMED]
    found = [
        each.id
        for each in entries
        if isinstance(each, Framework) and wanted in {letters_and_digits(each.id), letters_and_digits(each.name)}
    ]
    return found[0] if len(found) == 1 else None


def _likely_frameworks(name: str, lookup: Lookup) -> tuple[list[str], list[str]]:
    """Frameworks that an unknown name may mean, by synonym or similarity; else frameworks that run on the named one."""
    ids, known_as = lookup.catalog.ids("framework"), name.lower().replace("_", "-")
    entries = [each for each in (lookup.named_entry("framework", id_) for id_ in ids) if isinstance(each, Framework)]
    if same := [each.id for each in entries if known_as in each.synonyms]:
        return same, []
    if underneath := [each.id for each in entries if known_as in each.run_by]:
        return [], underneath
    return [id_ for id_ in ids if known_as.startswith(f"{id_}-")][:1] or nearest_words(name, ids), []


def unknown_software_problem(software: str, lookup: Lookup) -> Problem:
    """The problem with a framework that the catalog lacks, written with its release; the fix keeps the release."""
    name, _, release = software.partition(" ")
    meant, underneath = _likely_frameworks(name, lookup)
    choices = [id_ for id_ in lookup.catalog.ids("framework") if id_ != UNNAMED]
    advice = f"write one of {', '.join(meant or underneath or choices)}, and its release"
    fixed = f"{meant[0]} {release}".strip() if len(meant) == 1 else None
    fix = Fix(f"write `{fixed}`", (Replacement(SOFTWARE_PATH, fixed),)) if fixed else None
    return Problem(
        "unknown-choice", SOFTWARE_PATH, f"`{software}` does not name a framework of the format", advice, fix=fix
    )
