"""The SQL of the audit trail, named."""

HEAD = "SELECT sequence, hash FROM registry.audit_entries ORDER BY sequence DESC LIMIT 1"

APPEND = "INSERT INTO registry.audit_entries (sequence, body, hash) VALUES (%(sequence)s, %(body)s, %(hash)s)"

# What is not asked for is null. Of a rule also the entries about the changes of it.
_WANTED = """
      (%(actor)s::text IS NULL OR actor = %(actor)s)
  AND (%(type)s::text IS NULL OR type = %(type)s)
  AND (%(kind)s::text IS NULL OR subject_kind = %(kind)s)
  AND (%(subject)s::text IS NULL OR subject_id = %(subject)s)
  AND (%(since)s::bigint IS NULL OR occurred_at >= %(since)s)
  AND (%(until)s::bigint IS NULL OR occurred_at < %(until)s)
"""

ENTRIES = f"""
SELECT sequence, body, hash FROM registry.audit_entries
WHERE sequence > %(after)s AND {_WANTED}
ORDER BY sequence LIMIT %(limit)s
"""  # noqa: S608 - constants

# `after` is the number of the last one seen; 0 is before the newest.
NEWEST = f"""
SELECT sequence, body, hash FROM registry.audit_entries
WHERE (%(after)s = 0 OR sequence < %(after)s) AND {_WANTED}
ORDER BY sequence DESC LIMIT %(limit)s
"""  # noqa: S608 - constants

# For the verification, which holds all of it together.
WHOLE_TRAIL = "SELECT sequence, body, hash FROM registry.audit_entries ORDER BY sequence"

WHOLE_LOG = "SELECT body FROM registry.rule_events ORDER BY position"

WHOLE_RULES = """
SELECT rule_id, version, position, definition_hash, state FROM registry.rules ORDER BY rule_id
"""
