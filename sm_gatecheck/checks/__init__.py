"""The checks behind the findings: what each means, why it matters, what to do."""
