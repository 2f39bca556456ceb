"""Estimates of many layouts at once: columns of degrees in, columns of step time and memory out.

The same functions compute the sub-results of one plan and of many, and `compose` combines columns as it combines
numbers. The caller passes the array library; without one, layouts are estimated one at a time.

A call has three stages. Its rows refer to `divisions` of the ranks, and are numbered by the inputs of each sub-result
(`index`, `placement`). What is new is computed together: `layers`, the `slowest` stage, `replicas`, `memory`. Then
`call` looks everything up and composes it.
"""
