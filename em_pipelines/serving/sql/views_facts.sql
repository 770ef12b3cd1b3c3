-- Facts and people, with names. docs/snapshot.md shows each view of a snapshot with a query.

CREATE VIEW facts AS
SELECT
    e.user_id, s.canonical_name AS subject, e.relation,
    CASE WHEN e.relation = 'has_attribute' THEN e.attribute || ': ' || e.value
        ELSE coalesce(o.canonical_name, e.value) END AS object,
    e.polarity, e.status, e.effective_confidence AS confidence, e.temporal_type, e.valid_from, e.valid_to,
    e.learned_at, e.last_reinforced, e.reinforcement_count, e.flags, e.statement, e.edge_id, e.subject_id, e.object_id
FROM current_edges AS e
JOIN entities AS s ON s.entity_id = e.subject_id
LEFT JOIN entities AS o ON o.entity_id = e.object_id
WHERE e.relation NOT IN ('instruction', 'decision', 'plan', 'event', 'state', 'relationship', 'preference', 'fact');
COMMENT ON VIEW facts IS 'Every fact with names, as it stands on the snapshot''s day, in every status.';

-- What is so and what is not so stand apart: whoever counts by relation would else count what is denied along with it.
CREATE VIEW current_facts AS
SELECT f.*
FROM facts AS f
JOIN current_edges AS e USING (edge_id)
WHERE f.polarity > 0 AND f.status IN ('active', 'contradicted') AND f.confidence >= 0.40
  AND NOT e.requires_verification AND e.privacy_level <> 'L4';
COMMENT ON VIEW current_facts IS
'What an agent would be told is so: facts that stand, of at least 0.40 effective confidence. What is not so: current_denials.';

CREATE VIEW current_denials AS
SELECT f.*
FROM facts AS f
JOIN current_edges AS e USING (edge_id)
WHERE f.polarity < 0 AND f.status IN ('active', 'contradicted') AND f.confidence >= 0.40
  AND NOT e.requires_verification AND e.privacy_level <> 'L4';
COMMENT ON VIEW current_denials IS
'What an agent would be told is not so: denied facts that stand, of at least 0.40 effective confidence.';

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

CREATE VIEW fact_history AS
SELECT
    f.user_id, f.subject, f.relation, f.object, f.polarity, o.timestamp AS changed_at, o.operation, o.reason,
    o.before ->> '$.status' AS status_before, o.after ->> '$.status' AS status_after, o.confidence_before,
    o.confidence_after, o.session_id, o.turn_number, f.edge_id, o.correlation_id, o.op_id
FROM graph_ops AS o
JOIN facts AS f USING (edge_id)
ORDER BY o.timestamp, o.session_id, o.turn_number, o.before IS NOT NULL, o.op_id;
COMMENT ON VIEW fact_history IS 'Every operation on every fact, in order: how it came to be what it is.';

CREATE MACRO history(of_edge) AS TABLE
SELECT
    h.changed_at, h.operation, h.reason, h.status_before, h.status_after, h.confidence_before, h.confidence_after,
    h.subject, h.relation, h.object, m.content AS said, h.session_id, h.turn_number, h.edge_id
FROM fact_history AS h
LEFT JOIN messages AS m
    ON m.user_id = h.user_id AND m.session_id = h.session_id AND m.turn_number = h.turn_number
WHERE h.edge_id = of_edge
ORDER BY h.changed_at, h.session_id, h.turn_number, h.status_before IS NOT NULL, h.op_id;

CREATE VIEW conflicts AS
SELECT
    c.user_id, e.canonical_name AS about, c.status, c.reason,
    n.subject || ' ' || CASE WHEN n.polarity < 0 THEN 'not ' ELSE '' END || n.relation || ' ' || n.object AS newer,
    o.subject || ' ' || CASE WHEN o.polarity < 0 THEN 'not ' ELSE '' END || o.relation || ' ' || o.object AS older,
    n.status AS newer_status, o.status AS older_status, n.confidence AS newer_confidence,
    o.confidence AS older_confidence, c.detected_at, c.resolved_at, c.contradiction_id, c.edge_id, c.other_edge_id,
    c.entity_id
FROM contradictions AS c
LEFT JOIN entities AS e USING (entity_id)
LEFT JOIN facts AS n ON n.edge_id = c.edge_id
LEFT JOIN facts AS o ON o.edge_id = c.other_edge_id
ORDER BY c.status, c.detected_at DESC, c.contradiction_id;
COMMENT ON VIEW conflicts IS 'Facts that cannot both hold, in words; a side that left the archive since is null.';

