"""A discrete-event simulation of a serving plan: its requests, its engines and their steps."""
