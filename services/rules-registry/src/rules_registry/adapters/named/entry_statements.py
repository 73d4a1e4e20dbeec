"""The SQL of entries of lists, named. `bytes` of a list are those of its canonical JSON, less one bracket."""

HEAD = """
SELECT kind, name, version, position, changed_at, changed_by, NULL::jsonb AS value, size, false AS has_ends
FROM registry.named_values WHERE kind = 'list' AND name = %(name)s
"""

STANDING = """
SELECT value, until FROM registry.list_entries WHERE name = %(name)s AND value = ANY (%(values)s::text[])
"""

OVERDUE = """
SELECT name, value FROM registry.list_entries WHERE until <= %(now)s ORDER BY until LIMIT %(limit)s
"""

# One statement: what it returns of the entries it writes decides the head.
KEEP = """
WITH gone AS (
    DELETE FROM registry.list_entries WHERE name = %(name)s AND value = ANY (%(removed)s::text[])
    RETURNING octet_length(to_jsonb(value)::text) + 1 AS bytes
), written AS (
    INSERT INTO registry.list_entries AS e (name, value, until, position)
    SELECT %(name)s, value, until, %(position)s
    FROM unnest(%(added)s::text[], %(untils)s::bigint[]) AS a (value, until)
    ON CONFLICT (name, value) DO UPDATE SET until = excluded.until, position = excluded.position
    RETURNING octet_length(to_jsonb(value)::text) + 1 AS bytes, xmax = 0 AS is_new
)
UPDATE registry.named_values SET
    version = %(version)s, position = %(position)s, changed_at = %(changed_at)s, changed_by = %(changed_by)s,
    size = size + (SELECT count(*) FILTER (WHERE is_new) FROM written) - (SELECT count(*) FROM gone),
    bytes = bytes + (SELECT coalesce(sum(bytes) FILTER (WHERE is_new), 0) FROM written)
                  - (SELECT coalesce(sum(bytes), 0) FROM gone)
WHERE kind = 'list' AND name = %(name)s AND version = %(version)s - 1
"""

KEEP_HEAD = """
INSERT INTO registry.named_values AS n (kind, name, version, size, bytes, position, changed_at, changed_by)
SELECT 'list', %(name)s, %(version)s, count(*), coalesce(sum(octet_length(to_jsonb(value)::text) + 1), 0),
       %(position)s, %(changed_at)s, %(changed_by)s
FROM unnest(%(values)s::text[]) AS v (value)
ON CONFLICT (kind, name) DO UPDATE SET
    version = excluded.version, size = excluded.size, bytes = excluded.bytes, position = excluded.position,
    changed_at = excluded.changed_at, changed_by = excluded.changed_by
WHERE n.version = excluded.version - 1
"""

REMOVE_OTHERS = """
DELETE FROM registry.list_entries e WHERE name = %(name)s
   AND NOT EXISTS (SELECT FROM unnest(%(values)s::text[]) AS v (value) WHERE v.value = e.value)
"""

KEEP_WHOLE = """
INSERT INTO registry.list_entries AS e (name, value, position)
SELECT %(name)s, value, %(position)s FROM unnest(%(values)s::text[]) AS v (value)
ON CONFLICT (name, value) DO UPDATE SET until = NULL, position = excluded.position WHERE e.until IS NOT NULL
"""

# `before` is the first text after all that begin with the prefix.
PAGE = """
SELECT value, until, position FROM registry.list_entries
WHERE name = %(name)s AND value > %(after)s AND value >= %(prefix)s AND value < %(before)s
ORDER BY value LIMIT %(limit)s
"""
