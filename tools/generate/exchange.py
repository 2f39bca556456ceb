"""``docs/exchange.md``: what can be imported, exported, diagnosed and accepted, with examples that are run."""

from __future__ import annotations

from clusterspec.exchange.exporters.registry import EXPORTERS
from clusterspec.exchange.import_formats import IMPORT_FORMATS
from tools.generate import exchange_logs, exchange_tests
from tools.generate.exchange_logs import SPEC, example, table

HEAD = """# Import, export, diagnose, accept

Made by `make docs` from the registries of formats; the examples are run.

## Import

`clusterspec import KIND FILE…` reads files of an infrastructure repository and prints them as a spec. With the KIND
`auto`, it detects the format. Every value names its file and line. Data without a key in the spec appear as counts.
Unknown and ambiguous data are listed as unknown, never guessed. Options that change the memory or the time of a run,
but that are not imported, are listed with what they change.

- `--into SPEC` inserts the result into a spec and keeps the formatting and comments of the spec. Where the spec states
  another value, it keeps its own, and the output shows both. If the two differ in the model, the batch or the layout,
  and the file has further such values that the spec lacks, they describe different runs: nothing is written without
  `--keep`.
- `--part N` chooses one of several tables, matrices, recipes or topologies in a file. A file with tables of different
  machines, or with the output of several tools, needs this option.
- `--format json` prints `spec`, `provenance`, `counts`, `unknown` and `missing` (the keys that a spec needs and the
  file cannot state: a launch script names no machine).

Exit status 0 means that something was read, 1 that the files state nothing that a spec has or that `--part` must
choose, 2 that a file cannot be read in this format; one line states the reason.
XML with document types or entities, archives that unpack to more than 32 MiB, and files above the size in the table are
refused.
"""
LIMITS = """
### Limits for the health checks of a site

`superbench`, `cvs`, `azure-nhc`, `nvcre`, `aicr` and `health-scanner` write the limits of a design into the files that
these tools read. The limits are the figures of `acceptance:`, or the low end of the predicted range if the spec states
none. Some tools pass a machine at 90 % or 95 % of their figure. Their files have the limit divided by that share, so a
machine fails below the limit itself. For limits that rest on no measurement (such as the limits of 800 Gb/s NICs), the
file and standard error say so. The writers follow the parsers of these public sources, compared again on 2026-11-23
(the commits of the first three and the last are the newest that could be fetched):

| kind | source | commit | files |
| --- | --- | --- | --- |
| `superbench` | microsoft/superbenchmark | 700d6501 | `superbench/analyzer/data_diagnosis.py`, `diagnosis_rule_op.py` |
| `cvs` | ROCm/cvs | dddd9143 | `cvs/lib/rccl_lib.py` |
| `azure-nhc` | Azure/azurehpc-health-checks | 0e0a1ac2 | `customTests/azure_nccl_allreduce.nhc` |
| `nvcre` | NVIDIA/cluster-readiness-engine | 00992e28 | `api/v1alpha1/certification_types.go` |
| `aicr` | NVIDIA/aicr | 028a5a86 | `validators/performance/nccl_all_reduce_bw_constraint.go` (checks by criteria) |
| `health-scanner` | GoogleCloudPlatform/cluster-health-scanner | 81c525d8 | `src/nccl_healthcheck/nccl_startup.py` |

`prometheus` writes rules that alert when a machine in service has less than its design: fewer nodes or spares, fewer
accelerators in a node, a lower power limit (`cluster.power.accelerator_cap`, else that of the accelerator), or fewer
active ports at the rate of the design. Keys of the file are those of prometheus/prometheus at 6030407d
(`model/rulefmt/rulefmt.go`), metrics those of NVIDIA/dcgm-exporter at 00d6d344 (`etc/default-counters.csv`) and of
prometheus/node_exporter at 043fecbf (`collector/infiniband_linux.go`).

`nhc` and `node-problem-detector` check a node continuously, also while jobs run: the accelerators that the driver sees,
the active ports at the rate of the design, and the power limit of each accelerator. `nhc` is a file of Node Health
Check (mej/nhc at 9c4a38c0), which Slurm runs as `HealthCheckProgram` with a limit of 60 s. `node-problem-detector` is a
custom plugin monitor of Kubernetes (kubernetes/node-problem-detector at 6632ca67). Neither runs collectives, because
these would need the accelerators exclusively.

Other tools are missing because no public schema of their files was read. Limits for copies, `ib_write_bw` and storage
are missing because the cost model does not predict them.
"""
EXPORT = """## Export

`clusterspec export KIND SPEC [-o FILE]` writes a design in another format. Standard error lists what the format cannot
hold, one line each. Cells of CSV and XLSX that begin like a formula get a leading apostrophe.
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
