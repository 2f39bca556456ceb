"""Acceptance tests of one node as Jobs of Kubernetes: a pod on every node runs the test and compares its log.

Fields: Job of ``batch/v1`` (``completionMode: Indexed``,
https://kubernetes.io/docs/concepts/workloads/controllers/job); a pod requests all accelerators of a node, so no two
pods share a node.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.exchange.acceptance_cases import AcceptanceCase
from clusterspec.exchange.exporters.acceptance import DEVICES, environment_variables, runnable_cases
from clusterspec.exchange.exporters.acceptance_runs import benchmark_command, limit_check, threshold_lines
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, devices_of_node, dns_label
from clusterspec.records import replace
from clusterspec.units import plural

LONGEST = 56
"""Maximum length of the name of a Job. A pod's name adds its index, and the result must fit a label of 63
characters.
"""


def kubernetes_job(source: ExportInput) -> ExportedFile:
    """One Job per single-node test, on all nodes. Raises `NotExportable` if there is no such test."""
    tests = runnable_cases(source)
    single = [test for test in tests if test.nodes == 1]
    if not single:
        raise NotExportable("no acceptance test covers one node; `export mpijob` writes the tests of several nodes")
    others = len(tests) - len(single)
    omitted = ["the image of the benchmark"]
    if others:
        omitted.append(
            f"{plural(others, 'test')} of several nodes, which need MPI: see `export mpijob` and `export jobset`"
        )
    documents = ["\n".join(_job_lines(source, test, number)) for number, test in enumerate(single, 1)]
    return ExportedFile("---\n".join(f"{each}\n" for each in documents), tuple(omitted))


def _job_lines(source: ExportInput, test: AcceptanceCase, number: int) -> Iterator[str]:
    cluster = source.cluster
    count = devices_of_node(cluster)
    yield from (f"# {line}" for line in threshold_lines(test))
    yield from (
        "# a pod that fails names its node: kubectl get pods -o wide; its log is read by `clusterspec accept`",
        "apiVersion: batch/v1",
        "kind: Job",
        "metadata:",
        f"  name: {dns_label(f'{source.name}-{test.name.lower()}', number, LONGEST)}",
        "spec:",
        "  completionMode: Indexed",
        f"  completions: {cluster.nodes}",
        f"  parallelism: {cluster.nodes}",
        "  backoffLimitPerIndex: 0",
        f"  maxFailedIndexes: {cluster.nodes}",
        "  template:",
        "    spec:",
        "      restartPolicy: Never",
        "      containers:",
        "        - name: test",
        f"          image: IMAGE-WITH-{test.tool.upper()}",
    )
    yield "          env:"  # of one node: those of the fabric would request NICs that the pod has not
    for each in environment_variables(replace(cluster, nodes=1)):
        yield f'            - {{name: {each.name}, value: "{each.value}"}}'
    yield from (
        '          command: ["/bin/bash", "-c"]',
        "          args:",
        "            - |",
        *(f"              {line}" for line in limit_check(test, benchmark_command(test, test.ranks))),
        "          resources:",
        f"            limits: {{{DEVICES[cluster.accelerator.vendor]}: {count}}}",
        "          volumeMounts: [{name: dshm, mountPath: /dev/shm}]",
        "      volumes: [{name: dshm, emptyDir: {medium: Memory}}]",
    )
