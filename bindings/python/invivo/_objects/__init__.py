"""Objects, classes and functions of Python in the library."""
