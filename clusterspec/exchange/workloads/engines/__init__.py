"""Serving engines: command lines, objects and programs that start one, and results of load tests."""
