"""What an alert claims, how far back its proof reaches, and how it differs from what is derived again."""
