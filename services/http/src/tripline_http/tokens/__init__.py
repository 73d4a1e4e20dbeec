"""Bearer tokens of an OpenID Connect issuer: the people of an organisation, who have no API key of ours."""
