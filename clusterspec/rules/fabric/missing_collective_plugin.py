"""The collective library has no plugin for this network.

## What it finds

More than one node on EFA, GPUDirect-TCPX or -TCPXO or Slingshot, with `collective_plugin: none` or the plugin of
another network: an error. Where no plugin is stated, the finding is a note: cloud images and site environments load the
plugin of their fabric, and the Neuron SDK contains its own. The rule is silent where every group of the layout lies in
one scale-up domain, as with engines of one node, and for accelerators whose library calls libfabric without a plugin,
such as oneCCL of Intel.

## Why it matters

NCCL does not support these networks by itself. Without the plugin it falls back to TCP sockets silently: 5.4 GB/s of
bus bandwidth instead of 122.6 GB/s on the same nodes.

## What to do

Name the plugin: `aws-ofi-nccl` (NVIDIA) or `aws-ofi-rccl` (AMD) on EFA and Slingshot, `neuron` on Trainium,
`nccl-tcpx`, `nccl-fastrak`. Pin `NCCL_NET` to it, so that jobs fail without it.

## When to ignore it

Ignore it where collectives never leave a node, and the spec has no layout that says so.

## Fix safety

The fix is unsafe: it writes the plugin of the technology. The image of the job must contain it.

## Fires

```yaml cluster.scale_out.collective_plugin
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {collective_plugin: none, placement: cluster-placement-group}
```

```yaml cluster.scale_out.collective_plugin
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {placement: cluster-placement-group}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {collective_plugin: aws-ofi-nccl, placement: cluster-placement-group}
```

## Sources

- 5.4 against 122.6 GB/s: https://github.com/aws/aws-ofi-nccl/issues/803
- Plugins of NCCL: https://github.com/NVIDIA/nccl/tree/master/ext-net
- Settings on EFA: https://github.com/aws/aws-ofi-nccl/blob/2daf7d303aa139a03140aa530957d10521e4478d/doc/efa-env-var.md
- Slingshot: https://github.com/eth-cscs/cscs-docs
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut, Workload
from clusterspec.cluster.scaleout import PLUGINS_OF_VENDORS, usual_plugin
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements, groups_use_nics
from clusterspec.rules.rule import Rule, key_path, value_fix
from clusterspec.spec.model import ScaleOutSpec, Spec

RULE = Rule.of(__name__, "error")
AT = "cluster.scale_out.collective_plugin"


def check(
    spec: Spec,
    written_scale_out: ScaleOutSpec | None,
    cluster: Cluster,
    scale_out: ScaleOut,
    workload: Workload | None,
    layout: Layout | None,
    placements: Placements | None,
) -> Iterator[Problem]:
    technology = scale_out.technology
    if cluster.nodes < 2 or not technology.proprietary or not technology.plugins:
        return
    if placements and layout and workload and not groups_use_nics(placements, layout, workload):
        return
    wanted = usual_plugin(cluster.accelerator.vendor, technology.plugins)
    if not wanted:
        return
    help_ = f"write `collective_plugin: {wanted}`" + (
        "" if wanted in PLUGINS_OF_VENDORS.values() and wanted != "aws-ofi-rccl" else ", and pin NCCL_NET to it"
    )
    written = written_scale_out.collective_plugin if written_scale_out else None
    loss = f"without {wanted}, the collective library silently uses TCP sockets on {technology.name}"
    if written is None:
        if not spec.unreadable(key_path(AT)):
            yield RULE.problem(
                AT,
                f"no collective plugin is stated: {loss}",
                help_,
                severity="note",
            )
    elif written != wanted and (
        written not in technology.plugins
        or written in PLUGINS_OF_VENDORS.values()
        or wanted in PLUGINS_OF_VENDORS.values()
    ):
        what = (
            "the collective plugin is `none`"
            if written == "none"
            else f"{written} does not support {cluster.accelerator.vendor} on {technology.name}"
        )
        yield RULE.problem(AT, f"{what}: {loss}", help_, fix=value_fix(AT, wanted))
