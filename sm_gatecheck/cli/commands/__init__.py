"""One command a file; a module here with a ``command`` is a command, by the module's name."""
