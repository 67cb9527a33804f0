"""Planning: definitions become injections, and these become structures of the library."""
