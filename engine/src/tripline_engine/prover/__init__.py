"""Proofs: what was judged, derived again from topic and archive in the recorded order, for whoever asks over HTTP."""
