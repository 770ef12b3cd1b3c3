-- Of whom a death or another loss was told.
CREATE OR REPLACE TEMP TABLE probe_lost AS
SELECT DISTINCT user_id, unnest([subject_id, object_id]) AS entity_id
FROM known_edges WHERE regexp_matches(statement, getvariable('grave'), 'i');

-- What is wished, meant or held is a phrase: by the thing that bears those very words as a name, else as a thing of its
-- own, with the id that an entity of that name would have.
CREATE OR REPLACE TEMP TABLE probe_meant AS
SELECT
    p.user_id, p.value, p.name_key, coalesce(min(t.entity_id), p.entity_id) AS thing_id, min(t.entity_id) IS NULL AS is_phrase
FROM probe_phrases AS p
LEFT JOIN known_entities AS t
    ON t.user_id = p.user_id AND t.merged_into IS NULL
    AND (t.name_key = p.name_key OR list_contains(t.alias_keys, p.name_key))
GROUP BY p.user_id, p.value, p.name_key, p.entity_id;

-- Names by the thing that they are read as, with what may be said of it.
CREATE OR REPLACE TEMP TABLE probe_things AS
SELECT
    user_id, entity_id, canonical_name AS name, name_key, entity_type, importance, mention_count, last_referenced,
    first_seen, qualifiers, distinct_from,
    name_key = 'user' AND discriminator = '' AS is_user,
    privacy_level IN ('L0', 'L1', 'L2') AND NOT requires_verification
        AND (user_id, entity_id) NOT IN (SELECT (user_id, entity_id) FROM probe_lost WHERE entity_id IS NOT NULL) AS is_open
FROM known_entities
WHERE merged_into IS NULL
UNION ALL
SELECT
    e.user_id, m.thing_id, min(e.value), m.name_key, 'activity',
    least(1.0, ln(1 + sum(1 + e.reinforcement_count)) / ln(1 + getvariable('mentions_at_full_importance'))),
    sum(1 + e.reinforcement_count), max(e.last_reinforced), min(e.learned_at), [], [], false,
    bool_and(
        e.privacy_level IN ('L0', 'L1', 'L2') AND NOT e.requires_verification
        AND NOT coalesce(regexp_matches(e.statement, getvariable('grave'), 'i'), false)
    )
FROM known_edges AS e
JOIN probe_meant AS m ON m.user_id = e.user_id AND m.value = e.value AND m.is_phrase
WHERE list_contains(getvariable('phrase_relations'), e.relation)
GROUP BY e.user_id, m.thing_id, m.name_key;

-- Names under which the remembered person is spoken to: in talk among people they are things of their own.
CREATE OR REPLACE TEMP TABLE probe_selves AS
SELECT t.user_id, t.entity_id
FROM probe_things AS t
WHERE t.entity_type = 'person' AND NOT t.is_user AND length(t.name_key) > 2
    AND (starts_with(lower(t.user_id), t.name_key) OR starts_with(t.name_key, lower(t.user_id)))
UNION
SELECT t.user_id, t.entity_id
FROM known_edges AS e
JOIN probe_things AS u ON u.user_id = e.user_id AND u.entity_id = e.subject_id AND u.is_user
JOIN probe_things AS t
    ON t.user_id = e.user_id AND NOT t.is_user
    AND (t.name_key = lower(e.value) OR starts_with(lower(e.value), t.name_key || ' '))
WHERE e.relation = 'has_name' AND e.status IN ('active', 'contradicted');

-- Facts of messages in which something was said in confidence.
CREATE OR REPLACE TEMP TABLE probe_confided AS
WITH told AS (
    SELECT DISTINCT e.user_id, p.session_id, p.turn_number
    FROM known_edges AS e, unnest(e.provenance) AS said (p)
    WHERE regexp_matches(e.statement, getvariable('confided'), 'i')
)
SELECT DISTINCT e.edge_id
FROM known_edges AS e, unnest(e.provenance) AS said (p)
JOIN told AS c ON c.user_id = e.user_id AND c.session_id = p.session_id AND c.turn_number = p.turn_number;

