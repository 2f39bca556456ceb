"""Writers of infrastructure files: each a pure function of one design."""
