"""How fast gatecheck is on real releases, and against what; see README.md."""
