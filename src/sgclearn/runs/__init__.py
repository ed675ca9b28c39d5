"""The run folder: model, graph, predictions and metrics of one fit, for any task; atomic and versioned."""
