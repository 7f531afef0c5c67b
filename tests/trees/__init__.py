"""Every kind of tree, good and hostile."""
