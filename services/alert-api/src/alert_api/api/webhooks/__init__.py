"""/v1/webhooks: who is told what becomes of cases."""
