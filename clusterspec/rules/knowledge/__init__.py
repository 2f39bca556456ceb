"""What several rules know alike: frameworks, parts, figures and what they slip into. One idea a file."""
