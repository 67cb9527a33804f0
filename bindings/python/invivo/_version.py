"""The version of the package: that of the library it was written for."""

VERSION = "0.1.0"
