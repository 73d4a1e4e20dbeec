"""The registry's client on the command line: rules as code over HTTP, with an API key."""
