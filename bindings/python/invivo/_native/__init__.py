"""Calls of the library and callbacks from it: the function table, errors, leases, sessions."""
