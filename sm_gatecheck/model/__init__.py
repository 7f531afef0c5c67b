"""The vocabulary that every other package speaks: standard library only, frozen values, no input or output."""
