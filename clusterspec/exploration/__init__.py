"""Search, solve and sensitivity of a study, with the rules applied to what search finds."""
