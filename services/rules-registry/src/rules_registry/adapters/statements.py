"""The SQL of the registry, named."""

CHANNEL = "registry_rule_events"

# Held until commit: so positions are assigned in the order of commits, and a reader that has seen position n has seen
# all before it.
TAKE_WRITER_LOCK = "LOCK TABLE registry.writer_lock IN EXCLUSIVE MODE"

NEXT_POSITION = "SELECT coalesce(max(position), 0) + 1 AS next FROM registry.rule_events"

# Rules that wait for their approval have their ids already.
NEXT_RULE_ID = """
SELECT greatest(
    (SELECT coalesce(max(rule_id), 0) FROM registry.rules),
    (SELECT coalesce(max(subject_id::bigint), 0) FROM registry.changes WHERE kind = 'PUBLISH_RULE')
) + 1 AS next
"""

APPEND_EVENT = """
INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, name, occurred_at, actor, body)
VALUES (%(position)s, %(event_id)s, %(type)s, %(rule_id)s, %(version)s, %(name)s, %(occurred_at)s, %(actor)s, %(body)s)
"""

# Sent at commit, and only then; it wakes the relay and says nothing.
NOTIFY = "SELECT pg_notify(%(channel)s, '')"

PROJECT_RULE = """
INSERT INTO registry.rules AS r (
    rule_id, version, definition_version, state, name, definition, definition_hash, grouping_key_names,
    effective_from, effective_until, shadow, changed_at, changed_by, position
) VALUES (
    %(rule_id)s, %(version)s, %(definition_version)s, %(state)s, %(name)s, %(definition)s, %(definition_hash)s,
    %(grouping_key_names)s, %(effective_from)s, %(effective_until)s, %(shadow)s, %(occurred_at)s, %(actor)s,
    %(position)s
)
ON CONFLICT (rule_id) DO UPDATE SET
    version = excluded.version, definition_version = excluded.definition_version, state = excluded.state,
    name = excluded.name, definition = excluded.definition, definition_hash = excluded.definition_hash,
    grouping_key_names = excluded.grouping_key_names, effective_from = excluded.effective_from,
    effective_until = excluded.effective_until, shadow = excluded.shadow,
    changed_at = excluded.changed_at, changed_by = excluded.changed_by, position = excluded.position
WHERE r.version = excluded.version - 1
"""

_RULE_COLUMNS = """
    rule_id, version, definition_version, state, name, definition, definition_hash, effective_from,
    effective_until, shadow, changed_at, changed_by, position
"""

RULE = f"SELECT {_RULE_COLUMNS} FROM registry.rules WHERE rule_id = %(rule_id)s"  # noqa: S608 - constants

# With what the rule is for, null where nobody has said it.
_SHOWN = f"""
SELECT {_RULE_COLUMNS}, purpose FROM registry.rules LEFT JOIN (
    SELECT rule_id, severity, tags, owner, jsonb_build_object(
        'description', description, 'severity', severity, 'tags', tags, 'owner', owner, 'playbook', playbook
    ) AS purpose FROM registry.rule_purposes
) p USING (rule_id)
"""  # noqa: S608 - constants

SHOWN_RULE = f"{_SHOWN} WHERE rule_id = %(rule_id)s"

RULES = f"""
{_SHOWN}
WHERE rule_id > %(after)s
  AND CASE WHEN %(state)s::text IS NULL THEN state <> 'DELETED' ELSE state = %(state)s END
  AND (%(grouping_key)s::text IS NULL OR %(grouping_key)s = ANY (grouping_key_names)
       OR EXISTS (SELECT FROM unnest(grouping_key_names) AS key WHERE starts_with(key, %(grouping_key)s || '~')))
  AND (%(name)s::text IS NULL OR position(lower(%(name)s) IN lower(name)) > 0)
  AND (%(severity)s::text IS NULL OR severity = %(severity)s)
  AND (%(tag)s::text IS NULL OR %(tag)s = ANY (tags))
  AND (%(owner)s::text IS NULL OR lower(owner) = lower(%(owner)s))
ORDER BY rule_id
LIMIT %(limit)s
"""

RULE_USAGE = """
SELECT count(*) FILTER (WHERE state = 'ACTIVE') AS "activeRules", count(*) AS rules
FROM registry.rules WHERE state <> 'DELETED'
"""

STANDING = f"SELECT {_RULE_COLUMNS} FROM registry.rules WHERE state <> 'DELETED' ORDER BY rule_id"  # noqa: S608

SETTINGS = """
SELECT version, body -> 'settings' AS settings FROM registry.rule_events
WHERE type = 'SettingsChanged' ORDER BY version DESC LIMIT 1
"""

