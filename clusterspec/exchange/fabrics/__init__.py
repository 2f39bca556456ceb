"""Readers of the scale-out fabric: InfiniBand and Ethernet discovery, scheduler topologies, infrastructure graphs."""
