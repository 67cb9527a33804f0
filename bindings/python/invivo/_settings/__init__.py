"""Typed settings: sections of the configuration as values of annotated types."""
