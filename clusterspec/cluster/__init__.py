"""The resolved cluster, workload and layout: legality, placement of process groups, switch counts."""
