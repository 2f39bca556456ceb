"""Rules about the physical machine: racks, power, cooling, cables and optics."""
