"""Child processes on a leash, and the ports they listen on."""
