"""The prover, asked over HTTP."""
