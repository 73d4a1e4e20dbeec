"""What customers do, log-ins, changes of their profile and payments: the traffic of the event type `activity`."""
