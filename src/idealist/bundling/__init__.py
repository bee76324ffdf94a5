"""Bundles: results that others can check, without the documents."""
