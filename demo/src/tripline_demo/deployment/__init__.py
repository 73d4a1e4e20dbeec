"""A deployment with containers, beside the services: files of secrets, and database users made of them."""
