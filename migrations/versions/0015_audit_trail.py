"""The audit trail: who changed what, when and why, each entry holding the hash of the one before.

What an entry says is kept as the text that its hash was taken of; the columns beside it are computed from that text,
so that they cannot say something else. The database checks each new entry: its number, its hash, and that it follows
on the last one. Neither log nor trail can be changed or emptied, by their owner either.

Events of before get their entries here, in the order of the log. Who had which role, and why they did it, nobody noted.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0015_audit_trail"
down_revision = "0014_issued_voids_only"
branch_labels = None
depends_on = None

TRAIL = """
SET LOCAL ROLE tripline_owner;

CREATE TABLE registry.audit_entries (
    sequence      bigint PRIMARY KEY CHECK (sequence > 0),
    body          text NOT NULL,
    hash          text NOT NULL UNIQUE CHECK (hash = encode(sha256(convert_to(body, 'UTF8')), 'hex')),
    previous_hash text NOT NULL UNIQUE GENERATED ALWAYS AS (body::jsonb ->> 'previousHash') STORED,
    type          text NOT NULL GENERATED ALWAYS AS (body::jsonb ->> 'type') STORED,
    occurred_at   bigint NOT NULL GENERATED ALWAYS AS ((body::jsonb ->> 'occurredAt')::bigint) STORED,
    actor         text NOT NULL GENERATED ALWAYS AS (body::jsonb ->> 'actor') STORED,
    subject_kind  text NOT NULL GENERATED ALWAYS AS (body::jsonb #>> '{subject,kind}') STORED,
    subject_id    text GENERATED ALWAYS AS (body::jsonb #>> '{subject,id}') STORED,
    position      bigint UNIQUE GENERATED ALWAYS AS ((body::jsonb ->> 'position')::bigint) STORED
                  REFERENCES registry.rule_events (position),
    CHECK ((body::jsonb ->> 'sequence')::bigint = sequence)
);
CREATE INDEX audit_entries_by_subject ON registry.audit_entries (subject_kind, subject_id, sequence);
CREATE INDEX audit_entries_by_actor ON registry.audit_entries (actor, sequence);
CREATE INDEX audit_entries_by_time ON registry.audit_entries (occurred_at);

CREATE FUNCTION registry.follow_on_last_entry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
DECLARE
    last registry.audit_entries;
BEGIN
    SELECT * INTO last FROM registry.audit_entries ORDER BY sequence DESC LIMIT 1;
    IF NEW.sequence <> coalesce(last.sequence, 0) + 1
       OR NEW.body::jsonb ->> 'previousHash' IS DISTINCT FROM coalesce(last.hash, repeat('0', 64)) THEN
        RAISE EXCEPTION 'audit entry % does not follow on the last one', NEW.sequence
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION registry.follow_on_last_entry() FROM PUBLIC;

CREATE TRIGGER follow_on_last_entry BEFORE INSERT ON registry.audit_entries
    FOR EACH ROW EXECUTE FUNCTION registry.follow_on_last_entry();

CREATE FUNCTION registry.refuse_another_past() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    RAISE EXCEPTION '%.% can only grow', TG_TABLE_SCHEMA, TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
REVOKE ALL ON FUNCTION registry.refuse_another_past() FROM PUBLIC;

CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON registry.rule_events
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse_another_past();
CREATE TRIGGER only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON registry.audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION registry.refuse_another_past();

GRANT SELECT, INSERT ON registry.audit_entries TO tripline_registry_api;

RESET ROLE;
"""
_INSERT = sa.text(
    "INSERT INTO registry.audit_entries (sequence, body, hash) VALUES (:sequence, :body, :hash)"
)
_EVENTS = """
SELECT position, type, rule_id, version, name, occurred_at, actor, body FROM registry.rule_events ORDER BY position
"""
_HEAD = ("eventId", "type", "position", "occurredAt", "actor", "widestWindows", "commandId")
_RULE = ("version", "definitionVersion", "state", "name", "definition", "definitionHash", "effectiveFrom")


def upgrade() -> None:
    """Create the trail, and an entry for each event of before."""
    op.execute(TRAIL)
    connection = op.get_bind()
    states: dict[tuple[str, str | None], dict[str, Any]] = {}
    last_hash = "0" * 64
    events = connection.execute(sa.text(_EVENTS)).yield_per(500)
    for sequence, event in enumerate(events, start=1):
        subject, after = _subject_and_after(event)
        members = {
            "sequence": sequence,
            "previousHash": last_hash,
            "type": event.type,
            "occurredAt": event.occurred_at,
            "actor": event.actor,
            "role": None,
            "requestId": None,
            "reason": None,
            "subject": {"kind": subject[0], "id": subject[1]},
            "position": event.position,
            "before": states.get(subject),
            "after": after,
        }
        body = _canonical(members)
        last_hash = hashlib.sha256(body.encode()).hexdigest()
        connection.execute(_INSERT, {"sequence": sequence, "body": body, "hash": last_hash})
        states[subject] = after


def _subject_and_after(event: Any) -> tuple[tuple[str, str | None], dict[str, Any]]:
    """Of an event as its row has it."""
    body = event.body
    match event.type:
        case "SettingsChanged":
            return ("settings", None), {"version": event.version, **body.get("settings", {})}
        case "ControlCommand":
            command = {name: value for name, value in body.items() if name not in _HEAD}
            return ("command", body.get("commandId")), command
        case "ListChanged":
            values = body.get("values", [])
            digest = hashlib.sha256(_canonical(values).encode()).hexdigest()
            return ("list", event.name), {"version": event.version, "entries": len(values), "sha256": digest}
        case "ParameterChanged":
            return ("parameter", event.name), {"version": event.version, "value": body.get("value")}
    return ("rule", str(event.rule_id)), {name: body[name] for name in _RULE if name in body}


def _canonical(value: object) -> str:
    """RFC 8785 for texts, whole numbers and ASCII names."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def downgrade() -> None:
    """Refuse: the history goes forward only."""
    raise NotImplementedError("migrations go forward only: restore a backup instead")
