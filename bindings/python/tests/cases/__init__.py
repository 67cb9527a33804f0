"""The text cases of Tests/Cases, run by the public interface of the package. Tests/Cases/README.md says what may be
written."""
