"""Texts about plans and sites: schedules of training, limits, addresses, circuits, floors and tests."""
