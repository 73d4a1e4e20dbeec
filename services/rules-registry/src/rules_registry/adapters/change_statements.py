"""The SQL of changes that wait for another person, named."""

NEXT_ID = "SELECT coalesce(max(change_id), 0) + 1 AS next FROM registry.changes"

_COLUMNS = """
SELECT c.change_id, c.revision, c.kind, c.subject_kind, c.subject_id, r.content, c.state, c.editors, c.created_at,
       c.changed_at, c.break_glass, c.decided_by, c.decided_at, c.position, c.reason
FROM registry.changes c JOIN registry.change_revisions r USING (change_id, revision)
"""

CHANGE = f"{_COLUMNS} WHERE c.change_id = %(change_id)s"

OPEN = f"""{_COLUMNS}
WHERE c.state IN ('DRAFT', 'SUBMITTED') AND c.subject_kind = %(kind)s AND coalesce(c.subject_id, '') = %(subject)s
"""

# Newest first: `after` is the last one seen.
LISTING = f"""{_COLUMNS}
WHERE (%(after)s = 0 OR c.change_id < %(after)s)
  AND (%(state)s::text IS NULL OR c.state = %(state)s)
  AND (%(kind)s::text IS NULL OR c.subject_kind = %(kind)s)
  AND (%(subject)s::text IS NULL OR c.subject_id = %(subject)s)
  AND (%(unreviewed)s::boolean IS NULL OR (c.break_glass AND c.decided_by IS NULL) = %(unreviewed)s)
ORDER BY c.change_id DESC LIMIT %(limit)s
"""

ADD_REVISION = """
INSERT INTO registry.change_revisions (change_id, revision, content, content_hash, editor, created_at)
VALUES (%(change_id)s, %(revision)s, %(content)s, %(content_hash)s, %(editor)s, %(changed_at)s)
"""

KEEP = """
INSERT INTO registry.changes (
    change_id, revision, content_hash, kind, subject_kind, subject_id, state, editors, created_at, changed_at,
    break_glass, decided_by, decided_at, position, reason
) VALUES (
    %(change_id)s, %(revision)s, %(content_hash)s, %(kind)s, %(subject_kind)s, %(subject_id)s, %(state)s, %(editors)s,
    %(created_at)s, %(changed_at)s, %(break_glass)s, %(decided_by)s, %(decided_at)s, %(position)s, %(reason)s
)
ON CONFLICT (change_id) DO UPDATE SET
    revision = excluded.revision, content_hash = excluded.content_hash, kind = excluded.kind, state = excluded.state,
    editors = excluded.editors, changed_at = excluded.changed_at, decided_by = excluded.decided_by,
    decided_at = excluded.decided_at, position = excluded.position, reason = excluded.reason
"""

WAS_APPROVED = """
SELECT EXISTS (
    SELECT FROM registry.changes c JOIN registry.change_revisions r USING (change_id, revision)
    WHERE c.subject_kind = 'rule' AND c.subject_id = %(rule_id)s AND c.decided_by IS NOT NULL
      AND r.content ->> 'definitionHash' = %(definition_hash)s
) AS approved
"""
