"""Search: the best layouts of a job, the smallest machine that meets a condition, and the effect of each lever."""
