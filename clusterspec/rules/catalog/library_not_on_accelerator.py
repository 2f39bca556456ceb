"""A release of the software on the nodes does not support the accelerator, or a feature of the workload.

## What it finds

A driver, toolkit or library in `cluster.software` or `collective_library` whose catalog entry says that the release
does not support, or no longer supports, the accelerator's architecture, a recipe of the workload or, for a driver, the
stated CUDA release; or that the library runs only on accelerators of other vendors. The finding is an error where the
entry cites a document, and a warning otherwise; it is also a warning where only reduction in the switches is missing,
since rings do the same work. A driver older than the major release of CUDA is a warning, since containers bring the
forward-compatibility package: published runs used it for CUDA 13 on driver 570. The release of a framework is compared
with its entry. A name that the catalog does not have is a note, since its support cannot be checked, and a warning
where it looks like a name of the catalog.

## Why it matters

The release has no code for the device: kernels do not load, or the collective library falls back or stops.

## What to do

Install the release that the message names, or a later one.

## When to ignore it

Ignore it for a build of your own that adds the device; better, describe the build by a catalog entry.

## Fires

```yaml cluster.software[0]
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 4, software: [nvidia-driver 550.90, cuda 12.8]}
```

```yaml cluster.software[0]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4, software: [nvidia-driver 570.86, cuda 13.0]}
```

```yaml cluster.scale_out.collective_library
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 4, scale_out: {collective_library: nccl 2.21}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 4, software: [nvidia-driver 570.86, cuda 12.8], scale_out: {collective_library: nccl 2.26}}
```

## Sources

- CUDA releases and architectures: https://docs.nvidia.com/cuda/cuda-features-archive/index.html
- Drivers of CUDA releases: https://docs.nvidia.com/cuda/archive/12.8.0/cuda-toolkit-release-notes
- Drivers of major releases of CUDA: https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
- NCCL and Blackwell: https://github.com/NVIDIA/nccl/releases/tag/v2.25.1-1
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.frameworks import Framework, capabilities, named_library
from clusterspec.cluster.demands import design_uses
from clusterspec.cluster.model import Design
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.support import refusal_message
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ClusterSpec

RULE = Rule.of(__name__, "error")
CLOSE = 0.85
"""Smallest similarity at which an unknown name is probably a misspelling of a known one; one wrong letter of eight."""


def check(
    design: Design, catalog: Catalog, written_cluster: ClusterSpec, accelerator: Accelerator
) -> Iterator[Problem]:
    if written_cluster.software is None and (
        written_cluster.scale_out is None or written_cluster.scale_out.collective_library is None
    ):
        return
    for at, text in _stated_releases(written_cluster):
        name, _, release = text.partition(" ")
        entry: Framework | None = named_library(name, catalog)
        if entry is None and isinstance(framework := catalog.find("framework", name.lower()), Framework):
            entry = framework
        if entry is None:
            if at.startswith("cluster.software"):
                yield _unknown_library_problem(at, text, catalog)
        elif entry.vendors and accelerator.software_vendor not in entry.vendors:
            runs = and_list(list(entry.vendors))
            message = f"{entry.name} is for accelerators of {runs}, but {accelerator.id} is from {accelerator.vendor}"
            severity = "error" if entry.vendors_sourced else "warning"
            yield RULE.problem(at, message, "name the library of this accelerator", severity=severity)
        elif release:
            used = design_uses(design) | _cuda_releases(written_cluster)
            yield from _unsupported_use_problems(at, entry, release.strip().removeprefix("v"), used, accelerator.id)


def _stated_releases(written: ClusterSpec) -> Iterator[tuple[str, str]]:
    """The key and the text of each release that a spec states."""
    yield from ((f"cluster.software.{index}", each) for index, each in enumerate(written.software or ()))
    if written.scale_out is not None and written.scale_out.collective_library is not None:
        yield "cluster.scale_out.collective_library", written.scale_out.collective_library


def _unknown_library_problem(at: str, text: str, catalog: Catalog) -> Problem:
    """The problem of a library that has no catalog entry."""
    name = text.partition(" ")[0].lower()
    near = catalog.nearest_ids("library", name)
    help_ = f"name one of the catalog, such as {and_list(list(near))}" if near else "name a library of the catalog"
    message = f"the catalog has no library of `{text}`: its release is not compared with the accelerator"
    from difflib import get_close_matches  # few specs need it

    like = get_close_matches(name, near, 1, CLOSE)
    return RULE.problem(at, message, help_, severity="warning" if like else "note")


def _cuda_releases(written: ClusterSpec) -> frozenset[str]:
    """The major releases of CUDA among the software of the nodes, as the support matrix names them."""
    releases = (text.lower().split() for text in written.software or ())
    cuda = (words[1].removeprefix("v") for words in releases if len(words) > 1 and words[0] in ("cuda", "cuda-toolkit"))
    return frozenset(f"cuda-{release.partition('.')[0]}" for release in cuda)


def _unsupported_use_problems(
    at: str, entry: Framework, release: str, used: frozenset[str], accelerator: str
) -> Iterator[Problem]:
    """The problems with a release that does not support the design."""
    for each in capabilities(entry, release, 0).refused:
        if each.combination.applies(used):
            found = refusal_message(f"{entry.name} {release}", each, used, accelerator)
            slower = each.combination.uses == (frozenset({"switch-reduction"}),)  # rings do the same work
            severity = "error" if each.feature.is_sourced and not slower else "warning"
            if any(use.startswith("cuda-") for uses in each.combination.uses for use in uses):
                severity = "warning"  # containers bring the forward-compatibility package
            yield RULE.problem(at, found.message, found.help, severity=severity)