# Why it was done stands in the audit trail.
_VERSIONS = """
SELECT e.body, a.body::jsonb ->> 'reason' AS reason
FROM registry.rule_events e LEFT JOIN registry.audit_entries a USING (position)
WHERE e.rule_id = %(rule_id)s
"""

VERSIONS = f"{_VERSIONS} AND e.version > %(after)s ORDER BY e.version LIMIT %(limit)s"

# `after` is the last one seen; 0 is before the newest.
NEWEST_VERSIONS = f"""{_VERSIONS}
  AND (%(after)s = 0 OR e.version < %(after)s) ORDER BY e.version DESC LIMIT %(limit)s
"""

VERSION = f"{_VERSIONS} AND e.version = %(version)s"

EVENTS = """
SELECT position, body FROM registry.rule_events
WHERE position > %(after)s AND (%(rule_id)s::bigint IS NULL OR rule_id = %(rule_id)s)
ORDER BY position LIMIT %(limit)s
"""

LAST_WIDEST = """
SELECT position, body -> 'widestWindows' AS widest FROM registry.rule_events ORDER BY position DESC LIMIT 1
"""

# Applied is what every shard has reached. The shard count is the one of the newest word about the rule: what a former,
# larger engine said must not be waited for.
RULE_STATUS = """
SELECT r.rule_id, r.name, r.state, r.version AS published_version, r.position AS published_position,
       a.version AS applied_version, a.position AS applied_position,
       CASE WHEN a.version IS NOT NULL THEN s.applied_at END AS applied_at,
       CASE WHEN a.version IS NOT NULL THEN s.warm_from END AS warm_from
FROM registry.rules r
LEFT JOIN LATERAL (
    SELECT min(t.position) AS reached, max(t.applied_at) AS applied_at,
           CASE WHEN bool_or(t.warm_from IS NULL) THEN NULL ELSE max(t.warm_from) END AS warm_from
    FROM registry.rule_status t
    WHERE t.rule_id = r.rule_id
      AND t.shards = (SELECT n.shards FROM registry.rule_status n WHERE n.rule_id = r.rule_id
                      ORDER BY n.position DESC, n.applied_at DESC, n.shard LIMIT 1)
    HAVING count(*) = max(t.shards)
) s ON true
LEFT JOIN LATERAL (
    SELECT e.version, e.position FROM registry.rule_events e
    WHERE e.rule_id = r.rule_id AND e.position <= s.reached ORDER BY e.version DESC LIMIT 1
) a ON true
WHERE r.rule_id > %(after)s
  AND CASE WHEN %(state)s::text IS NULL THEN r.state <> 'DELETED' ELSE r.state = %(state)s END
  AND (%(rule_id)s::bigint IS NULL OR r.rule_id = %(rule_id)s)
ORDER BY r.rule_id
LIMIT %(limit)s
"""

# The later word of a shard wins, by position; of equal positions it may only add what was not known before, and
# leaves the time at which the rule was first applied.
UPSERT_STATUS = """
INSERT INTO registry.rule_status AS s (rule_id, shard, shards, version, position, applied_at, warm_from)
VALUES (%(rule_id)s, %(shard)s, %(shards)s, %(version)s, %(position)s, %(applied_at)s, %(warm_from)s)
ON CONFLICT (rule_id, shard) DO UPDATE SET
    shards = excluded.shards, version = excluded.version, position = excluded.position,
    warm_from = coalesce(excluded.warm_from, s.warm_from),
    applied_at = CASE WHEN excluded.position > s.position OR excluded.shards <> s.shards
                      THEN excluded.applied_at ELSE s.applied_at END
WHERE excluded.position >= s.position
"""

# Events of rules and commands that a status may be about, of those positions and ids.
KNOWN_EVENTS = """
SELECT position, rule_id, version FROM registry.rule_events WHERE position = ANY (%(positions)s)
"""

KNOWN_COMMANDS = """
SELECT command_id::text AS command_id, position FROM registry.control_commands
WHERE command_id = ANY (%(command_ids)s::uuid[])
"""

UPSERT_POSITION = """
INSERT INTO registry.engine_positions AS p
    (engine, shard, shards, position, digest, digest_from, is_waiting, reported_at)
VALUES (%(engine)s, %(shard)s, %(shards)s, %(position)s, %(digest)s, %(digest_from)s, %(is_waiting)s, %(reported_at)s)
ON CONFLICT (engine, shard) DO UPDATE SET
    shards = excluded.shards, position = excluded.position, digest = excluded.digest,
    digest_from = excluded.digest_from, is_waiting = excluded.is_waiting, reported_at = excluded.reported_at
WHERE excluded.reported_at >= p.reported_at
"""

