"""Causes of slow or failed work that no link, device or service has: compilation, vocabularies, hosts and shares."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.cause_terms import terms_in
from clusterspec.logs.statements.unfinished import read_unfinished
from tests.analysis.test_diagnosis import names
from tests.analysis.test_program_lines import H100, PAIR, read

REPORTS = (
    (
        "Our server stalls for half a minute at each prompt of a length that it has not seen.\n"
        "`top` shows ptxas and ninja meanwhile, and the second request of that length is fast.",
        "kernel-compilation",
    ),
    (
        "Training crashes since we replaced the tokenizer by one with more entries.\n"
        "The vocab size of the config is still that of the old one.",
        "vocabulary-mismatch",
    ),
    (
        "Decoding is as slow on the H200 as on the L40S. One core of the host is full with the Python scheduler, the "
        "GPU waits for the CPU.\nnsys shows gaps between kernels.",
        "host-bound",
    ),
    (
        "Our MoE job is slow. One rank has five times more tokens per expert than the others, which wait for it.\n"
        "The load imbalance grows during training.",
        "uneven-work",
    ),
    (
        "Our tiny model trains slower on several GPUs than on one GPU.\n"
        "Each gets a small batch of eight images, so communication dominates.",
        "small-work",
    ),
    (
        "We run tensor parallel across nodes, and the throughput is poor. Two nodes are slower than one node.\n"
        "With pipeline parallel between nodes and TP inside a node it is twice as fast.",
        "wide-groups",
    ),
    (
        "Our fine-tuned model keeps repeating itself behind the server and never stops.\n"
        "We see that the chat template of the instruct model is another one, and the eos token is not set.",
        "prompt-format",
    ),
)


@pytest.mark.parametrize(("report", "cause"), REPORTS)
def test_a_report_of_the_work_itself_names_its_cause_first(report: str, cause: str) -> None:
    found = read(PAIR, report + "\n", 16)
    assert found is not None and names(found)[0] == cause and not found.is_decided


def test_a_log_that_ends_at_a_build_of_kernels_may_wait_for_it() -> None:
    line = "INFO:flashinfer.jit:Loading JIT ops: batch_decode_with_kv_cache_dtype_q_bf16\n"
    found = read(H100, "The engine hangs at its start.\n" + line, 8)
    assert found is not None and names(found)[:2] == ["kernel-compilation", "ranks-diverge"]


ASSERTED = "../aten/src/ATen/native/cuda/Indexing.cu:9: indexSelectLargeIndex: block: [7,0,0], thread: [9,0,0] "


@pytest.mark.parametrize(
    ("log", "order"),
    [
        ("RuntimeError: CUDA error: device-side assert triggered", ["program-fault", "vocabulary-mismatch"]),
        ("IndexError: index out of range in self", ["vocabulary-mismatch"]),
        (
            f"{ASSERTED}Assertion `srcIndex < srcSelectDimSize` failed.\n"
            "RuntimeError: CUDA error: device-side assert triggered",
            ["vocabulary-mismatch", "program-fault"],
        ),
    ],
)
def test_an_index_beyond_a_table_is_of_another_vocabulary(log: str, order: list[str]) -> None:
    found = read(H100, log + "\n", 8)
    assert found is not None and names(found) == order


def test_a_sentence_with_the_releases_of_a_machine_has_no_terms() -> None:
    listed = "My driver version is 535.129.03. CUDA version is 12.2. We use PyTorch 2.3.1."
    assert terms_in(listed) == ()
    assert {each.term.cause for each in terms_in("The driver was upgraded to 535.129.03.")} >= {"driver-release"}


def test_a_sound_sentence_about_compilation_is_no_report() -> None:
    assert read_unfinished("The kernels are compiled once, and the cache is kept on a volume.\n") is None
