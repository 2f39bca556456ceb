"""Memory of one rank at the peak of a step: model states, activations, and reservations of the framework."""
