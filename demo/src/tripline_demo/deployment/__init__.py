"""What a deployment with containers needs beside the services: files of secrets, and database users from them."""