CREATE VIEW fact_sources AS
SELECT
    f.user_id, f.edge_id, f.subject, f.relation, f.object, f.polarity, m.timestamp, m.session_id, m.turn_number,
    m.content
FROM (SELECT edge_id, user_id, unnest(provenance) AS p FROM edges) AS e
JOIN facts AS f USING (edge_id)
JOIN messages AS m
    ON m.user_id = e.user_id AND m.session_id = e.p.session_id AND m.turn_number = e.p.turn_number;
COMMENT ON VIEW fact_sources IS 'The messages that each fact rests on.';

CREATE VIEW users AS
SELECT
    u.user_id, count(m.message_id) AS n_messages, count(DISTINCT m.session_id) AS n_sessions,
    min(m.timestamp) AS first_seen, max(m.timestamp) AS last_seen,
    (SELECT count(*) FROM entities AS e WHERE e.user_id = u.user_id) AS n_entities,
    (SELECT count(*) FROM current_facts AS f WHERE f.user_id = u.user_id) AS n_facts,
    (SELECT count(*) FROM current_denials AS f WHERE f.user_id = u.user_id) AS n_denials
FROM (SELECT user_id FROM messages UNION SELECT user_id FROM entities) AS u
LEFT JOIN messages AS m USING (user_id)
GROUP BY ALL
ORDER BY u.user_id;
COMMENT ON VIEW users IS 'Everybody who is remembered, and how much.';

CREATE VIEW observations AS
WITH said AS (
    SELECT
        user_id, edge_id, subject_id,
        relation IN ('instruction', 'decision', 'plan', 'event', 'state', 'relationship', 'preference', 'fact')
            AS is_observation,
        unnest(provenance, recursive := true)
    FROM current_edges
),
named AS (
    SELECT o.edge_id, list_sort(list(DISTINCT n.canonical_name)) AS entities
    FROM said AS o
    JOIN mentions AS m ON m.user_id = o.user_id AND m.session_id = o.session_id AND m.turn_number = o.turn_number
        AND m.span_start >= o.span_start AND m.span_end <= o.span_end
    JOIN entity_mentions AS em USING (mention_id)
    JOIN entities AS n ON n.entity_id = em.entity_id AND n.entity_id <> o.subject_id
    WHERE o.is_observation
    GROUP BY o.edge_id
),
-- A sentence goes with a fact that was stated in it: retracted where people took that back, else superseded.
over AS (
    SELECT
        e.edge_id, CASE
            WHEN e.status = 'retracted' OR c.source_mechanism = 'user_correction' THEN 'retracted' ELSE 'superseded'
        END AS status
    FROM current_edges AS e
    LEFT JOIN current_edges AS c ON c.edge_id = e.superseded_by
    WHERE e.status IN ('retracted', 'superseded')
),
ended AS (
    SELECT o.edge_id, min(v.status) AS status
    FROM said AS o
    JOIN said AS f ON f.user_id = o.user_id AND f.session_id = o.session_id AND f.turn_number = o.turn_number
        AND f.span_start < o.span_end AND o.span_start < f.span_end
    JOIN over AS v ON v.edge_id = f.edge_id
    WHERE o.is_observation AND NOT f.is_observation
    GROUP BY o.edge_id
)
SELECT
    e.user_id, o.canonical_name AS owner, e.relation AS kind, e.value AS text,
    regexp_extract_all(e.value, '[$€£]?[0-9][0-9.,:/]*(?: ?%| [a-z]+)?') AS amounts,
    coalesce(n.entities, []) AS entities, e.valid_from,
    CASE WHEN e.status = 'active' THEN coalesce(x.status, e.status) ELSE e.status END AS status,
    e.effective_confidence AS confidence, e.reinforcement_count, e.learned_at, e.last_reinforced,
    e.context_tags AS tags, e.supersedes, e.superseded_by, e.privacy_level, e.provenance, e.edge_id AS observation_id,
    e.subject_id AS owner_id
FROM current_edges AS e
JOIN entities AS o ON o.entity_id = e.subject_id
LEFT JOIN named AS n USING (edge_id)
LEFT JOIN ended AS x USING (edge_id)
WHERE e.relation IN ('instruction', 'decision', 'plan', 'event', 'state', 'relationship', 'preference', 'fact');
COMMENT ON VIEW observations IS
'What people said that is worth keeping, sentence by sentence, with whose it is, its kind and the entities that it names.';
