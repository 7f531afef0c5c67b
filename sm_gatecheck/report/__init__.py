"""Reports, one format a file; each is a pure function from a result to text."""
