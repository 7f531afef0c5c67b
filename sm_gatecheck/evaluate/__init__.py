"""The abstract interpreter: Python's expressions, calls and statements over guarded values. Knows no SGLang."""
