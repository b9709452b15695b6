"""Strategies over strategies."""
