"""The decision of a buyer: choices, gates before the signature, dates and risks."""
