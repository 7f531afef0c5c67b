"""gatecheck: what each SGLang server option will do on a given GPU, read from SGLang's source."""

__version__ = "0.1.0"
