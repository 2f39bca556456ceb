"""Search: the best layouts of a job, the least machine for it, and what each lever changes."""
