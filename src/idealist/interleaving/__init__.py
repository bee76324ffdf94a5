"""Interleaving: one list of two runs, and what clicks on it say of them."""
