"""The software that Tripline is made of: a bill of materials, and a search for known vulnerabilities in it.

For `make sbom` and `make audit`, in the development environment only.
"""
