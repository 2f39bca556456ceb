"""The parts of a step of a serving engine: GEMMs, attention, experts, collectives and launches."""
