"""Titles of reports and lines of issue forms: what a person says first, and what any report has."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.cause_terms import terms_in
from clusterspec.logs.reports.form_lines import is_of_a_form
from clusterspec.logs.reports.report_sentences import report_sentences, reported_fault
from clusterspec.logs.reports.worded_causes import OF_TITLE, worded_causes
from clusterspec.logs.statements.unfinished import read_unfinished
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, read

FORMS = (
    " - How you installed PyTorch (`conda`, `pip`, source): pip",
    "**TensorFlow installed from (source or binary):** conda install",
    "- [x] I run the official example scripts with Docker",
    "A clear and concise description of what the bug is, such as a hang.",
    "**GPU count** [e.g. two machines with x8 A100s each]",
)
KERNELS = "FileNotFoundError: [Errno 2] No such file or directory: '{0}/a.tmp.pid_7' -> '{0}/a.ttir'\n"


@pytest.mark.parametrize("line", FORMS)
def test_a_line_of_a_form_has_no_terms_and_is_no_sentence(line: str) -> None:
    assert is_of_a_form(line) and terms_in(line) == () and list(report_sentences(line)) == []


@pytest.mark.parametrize(
    "line", ["We installed it with pip (as before), it hangs.", "- Our two nodes hang since Monday."]
)
def test_a_sentence_with_parentheses_or_a_dash_is_of_a_person(line: str) -> None:
    assert not is_of_a_form(line) and reported_fault(line) is not None


def test_a_term_in_the_title_weighs_half_as_much_again() -> None:
    words = "Stale file handle of the mount"
    below, above = worded_causes(f"It stops.\n{words}"), worded_causes(f"# {words}\n\nIt stops.")
    assert OF_TITLE == 1.5 and above[0].score == pytest.approx(1.5 * below[0].score, abs=0.002)


def test_a_title_reports_a_fault_in_few_words_and_a_wish_does_not() -> None:
    assert reported_fault("# /dev/kfd no longer exists") == ("# /dev/kfd no longer exists", 1)
    assert reported_fault("# Support for wider links") is None
    assert read_unfinished("# Feature request: wider links\n\nThese would be nice.\n") is None


def test_a_missing_file_of_a_cache_of_kernels_is_of_processes_that_write_it() -> None:
    found = read(H100, KERNELS.format("/home/me/.triton/cache"), 8)
    assert found is not None and names(found)[0] == "kernel-compilation"
    other = read(H100, KERNELS.format("/data/index"), 8)
    assert other is not None and "kernel-compilation" not in names(other)


@pytest.mark.parametrize(("module", "cause"), [("amdgpu", "driver-release"), ("ib_core", "library-release")])
def test_a_module_without_its_symbols_is_of_the_driver_if_it_is_one(module: str, cause: str) -> None:
    found = read(H100, f"[    2.7] {module}: Unknown symbol some_function (err 0)\n", 8)
    assert found is not None and names(found)[0] == cause
