"""The cost model: time and memory of a design, in numbers and explained term by term."""
