"""What sentences report of remedies and places, and near sentences that advise, ask, suppose or are of a program."""

from __future__ import annotations

import pytest

from clusterspec.analysis.trial_causes import HELPING
from clusterspec.logs.scopes import scope_statements
from clusterspec.logs.trial_words import PARTS, REMEDIES
from clusterspec.logs.trials import trial_statements, trials_of_line


def trials(line: str) -> list[str]:
    """The outcomes and remedies of the statements of a line."""
    return [f"{each.outcome} {each.remedy}" for each in trials_of_line(line)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("With NCCL_P2P_DISABLE=1 it works, without it all_reduce hangs", ["helped no-peer-access"]),
        ("all_reduce hangs without NCCL_P2P_DISABLE=1", ["helped no-peer-access"]),
        ("it works without NCCL_P2P_DISABLE=1", ["helped setting"]),  # the setting is the fault
        ("Booting with intel_iommu=off resolved all problems. No need for NCCL_P2P_DISABLE now", ["helped no-iommu"]),
        ("we tried to disable VT-d in the BIOS. Things haven't changed.", ["vain no-iommu"]),
        ("unset NCCL_SOCKET_IFNAME does not help", []),
        ("The container works fine if launched with --privileged, which is no solution", ["helped privileges"]),
        ("After upgrading the driver to 550.54 the job hangs", ["helped release of driver"]),
        ("after the upgrade of the driver to 550.54 it still hangs", ["vain release of driver"]),
        ("NCCL 2.18 works, 2.19 hangs", ["helped release of library"]),
        ("Same error with NCCL 2.19 and 2.20", ["vain release of library"]),
        ("NCCL 2.19 hangs", []),  # one release alone says nothing of another
        ("Setting UCX_RNDV_SCHEME=get_zcopy helps for large messages", ["helped setting"]),
        ("It works on a single node with NCCL_DEBUG=INFO", []),  # a setting of the log
        ("ib_write_bw works with --use_cuda=0", []),  # a test that passes is no remedy
        ("the run fails even with NCCL_IB_DISABLE=1", ["vain no-rdma"]),
        ("98 Gb/s single-HCA → 161 Gb/s with both HCAs + NCCL_IB_MERGE_NICS=1", ["helped interface"]),
        ("NCCL_IB_MERGE_NICS=1: 158 Gb/s → 161 Gb/s", []),  # no more than two runs of one setting differ
        ("A git bisect returned this NCCL commit as the introducer", ["helped release of library"]),
        ("Starting from nccl-2.27.3 I am seeing errors", ["helped release of library"]),
        ("JAX 0.8.0 ✅, JAX 0.8.1 ❌", ["helped release of library"]),
        ("If I set NCCL_NVLS_ENABLE=0 everything works fine", ["helped no-multicast"]),
        ("If you set NCCL_NVLS_ENABLE=0 everything works fine", []),  # a condition of the reader
        ("If that works, NCCL_NVLS_ENABLE=0 is the reason", []),
        ("with -x UCX_MEMTYPE_CACHE=n it works as well", ["helped setting"]),
        ("Workaround: NCCL_P2P_DISABLE=1 python ./train.py", ["helped no-peer-access"]),
        ("Actual fix: update the GPU driver to the latest", ["helped release of driver"]),
        ("fix: update the GPU driver", []),  # the title of a change
        ("The one change that eliminated it: NCCL of the system, not of pip", ["helped release of library"]),
        (
            "I noticed a regression from going from libcxi 13.0.0 to 14.0.0 (with libfabric 2.5.1)",
            ["helped release of library"],
        ),  # the part next to the change
        ("Incompatibility with libfabric 1.22 - RCCL hangs", ["helped release of network-plugin"]),
        ("libfabric 1.22 and RCCL hangs", []),
        ("With the following AMI the tests are passing", ["helped release of image"]),
        ("The recent release of PyTorch 2.10 is causing issues", ["helped release of library"]),
        ("The recent release of PyTorch 2.10 is out", []),
        ("Solved: set parallel_output=False", ["helped setting"]),
        ("The recommended workaround is to disable MSCCL with `export RCCL_MSCCL_ENABLE=0`", ["helped setting"]),
        ("I recommend to set RCCL_MSCCL_ENABLE=0, it works", []),
        ("it managed to get through the run with UCX 1.8", ["helped release of library"]),
        ("Problem solved. I updated the driver", ["helped release of driver"]),
        ("Problem solved. I had a typo, and the driver is 550.54", []),
    ],
)
def test_a_sentence_reports_what_came_of_a_remedy(line: str, found: list[str]) -> None:
    assert trials(line) == found


