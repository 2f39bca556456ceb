"""What a process waits for, by the innermost frames that py-spy and faulthandler print."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.waiting_frames import NEAREST, waiting_statements

HEAD = 'Thread 7422 (active): "MainThread"'


def _parts(text: str) -> list[str]:
    return [name for name, _, _ in waiting_statements(text)]


@pytest.mark.parametrize(
    ("frames", "part"),
    [
        (["select (selectors.py:416)", "_try_get_batch (torch/utils/data/dataloader.py:1133)"], "data"),
        (["flock (filelock/_unix.py:41)", "main (train.py:9)"], "file"),
        (["_load (torch/serialization.py:1400)", "load (torch/serialization.py:1097)"], "file"),
        (["read (ssl.py:1166)", "get (huggingface_hub/file_download.py:300)"], "server"),
        (["_create_c10d_store (torch/distributed/rendezvous.py:189)"], "meeting"),
        (
            ["wrapper (torch/distributed/c10d_logger.py:81)", "barrier (torch/distributed/distributed_c10d.py:1)"],
            "collective",
        ),
    ],
)
def test_the_innermost_frame_of_a_part_names_what_a_process_waits_for(frames: list[str], part: str) -> None:
    assert _parts("\n".join([HEAD, *(f"    {each}" for each in frames)])) == [f"waits {part}"]


def test_faulthandler_prints_the_same_frames_in_another_form() -> None:
    dump = (
        'Thread 0x00007f1 (most recent call first):\n  File "/a/torch/utils/data/dataloader.py", line 1133 in _get_data'
    )
    assert _parts(dump) == ["waits data"]
    assert not _parts(f"Fatal Python error: Segmentation fault\n{dump}")


def test_each_thread_is_read_from_its_innermost_frame() -> None:
    one = f"{HEAD}\n    barrier (torch/distributed/distributed_c10d.py:1)\n    load (torch/serialization.py:2)"
    other = f"{HEAD}\n    flock (filelock/_unix.py:41)\n    barrier (torch/distributed/distributed_c10d.py:1)"
    assert _parts(f"{one}\n{other}") == ["waits collective", "waits file"]


def test_frames_of_no_part_and_those_far_from_the_top_name_nothing() -> None:
    assert not _parts(f"{HEAD}\n    main (train.py:9)")
    deep = "\n".join(["    step (train.py:9)"] * NEAREST)
    assert not _parts(f"{HEAD}\n{deep}\n    flock (filelock/_unix.py:41)")
