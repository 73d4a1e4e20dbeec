"""Rules, settings and clocks: all that decides how to judge, before any history."""
