"""What the tests of the service stand on: a real database, a real API server, running services, callers."""
