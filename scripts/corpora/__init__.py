"""Texts made from a seed, for tests and benchmarks: ordinary ones, and such as must be cut or held back."""
