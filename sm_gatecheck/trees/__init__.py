"""Where a tree comes from; one file a kind, behind the interface in ``tree.py``."""

from sm_gatecheck.trees.cache import cache_directory
from sm_gatecheck.trees.opening import open_tree
from sm_gatecheck.trees.tree import Tree, TreeError, UsageError

__all__ = ["Tree", "TreeError", "UsageError", "cache_directory", "open_tree"]