@pytest.mark.parametrize(
    "line",
    [
        "Try NCCL_P2P_DISABLE=1, it fixes most hangs",
        "Could you run it with NCCL_IB_DISABLE=1? If that works, it is the network",
        "set NCCL_P2P_DISABLE=1 to fix it",
        "disabling ACS should have fixed this",
        "NVIDIA Fabric Manager 570.86 started successfully",
        "slurmstepd: error: pyxis: seccomp filter failed: Function not implemented",
        "Error: DNS lookup for head-svc failed",
        "h:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1, and it works",
        "RuntimeError: with NCCL_P2P_DISABLE=1 it works",
        "$ NCCL_P2P_DISABLE=1 ./works",
    ],
)
def test_advice_questions_and_lines_of_programs_report_no_remedy(line: str) -> None:
    assert list(trial_statements(line)) == []


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("| `NCCL_MNNVL_ENABLE=0` | tested at 48 ranks | **passes** |", ["trial helped domain-service"]),
        ("| `NCCL_CUMEM_ENABLE=0` alone | with MNNVL on | still fails |", ["trial vain no-virtual-memory"]),
        ("| `NCCL_CUMEM_ENABLE=0` | how it works | 3 |", []),  # no outcome in the last cell
        ("| setting | result |", []),
    ],
)
def test_a_row_of_a_table_of_trials_has_its_outcome_in_the_last_cell(row: str, found: list[str]) -> None:
    assert [name for name, _, _ in trial_statements(row)] == found


@pytest.mark.parametrize(
    ("line", "scopes"),
    [
        ("A single node works fine, two nodes hang.", ["one-node"]),
        ("It hangs across nodes", ["one-node"]),
        ("We have two nodes.", []),
        ("With one GPU it works", ["one-device"]),
        ("it only happens on one of these nodes", ["some-nodes"]),
        ("ib_write_bw works at line rate", ["link-tests"]),
        ("does ib_write_bw work?", []),
    ],
)
def test_a_sentence_reports_where_a_run_works_or_fails(line: str, scopes: list[str]) -> None:
    assert [name.removeprefix("scope ") for name, _, _ in scope_statements(line)] == scopes


def test_every_remedy_has_causes() -> None:
    named = {name for name, _ in REMEDIES} | {f"release of {name}" for name, _ in PARTS} | {"setting"}
    assert named == set(HELPING) | {"no-peer-access"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The following works:\n- one node\n- two nodes with NCCL_IB_DISABLE=1\n", ["trial helped no-rdma"]),
        (
            "These did not help:\n1. NCCL_P2P_DISABLE=1\n2. a reboot\n\nNCCL_IB_DISABLE=1\n",
            ["trial vain no-peer-access", "trial vain reboot"],
        ),
        (
            "- **passes** with oneCCL **2021.17.2**\n- **hangs** with oneCCL **2022.0.0**\n",
            ["trial helped release of library"],
        ),
        ("I fixed the problem for two GPUs\n`pip install -U nvidia-nccl-cu12`\n", ["trial helped release of library"]),
        ("I fixed the typo\n\nAnother sentence.\npip install -U nvidia-nccl-cu12\n", []),
        ("Could you try these, if it works:\n- NCCL_IB_DISABLE=1\n", []),
        ("You could try `pip install -U ray`\nThis worked, thanks!\n", ["trial helped release of library"]),
        ("You could try `pip install -U ray`\nI did not have time yet, thanks!\n", []),
        (
            "NCCL 2.28.9 + aws-ofi-nccl deadlocks\nNCCL 2.27.7 + aws-ofi-nccl is perfect, it works\n",
            ["trial helped release of library"],
        ),
        ("NCCL 2.28.9 is installed\nNCCL 2.27.7 + aws-ofi-nccl works\n", []),
        (
            "It does **not** occur when both are disabled, by setting:\nNCCL_P2P_DISABLE=1\n",
            ["trial helped no-peer-access"],
        ),
        ("The knob that fixes it — `CCL_KVS_IFACE=lo` — is not documented.\n", ["trial helped interface"]),
    ],
)
def test_a_list_or_a_command_below_an_outcome_has_it(text: str, found: list[str]) -> None:
    assert [name for name, _, _ in trial_statements(text)] == found
