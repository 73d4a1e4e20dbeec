"""State: rules, record clock, accepted history and firing state, changed record by record."""
