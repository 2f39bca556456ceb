"""Matrices of pairs of accelerators, as p2pBandwidthLatencyTest prints them, and what they state."""

from __future__ import annotations

from clusterspec.logs.benchmarks.pair_faults import matrices_of, pair_statements

WITHOUT = """Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)
   D\\D     0      1      2
     0 1500.00  20.00  22.00
     1  21.00 1500.00  20.00
     2  20.00    N/A 1500.00

"""
WITH = WITHOUT.replace("Disabled", "Enabled").replace("21.00", " 6.00")


def test_a_matrix_ends_where_its_rows_end() -> None:
    """Three rows of three; the line after them begins with no number of an accelerator."""
    (found,) = matrices_of(f"[P2P test]\n{WITHOUT}P2P=Disabled Latency is not shown\n")
    assert (found.kind, found.enabled, found.latency, found.line) == ("Unidirectional ", False, False, 2)
    assert found.rows == ((1500.0, 20.0, 22.0), (21.0, 1500.0, 20.0), (20.0, None, 1500.0))
    assert len([*found.pairs()]) == 5


def test_a_cut_matrix_is_left_out() -> None:
    assert [*matrices_of(WITHOUT.replace("     2  20.00    N/A 1500.00", "     2  20.00    N/A err"))] == []
    assert [*matrices_of(WITHOUT.replace("     1  21.00", "     3  21.00"))] == []


def test_a_pair_that_peer_access_slows_is_named_with_both_rates() -> None:
    """6 of 21 GB/s is below 0.7; equal rates and a matrix of its own are silent."""
    shown = "6 GB/s with peer access between accelerators 1 and 0, 21 GB/s without"
    assert ("slow-peer-access", shown, 7) in [*pair_statements(WITHOUT + WITH)]
    assert {name for name, *_ in pair_statements(WITHOUT)} == set()
    equal = WITHOUT + WITHOUT.replace("Disabled", "Enabled")
    assert [*pair_statements(equal)] == [("slowest-pair", "20 GB/s between accelerators 0 and 1", 7)]
