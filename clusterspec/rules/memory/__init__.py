"""Rules about what one rank has to hold."""
