"""The SQL of lists and parameters, named. Names are ordered by code point, whatever the database's collation."""

_COLUMNS = "kind, name, version, position, changed_at, changed_by"

NAMED = f"SELECT {_COLUMNS}, value FROM registry.named_values WHERE kind = %(kind)s AND name = %(name)s"  # noqa: S608

USAGE = """
SELECT count(*) FILTER (WHERE kind = 'list') AS lists, count(*) FILTER (WHERE kind = 'parameter') AS parameters,
       coalesce(sum(octet_length(value::text)) FILTER (WHERE kind = 'list'), 0)::bigint AS "listBytes"
FROM registry.named_values
"""

KNOWN = "SELECT name FROM registry.named_values WHERE kind = %(kind)s AND name = ANY (%(names)s)"

# A list may have ten thousand values: a listing says how many.
LISTING = f"""
SELECT {_COLUMNS},
       CASE WHEN kind = 'parameter' THEN value END AS value,
       CASE WHEN kind = 'list' THEN jsonb_array_length(value) END AS size
FROM registry.named_values WHERE kind = %(kind)s AND name > %(after)s ORDER BY name LIMIT %(limit)s
"""  # noqa: S608 - constants

PROJECT_NAMED = """
INSERT INTO registry.named_values AS n (kind, name, version, value, position, changed_at, changed_by)
VALUES (%(kind)s, %(name)s, %(version)s, %(value)s, %(position)s, %(changed_at)s, %(changed_by)s)
ON CONFLICT (kind, name) DO UPDATE SET
    version = excluded.version, value = excluded.value, position = excluded.position,
    changed_at = excluded.changed_at, changed_by = excluded.changed_by
WHERE n.version = excluded.version - 1
"""
