"""Judges held to account: how far they agree on labels, and on which system is better."""
