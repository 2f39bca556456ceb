"""Terms of causes: how the table is read, what a clause has, and what a term weighs."""

from __future__ import annotations

import math

import pytest

from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.logs.reports import cause_terms
from clusterspec.logs.reports.cause_terms import (
    MOST_PER_WORDS,
    MOST_READ,
    PER_WORD,
    ROLES,
    Term,
    plain_word,
    terms,
    terms_in,
    weights,
    words_of,
)


def _found(text: str, cause: str) -> set[str]:
    return {each.term.text for each in terms_in(text) if each.term.cause == cause}


def test_every_term_has_words_a_known_role_and_a_known_cause() -> None:
    for each in terms():
        assert each.words and each.role in ROLES and each.cause in MEANINGS, each
    assert len(set(terms())) == len(terms())


def test_a_term_with_more_words_in_rarer_use_weighs_more() -> None:
    causes = len({each.cause for each in terms()})
    gid = next(each for each in terms() if (each.cause, each.text) == ("unreachable-peer", "gid"))
    having = {each.cause for each in terms() if gid.words <= each.words}
    assert weights()[gid] == pytest.approx(ROLES["subsystem"] * math.log(causes / len(having)))
    index = next(each for each in terms() if (each.cause, each.text) == ("unreachable-peer", "gid index"))
    assert weights()[index] == pytest.approx(ROLES["subsystem"] * math.log(causes) * (1 + PER_WORD))
    assert max(weights().values()) <= math.log(causes) * MOST_PER_WORDS


@pytest.mark.parametrize(
    ("first", "second"),
    [("hangs", "frozen"), ("GPUs", "card"), ("upgraded", "downgrade"), ("node", "hosts"), ("4090s", "4090")],
)
def test_words_of_one_meaning_are_one_word(first: str, second: str) -> None:
    assert plain_word(first) == plain_word(second)


def test_other_words_stay_apart() -> None:
    assert plain_word("nccl") != plain_word("rccl") and plain_word("timed") != plain_word("timer")


@pytest.mark.parametrize(
    ("first", "second"),
    [("processes", "process"), ("addresses", "address"), ("accesses", "access"), ("loss", "losses")],
)
def test_a_word_that_ends_in_a_double_s_and_its_plural_are_one_word(first: str, second: str) -> None:
    assert plain_word(first) == plain_word(second)


def test_the_name_of_a_class_has_its_words_and_that_of_an_exception_none() -> None:
    assert {"iterabl", "dataset"} <= set(words_of("torch.utils.data.IterableDataset"))
    assert plain_word("Error") not in set(words_of("ConnectionError"))


def test_a_program_neither_notices_nor_changes_anything() -> None:
    told = _found("With the loader it hangs at the end of the epoch", "ranks-diverge")
    printed = _found("n1:2:3 [0] NCCL INFO hangs at the end of the epoch", "ranks-diverge")
    assert "hang end epoch" in told and "hang end epoch" not in printed


def test_the_release_that_pytorch_adds_to_an_error_is_no_term() -> None:
    error = "RuntimeError: NCCL error in: /torch/ProcessGroupNCCL.cpp:5, unhandled system error, NCCL version 2.4.8"
    assert "version # fail" not in _found(error, "library-release")
    assert "version # fail" in _found("It fails with NCCL version 2.4.8", "library-release")


def test_a_release_and_a_nic_are_recognized_by_their_form() -> None:
    assert "#" in set(words_of("torch-2.9 hangs")) and "#" in set(words_of("v1.12.0"))
    assert "#" not in set(words_of("8 nodes")) and "nic" in set(words_of("mlx5_0 is down"))


def test_a_clause_has_a_term_if_it_has_all_of_its_words_in_any_order() -> None:
    assert "security group" in _found("the group of security rules", "unreachable-peer")
    assert "security group" not in _found("the security rules. The group is new.", "unreachable-peer")


def test_a_word_that_a_term_excludes_keeps_it_out() -> None:
    assert "# works" in _found("2.18.6 works", "library-release")
    assert "# works" not in _found("driver 535.1 works", "library-release")


def test_lists_of_releases_and_of_a_machine_have_no_terms() -> None:
    listed = (
        "Nvidia driver version: 550.54\n[pip3] torch==2.4.0\n  SYS  = Connection traversing NUMA nodes\n"
        "GPU0\t X \tPHB\tSYS\t0-63\n|   0  NVIDIA H100          Off |   0MiB / 81559MiB |\n"
        "NUMA node0 CPU(s):       0-63\nnccl-2.7.8\n        - num_machines: 1\n"
    )
    assert terms_in(listed) == ()


def test_a_clause_that_denies_marks_its_terms() -> None:
    denied = {each.term.text: each.denied for each in terms_in("The firewall is fine, but the MTU differs.")}
    assert denied["firewall"] and not denied["mtu"]


def test_terms_of_a_command_are_marked_and_settings_of_interfaces_are_one_word() -> None:
    run = [
        each.launched for each in terms_in("mpirun --bind-to none -np 8 ./a.out") if each.term.cause == "core-binding"
    ]
    told = [each.launched for each in terms_in("I set --bind-to none") if each.term.cause == "core-binding"]
    assert run and all(run) and told and not any(told)
    assert {"ifname"} <= set(words_of("DMLC_INTERFACE=ib0")) & set(words_of("btl_tcp_if_include"))


@pytest.mark.parametrize(
    ("text", "is_release"), [("2.18.6", True), ("12.4", True), ("0.48s", False), ("3.39GB/s", False)]
)
def test_a_measured_value_is_no_release(text: str, is_release: bool) -> None:
    assert ("#" in set(words_of(text))) == is_release


def test_the_ends_of_a_long_text_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cause_terms, "MOST_READ", MOST_READ // 20)
    filler = "a quiet line of nothing at all\n" * (MOST_READ // 400)
    lines = {each.line for each in terms_in(f"the firewall\n{filler}{filler}iptables\n") if isinstance(each.term, Term)}
    assert 1 in lines and max(lines) > len(filler.splitlines())
    assert not [each for each in terms_in(f"{filler}the firewall\n{filler}") if each.term.text == "firewall"]


def test_the_words_of_a_term_stand_near_each_other() -> None:
    assert "gid index" in _found("The GID index of the second host is 1.", "unreachable-peer")
    far = "The GID is " + "of a very old and long table " * 3 + "without an index."
    assert "gid index" not in _found(far, "unreachable-peer")
