"""Modules, imports, re-exports, classes and their bases, who mentions whom. Knows no SGLang."""
