"""What the tests of the operator stand on: API server, database, service and operators, all real."""
