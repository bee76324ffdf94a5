"""Tuning: parameters chosen on some queries and measured on others."""
