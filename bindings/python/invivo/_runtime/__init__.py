"""The runtime, assemblies, change sets and applications, as programs use them."""
