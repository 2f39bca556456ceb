"""Scores every prediction against what was published, and writes docs/accuracy.md and docs/constants.md.

The cases are in tests/accuracy: specs of published runs with what was measured, collectives,
and reference fabrics, each with its source. Errors are |predicted / published − 1|.
"""
