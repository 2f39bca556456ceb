"""Rules of serving plans: cache, targets, layout of engines, and disaggregated serving."""
