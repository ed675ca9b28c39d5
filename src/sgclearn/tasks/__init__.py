"""Applications of the paper: what is not a graph yet becomes one, and SGC classifies its nodes."""
