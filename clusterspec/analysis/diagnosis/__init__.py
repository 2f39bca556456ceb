"""Logs compared with the design: the causes of low bandwidth, slow runs and failures, each with its next step."""
