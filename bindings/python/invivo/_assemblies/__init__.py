"""Definitions, members and assemblies, as they are described."""
