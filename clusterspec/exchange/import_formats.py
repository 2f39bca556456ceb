"""Registry of import formats: name, title and reader module."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import cast

from clusterspec.exchange import measurements
from clusterspec.exchange.format_names import LOG_NAMES, format_by_name, unknown_format
from clusterspec.exchange.held_files import (
    LAUNCHED,
    STARTED,
    machine_with_launch,
    with_files_in_text,
    with_launch_listed,
    with_pods_named,
)
from clusterspec.exchange.import_result import (
    LARGEST,
    FormatError,
    ImportResult,
    InputFile,
    NothingStarted,
    SeveralParts,
)
from clusterspec.exchange.left_unread import with_unread_settings
from clusterspec.exchange.machine_formats import MACHINE_FORMATS
from clusterspec.exchange.other_shells import as_shell_script
from clusterspec.exchange.pages import is_page_or_script
from clusterspec.exchange.python_commands import as_started_commands
from clusterspec.exchange.surroundings import with_surroundings
from clusterspec.exchange.tracked_runs import without_tracker
from clusterspec.exchange.workload_formats import WORKLOAD_FORMATS
from clusterspec.exchange.written_documents import document_within
from clusterspec.logs.benchmarks.readers import READERS, LogReader
from clusterspec.records import dataclass
from clusterspec.standard import recent


@dataclass(frozen=True)
class ImportFormat:
    """An import format. ``module`` is imported on demand; ``other`` are alternative names; ``largest`` is in MiB.

    The module has two functions for each format: ``matches_NAME`` and ``read_NAME``, with underscores in the name.
    """

    name: str
    group: str
    title: str
    module: str
    other: tuple[str, ...] = ()
    largest: int = 2
    """Maximum size of a file in MiB."""
    complete: bool = False
    """Whether the reader itself reads what the file states about the environment of a launch."""

    def matches(self, file: InputFile) -> bool:
        """Whether a file looks like this format and is within its maximum size."""
        file = without_tracker(file)
        if len(file.data) > self.largest << 20:
            return False
        if reader := _log_reader(self.name):
            return measurements.matches_log(reader, file)
        return cast("Callable[[InputFile], bool]", self._function_of_verb("matches"))(file)

    def read(self, file: InputFile) -> ImportResult:
        """The content of a file. Raises `FormatError` if it has another format or is too large."""
        if len(file.data) > self.largest << 20:
            raise FormatError(f"has more than {self.largest} MiB, the maximum for {self.name}")
        return _reading(as_started_commands(as_shell_script(without_tracker(file))), self)

    def read_with_surroundings(self, file: InputFile) -> ImportResult:
        """The content of a file other than a log, with what the file states about the environment of a launch."""
        if self.name in WRITTEN and (is_page_or_script(file.text) or not self.matches(file)):
            file = document_within(file, self.matches, self.read_as_one_format) or file
        try:
            found = self.read_as_one_format(file)
            if self.name == "kubernetes":
                found = machine_with_launch(file, found, [format_named(name) for name in LAUNCHED])
            elif self.name in _UNFINISHED:
                return with_unread_settings(file, found)
            elif self.group != "workloads":
                return found
            elif not self.complete:
                found = with_surroundings(self.name, file, found)
            if self.name in _WITHOUT_PROGRAM and not (self.group == "machines" and _has_launch_of_reader(file)):
                from clusterspec.exchange.workloads.other_programs import with_settings_of_program

                found = with_settings_of_program(file, found)
            return with_unread_settings(file, with_pods_named(file, with_files_in_text(file, found, _workload_of)))
        except OverflowError:  # an infinite number where a count belongs
            raise FormatError(f"holds a number that is not a count in {self.name}") from None

    def read_as_one_format(self, file: InputFile) -> ImportResult:
        """The content of a file, ignoring other formats that it may contain."""
        return cast("Callable[[InputFile], ImportResult]", self._function_of_verb("read"))(file)

    def _function_of_verb(self, verb: str) -> object:
        module = importlib.import_module(f"clusterspec.exchange.{self.module}")
        return getattr(module, f"{verb}_{self.name.replace('-', '_')}")


@recent(2)
def _reading(file: InputFile, kind: ImportFormat) -> ImportResult:
    """The content of a file. A format that is guessed has often been tried on the same file just before."""
    if reader := _log_reader(kind.name):
        found = measurements.read_log(reader, file)
    else:
        found = kind.read_with_surroundings(file)
    return with_launch_listed(file, found, map(format_named, STARTED)) if kind.name in TOOLS else found


_WITHOUT_PROGRAM = ("slurm-job", "batch-job", "task", "kubernetes", "xpk")
"""Formats that state a machine or nodes, whatever program runs on them."""
_UNFINISHED = ("compose", "ray-chart", "terraform", "cloudformation")
"""Formats of machines whose files also state what runs on them."""
WRITTEN = ("kubernetes", "parallelcluster", "cluster-toolkit", "hyperpod")
"""Formats that are also read inside scripts and pages, unless these have another format."""


def _has_launch_of_reader(file: InputFile) -> bool:
    """Whether a file has a launch of a format of its own, which is imported by its KIND or with `auto`."""
    return any(kind.matches(file) for kind in WORKLOADS if kind.name not in _WITHOUT_PROGRAM)


def _workload_of(file: InputFile) -> ImportResult | None:
    """The workload of a configuration contained in another file; None if no workload format matches it."""
    kind = next((each for each in WORKLOADS if each.matches(file)), None)
    return None if kind is None else kind.read_as_one_format(file)


def _log_reader(name: str) -> LogReader | None:
    return next((reader for reader in READERS if reader.name == name), None)


WORKLOADS = tuple(
    ImportFormat(name, "workloads", title, module, other, largest, complete)
    for name, title, module, other, largest, complete in WORKLOAD_FORMATS
)
LAUNCHES = ImportFormat(
    "launcher",
    "workloads",
    "launches of other programs by torchrun, DeepSpeed and Lightning: their nodes and ranks",
    "workloads.launchers",
    ("torchrun",),
)
"""The format of launchers, for programs without a format of their own."""
BATCH_JOBS = ImportFormat(
    "batch-job",
    "workloads",
    "job scripts of PBS, Torque, LSF, Grid Engine, Flux and OAR: the nodes and accelerators that they request",
    "workloads.jobs.batch_scripts",
    ("pbs", "lsf", "sge", "qsub", "bsub", "oar"),
    complete=True,
)
"""The format of job scripts without a launch in any other format."""
MACHINES = tuple(
    ImportFormat(name, "machines", title, module, other, largest)
    for name, title, module, other, largest in MACHINE_FORMATS
)
MEASUREMENTS = (
    *(
        ImportFormat(each.name, "measurements", each.title, "measurements", LOG_NAMES.get(each.name, ()), largest)
        for each, largest in ((reader, 4 if reader.name in {"hccl", "fio", "iperf3"} else 32) for reader in READERS)
    ),
    ImportFormat(
        "simai-busbw", "measurements", "bus bandwidths that SimAI takes (listed, not imported)", "measurements"
    ),
)
PURCHASING = (
    ImportFormat(
        "terraform",
        "clouds",
        "Terraform plans (terraform show -json); files (*.tf, *.tfvars) with the machines they state",
        "purchasing.terraform",
        ("terraform-plan", "tfplan"),
        largest=8,
    ),
    ImportFormat(
        "quote",
        "quotes",
        "quotes as CSV, XLSX or text (Markdown, pdftotext -layout)",
        "purchasing.quotes",
        ("quotes", "csv", "xlsx", "bom", "bom-csv", "bom-xlsx"),
        largest=8,
    ),
)
OTHER_PROGRAMS = ImportFormat(
    "settings",
    "workloads",
    "programs and files without a reader: settings whose names have one meaning in the field (tensor_parallel_size, …)",
    "workloads.other_programs",
    ("other-program",),
    complete=True,
)
"""The format of programs without a reader, whose settings have names of the field."""
_LAST = (LAUNCHES, BATCH_JOBS, OTHER_PROGRAMS)
"""Formats of files that no other format matches."""
IMPORT_FORMATS = (*MACHINES, *PURCHASING[:1], *MEASUREMENTS, *WORKLOADS, *PURCHASING[1:], *_LAST)


def is_format(name: str) -> bool:
    """Whether a format has a name, which may be a former one."""
    return format_by_name(IMPORT_FORMATS, name) is not None


def format_named(name: str) -> ImportFormat:
    """The format with a name. Raises `FormatError` with similar names if there is none."""
    if (kind := format_by_name(IMPORT_FORMATS, name)) is not None:
        return kind
    raise FormatError(unknown_format("import", IMPORT_FORMATS, name))


TOOLS = frozenset(
    (
        *("rocm-smi-topo", "nvidia-smi-topo", "nvidia-smi-nvlink", "lstopo", "lspci", "ibstat"),
        *("perftest", "perftest-latency", "p2p", "osu", "imb", "nccl-tests"),
    )
)
"""Formats of tool output that people often combine in one file."""


def _refuse_several_tools(kind: ImportFormat, file: InputFile) -> None:
    """Raise `SeveralParts` if a file has the output of several tools, with the first line of each."""
    if kind.name not in TOOLS:
        return
    others = [each for each in IMPORT_FORMATS if each.name in TOOLS and each is not kind and each.matches(file)]
    if others:
        parts = ", ".join(f"{each.name}{_first_line(each, file)}" for each in (kind, *others))
        raise SeveralParts(f"holds output of {parts}: import it once with each KIND instead of auto")


def _first_line(kind: ImportFormat, file: InputFile) -> str:
    """The first line from which a reader takes a value, as text; empty if it cannot read the file."""
    try:
        found = kind.read(file)
    except FormatError:
        return ""
    line = min((each.at.line for each in found.given or found.counts if each.at.line), default=0)
    return f" (from line {line})" if line else ""


def _format_of_script(kind: ImportFormat, file: InputFile) -> ImportFormat | None:
    """The format of a script that names a framework without launching it, or that writes a configuration of one; None
    if the format that matches reads it, or refuses it for another reason.
    """
    from clusterspec.exchange.workloads.script_templates import script_of_template

    job, template = format_named("slurm-job"), script_of_template(file) is not None
    starts = template or job.matches(file) or file.text.startswith("#!")
    if kind.group != "workloads" or kind is job or not starts:
        return None
    fault = _fault_of(kind, file)
    if isinstance(fault, NothingStarted):
        others: tuple[ImportFormat, ...] = (OTHER_PROGRAMS,) if template else (job, LAUNCHES)
    else:
        others = (job, LAUNCHES, OTHER_PROGRAMS) if fault and _READ_AS_DOCUMENT.match(str(fault)) else ()
    return next((each for each in others if each.matches(file) and _reads(each, file)), None)


def _format_of_pods(kind: ImportFormat, file: InputFile) -> ImportFormat | None:
    """The format of an object of Kubernetes, or of a training, that only names an engine; None if it starts one."""
    if kind.name != "serving" or not isinstance(_fault_of(kind, file), NothingStarted):
        return None
    if _OBJECT.search(file.text) and _reads(pods := format_named("kubernetes"), file):
        return pods
    trainings = (format_named(name) for name in ("deepspeed", "trainer"))
    return next((each for each in trainings if each.matches(file)), None)


def _format_of_settings(kind: ImportFormat, file: InputFile) -> ImportFormat | None:
    """The format of a program's configuration in JSON that states settings, and a model by less than its sizes."""
    if kind.name != "huggingface" or not isinstance(_fault_of(kind, file), NothingStarted):
        return None
    return OTHER_PROGRAMS if OTHER_PROGRAMS.matches(file) else None


