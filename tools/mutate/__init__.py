"""Mutation test: changes one operator, number or word of a package at a time, and counts the changes that tests kill.

``python -m tools.mutate [PACKAGE …] [--number N] [--seed N]`` applies ``--number`` mutations per package, drawn at
random by ``--seed``, in copies of the project in temporary folders, and runs the tests of that package on each. It
prints the mutations that survive and the share that was killed. A survivor is a line whose change no test notices.
Tests that reach ``--seconds`` of processor time before one fails leave a mutation undecided, which is not killed.
``--across N`` draws from the lines of all packages together. Generated pages and golden files kill nothing here.

Only tests that can notice a mutation run on it, the shortest first: `tools.mutate.runs` records for each test which
blocks of statements of its package it runs and whether it reads the source of the package, and ``out/mutate`` keeps
that until the program or the test file changes.
The recording also shows that the tests pass on the unchanged program.
"""
