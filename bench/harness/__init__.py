"""What is measured while it runs: engine and line as processes, and what reads them."""
