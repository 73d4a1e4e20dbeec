"""Which tables and indexes take how much of the disk, a year of partitions as one."""

from __future__ import annotations

from typing import Final

import psycopg

_RELATIONS: Final = """
WITH tables AS (
    SELECT c.oid, CASE WHEN i.inhparent = 'alerts.alerts'::regclass THEN 'alerts' ELSE c.relname END AS name
      FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
     WHERE c.relnamespace = 'alerts'::regnamespace AND c.relkind = 'r'
)
SELECT name, 'rows', sum(pg_table_size(oid))::bigint FROM tables GROUP BY 1
 UNION ALL
SELECT t.name, coalesce(whole.relname, CASE WHEN i.indisprimary THEN 'primary key' ELSE c.relname END),
       sum(pg_relation_size(c.oid))::bigint
  FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
       LEFT JOIN pg_inherits h ON h.inhrelid = c.oid LEFT JOIN pg_class whole ON whole.oid = h.inhparent
 GROUP BY 1, 2
 ORDER BY 3 DESC
"""


def of_relations(owner: str) -> list[tuple[str, str, int]]:
    """Table, its rows or an index of it, and bytes: the largest first; `owner` is the superuser's DSN."""
    with psycopg.connect(owner) as connection:
        return connection.execute(_RELATIONS).fetchall()


def of_log(owner: str) -> int:
    """Bytes of the write-ahead log: what is kept for the next crash, or for nothing but to be used again."""
    with psycopg.connect(owner) as connection:
        [(size,)] = connection.execute("SELECT sum(size)::bigint FROM pg_ls_waldir()").fetchall()
    return int(size)
