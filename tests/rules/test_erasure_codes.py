"""Erasure codes in texts, and the losses that stores survive with them."""

from __future__ import annotations

from clusterspec.rules.readers.plans.erasure_codes import Stripes, servers_in, stripes_in
from tests.effort import each


@each(
    ("code", "servers", "why"),
    [
        # ten fragments on ten servers: one on each, and two may fail
        (Stripes(8, 2, 1, apart=True, spread=True, lost=2), 10, ""),
        (Stripes(8, 2, 1, apart=True, spread=True, lost=2), 9, "needs 10 nodes"),
        (Stripes(8, 2, 1, apart=False, spread=True, lost=2), 9, "survives the loss of 1 node, not of 2"),
        (Stripes(8, 2, 1, apart=False, spread=True, lost=1), 5, ""),
        (Stripes(8, 1, 1, apart=False, spread=True, lost=0), 6, "exceeds the parity of 1"),
        (Stripes(8, 1, 1, apart=False, spread=False, lost=0), 6, ""),  # nothing says that it runs across servers
        (Stripes(20, 4, 2, apart=False, spread=True, lost=2), 24, ""),
        (Stripes(20, 4, 2, apart=False, spread=True, lost=3), 24, "survives the loss of 2 nodes, not of 3"),
        (Stripes(4, 2, 1, apart=False, spread=True, lost=1), 1, ""),  # one enclosure: the drives are protected
    ],
)
def test_a_store_survives_as_many_servers_as_its_parity_covers(code: Stripes, servers: int, why: str) -> None:
    assert bool(code.weakness(servers)) == bool(why)
    assert why in code.weakness(servers)


@each(
    ("text", "lost"),
    [
        ("with a code of 8+2 any two servers may fail", 2),
        ("a code of 8+2 survives the loss of two nodes", 2),
        ("erasure coding 8+2: the data is readable with 2 servers down", 2),
        ("raid 8+2, and one server can be offline", 1),
        ("stripes of 8+2: any two of the six servers may be down at the same time", 2),
        ("fragments of 8+2; maintenance takes two servers per night", 2),
        ("fragments of 8+2, and updates of the storage servers reboot 2 of our six servers at a time", 2),
        ("fragments of 8+2; maintenance takes one server per night", 1),
        ("stripes of 8+2 on two servers", 0),
        ("a stripe of 8+2 on five servers, two strips on each server", 0),
    ],
)
def test_a_text_names_the_servers_that_may_fail(text: str, lost: int) -> None:
    found = stripes_in([text])
    assert found is not None
    assert (found.data, found.parity, found.lost) == (8, 2, lost)


@each(
    ("texts", "count"),
    [
        (["the store has five servers with 24 drives each"], 5),
        (["12 storage servers hold the data"], 12),
        (["stripes lie over six nodes; any two nodes may fail"], 6),
        (["60 nodes train", "strips lie over 12 servers"], 12),
        (["six servers with 24 drives", "two parity fragments: maintenance takes two servers per night"], 6),
        (
            [
                "six servers with 24 drives",
                "as the code has two fragments of parity, any two of the six servers may be down",
            ],
            6,
        ),
        (["the store has five servers with drives", "six servers hold strips"], None),
        (["sixty nodes train"], None),
    ],
)
def test_the_servers_of_a_store_are_those_of_its_drives(texts: list[str], count: int | None) -> None:
    assert servers_in(texts) == count


def test_nodes_that_train_are_no_servers_of_the_store() -> None:
    found = stripes_in(["stripes of 8+2 lie over five servers", "updates reboot two nodes at a time"])
    assert found is not None
    assert found.lost == 0


def test_two_codes_are_no_code() -> None:
    assert stripes_in(["the scratch has 8+2 stripes", "the archive has stripes of 16+4"]) is None
    assert stripes_in(["the run has 6+2 nodes"]) is None
