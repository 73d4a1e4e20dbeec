"""Views of proofs: verification, explanation, judgement."""
