"""The spec as types: what the author asks for."""
