"""The command line: thin commands over the analysis and the reports."""
