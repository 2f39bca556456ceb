"""Rules about the networks beside the fabric: frontend, storage, out of band."""
