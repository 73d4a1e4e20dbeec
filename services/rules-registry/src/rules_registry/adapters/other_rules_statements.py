"""The SQL of what one rule is looked at beside: the others that are alike, called the same, or wider."""

# Names are compared without case. An import may have brought several: the oldest is told.
NAMED_ALIKE = """
SELECT rule_id FROM registry.rules
WHERE lower(name) = lower(%(name)s) AND state <> 'DELETED' AND rule_id <> %(without)s ORDER BY rule_id LIMIT 1
"""

# Active rules that differ from a definition in nothing but limit and window, those first that say the same; of others
# as many as anybody would read about. The number finds them in the order of an index, so that a few of thousands are
# read; that the rest is the same is said of these few, for as a condition it would have Postgres expect fewer.
_ALIKE = """
SELECT rule_id, version, definition_version, state, name, effective_from, effective_until,
       definition -> 'limit' AS limit_value, (definition ->> 'windowSeconds')::bigint AS window_seconds,
       definition - 'limit' - 'windowSeconds' = %(alike)s::jsonb AS is_alike
FROM registry.rules
WHERE hashtextextended((definition - 'limit' - 'windowSeconds')::text, 0)
      = hashtextextended(%(alike)s::jsonb::text, 0)
  AND state = 'ACTIVE' AND rule_id <> %(without)s
"""

ALIKE = f"""
SELECT * FROM (
    ({_ALIKE} AND definition_hash = %(definition_hash)s ORDER BY rule_id LIMIT 20)
    UNION ALL
    ({_ALIKE} AND definition_hash <> %(definition_hash)s ORDER BY definition_hash, rule_id LIMIT 80)
) alike ORDER BY rule_id
"""  # noqa: S608 - constants

# Of the rules that are not chained, one left aside, the widest of each grouping set and precision. Each step finds the
# next such pair in the index: ten thousand rules have a handful of them.
_WIDEST = """
WITH RECURSIVE kinds AS (
    (SELECT grouping_key_names, coalesce(definition ->> 'precision', '') AS precision FROM registry.rules
     WHERE state <> 'DELETED' AND NOT definition ? 'conditions'
     ORDER BY grouping_key_names, coalesce(definition ->> 'precision', '') LIMIT 1)
    UNION ALL
    SELECT following.* FROM kinds, LATERAL (
        SELECT r.grouping_key_names, coalesce(r.definition ->> 'precision', '') FROM registry.rules r
        WHERE r.state <> 'DELETED' AND NOT r.definition ? 'conditions'
          AND (r.grouping_key_names, coalesce(r.definition ->> 'precision', ''))
              > (kinds.grouping_key_names, kinds.precision)
        ORDER BY r.grouping_key_names, coalesce(r.definition ->> 'precision', '') LIMIT 1
    ) following
), widest AS (
    SELECT first.* FROM kinds, LATERAL (
        SELECT r.rule_id, r.definition_version, r.definition FROM registry.rules r
        WHERE r.state <> 'DELETED' AND NOT r.definition ? 'conditions' AND r.rule_id <> %(without)s
          AND r.grouping_key_names = kinds.grouping_key_names
          AND coalesce(r.definition ->> 'precision', '') = kinds.precision
        ORDER BY (r.definition ->> 'windowSeconds')::bigint DESC, r.rule_id LIMIT 1
    ) first
)
"""

# Rules that have grouping and precision in common are alike but for their window. Chained rules are never alike.
WIDEST_DEFINITIONS = f"""{_WIDEST}
SELECT definition FROM widest
UNION ALL
SELECT definition FROM registry.rules
WHERE state <> 'DELETED' AND definition ? 'conditions' AND rule_id <> %(without)s
"""  # noqa: S608 - constants

# The widest of each grouping set beside one rule: all that the widest windows after its change can depend on. A chained
# rule needs the grouping of each condition and of each measure behind a limit, as far back as its window begins: both
# have windowSeconds. Only such ones are searched for them, level by level.
NEEDING = f"""{_WIDEST}
SELECT rule_id, definition_version, definition FROM widest
UNION ALL
(SELECT DISTINCT ON (condition -> 'groupingKeyNames') rule_id, definition_version, definition
 FROM registry.rules,
      jsonb_path_query(definition, 'strict $.conditions.** ? (exists (@.windowSeconds))') AS condition
 WHERE state <> 'DELETED' AND definition ? 'conditions' AND rule_id <> %(without)s
 ORDER BY condition -> 'groupingKeyNames',
          (condition ->> 'windowSeconds')::bigint + coalesce((condition ->> 'offsetSeconds')::bigint, 0) DESC, rule_id)
"""  # noqa: S608 - constants
