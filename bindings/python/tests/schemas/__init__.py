"""Applications and documents with which the schema of an application is compared with its check."""
