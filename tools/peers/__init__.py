"""``python -m tools.peers``: predictions of other estimators for the published cases.

Each peer has an adapter, which writes one published case in the peer's own terms and reads its prediction back. A case
that the peer cannot express is refused with the reason; nothing is guessed for the peer.
"""
