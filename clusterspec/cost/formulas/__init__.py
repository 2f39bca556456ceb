"""The formulas of the cost: one function each, with its source, on floats or arrays."""
