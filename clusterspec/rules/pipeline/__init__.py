"""Rules about the pipeline bubble."""
