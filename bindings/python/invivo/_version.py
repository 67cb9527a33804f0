"""The version of the package: that of the library it was written for."""

__version__ = "0.1.0"
