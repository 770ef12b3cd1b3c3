-- The views of a snapshot. docs/snapshot.md shows each with a query.

CREATE VIEW facts AS
SELECT
    e.user_id, s.canonical_name AS subject, e.relation,
    CASE WHEN e.attribute IS NOT NULL THEN e.attribute || ': ' || e.value ELSE coalesce(o.canonical_name, e.value) END
        AS object,
    e.polarity, e.status, e.effective_confidence AS confidence, e.temporal_type, e.valid_from, e.valid_to,
    e.learned_at, e.last_reinforced, e.reinforcement_count, e.flags, e.edge_id
FROM current_edges AS e
JOIN entities AS s ON s.entity_id = e.subject_id
LEFT JOIN entities AS o ON o.entity_id = e.object_id;
COMMENT ON VIEW facts IS 'Every fact with names, as it stands on the snapshot''s day, in every status.';

CREATE VIEW current_facts AS
SELECT f.*
FROM facts AS f
JOIN current_edges AS e USING (edge_id)
WHERE f.status IN ('active', 'contradicted') AND f.confidence >= 0.40
  AND NOT e.requires_verification AND e.privacy_level <> 'L4';
COMMENT ON VIEW current_facts IS 'What an agent would be told: active facts of at least 0.40 effective confidence.';

CREATE VIEW inferred_facts AS
SELECT
    i.user_id, s.canonical_name AS subject, i.relation, o.canonical_name AS object, i.confidence, i.rule_id, i.hops,
    i.temporal_type, i.learned_at,
    (
        SELECT list(f.subject || ' ' || f.relation || ' ' || f.object ORDER BY p.place)
        FROM (SELECT unnest(i.premises) AS edge_id, generate_subscripts(i.premises, 1) AS place) AS p
        JOIN facts AS f USING (edge_id)
    ) AS because,
    i.premises, i.edge_id
FROM inferred_edges AS i
JOIN entities AS s ON s.entity_id = i.subject_id
JOIN entities AS o ON o.entity_id = i.object_id;
COMMENT ON VIEW inferred_facts IS 'What follows from current facts, with names, the rule and its premises.';

CREATE MACRO facts_as_of(day) AS TABLE
SELECT * FROM facts
WHERE learned_at < CAST(day AS DATE) + INTERVAL 1 DAY
  AND coalesce(valid_from, CAST(learned_at AS DATE)) <= CAST(day AS DATE)
  AND (valid_to IS NULL OR valid_to > CAST(day AS DATE))
  AND status <> 'retracted';

CREATE VIEW fact_history AS
SELECT
    f.user_id, f.subject, f.relation, f.object, f.polarity, o.timestamp AS changed_at, o.operation, o.reason,
    o.confidence_before, o.confidence_after, o.session_id, o.turn_number, f.edge_id, o.correlation_id
FROM graph_ops AS o
JOIN facts AS f USING (edge_id)
ORDER BY o.timestamp;
COMMENT ON VIEW fact_history IS 'Every operation on every fact, in order: how it came to be what it is.';

CREATE VIEW fact_sources AS
SELECT f.user_id, f.edge_id, f.subject, f.relation, f.object, m.timestamp, m.session_id, m.turn_number, m.content
FROM (SELECT edge_id, user_id, unnest(provenance) AS p FROM edges) AS e
JOIN facts AS f USING (edge_id)
JOIN messages AS m
    ON m.user_id = e.user_id AND m.session_id = e.p.session_id AND m.turn_number = e.p.turn_number;
COMMENT ON VIEW fact_sources IS 'The messages that each fact rests on.';

CREATE VIEW quality_by_day AS
SELECT
    m.day, m.n_messages, m.n_user_messages,
    coalesce(c.n_claims, 0) AS n_claims,
    coalesce(i.n_skipped, 0) AS n_skipped,
    coalesce(c.n_relates_to, 0) / greatest(1, coalesce(c.n_claims, 0)) AS relates_to_share
FROM (
    SELECT CAST(timestamp AS DATE) AS day, count(*) AS n_messages, count(*) FILTER (role = 'user') AS n_user_messages
    FROM messages GROUP BY ALL
) AS m
LEFT JOIN (
    SELECT CAST(timestamp AS DATE) AS day, count(*) AS n_claims, count(*) FILTER (relation = 'relates_to') AS n_relates_to
    FROM claims GROUP BY ALL
) AS c USING (day)
LEFT JOIN (
    SELECT CAST(timestamp AS DATE) AS day, count(*) FILTER (issue = 'skipped') AS n_skipped
    FROM extraction_issues GROUP BY ALL
) AS i USING (day)
ORDER BY m.day;
COMMENT ON VIEW quality_by_day IS 'Messages, claims and skips a day.';

CREATE VIEW users AS
SELECT
    m.user_id, count(*) AS n_messages, count(DISTINCT m.session_id) AS n_sessions,
    min(m.timestamp) AS first_seen, max(m.timestamp) AS last_seen,
    (SELECT count(*) FROM entities AS e WHERE e.user_id = m.user_id) AS n_entities,
    (SELECT count(*) FROM current_facts AS f WHERE f.user_id = m.user_id) AS n_facts
FROM messages AS m
GROUP BY ALL
ORDER BY m.user_id;
COMMENT ON VIEW users IS 'Everybody who is remembered, and how much.';
