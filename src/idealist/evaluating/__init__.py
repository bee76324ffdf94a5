"""Evaluating: judgments, a run and measures in; values, doubts and signatures out."""
