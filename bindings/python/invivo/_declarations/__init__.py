"""Marks and recipes: the notation in which authors declare classes and definitions. Nothing here calls the library."""
