"""What was worked out before, kept in the user's cache directory and believed only when it is whole."""
