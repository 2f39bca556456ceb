"""What sentences report of remedies and places, and near sentences that advise, ask, suppose or are of a program."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec.analysis.diagnosis.trial_causes import HELPING
from clusterspec.logs.reports.outcomes import BAD, GOOD, WORSE, in_small_letters
from clusterspec.logs.reports.prose_lines import MOST_FORMS, MOST_PROSE
from clusterspec.logs.reports.scopes import scope_statements
from clusterspec.logs.reports.trial_words import BLAMABLE, FAULTS, PARTS, REMEDIES
from clusterspec.logs.reports.trials import MOST_LINES, trial_statements, trials_of_line
from tests.effort import examples, thorough


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
        ("neither NCCL_IB_DISABLE=1 nor NCCL_P2P_DISABLE=1 helped", ["vain no-peer-access", "vain no-rdma"]),
        ("neither nv_peer_mem, or nvidia_peermem detected", []),
        ("it was a stale IMEX daemon", ["helped domain-service"]),
        ("it was a long night with IMEX", []),
        ("We found that ACS was on", ["helped no-acs"]),
        ("updating the BIOS fixed the slow GPU", ["helped release of host-firmware"]),
        ("exporting FI_EFA_USE_DEVICE_RDMA=1 got us from 20 to 75 GB/s", ["helped setting"]),
        ("It turned out that a firewall dropped these ports", ["helped firewall"]),
        ("The root cause was not the firewall", []),
        ("The firewall is off", []),
        ("the hang was due to different versions of NCCL", ["helped mixed-releases"]),
        ("the hang could be due to different versions of NCCL", []),
        ("culprit: a bad cable to that rack", ["helped cable"]),
        ("the same image on both nodes fixed it", ["helped mixed-releases"]),
        ("the same image runs on both nodes", []),
        ("NCCL_NVLS_ENABLE=0 avoids the hang", ["helped no-multicast"]),
        ("To avoid the hang, use NCCL_NVLS_ENABLE=0", []),
        ("No difference with NCCL_IB_DISABLE=1", ["vain no-rdma"]),
        ("Works on 2.19.3 but not on 2.20.5", ["helped release of library"]),
        ("Works on 2.19.3 and on 2.20.5", []),
        ("It only appears with NCCL >= 2.26", ["helped release of library"]),
        ("It appears in the list of NCCL >= 2.26", []),
        ("downgrading libfabric to 1.22 restores the bandwidth", ["helped release of network-plugin"]),
        ("NCCL 2.18.1 reaches twice the bandwidth of the other release", ["helped release of library"]),
        ("NCCL 2.18.1 reaches the bandwidth of the other release", []),
        ("Setting NCCL_IB_DISABLE=0 solved it.", ["helped rdma"]),
        ("Setting NCCL_P2P_DISABLE: 0 solved it.", ["helped peer-access"]),
        ("With --mem-per-cpu=10000M in the script it is much faster.", ["helped job-memory"]),
        ("Setting OMP_NUM_THREADS=8 solved it.", ["helped threads"]),
        ("replaced the QSFP cable and the errors stopped", ["helped cable"]),
        ("replaced the QSFP cable", []),
        ("This PR fixes NCCL_P2P_DISABLE on Windows", []),
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
        ("over plain TCP it works", ["slower-network"]),
        ("When I switch to InfiniBand it hangs", ["slower-network"]),
        ("Small messages work, it fails with larger messages", ["small-sizes"]),
        ("it crashes above 64 MB", ["small-sizes"]),
        ("It hangs on more than 64 nodes", ["few-nodes"]),
        ("All other GPUs are fine", ["one-of-devices"]),
        ("it only fails on this GPU", ["one-of-devices"]),
        ("does ib_write_bw work?", []),
    ],
)
def test_a_sentence_reports_where_a_run_works_or_fails(line: str, scopes: list[str]) -> None:
    assert [name.removeprefix("scope ") for name, _, _ in scope_statements(line)] == scopes


def test_every_remedy_has_causes() -> None:
    named = {name for name, _ in REMEDIES} | {f"release of {name}" for name, _ in PARTS} | {"setting"}
    assert named == set(HELPING) | {"no-peer-access"}
    assert {name for name, _ in FAULTS} | BLAMABLE <= named


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


def _prose(count: int) -> list[str]:
    """Lines of 60 characters without an outcome, each of other letters."""
    letters = "bcdfgjkmqvwxz"
    words = ("".join(letters[n // 13**place % 13] for place in range(5)) for n in range(count))
    return [f"the nodes of {word} are of one rack, {word} has a name of it".ljust(60) for word in words]


def _names() -> Iterator[str]:
    """Different words without digits."""
    return ("".join(letters) for letters in itertools.product("abcdefghijklmnop", repeat=4))


def _lines_with_trials(lines: list[str]) -> list[int]:
    return [line for _, _, line in trial_statements("\n".join(lines))]


@thorough
def test_an_outcome_is_found_behind_more_lines_without_one_than_are_read_with_one() -> None:
    works = "With NCCL_P2P_DISABLE=1 it works"
    lines = _prose(2 * MOST_LINES)
    lines[MOST_LINES + 1] = works
    assert len("\n".join(lines)) < MOST_PROSE
    assert _lines_with_trials(lines) == [MOST_LINES + 2]


@thorough
def test_of_more_prose_than_is_searched_the_first_and_the_last_lines_are_read() -> None:
    lines = _prose(3 * MOST_PROSE // 2 // 60)
    for number, name in ((0, "p"), (len(lines) // 2, "q"), (-1, "r")):
        lines[number] = f"With NCCL_P2P_DISABLE=1 job {name} works"
    assert _lines_with_trials(lines) == [1, len(lines)]


def test_of_more_different_lines_than_are_read_the_first_and_the_last_are() -> None:
    lines = [f"{name} starts" for name in itertools.islice(_names(), 2 * MOST_FORMS)]
    for number, name in ((0, "p"), (len(lines) * 5 // 8, "q"), (-1, "r")):
        lines[number] = f"With NCCL_P2P_DISABLE=1 job {name} works"
    assert _lines_with_trials(lines) == [1, len(lines)]


def test_lines_that_differ_only_in_their_digits_are_read_once() -> None:
    assert _lines_with_trials([f"With NCCL_P2P_DISABLE=1 job 7{n} works" for n in range(9)]) == [1]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("I think it was due to the firewall", []),  # a guess
        ("It was due to the firewall", ["helped firewall"]),
        ("It works without disabling the IOMMU", []),
        ("Disabling the IOMMU works", ["helped no-iommu"]),
        ("Setting FI_X_FLAG=1 works on a single node", []),  # a smaller run
        ("Setting FI_X_FLAG=1 works", ["helped setting"]),
        ("We overcame it by a reboot", ["helped reboot"]),
        ("The solution was to use. NCCL_IB_DISABLE=1", ["helped no-rdma"]),
        ("The plan was to use. NCCL_IB_DISABLE=1", []),
        ("Disabling ACS works. I also set NCCL_IB_DISABLE=1", ["helped no-acs", "helped no-rdma"]),
        ("Disabling ACS works. NCCL_IB_DISABLE=1 works too", ["helped no-acs", "helped no-rdma"]),
        ("Disabling ACS works. NCCL_IB_DISABLE=1 does not help", ["helped no-acs", "vain no-rdma"]),
        ("Disabling ACS does not help. I also set NCCL_IB_DISABLE=1", ["vain no-acs"]),
        ("Disabling ACS works. With NCCL_IB_DISABLE=1 it hangs", ["helped no-acs", "vain no-rdma"]),
        ("设置 NCCL_IB_DISABLE=1 可以了", ["helped no-rdma"]),
        ("设置 NCCL_IB_DISABLE=1 没用", ["vain no-rdma"]),
    ],
)
def test_guesses_and_smaller_runs_are_no_remedies_and_an_outcome_told_before_is_one(
    line: str, found: list[str]
) -> None:
    assert trials(line) == found


_ASCII = st.characters(max_codepoint=127)


@thorough
@settings(max_examples=examples(12))
@given(
    st.sampled_from((GOOD, BAD, WORSE)).flatmap(
        lambda each: st.tuples(st.just(each), st.from_regex(each, alphabet=_ASCII))
    )
)
def test_a_pattern_of_small_letters_finds_what_the_pattern_finds_without_regard_to_case(
    drawn: tuple[re.Pattern[str], str],
) -> None:
    pattern, text = drawn
    assert in_small_letters(pattern)[0].search(text.casefold())


@pytest.mark.parametrize(
    "report",
    [
        "With X it works. When I set NCCL_ALGO=Tree, it hangs.",
        "With one group it runs. When I set OVERLAP_GROUPS=2, I get this error followed by a crash.",
        "This works. With NCCL_ALGO=Tree it fails.",
    ],
)
def test_a_setting_with_which_a_run_fails_has_not_the_outcome_of_the_sentence_before(report: str) -> None:
    assert not [each for each in trial_statements(report) if each[0].startswith("trial helped")]


@pytest.mark.parametrize(
    ("report", "vain"),
    [
        ("The ports are behind the firewall. I tried other ports, but it did not help.", False),
        ("The ports are behind the firewall. It did not help.", True),
    ],
)
def test_another_trial_has_not_the_remedy_of_the_sentence_before(report: str, vain: bool) -> None:
    assert ("trial vain firewall" in {name for name, _, _ in trial_statements(report)}) is vain


def test_two_releases_of_a_driver_are_of_the_driver_whatever_is_nearer() -> None:
    report = "The driver is 595.91.07 with CUDA 13.2, previously 595.84 where it worked fine without the flag"
    assert "trial helped release of driver" in {name for name, _, _ in trial_statements(report)}


def test_a_part_is_updated_behind_more_words_of_it() -> None:
    report = "After the driver of our host was updated the run crashes."
    assert {name for name, _, _ in trial_statements(report)} == {"trial helped release of driver"}


def test_an_error_that_follows_a_part_moved_with_it() -> None:
    assert [each[0] for each in trial_statements("After swapping the GPU of the two hosts the error followed it.")]


@pytest.mark.parametrize(
    "report",
    [
        "Works: torch==2.1 with plugin==1.3\nDoes not work: torch==2.1 with plugin==1.4",
        "It hangs with plugin==1.4.\nWith plugin==1.3 it works.",
    ],
)
def test_a_release_of_which_one_line_works_and_another_not_has_helped(report: str) -> None:
    assert [each[0] for each in trial_statements(report)] == ["trial helped release of library"]
