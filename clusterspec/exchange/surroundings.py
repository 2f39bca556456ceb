"""Statements of a file that apply to a launch in it: its task or object, its devices, and a configuration that its
script writes.
"""

from __future__ import annotations

import re
from itertools import islice
from math import prod

from clusterspec.exchange.import_result import (
    LIST,
    FormatError,
    ImportBuilder,
    ImportResult,
    InputFile,
    SeveralParts,
    combined_result,
    excerpt,
)
from clusterspec.records import replace

_CONFIGURED = frozenset({"megatron", "trainer"})
"""Formats of launches whose sharding may be stated in a DeepSpeed configuration."""


_HOSTS_OF_JOB = re.compile(r"\b(?:SLURM_(?:JOB_)?NODELIST|(?:PBS|COBALT)_NODEFILE|LSB_(?:DJOB_)?HOST(?:FILE|S))\b")
_ON_HOSTS = re.compile(r"^[ \t]*deepspeed\b[^\n]*\s--hostfile\b", re.MULTILINE)
"""A DeepSpeed launch with a host file, in a script that lists the nodes of its job."""
_SOURCED = re.compile(r"^[ \t]*(?:source|\.)[ \t]+(?P<file>[^\n;&|#]{1,200})", re.MULTILINE)
_ENVIRONMENTS = re.compile(r"activate|conda|bashrc|profile|/etc/|setvars|set_env|\bmodules?\b|<<")
"""Files that only set up an environment and do not affect the size of a launch."""
_DEFAULT = re.compile(r"^(?![ \t]*#).{0,400}?\$\{(?P<name>[A-Za-z_]\w{0,60}):?[-=][^}\n$]", re.MULTILINE)
_ARRAY = re.compile(r"\$\{(?P<name>[A-Za-z_]\w{0,60})\[[@*]\]\}")
MOST_ARRAYS = 50


def with_surroundings(kind: str, file: InputFile, found: ImportResult) -> ImportResult:
    """A launch of a format, with the statements of the file that apply to it."""
    found = _with_directives(kind, file, _with_written_configuration(kind, file, _with_downloaded_model(file, found)))
    found = _with_visible_devices(file, _with_sourced_file(file, found))
    found = _with_other_program(file, _with_stages_of_engine(file, found)) if kind == "serving" else found
    return _with_devices_of_service(file, _with_pods_of_launch(file, _with_nodes_of_task(file, found)))


_VISIBLE = re.compile(
    r"^(?![ \t]*#)[^\n]{0,400}?\b(?P<name>(?:CUDA|HIP|ROCR|ASCEND_RT)_VISIBLE_DEVICES)=[\"']?"
    r"(?P<ids>[0-9]{1,3}(?:,[0-9]{1,3}){0,63})(?![\w,.-])",
    re.MULTILINE,
)


