"""Checks of the code of a tree, for those who maintain it.

One a file, each with ``RULE`` (its card) and ``of_tree``, ``of_option`` or both.
"""
