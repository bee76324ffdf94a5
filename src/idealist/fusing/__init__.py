"""Fusing: one ranking of several, and tuning that does not fool itself."""
