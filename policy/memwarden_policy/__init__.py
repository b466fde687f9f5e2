"""The pure core: what a policy says of a candidate, and who may do what. Values in, values out, no I/O."""
