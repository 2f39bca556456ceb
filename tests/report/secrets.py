"""A spec full of what a tender must not show, and the words that would give it away."""

from __future__ import annotations

SECRETS = (
    *("SecretDescription", "SecretComment", "SecretAuthor", "SecretWaiver", "SecretSignatory", "SecretRevision"),
    *("secret-log", "SecretKey", "SecretQuote", "SecretMilestone", "SecretUnit"),
    # prices, budgets, totals, as written and as printed
    *("317171", "317,171", "20298944", "20,298,944", "41414", "41,414", "23232323", "23,232,323", "29292929"),
    *("29,292,929", "0.1717", "919193", "919,193"),
)
HOSTILE = """\
# SecretComment: at the top
# clusterspec: ignore-file[undeclared-network]: SecretWaiver of the file
clusterspec: 1
name: Tender for a training cluster
description: SecretDescription of what we would pay
cluster:  # SecretComment
  platform: dgx-h100
  nodes: 64   # clusterspec: ignore[short-burn-in] until 2027-01-31: SecretWaiver of a line
  SecretKey: 317171
  scale_out: {topology: rail-optimized, SecretKey: we pay 41414}
  power: {nodes_per_rack: 4, rack_limit: SecretUnit}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {tp: 8, pp: 2, micro_batch: 1}
measured:
  - {log: secret-log.txt}
  - {collective: all-reduce, nodes: 2, size: 8 GiB, busbw: 180 GB/s}  # SecretComment
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 360 GB/s}
operations: {burn_in: 72 h}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 4 years
  prices: {node: 317171, leaf_switch: 41414, spine_switch: [41414, 51515], cable: 919193, transceiver: 919193}
  quote:
    - {part: SecretQuote, quantity: 64, unit_price: 317171, price: 20298944}
  quoted_total: 23232323
  budget: 29292929
  electricity: 0.1717
  delivery: {weeks: 20, milestones: [SecretMilestone]}
document: {revision: SecretRevision, author: SecretAuthor, signatories: [SecretSignatory], audience: tender}
"""
