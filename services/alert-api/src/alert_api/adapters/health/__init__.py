"""Parts of the line, asked for their probes and metrics."""
