"""Readers of Terraform plans and suppliers' quotes."""
