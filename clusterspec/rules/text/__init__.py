"""Pages of the rules about running text; `prose` implements them."""
