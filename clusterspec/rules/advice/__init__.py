"""What to write instead, worked out before it is offered: legal, fitting, and timed."""
