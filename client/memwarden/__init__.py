"""The client side of Memwarden: the command line that judges and tests policies without a cluster."""
