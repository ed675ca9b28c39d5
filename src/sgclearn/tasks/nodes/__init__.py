"""Nodes of a user's graph: every node is a sample."""
