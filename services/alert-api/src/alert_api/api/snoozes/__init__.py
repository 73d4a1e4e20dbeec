"""/v1/snoozes: alerts kept out of cases for a time."""
