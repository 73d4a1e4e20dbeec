"""The SQL of lists and parameters, named. Names are ordered by code point, whatever the database's collation."""

from tripline_contracts.filters.named_values import MAX_LIST_BYTES, MAX_VALUES

_COLUMNS = "kind, name, version, position, changed_at, changed_by"

# A list that no event could hold as a whole comes without its values.
NAMED = f"""
SELECT {_COLUMNS}, size, kind = 'list' AND EXISTS (
           SELECT FROM registry.list_entries e WHERE e.name = n.name AND until IS NOT NULL
       ) AS has_ends,
       CASE WHEN kind = 'parameter' THEN value
            WHEN size <= {MAX_VALUES} AND bytes < {MAX_LIST_BYTES} THEN (
                SELECT coalesce(jsonb_agg(e.value ORDER BY e.value), '[]')
                FROM registry.list_entries e WHERE e.name = n.name
            ) END AS value
FROM registry.named_values n WHERE kind = %(kind)s AND name = %(name)s
"""  # noqa: S608 - constants

USAGE = """
SELECT count(*) FILTER (WHERE kind = 'list') AS lists, count(*) FILTER (WHERE kind = 'parameter') AS parameters,
       coalesce(sum(bytes + 1), 0)::bigint AS "listBytes"
FROM registry.named_values
"""

KNOWN = "SELECT name FROM registry.named_values WHERE kind = %(kind)s AND name = ANY (%(names)s)"

# A list may have a million values: a listing says how many.
LISTING = f"""
SELECT {_COLUMNS},
       CASE WHEN kind = 'parameter' THEN value END AS value,
       size
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
