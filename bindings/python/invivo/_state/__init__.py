"""The state of an open runtime: its assemblies, build plans and change sets."""
