"""Advice: alternative layouts that are legal, fit in memory and have an estimated time, computed before a rule proposes
them.
"""
