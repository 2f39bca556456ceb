"""Rules about acceptance tests."""
