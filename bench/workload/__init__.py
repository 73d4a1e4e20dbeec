"""What is sent: payments, rules, and who sends them."""
