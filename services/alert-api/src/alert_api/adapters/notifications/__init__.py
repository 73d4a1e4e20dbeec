"""Events of cases out of Postgres, and to those who are told."""
