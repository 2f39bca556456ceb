"""Keys that a design may change: their effects, the value that meets a condition, and the influence of assumptions."""
