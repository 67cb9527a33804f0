"""The modules of scripts/generate: reading the C headers, and writing derived files."""
