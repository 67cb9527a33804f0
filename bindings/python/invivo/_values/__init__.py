"""Values in both directions, and handles of objects of other languages."""
