"""Writers of what infrastructure repositories hold: each a pure function of one design."""
