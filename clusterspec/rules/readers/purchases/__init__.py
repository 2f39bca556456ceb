"""Texts about purchases: orders, dates, contracts, funds and warranties."""
