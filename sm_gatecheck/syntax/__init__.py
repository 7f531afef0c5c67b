"""Bytes to syntax: which files mention what, and the syntax trees of those that matter."""
