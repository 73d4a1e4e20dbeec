"""Records that the engine did not accept: brought in, decided about, sent again."""
