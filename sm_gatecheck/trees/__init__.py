"""Where a tree comes from; one file a kind, behind the interface in ``tree.py``."""
