"""How passes, stages and steps follow each other: what runs beside what, and what waits."""
