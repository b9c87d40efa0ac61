"""Mutants: whether the tests would notice a mistake (`make mutants`)."""
