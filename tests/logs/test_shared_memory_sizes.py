"""The size of shared memory that a text states."""

from __future__ import annotations

import pytest

from clusterspec.logs.statements.shared_memory_sizes import AMPLE, ample_shared_memory


@pytest.mark.parametrize(
    "form", ["docker run --shm-size={}g image", "tmpfs {}G 1G 62G 2% /dev/shm", "/dev/shm has {} GB"]
)
def test_shared_memory_is_ample_from_a_size_on(form: str) -> None:
    assert ample_shared_memory(form.format(AMPLE)) == (form.format(AMPLE), 1)
    assert ample_shared_memory(form.format(AMPLE - 1)) is None


def test_a_terabyte_is_ample_and_memory_of_another_kind_is_not() -> None:
    assert ample_shared_memory("tmpfs 1T 0 1T 0% /dev/shm") is not None
    assert ample_shared_memory("Mem: 504G free") is None
