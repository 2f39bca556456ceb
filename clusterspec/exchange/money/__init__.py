"""Readers of clouds and money: Terraform plans and suppliers' quotes."""