POSITIONS = """
SELECT engine, shard, shards, position, digest, digest_from, is_waiting, reported_at
FROM registry.engine_positions ORDER BY engine, shard
"""

NOTE_COMMAND = """
INSERT INTO registry.control_commands (command_id, command, position, last_position, occurred_at, actor)
VALUES (%(command_id)s, %(command)s, %(position)s, %(last_position)s, %(occurred_at)s, %(actor)s)
"""

# What it is about stands in the event itself.
_COMMANDS = """
SELECT c.command_id::text AS command_id, c.command, c.position, c.last_position, c.occurred_at, c.actor,
       e.body - 'widestWindows' AS event
FROM registry.control_commands c JOIN registry.rule_events e USING (position)
"""

COMMAND = f"{_COMMANDS} WHERE c.command_id = %(command_id)s"

# Newest first: `after` is the position of the last one seen.
COMMANDS = f"""{_COMMANDS}
WHERE %(after)s = 0 OR position < %(after)s ORDER BY position DESC LIMIT %(limit)s
"""

# As with status, an engine of another size that was asked before does not count.
EXPORTS = """
SELECT shard, shards, position, exported_at, rules FROM registry.rule_exports
WHERE command_id = %(command_id)s
  AND shards = (SELECT n.shards FROM registry.rule_exports n WHERE n.command_id = %(command_id)s
                ORDER BY n.exported_at DESC, n.shard LIMIT 1)
ORDER BY shard
"""

# What the registry had published by a position: the rules that a shard should hold once it is there. An event that
# starts a shadow or rolls it out has the shadow's definition and not the rule's.
PUBLISHED_BY = """
SELECT rule_id, version, CASE WHEN type IN ('RuleShadowStarted', 'RuleShadowRolledOut') THEN (
    SELECT e.body ->> 'definitionHash' FROM registry.rule_events e
    WHERE e.rule_id = newest.rule_id AND e.version < newest.version
      AND e.type NOT IN ('RuleShadowStarted', 'RuleShadowRolledOut')
    ORDER BY e.version DESC LIMIT 1
) ELSE definition_hash END AS definition_hash, state FROM (
    SELECT DISTINCT ON (rule_id) rule_id, version, type, body ->> 'definitionHash' AS definition_hash,
           body ->> 'state' AS state
    FROM registry.rule_events WHERE rule_id IS NOT NULL AND position <= %(position)s
    ORDER BY rule_id, version DESC
) newest
WHERE state <> 'DELETED' ORDER BY rule_id
"""

# A shard that takes the command again, after a crash, says the same again.
UPSERT_EXPORT = """
INSERT INTO registry.rule_exports AS e (command_id, shard, shards, position, exported_at, rules)
VALUES (%(command_id)s, %(shard)s, %(shards)s, %(position)s, %(exported_at)s, %(rules)s)
ON CONFLICT (command_id, shard) DO UPDATE SET
    shards = excluded.shards, position = excluded.position, exported_at = excluded.exported_at, rules = excluded.rules
WHERE excluded.exported_at >= e.exported_at
"""

KEY = """
SELECT request_hash, status, headers, body FROM registry.idempotency_keys
WHERE actor = %(actor)s AND key = %(key)s AND expires_at > %(now)s
"""

FORGET_EXPIRED_KEYS = "DELETE FROM registry.idempotency_keys WHERE expires_at <= %(now)s"

REMEMBER_KEY = """
INSERT INTO registry.idempotency_keys (actor, key, request_hash, status, headers, body, expires_at)
VALUES (%(actor)s, %(key)s, %(request_hash)s, %(status)s, %(headers)s, %(body)s, %(expires_at)s)
"""

TRY_RELAY_LOCK = "SELECT registry.try_relay_lock() AS taken"

RELAY_CURSOR = "SELECT position FROM registry.relay_cursor"

ADVANCE_RELAY_CURSOR = """
UPDATE registry.relay_cursor SET position = %(to)s, updated_at = now() WHERE position = %(since)s
"""

# To the beginning, to deliver all of it once more.
REWIND_RELAY_CURSOR = "UPDATE registry.relay_cursor SET position = %(to)s, updated_at = now()"

UNDELIVERED = """
SELECT position, event_id::text AS event_id, type, rule_id, occurred_at, body FROM registry.rule_events
WHERE position > %(after)s ORDER BY position LIMIT %(limit)s
"""

LAST_POSITION = "SELECT coalesce(max(position), 0) AS last FROM registry.rule_events"
