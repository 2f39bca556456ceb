"""Rules about the networks other than the fabric: frontend, storage, out-of-band."""
