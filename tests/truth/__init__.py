"""The truth harness: gatecheck's JSON against what real releases answered, one figure a table and release."""