-- What stands of the remembered person, and of things. Where the person is the object it is turned round, as far as the
-- relation can be.
CREATE OR REPLACE TEMP TABLE probe_facts AS
WITH stated AS (
    SELECT
        e.*, w.other_way IS NOT NULL AND o.is_user IS TRUE AND s.is_user IS NOT TRUE AS is_turned,
        s.is_user IS TRUE AS is_by_user, w.other_way
    FROM known_edges AS e
    LEFT JOIN probe_things AS s ON s.user_id = e.user_id AND s.entity_id = e.subject_id AND s.is_user
    LEFT JOIN probe_things AS o ON o.user_id = e.user_id AND o.entity_id = e.object_id AND o.is_user
    LEFT JOIN other_ways AS w ON w.relation = e.relation
    WHERE e.status IN ('active', 'contradicted')
)
SELECT
    t.user_id, t.edge_id, t.is_by_user OR t.is_turned AS is_users,
    CASE WHEN t.is_turned THEN t.other_way ELSE t.relation END AS relation,
    CASE WHEN t.is_turned THEN t.object_id ELSE t.subject_id END AS subject_id,
    CASE WHEN t.is_turned THEN t.subject_id ELSE coalesce(t.object_id, m.thing_id) END AS thing_id,
    t.value, t.attribute, t.over, t.object_key, t.polarity, t.temporal_type, t.valid_from, t.valid_to, t.learned_at,
    t.last_reinforced, t.confidence, t.effective_confidence, t.reinforcement_count, t.hedge_level, t.source_mechanism,
    t.flags, t.context_tags, t.statement, t.as_of, t.status,
    t.provenance[1].session_id AS session_id, t.provenance[1].turn_number AS turn_number,
    -- A fact that may be asked about, or be named in what is asked.
    t.privacy_level IN ('L0', 'L1', 'L2') AND NOT t.requires_verification
        AND (NOT t.has_pasted_source OR t.source_mechanism = 'user_correction')
        AND t.source_mechanism NOT IN ('shared', 'reflective')
        AND NOT list_has_any(
            t.flags, ['hypothetical', 'sarcasm_detected', 'emotional_state', 'abandoned_intent', 'secondhand']
        )
        AND NOT list_has_any(t.context_tags, getvariable('delicate_topics'))
        AND c.edge_id IS NULL
        AND coalesce(t.valid_to > t.as_of, true) AS is_askable
FROM stated AS t
LEFT JOIN probe_meant AS m
    ON m.user_id = t.user_id AND m.value = t.value AND list_contains(getvariable('phrase_relations'), t.relation)
LEFT JOIN probe_confided AS c USING (edge_id);

-- How much hangs on each thing, and when somebody last said anything at all.
CREATE OR REPLACE TEMP TABLE probe_degrees AS
SELECT user_id, thing_id, count(*) AS n_facts
FROM (
    SELECT user_id, thing_id FROM probe_facts WHERE thing_id IS NOT NULL
    UNION ALL SELECT user_id, subject_id FROM probe_facts WHERE NOT is_users
)
GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE probe_users AS
SELECT
    f.user_id, min(f.learned_at) AS began_at,
    greatest(max(f.last_reinforced), any_value(u.last_referenced)) AS spoke_at
FROM probe_facts AS f
JOIN probe_things AS u ON u.user_id = f.user_id AND u.is_user
GROUP BY f.user_id;

-- Facts of the remembered person about things that may be named.
CREATE OR REPLACE TEMP TABLE probe_own AS
SELECT
    f.*, t.name, t.entity_type, t.importance,
    greatest(f.last_reinforced, t.last_referenced) AS spoken_at,
    least(1.0, coalesce(d.n_facts, 0) / 5.0) AS reach,
    -- Sure enough to be taken for granted in a question about something else, and not gone stale itself.
    f.status = 'active' AND f.effective_confidence >= getvariable('min_premise_confidence')
        AND NOT (
            f.temporal_type = 'state' AND f.confidence >= getvariable('stale_below_confidence')
            AND f.effective_confidence < getvariable('stale_below_confidence')
        ) AS is_premise
FROM probe_facts AS f
JOIN probe_things AS t ON t.user_id = f.user_id AND t.entity_id = f.thing_id AND t.is_open AND NOT t.is_user
LEFT JOIN probe_degrees AS d ON d.user_id = f.user_id AND d.thing_id = f.thing_id
ANTI JOIN probe_selves AS x ON x.user_id = f.user_id AND x.entity_id = f.thing_id
WHERE f.is_users AND f.is_askable;

CREATE OR REPLACE TEMP TABLE probe_candidates (
    template VARCHAR, user_id VARCHAR, cause VARCHAR, edge_id VARCHAR, other_edge_id VARCHAR, entity_id VARCHAR,
    name VARCHAR, entity_type VARCHAR, other_name VARCHAR, other_type VARCHAR, importance DOUBLE, reach DOUBLE,
    said_tags VARCHAR[], generated_at TIMESTAMPTZ, spoken_at TIMESTAMPTZ, session_id VARCHAR, turn_number BIGINT
)
