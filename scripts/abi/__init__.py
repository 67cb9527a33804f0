"""What scripts/generate is made of: reading the C headers, and writing what follows from them."""
