"""``docs/exchange.md``: what can be imported, exported, diagnosed and accepted, with examples that are run."""

from __future__ import annotations

from clusterspec.exchange.exporters.registry import EXPORTERS
from clusterspec.exchange.import_formats import IMPORT_FORMATS
from tools.generate import exchange_logs, exchange_tests
from tools.generate.exchange_logs import SPEC, example, table

HEAD = """# Import, export, diagnose, accept

Made by `make docs` from the registries of formats; the examples are run.

## Import

`clusterspec import KIND FILE…` prints a file of an infrastructure repository as a spec; with the KIND `auto` the format
is detected. Every value has the file and line it comes from. Data without a key in the spec are printed as counts;
unknown and ambiguous data are listed as unknown, never guessed.

- `--into SPEC` inserts what is read into a spec and keeps its layout and comments. A value that the spec states
  otherwise is kept, and both are shown. If it is a value of the model, the batch or the layout, and the file has
  others that the spec lacks, the two are of different runs: nothing is written, unless `--keep` asks for it.
- `--part N` chooses one of several tables, matrices, recipes or topologies in a file. A file with tables of different
  machines, or with the output of several tools, is not read until one is chosen.
- `--format json` prints `spec`, `provenance`, `counts`, `unknown` and `missing`: a launch names no machine.

Exit status: 0 where something was read, 2 with one line where the file cannot be read as what it was taken for. XML
with document types or entities, archives that unpack to more than 32 MiB, and files above the size given here are
refused.
"""
LIMITS = """
### Limits for the health checks of a site

`superbench`, `cvs`, `azure-nhc`, `nvcre`, `aicr` and `health-scanner` write the limits that the design implies where
these tools look for them: the figures of `acceptance:`, or, where the spec states none, the slow end of the predicted
range. A tool that passes 90 % or 95 % of its figure gets the limit divided by that share, so that a machine fails below
the limit itself. Limits behind which there is no measurement (such as those of NICs of 800 Gb/s) say so in the file and
on standard error. The writers follow the parsers of these public sources, compared again on 2026-11-23 (the commits of
the first three and the last are the newest that could be fetched):

| kind | source | commit | files |
| --- | --- | --- | --- |
| `superbench` | microsoft/superbenchmark | 700d6501 | `superbench/analyzer/data_diagnosis.py`, `diagnosis_rule_op.py` |
| `cvs` | ROCm/cvs | dddd9143 | `cvs/lib/rccl_lib.py` |
| `azure-nhc` | Azure/azurehpc-health-checks | 0e0a1ac2 | `customTests/azure_nccl_allreduce.nhc` |
| `nvcre` | NVIDIA/cluster-readiness-engine | 00992e28 | `api/v1alpha1/certification_types.go` |
| `aicr` | NVIDIA/aicr | 028a5a86 | `validators/performance/nccl_all_reduce_bw_constraint.go` (checks by criteria) |
| `health-scanner` | GoogleCloudPlatform/cluster-health-scanner | 81c525d8 | `src/nccl_healthcheck/nccl_startup.py` |

`prometheus` writes alerting rules for a machine in service that has less than its design: nodes of the job and spares,
accelerators of a node, the power that one may draw (`cluster.power.accelerator_cap`, else its own), and ports that are
active at the rate of the design. Keys of the file are those of prometheus/prometheus at 6030407d
(`model/rulefmt/rulefmt.go`), metrics those of NVIDIA/dcgm-exporter at 00d6d344 (`etc/default-counters.csv`) and of
prometheus/node_exporter at 043fecbf (`collector/infiniband_linux.go`).

`nhc` and `node-problem-detector` check a node all the time, also while jobs run: accelerators that the driver has,
ports that are active at the rate of the design, and the power limit of each accelerator. The first is a file of Node
Health Check (mej/nhc at 9c4a38c0), which Slurm runs as `HealthCheckProgram` (it ends one after 60 s), the second a
custom plugin monitor of Kubernetes (kubernetes/node-problem-detector at 6632ca67). Neither runs collectives, which need
the accelerators for themselves.

Formats of other tools are left out: no public schema of them was read. Limits of copies, of `ib_write_bw` and of
storage are left out too, since the cost model predicts none of them.
"""
EXPORT = """## Export

`clusterspec export KIND SPEC [-o FILE]` writes a design in another format. What the format cannot hold is named on
standard error, one line each. Cells of CSV and XLSX that begin like a formula get an apostrophe before them.
"""
TOPOLOGY = """\
        GPU0    GPU1    GPU2    GPU3    NIC0    NIC1    CPU Affinity    NUMA Affinity
GPU0     X      NV18    NV18    NV18    PXB     SYS     0-31            0
GPU1    NV18     X      NV18    NV18    PXB     SYS     0-31            0
GPU2    NV18    NV18     X      NV18    SYS     PXB     32-63           1
GPU3    NV18    NV18    NV18     X      SYS     PXB     32-63           1
NIC0    PXB     PXB     SYS     SYS      X      SYS
NIC1    SYS     SYS     PXB     PXB     SYS      X
"""


def page() -> str:
    """The whole page."""
    return "\n".join(
        [
            HEAD,
            table(("kind", "reads", "up to"), ((f"`{k.name}`", k.title, f"{k.largest} MiB") for k in IMPORT_FORMATS)),
            *example({"topo.txt": TOPOLOGY}, ("import", "auto", "topo.txt")),
            exchange_tests.text(),
            EXPORT,
            table(("kind", "writes"), ((f"`{each.name}`", each.title) for each in EXPORTERS)),
            *example({"pod.yaml": SPEC}, ("export", "nccl-env", "pod.yaml")),
            LIMITS,
            *example({"pod.yaml": SPEC}, ("export", "azure-nhc", "pod.yaml")),
            *exchange_logs.parts(),
        ]
    )