def _with_visible_devices(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the number of devices that its script makes visible, and with the batch of a launch on one
    device.
    """
    if "_VISIBLE_DEVICES=" not in file.text:
        return found
    lines = {each.at.line for each in found.given}
    stated = [
        match for match in islice(_VISIBLE.finditer(file.text), MOST_LAUNCHERS) if _is_of_launch(file, match, lines)
    ]
    if not stated:
        return found
    builder, line = ImportBuilder(found.kind, file.name), file.line_at(stated[0].start("name"))
    counts = {match["ids"].count(",") + 1 for match in stated}
    if len(counts) > 1:
        why = "commands of the script see different numbers of devices"
        builder.unknown(stated[0]["name"], why, line)
        return combined_result([found, builder.reading()])
    builder.count("visible_devices", counts.pop(), line)
    parts = found.unknown
    batch, steps = found.value(("layout", "micro_batch")), found.number("gradient_accumulation_steps")
    alone = builder.counts[0].value == 1 and found.value(("layout", "nodes")) in {None, 1}
    open_batch = [part for part in parts if part.what == "workload.global_batch"]
    if alone and open_batch and isinstance(batch, int) and isinstance(steps, int):
        builder.set("workload.global_batch", batch * steps, open_batch[0].at.line)
        parts = tuple(part for part in parts if part not in open_batch)
    return combined_result([replace(found, unknown=parts), builder.reading()])


def _is_of_launch(file: InputFile, match: re.Match[str], lines: set[int]) -> bool:
    """Whether a variable is set for all following commands, or in a command from which a value was read."""
    first, rest = file.line_at(match.start("name")) - 1, file.text[match.end() :]
    if not rest.partition("\n")[0].strip("\"' ;"):
        return True
    statement = _COMMAND.match(file.text, match.start("name"))
    last = first + (statement[0].count("\n") if statement else 0)
    return any(first + 1 <= line <= last + 1 for line in lines)


_STAGES = re.compile(
    r"^(?![ \t]*#)[^\n]{0,400}?\b(?P<name>(?:VLLM|SGLANG)_PP_LAYER_PARTITION)[\"']?"
    r"(?:=|[ \t]{0,9}:[ \t]{0,9}|[ \t]{0,9}\n[ \t]{0,99}value:[ \t]{0,9})[\"']?(?P<sizes>[^\s\"'#;]{1,200})",
    re.MULTILINE,
)
"""A variable with the layers of each pipeline stage of an engine (vllm/distributed/utils.py and sglang's,
``get_pp_indices``).
"""


def _with_stages_of_engine(file: InputFile, found: ImportResult) -> ImportResult:
    """A server with the layers of its pipeline stages, if a variable states as many numbers as there are stages."""
    own = str(found.value(("layout", "framework"))).upper()
    stated = [each for each in islice(_STAGES.finditer(file.text), MOST_LAUNCHERS) if each["name"].startswith(own)]
    if not stated:
        return found
    sizes, stages = {each["sizes"] for each in stated}, found.value(("layout", "pp"))
    builder, line = ImportBuilder(found.kind, file.name), file.line_at(stated[0].start("name"))
    layers = stated[0]["sizes"].split(",")
    if len(sizes) == 1 and len(layers) == stages and all(each.isdecimal() for each in layers):
        builder.set("layout.stage_layers", [int(each) for each in layers], line)
    else:
        why = "differing" if len(sizes) > 1 else f"the launch has another number of stages ({stages})"
        builder.unknown(f"{stated[0]['name']}: {excerpt(' and '.join(sorted(sizes)))}", why, line)
    return combined_result([found, builder.reading()])


_LAUNCHERS = re.compile(
    r"^[ \t]*(?:srun\b[^\n]{0,300}?\s)?(?:torchrun|accelerate[ \t]+launch|deepspeed)\b", re.MULTILINE
)
_PROGRAM = re.compile(r"\s-m[ \t]+(?P<module>[\w.]{1,120})|\s(?P<file>[^\s\"']{1,120}\.py)\b")
_COMMAND = re.compile(r"(?:[^\n]|(?<=\\)\n){0,600}")
"""A command of one line, or of lines that end with a backslash."""
MOST_LAUNCHERS = 50
_SERVERS = re.compile(r"vllm|sglang|trtllm|tensorrt_llm|infer|serve", re.IGNORECASE)


def _with_other_program(file: InputFile, found: ImportResult) -> ImportResult:
    """A server with a note on a training program that a launcher starts in the same text; the server may only support
    it.
    """
    commands = (
        _COMMAND.match(file.text, each.end()) for each in islice(_LAUNCHERS.finditer(file.text), MOST_LAUNCHERS)
    )
    lines = (command for command in commands if command and not _SERVERS.search(command[0]))
    other = next((program for line in lines if (program := _PROGRAM.search(file.text, *line.span()))), None)
    if other is None:
        return found
    named = "module" if other["module"] else "file"
    builder, line = ImportBuilder(found.kind, file.name), file.line_at(other.start(named))
    builder.unknown(excerpt(other[named], LIST), "another program that the text starts: not read", line)
    return combined_result([found, builder.reading()])


def _with_sourced_file(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with a note on the first file that its script sources. The script must later give a variable a default,
    or pass on the words of an array that it never sets.
    """
    sourced = next((each for each in _SOURCED.finditer(file.text) if not _ENVIRONMENTS.search(each["file"])), None)
    default = _DEFAULT.search(file.text, sourced.end()) if sourced else None
    passed = _passed_array(file.text, sourced.end()) if sourced else None
    if sourced is None or (default is None and passed is None):
        return found
    builder, line = ImportBuilder(found.kind, file.name), file.line_at(sourced.start("file"))
    effects = (
        default and f"variables that it sets replace defaults such as that of {default['name']}",
        passed and f"the launch takes the options in {passed} from it",
    )
    why = f"another file, not read: {', and '.join(filter(None, effects))}"
    builder.unknown(f"source {excerpt(sourced['file'].strip(), LIST)}", why, line)
    return combined_result([found, builder.reading()])


def _passed_array(text: str, start: int) -> str | None:
    """The first array whose words are passed on after ``start`` and whose name occurs nowhere else in the text.

    >>> _passed_array('. sizes.sh\\nA=(--tp 2)\\npython train.py ${A[@]} ${MODEL[@]}', 10)
    'MODEL'
    """
    names = dict.fromkeys(each["name"] for each in islice(_ARRAY.finditer(text, start), MOST_ARRAYS))
    return next((name for name in names if not re.search(rf"(?<!\$\{{)\b{name}\b", text)), None)


def _with_written_configuration(kind: str, file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the DeepSpeed configuration that its script writes."""
    if kind not in _CONFIGURED or "<<" not in file.text:
        return found
    from clusterspec.exchange.workloads.trainers.written_configs import with_written_configuration

    return with_written_configuration(file, found)


def _with_downloaded_model(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the model that the text downloads into the directory from which it is loaded."""
    if not any(each.what.startswith("model ") for each in found.unknown):
        return found
    from clusterspec.exchange.workloads.model_files.downloaded_models import with_downloaded_model

    return with_downloaded_model(file, found)


def _with_directives(kind: str, file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the machine that its Slurm job requests, and with the requests to another scheduler listed."""
    if "#SBATCH" not in file.text or kind == "slurm-job":
        return _with_other_scheduler(file, found)
    return _with_whole_job(file, found) if kind == "deepspeed" else _with_requested_accelerators(file, found)


def _with_other_scheduler(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the nodes and accelerators that its script requests from another scheduler; numbers without a value
    are listed.
    """
    marked = "\n#" in file.text or file.text.startswith("#")
    if not marked or not _OTHER_SCHEDULER.search(file.text):
        return found
    from clusterspec.exchange.batch_requests import request_of
    from clusterspec.exchange.workloads.jobs.batch_scripts import list_open_request

    request, builder = request_of(file.text), ImportBuilder(found.kind, file.name)
    if request.accelerators and found.value(("cluster", "accelerators_per_node")) is None:
        builder.set("cluster.accelerators_per_node", *request.accelerators)
    if request.nodes:
        nodes, of_node = (str(request.nodes.number), request.nodes.line), request.accelerators
        _set_nodes(file, found, nodes, of_node.number if of_node else None, builder)
    list_open_request(request, builder)
    nothing = not (builder.given or builder.unknowns or builder.counts)
    return found if nothing else combined_result([found, builder.reading()])


_OTHER_SCHEDULER = re.compile(r"^#(?:PBS|BSUB|PJM|COBALT|MSUB|OAR|\$|[ \t]{0,2}(?:flux|FLUX):)[ \t]", re.MULTILINE)


def _with_requested_accelerators(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the accelerators per node that its job requests, and with the number of nodes if that is one.
    Readers of launches read larger numbers themselves.
    """
    from clusterspec.exchange.slurm_directives import (
        accelerators_of_node,
        differing_counts,
        directives,
        requested_accelerator_parts,
    )
    from clusterspec.exchange.workloads.jobs.slurm_scripts import list_differing, list_kinds, list_parts

    builder = ImportBuilder(found.kind, file.name)
    list_parts(requested_accelerator_parts(file.text), builder)
    if found.value(("cluster", "accelerator")) is None:
        list_kinds(file.text, builder)
    if found.value(("cluster", "accelerators_per_node")) is None:
        list_differing(differing_counts(file.text), builder)
    asked, (nodes, line) = accelerators_of_node(file.text), directives(file.text).get("nodes", ("", 0))
    if asked is not None and found.value(("cluster", "accelerators_per_node")) is None:
        builder.set("cluster.accelerators_per_node", *asked)
    if nodes:
        _set_nodes(file, found, (nodes, line), asked[0] if asked else None, builder)
    return combined_result([found, builder.reading()]) if builder.given or builder.unknowns else found


def _set_nodes(
    file: InputFile, found: ImportResult, stated: tuple[str, int], accelerators: int | None, builder: ImportBuilder
) -> None:
    """Set the nodes of a launch that states none to the nodes of its job, or list them if the launch may run on only
    some of them.
    """
    open_nodes = any(each.what.startswith("layout.nodes") for each in found.unknown)
    if open_nodes or found.value(("layout", "nodes")) is not None:
        return
    (nodes, line), on_hosts = stated, _HOSTS_OF_JOB.search(file.text) and _ON_HOSTS.search(file.text)
    if nodes == "1" or on_hosts or _fills_job(found, nodes, accelerators):
        builder.set("layout.nodes", int(nodes) or None, line)
    else:
        why = "of the job: that the launch runs on all of them the script does not say"
        builder.unknown(f"layout.nodes: {nodes}", why, line)


def _fills_job(found: ImportResult, nodes: str, accelerators: int | None) -> bool:
    """Whether one replica of the model uses all accelerators of a job, so that the launch runs on all its nodes."""
    degrees = [found.value(("layout", name)) for name in ("tp", "pp")]
    tensor, pipeline = (each if isinstance(each, int) else 1 for each in degrees)
    return bool(accelerators) and nodes.isdecimal() and tensor * pipeline == int(nodes) * (accelerators or 0)


def _with_whole_job(file: InputFile, found: ImportResult) -> ImportResult:
    """A DeepSpeed configuration written by a job, with the nodes and accelerators of the job."""
    from clusterspec.exchange.workloads.jobs.slurm_scripts import read_slurm_job

    try:
        job = read_slurm_job(file)
    except FormatError:
        return found
    kept = tuple(each for each in job.unknown if not each.what.startswith("the commands"))
    return combined_result([found, replace(job, unknown=kept)])


def _with_nodes_of_task(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the number of nodes of its SkyPilot or dstack task, if the file is a task."""
    if "resources" not in file.text:
        return found
    from clusterspec.exchange.workloads.jobs.tasks import matches_task, result_with_nodes

    return result_with_nodes(file, found) if matches_task(file) else found


def _with_pods_of_launch(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the nodes and accelerators that its Kubernetes object requests, if there is one."""
    if file.part is not None or "apiVersion" not in file.text:
        return found
    from clusterspec.exchange.fabrics.kubernetes import kinds_of, read_kubernetes

    if not kinds_of(file) - {"Topology"}:
        return found
    try:
        return combined_result([found, _without_partial_nodes(file, found, read_kubernetes(file))])
    except (FormatError, SeveralParts):
        return found


def _without_partial_nodes(file: InputFile, found: ImportResult, pods: ImportResult) -> ImportResult:
    """The pods of a launch. If the launch needs more ranks than the pods have accelerators, their number of nodes is
    left out.

    Pods of a StatefulSet may each be an engine or together form one; if the object does not state it, it is listed as
    unknown.
    """
    sizes = [found.value(("layout", axis)) for axis in ("tp", "pp", "cp")]
    needed = prod(size for size in sizes if isinstance(size, int))
    nodes = next((each for each in pods.given if each.path == ("layout", "nodes")), None)
    each_of = pods.value(("cluster", "accelerators_per_node"))
    held = nodes.value * each_of if nodes and isinstance(nodes.value, int) and isinstance(each_of, int) else 0
    if nodes is None or not 0 < held * _ranks_of_accelerator(pods) < needed:
        return pods
    builder = ImportBuilder(found.kind, file.name)
    why = f"of one pod, whose {held} accelerators are fewer than the {needed} ranks of the launch"
    builder.unknown(f"layout.nodes: {nodes.value}", why, nodes.at.line)
    kept = tuple(each for each in pods.given if each is not nodes)
    counts = tuple(each for each in pods.counts if each.name not in {"nodes", "accelerators"})
    return replace(pods, given=kept, counts=counts, unknown=(*pods.unknown, *builder.reading().unknown))


def _ranks_of_accelerator(pods: ImportResult) -> int:
    """The devices that a program sees of one accelerator: two of a chip with two dies, if the objects select it."""
    from clusterspec.catalog import Catalog

    chosen = pods.value(("cluster", "accelerator"))
    return Catalog.open().accelerator(chosen).ranks_per_accelerator if isinstance(chosen, str) else 1


def _with_devices_of_service(file: InputFile, found: ImportResult) -> ImportResult:
    """A launch with the accelerators that its Compose service reserves, if the launch is in a service."""
    if "services" not in file.text or found.value(("cluster", "accelerators_per_node")) is not None:
        return found
    from clusterspec.exchange.machines.compose import declares_services, result_of_service

    lines = {each.path: each.at.line for each in found.given}
    line = lines.get(("layout", "framework"), lines.get(("workload", "kind"), 0))
    devices = result_of_service(file, line) if line and declares_services(file) else None
    return combined_result([found, devices]) if devices else found
