"""``make bench``: how fast, in ratios measured in one run, since machines differ.

Whole processes are measured in processor seconds with bytecode compiled, compared with a Python that does nothing and
with yamllint and check-jsonschema, the public tools that read the same spec (the extra ``bench``).
"""
