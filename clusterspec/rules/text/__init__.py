"""Pages of the rules that only running text can break; `rules.prose` finds them."""
