"""Readers of scale-out fabrics: InfiniBand and Ethernet discovery, scheduler topologies, infrastructure graphs."""
