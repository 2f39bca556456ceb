"""Pages of the rules that only running text can break; `prose` finds them."""
