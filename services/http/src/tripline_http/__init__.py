"""HTTP for Tripline's services: problems, keys, ETags, OpenAPI, metrics.

One module per concern: `problems` and `error_handlers` (RFC 9457), `auth` (API keys and scopes), `guards` (before
every view), `request_ids`, `logs`, `cursors` and `links` (keyset pages), `etags`, `fields` and `json_bodies`
(strict input), `openapi` (flask-smorest with our conventions), `health`, `metrics`, `application` (all of it on one
Flask app), `server` (waitress) and `metrics_server` (for processes that have no API of their own).
"""
