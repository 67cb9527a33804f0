"""Annotations and classes, as they are read."""