_OBJECT = re.compile(r"^apiVersion[ \t]*:", re.MULTILINE)


def _fault_of(kind: ImportFormat, file: InputFile) -> FormatError | None:
    """Why a format cannot be read; None if it can."""
    try:
        kind.read(file)
    except FormatError as fault:
        return fault
    return None


_READ_AS_DOCUMENT = re.compile(r"(?:line \d{1,9}: )?(?:not YAML|not JSON|no TOML)\b")
"""The reason for which a reader of configurations refuses a script that writes one."""


def _reads(kind: ImportFormat, file: InputFile) -> bool:
    """Whether a format can be read, or has several parts."""
    fault = _fault_of(kind, file)
    return fault is None or isinstance(fault, SeveralParts)


def guessed_format(file: InputFile) -> ImportFormat:
    """The format that a file looks like. Raises `FormatError` if it matches none or cannot be read."""
    if file.is_zip_archive:
        return format_named("quote")
    if len(file.data) > LARGEST:
        raise FormatError(f"has more than {LARGEST >> 20} MiB, the maximum")
    if b"\nclusterspec:" in b"\n" + file.data and file.name.endswith((".yaml", ".yml")):
        raise FormatError("is a spec, which `clusterspec check` reads; `import` reads files of other programs")
    from clusterspec.exchange.other_formats import refuse_look_alikes, refuse_others, unknown_format_error

    file = as_started_commands(as_shell_script(without_tracker(file)))
    refuse_look_alikes(file)
    kind = next((kind for kind in IMPORT_FORMATS[: -len(_LAST)] if kind.matches(file)), None)
    if kind is not None:
        _refuse_several_tools(kind, file)
        if kind.name == "serving":
            from clusterspec.exchange.workloads.engines.command_lines import serves_only_programs_of_sites
            from clusterspec.exchange.workloads.engines.servers_of_training import refuse_training

            refuse_training(file)
            if serves_only_programs_of_sites(file):
                return format_named("kubernetes")  # an application of a site, on machines that the object states
        return _format_of_script(kind, file) or _format_of_pods(kind, file) or _format_of_settings(kind, file) or kind
    held = (format_named(name) for name in WRITTEN if len(file.data) <= 2 << 20)
    if kind := next((each for each in held if document_within(file, each.matches, each.read_as_one_format)), None):
        return kind
    if len(file.data) > 2 << 20:
        raise FormatError(f"has {len(file.data) >> 20} MiB and matches no format that allows that size; name the KIND")
    refuse_others(file)
    if LAUNCHES.matches(file) and _reads(LAUNCHES, file):
        return LAUNCHES
    if kind := next((each for each in (BATCH_JOBS, OTHER_PROGRAMS) if each.matches(file)), None):
        return kind
    raise unknown_format_error(file)
