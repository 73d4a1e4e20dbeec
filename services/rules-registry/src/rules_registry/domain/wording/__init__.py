"""Rules in words: a definition as one sentence, and what is different between two of them."""
