"""SGLang as the rules describe it."""
