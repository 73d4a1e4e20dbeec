"""Decisions of the registry, without a database or HTTP: `decide` makes events of commands, `evolve` applies them."""
