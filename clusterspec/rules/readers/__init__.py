"""Readers of the texts of a spec: words, numbers, figures and sentences, in several languages. The lowest part; the folders hold what is read from them."""
