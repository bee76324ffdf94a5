"""Judging: a store of judgments, what to judge next, and judges held to account."""
