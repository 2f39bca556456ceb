"""Acceptance tests of several nodes as JobSets of Kubernetes: a Job of workers, and a launcher that runs MPI on them.

Fields: JobSet of ``jobset.x-k8s.io/v1alpha2`` (kubernetes-sigs/jobset, config/components/crd/bases); with
``enableDNSHostnames`` a pod is reached as JOBSET-REPLICATEDJOB-JOB-POD.JOBSET (its page "Networking"). JobSet makes no
keys for ssh, as the operator of MPIJob does: a Secret has them. All may write to the directory of a Secret, so that
sshd takes no keys from it with StrictModes, which the images of that operator turn off as well
(kubeflow/mpi-operator 651ee676, build/base/Dockerfile).
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.exchange.acceptance_cases import AcceptanceCase
from clusterspec.exchange.exporters.acceptance import (
    DEVICES,
    exported_variables,
    omitted_claims,
    omitted_image,
    runnable_cases,
    unknown_variables,
    worker_resources,
)
from clusterspec.exchange.exporters.acceptance_runs import benchmark_command, limit_check, threshold_lines
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, dns_label
from clusterspec.units import plural


def jobset(source: ExportInput) -> ExportedFile:
    """One JobSet per test of several nodes. Raises `NotExportable` if there is none, or no resource is known."""
    tests, cluster = runnable_cases(source), source.cluster
    device = DEVICES.get(cluster.accelerator.software_vendor or "")
    if device is None:
        raise NotExportable(f"no Kubernetes resource is known for accelerators of {cluster.accelerator.vendor}")
    several = [test for test in tests if test.nodes > 1]
    if not several:
        raise NotExportable(
            "no acceptance test covers several nodes; `export kubernetes-job` writes the tests of one node"
        )
    omitted = [
        *unknown_variables(cluster),
        *omitted_claims(cluster),
        omitted_image(cluster, ", with sshd"),
    ]
    if others := len(tests) - len(several):
        omitted.append(f"{plural(others, 'test')} of one node: see `export kubernetes-job`")
    documents = ["\n".join(_jobset_lines(source, test, device, number)) for number, test in enumerate(several, 1)]
    return ExportedFile("---\n".join(f"{each}\n" for each in documents), tuple(omitted))


def _jobset_lines(source: ExportInput, test: AcceptanceCase, device: str, number: int) -> Iterator[str]:
    name = dns_label(f"{source.name}-{test.name.lower()}", number)
    yield from (f"# {line}" for line in threshold_lines(test))
    yield from (
        f"# before: ssh-keygen -N '' -f id_rsa && kubectl create secret generic {name}-ssh --from-file=id_rsa \\",
        "#   --from-file=authorized_keys=id_rsa.pub",
        "apiVersion: jobset.x-k8s.io/v1alpha2",
        "kind: JobSet",
        f"metadata: {{name: {name}}}",
        "spec:",
        "  network: {enableDNSHostnames: true}",
        "  successPolicy: {operator: All, targetReplicatedJobs: [launcher]}",
        "  failurePolicy: {maxRestarts: 0}",
        "  replicatedJobs:",
    )
    serve = ("mkdir -p /run/sshd", "exec /usr/sbin/sshd -De -o StrictModes=no")
    yield from _replicated_job(
        test, "worker", test.nodes, serve, name=name, limits=worker_resources(source.cluster, device)
    )
    yield from _replicated_job(test, "launcher", 1, tuple(_launch_lines(source, test, name)), name=name, limits="{}")


def _launch_lines(source: ExportInput, test: AcceptanceCase, name: str) -> Iterator[str]:
    """Shell lines that wait for the workers, and run the test on them."""
    per_node = source.cluster.ranks_per_node
    passed = " ".join(
        f"-x {key}={value.replace(' ', chr(92) + chr(92) + ' ')}" for key, value in exported_variables(source, test)
    )
    remote = "-o StrictHostKeyChecking=no"
    launch = f"mpirun --allow-run-as-root --hostfile hosts --mca plm_rsh_args '{remote}' -np {test.ranks} -N {per_node}"
    yield from (
        f"for n in $(seq 0 {test.nodes - 1}); do",
        f"  host={name}-worker-0-$n.{name}",
        f"  until ssh {remote} $host true 2> /dev/null; do sleep 2; done",
        f'  echo "$host slots={per_node}" >> hosts',
        "done",
    )
    yield from limit_check(test, f"{launch} -bind-to none {passed} {benchmark_command(test)}")


def _replicated_job(
    test: AcceptanceCase, role: str, pods: int, script: tuple[str, ...], *, name: str, limits: str
) -> Iterator[str]:
    """A Job of the set, whose pods run a script and share the keys of ssh."""
    yield from (
        f"    - name: {role}",
        "      replicas: 1",
        "      template:",
        "        spec:",
        "          completionMode: Indexed",
        f"          completions: {pods}",
        f"          parallelism: {pods}",
        "          backoffLimit: 0",
        "          template:",
        "            spec:",
        "              restartPolicy: Never",
        "              containers:",
        f"                - name: {role}",
        f"                  image: IMAGE-WITH-{test.tool.upper()}",
        '                  command: ["/bin/bash", "-c"]',
        "                  args:",
        "                    - |",
        *(f"                      {line}" for line in script),
        f"                  resources: {{limits: {limits}}}",
        "                  volumeMounts: [{name: dshm, mountPath: /dev/shm}, {name: ssh, mountPath: /root/.ssh}]",
        "              volumes:",
        "                - {name: dshm, emptyDir: {medium: Memory}}",
        f"                - {{name: ssh, secret: {{secretName: {name}-ssh, defaultMode: 256}}}}",
    )
