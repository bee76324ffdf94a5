"""Choosing what to judge: documents by a strategy, queries from a log, and what samples say."""
