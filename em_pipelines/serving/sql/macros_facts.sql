-- Facts on any day, as memory knew them on any other, out of the newest state and the log of operations. What
-- lifecycle/ and serving/facts.py compute from the state of that day; tests hold the two against each other.

CREATE MACRO utc_day(instant) AS CAST(instant AT TIME ZONE 'UTC' AS DATE);

-- The last day that a date can mean: of a month or a year its end.
CREATE MACRO end_of(first_day, said_to) AS CASE said_to
    WHEN 'month' THEN last_day(first_day) WHEN 'year' THEN make_date(year(first_day), 12, 31) ELSE first_day
END;
CREATE MACRO end_of_value(value) AS CASE length(value)
    WHEN 7 THEN last_day(try_cast(value || '-01' AS DATE)) WHEN 4 THEN try_cast(value || '-12-31' AS DATE)
    ELSE try_cast(value AS DATE)
END;

CREATE MACRO band(confidence) AS CASE
    WHEN confidence >= 0.85 THEN 'plain' WHEN confidence >= 0.60 THEN 'hedged' WHEN confidence >= 0.40 THEN 'careful'
    ELSE 'background'
END;

-- By which name each name was read at the end of a day: names that links of then hold together are one. Links that a
-- later split took away are found in the operations.
CREATE MACRO names_known_at(of_user, known_on) AS TABLE
WITH RECURSIVE links AS (
    SELECT entity_id AS one, link.entity_id AS other, link.linked_at, link.method
    FROM (SELECT user_id, entity_id, unnest(links) AS link FROM entities)
    WHERE (of_user IS NULL OR user_id = of_user) AND utc_day(link.linked_at) <= CAST(known_on AS DATE)
    UNION ALL
    SELECT m.entity_id, m.other_id, m.timestamp, m.method
    FROM entity_ops AS m
    WHERE m.operation = 'MERGE' AND (of_user IS NULL OR m.user_id = of_user)
      AND utc_day(m.timestamp) <= CAST(known_on AS DATE)
      AND NOT EXISTS (
        FROM entity_ops AS s
        WHERE s.operation = 'SPLIT' AND s.user_id = m.user_id AND s.timestamp >= m.timestamp
          AND utc_day(s.timestamp) <= CAST(known_on AS DATE)
          AND (s.entity_id IN (m.entity_id, m.other_id) OR s.other_id IN (m.entity_id, m.other_id))
      )
),
pairs AS (
    SELECT one, other FROM links
    UNION
    SELECT other, one FROM links
),
grouped AS (
    SELECT one AS entity_id, one AS member FROM pairs
    UNION
    SELECT g.entity_id, p.other FROM grouped AS g JOIN pairs AS p ON p.one = g.member
),
chosen AS (SELECT other AS entity_id, max(linked_at) AS chosen_at FROM links WHERE method = 'feedback' GROUP BY ALL),
chosen_since AS (
    SELECT DISTINCT link.entity_id
    FROM (SELECT unnest(links) AS link FROM entities)
    WHERE link.method = 'feedback' AND utc_day(link.linked_at) > CAST(known_on AS DATE)
)
SELECT g.entity_id, g.member AS read_as, e.canonical_name AS name
FROM grouped AS g
JOIN entities AS e ON e.entity_id = g.member
LEFT JOIN chosen AS c ON c.entity_id = g.member
LEFT JOIN chosen_since AS later ON later.entity_id = g.member
-- People's own choice, then whoever it is read by today, then proper names, then the one met first.
QUALIFY row_number() OVER (
    PARTITION BY g.entity_id
    ORDER BY
        e.name_key <> 'user', c.chosen_at DESC NULLS LAST, e.merged_into IS NOT NULL OR later.entity_id IS NOT NULL,
        left(e.canonical_name, 1) = lower(left(e.canonical_name, 1)), e.first_seen, -length(e.canonical_name), g.member
) = 1;

