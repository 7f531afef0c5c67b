"""Python programs, read as far as it takes to know which engine they make, or which command they start. Nothing is run.

- ``places``: nodes of the syntax tree as text that knows its place;
- ``literals``: expressions as values, and why some have none;
- ``names``: what a name stands for, and how a dict or a list came to be what it is.
"""
