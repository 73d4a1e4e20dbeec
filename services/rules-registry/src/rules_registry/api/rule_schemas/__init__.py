"""The rules that a body may hold, and the answers about them: parsers and schemas that all resources share."""