-- Every fact known at the end of `known_on`, in every status, as it stands at the end of `on_day`.
CREATE MACRO facts_in_every_status(of_user, on_day, known_on) AS TABLE
WITH ops AS (
    SELECT
        *, utc_day(timestamp) AS day,
        before IS NULL OR operation IN ('REINFORCE', 'CONFIRM') AS mentions_it,
        before IS NULL OR (
            operation IN ('REINFORCE', 'CONFIRM')
            AND reason NOT IN ('surfaced in a session', 'looked up and found to hold')
        ) AS asserts_it
    FROM graph_ops
    WHERE (of_user IS NULL OR user_id = of_user) AND utc_day(timestamp) <= CAST(known_on AS DATE)
),
-- The last word on each fact: of a day the operation that no other one starts from, else the one said last.
standing AS (
    SELECT
        edge_id, after ->> '$.status' AS status, CAST(after ->> '$.valid_from' AS DATE) AS valid_from,
        CAST(after ->> '$.valid_to' AS DATE) AS valid_to,
        CAST(after ->> '$.reinforcement_count' AS BIGINT) AS reinforcement_count, confidence_after AS confidence
    FROM (
        SELECT *, coalesce(list_contains(list(before) OVER (PARTITION BY edge_id, day), after), false) AS is_followed
        FROM ops
    )
    QUALIFY row_number() OVER (
        PARTITION BY edge_id
        ORDER BY day DESC, is_followed, timestamp DESC, session_id DESC, turn_number DESC, before IS NULL, op_id DESC
    ) = 1
),
said AS (
    SELECT
        edge_id, max(timestamp) FILTER (mentions_it) AS last_reinforced,
        count(DISTINCT session_id) FILTER (mentions_it AND reason <> 'surfaced in a session') AS n_sessions,
        coalesce(bool_or(operation = 'CONFIRM' OR source_mechanism = 'user_correction') FILTER (asserts_it), false)
            AS is_decided,
        list(claim_id) FILTER (asserts_it) AS claim_ids
    FROM ops GROUP BY ALL
),
-- What a claim brought into a fact and the fact keeps: whether blocks were pasted, and that it was only ever vented.
brought AS (
    SELECT s.edge_id, bool_or(c.has_pasted_source) AS has_pasted_source, bool_and(c.temporal_type = 'episode') AS is_mood
    FROM (SELECT edge_id, unnest(claim_ids) AS claim_id FROM said) AS s
    SEMI JOIN (FROM edges WHERE has_pasted_source OR list_contains(flags, 'emotional_state')) AS e USING (edge_id)
    JOIN claims AS c USING (claim_id)
    GROUP BY ALL
),
-- What was said of it until then in the fullest words, as graph/sql/macros.sql has it: why or what for, then at length.
worded AS (
    SELECT
        s.edge_id, first(
            c.statement
            ORDER BY
                regexp_matches(c.statement, '(?i)\b(?:because|so that|in order to|due to|thanks to)\b') DESC,
                length(c.statement) DESC, c.statement
        ) FILTER (c.statement IS NOT NULL) AS statement
    FROM (SELECT edge_id, unnest(claim_ids) AS claim_id FROM said) AS s
    JOIN claims AS c USING (claim_id)
    GROUP BY ALL
),
read_as AS (FROM names_known_at(of_user, known_on)),
named AS (
    SELECT
        e.edge_id, e.user_id, coalesce(s.read_as, e.subject_id) AS subject_id, e.relation,
        coalesce(o.read_as, e.object_id) AS object_id, coalesce(o.read_as, e.object_key) AS object_key, e.value,
        e.attribute, e."over", w.statement, e.polarity, n.status, n.valid_from, n.valid_to,
        CASE WHEN n.valid_from IS NOT NULL THEN e.valid_precision END AS valid_precision, e.learned_at,
        l.last_reinforced, n.confidence, n.reinforcement_count, e.flags, e.requires_verification, e.privacy_level,
        CASE
            WHEN e.temporal_type = 'trait' AND b.is_mood AND list_contains(e.flags, 'emotional_state')
                AND l.n_sessions < t.venting_sessions THEN 'episode'
            ELSE e.temporal_type
        END AS temporal_type,
        b.has_pasted_source AND NOT l.is_decided AND l.n_sessions = 1 AS is_unsupported,
        s.entity_id IS NOT NULL OR o.entity_id IS NOT NULL AS may_repeat,
        date_diff('day', utc_day(l.last_reinforced), CAST(on_day AS DATE)) AS unreferenced_days
    FROM edges AS e
    JOIN standing AS n USING (edge_id)
    JOIN said AS l USING (edge_id)
    CROSS JOIN time_rules AS t
    LEFT JOIN brought AS b USING (edge_id)
    LEFT JOIN worded AS w USING (edge_id)
    LEFT JOIN read_as AS s ON s.entity_id = e.subject_id
    LEFT JOIN read_as AS o ON o.entity_id = e.object_id
    WHERE e.relation NOT IN ('instruction', 'decision', 'plan', 'event', 'state', 'relationship', 'preference', 'fact')
),
faded AS (
    SELECT
        n.* REPLACE (
            CASE
                WHEN n.may_repeat AND n.status IN ('active', 'contradicted') AND row_number() OVER (
                    PARTITION BY
                        n.user_id, n.subject_id, n.relation, n.object_key, n.attribute, n.polarity,
                        n.requires_verification, n.may_repeat AND n.status IN ('active', 'contradicted')
                    ORDER BY n.confidence DESC, n.last_reinforced DESC, n.edge_id
                ) > 1 THEN 'superseded'
                ELSE n.status
            END AS status,
            least(
                decayed(n.confidence, n.unreferenced_days, r.loss_per_day, r.half_life_days),
                CASE WHEN n.is_unsupported THEN t.max_unsupported_confidence ELSE 1.0 END
            ) AS confidence
        ),
        CASE
            WHEN n.temporal_type = 'wish' THEN least(
                utc_day(n.last_reinforced) + t.wish_expiry_days,
                CASE
                    WHEN n.valid_from IS NOT NULL
                        AND end_of(n.valid_from, n.valid_precision) >= utc_day(n.last_reinforced)
                        THEN end_of(n.valid_from, n.valid_precision) + t.event_expiry_days
                END
            )
            WHEN n.relation = 'scheduled_for' THEN end_of_value(n.value) + t.event_expiry_days
            WHEN n.temporal_type = 'plan' THEN end_of(n.valid_from, n.valid_precision) + t.event_expiry_days
        END AS expires_on,
        t.archive_below_confidence
    FROM named AS n
    JOIN decay_rates AS r USING (temporal_type)
    CROSS JOIN time_rules AS t
    -- In the archive for as long as the archive keeps things.
    WHERE NOT (
        n.status IN ('active', 'contradicted') AND n.unreferenced_days >= t.archive_days
        AND decayed(n.confidence, n.unreferenced_days - t.archive_days, r.loss_per_day, r.half_life_days)
            < t.archive_below_confidence
    )
)
SELECT
    f.user_id, s.canonical_name AS subject, f.relation,
    CASE WHEN f.relation = 'has_attribute' THEN f.attribute || ': ' || f.value
        ELSE coalesce(o.canonical_name, f.value) END AS object,
    f.polarity,
    CASE
        WHEN f.status NOT IN ('active', 'contradicted') THEN f.status
        WHEN f.expires_on <= CAST(on_day AS DATE) THEN 'expired'
        WHEN f.confidence < f.archive_below_confidence THEN 'archived'
        ELSE f.status
    END AS status,
    f.confidence, f.temporal_type, f.valid_from, f.valid_to, f.valid_precision, f."over", f.flags, f.learned_at,
    f.last_reinforced, f.reinforcement_count, f.statement, f.edge_id, f.subject_id, f.object_id
FROM faded AS f
JOIN entities AS s ON s.entity_id = f.subject_id
LEFT JOIN entities AS o ON o.entity_id = f.object_id
WHERE NOT f.requires_verification AND f.privacy_level <> 'L4'
ORDER BY f.confidence DESC, subject, f.relation, object, f.edge_id;

CREATE MACRO facts_as_of(of_user, on_day) AS TABLE
FROM facts_in_every_status(of_user, on_day, on_day) WHERE status IN ('active', 'contradicted');

-- Looking back, what is known to have ended later held then, and what began later did not; attributes always hold,
-- plans and wishes are about what is to come.
CREATE MACRO facts_known_at(of_user, on_day, known_on) AS TABLE
FROM facts_in_every_status(of_user, on_day, known_on)
WHERE (status IN ('active', 'contradicted') OR (status = 'superseded' AND valid_to > CAST(on_day AS DATE)))
  AND (
    temporal_type IN ('attribute', 'plan', 'wish')
    OR coalesce(valid_from, utc_day(learned_at)) <= CAST(on_day AS DATE)
  );
