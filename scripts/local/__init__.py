"""The parts that Memwarden runs on, started on this machine for the quickstart, the tests and the benchmarks."""
