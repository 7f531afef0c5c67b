"""Shell scripts, read as far as it takes to know which commands they would run, with which words and variables. Nothing is run.

- ``syntax``: a script parsed by tree-sitter, its nodes as text that knows its place;
- ``scope``: variables, arrays, functions, positional parameters;
- ``expansion``: a node as the words that it becomes;
- ``conditions``: tests that the script itself decides;
- ``assignments``, ``own_commands``: what changes the scope;
- ``interpreter``: statements in order; every command is handed to ``unwrap``.
"""
