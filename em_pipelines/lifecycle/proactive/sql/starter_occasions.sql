-- Everything that a conversation could begin with, each with the day on which it comes due. On top of the tables of
-- probe_facts: what may be named there may be named here. A window of days around the day of the table is looked at, so
-- that what comes due tomorrow is there whether or not anything runs tomorrow.
CREATE OR REPLACE TEMP MACRO of_year(year, month_and_day) AS coalesce(
    try_cast(year || '-' || month_and_day AS DATE),
    CASE WHEN month_and_day = '02-29' THEN try_cast(year || '-02-28' AS DATE) END
);
CREATE OR REPLACE TEMP TABLE starter_occasions AS
WITH
span AS (
    SELECT
        getvariable('as_of') AS as_of,
        CAST(getvariable('as_of') - to_days(CAST(getvariable('starter_days_kept') AS INTEGER)) AS DATE) AS first,
        CAST(getvariable('as_of') + to_days(CAST(getvariable('starter_days_ahead') AS INTEGER)) AS DATE) AS last
),
-- A birthday is told to whoever told it, though it is nobody else's business: only what they said themselves, or brought.
birthdays AS (
    SELECT
        e.user_id, e.edge_id, e.learned_at, t.entity_id, t.name, t.entity_type, t.importance,
        of_year(y.year, right(e.value, 5)) AS occasion_on,
        e.provenance[1].session_id AS session_id, e.provenance[1].turn_number AS turn_number
    FROM known_edges AS e
    JOIN probe_things AS t ON t.user_id = e.user_id AND t.entity_id = e.subject_id AND NOT t.is_user
    CROSS JOIN (
        SELECT DISTINCT year(day) AS year FROM span, unnest([first, last, CAST(last + INTERVAL 30 DAY AS DATE)]) AS days (day)
    ) AS y
    ANTI JOIN probe_selves AS x ON x.user_id = e.user_id AND x.entity_id = e.subject_id
    ANTI JOIN probe_lost AS l ON l.user_id = e.user_id AND l.entity_id = e.subject_id
    ANTI JOIN probe_confided AS c ON c.edge_id = e.edge_id
    WHERE
        e.relation = 'has_birthday' AND e.status = 'active' AND e.polarity = 1 AND e.privacy_level <> 'L4'
        AND NOT e.requires_verification AND NOT e.has_pasted_source
        AND e.source_mechanism IN ('explicit', 'observational', 'user_correction', 'imported')
        AND NOT list_has_any(e.flags, ['hypothetical', 'sarcasm_detected', 'secondhand'])
        AND e.effective_confidence >= getvariable('min_premise_confidence')
),
events AS (
    SELECT
        f.user_id, f.edge_id, f.learned_at, t.entity_id, t.name, t.entity_type, t.importance,
        try_cast(f.value AS DATE) AS occasion_on, f.context_tags, f.session_id, f.turn_number,
        regexp_matches(t.name_key, getvariable('deadlines')) AS is_deadline
    FROM probe_facts AS f
    JOIN probe_things AS t ON t.user_id = f.user_id AND t.entity_id = f.subject_id AND t.is_open AND NOT t.is_user
    WHERE
        f.relation IN ('scheduled_for', 'happened_on') AND f.status = 'active' AND f.polarity = 1 AND f.is_askable
        AND length(f.value) = 10 AND f.effective_confidence >= getvariable('min_premise_confidence')
),
plans AS (
    SELECT f.*, e.valid_precision
    FROM probe_own AS f
    JOIN known_edges AS e USING (edge_id)
    WHERE f.relation IN ('plans', 'decided') AND f.status = 'active' AND f.polarity = 1
        AND f.effective_confidence >= getvariable('min_premise_confidence')
        AND NOT list_contains(f.flags, 'abandoned_intent')
),
-- What is to happen on a day is no quiet plan, whatever it is called.
dated AS (
    SELECT DISTINCT user_id, subject_id AS thing_id FROM probe_facts WHERE relation = 'scheduled_for'
),
found AS (
    SELECT
        'birthday_ahead' AS template, user_id, 'birthday ' || entity_id || ' ' || occasion_on AS cause, edge_id,
        entity_id, name, entity_type, importance, CAST(['family', 'friends', 'events'] AS VARCHAR[]) AS said_tags,
        occasion_on, CAST(occasion_on - to_days(CAST(getvariable('birthday_lead_days') AS INTEGER)) AS DATE) AS due_on,
        learned_at, session_id, turn_number
    FROM birthdays
    UNION ALL
    SELECT
        'birthday_today', user_id, 'birthday itself ' || entity_id || ' ' || occasion_on, edge_id, entity_id, name,
        entity_type, importance, ['family', 'friends', 'events'], occasion_on, occasion_on, learned_at, session_id,
        turn_number
    FROM birthdays
    UNION ALL
    SELECT
        CASE WHEN is_deadline THEN 'deadline_ahead' ELSE 'event_ahead' END, user_id,
        'event ' || entity_id || ' ' || occasion_on, edge_id, entity_id, name, entity_type, importance, context_tags,
        occasion_on,
        CAST(occasion_on - to_days(CAST(
            CASE WHEN is_deadline THEN getvariable('deadline_lead_days') ELSE getvariable('event_lead_days') END AS INTEGER
        )) AS DATE),
        learned_at, session_id, turn_number
    FROM events
    UNION ALL
    SELECT
        'plan_ahead', user_id, 'plan ' || thing_id || ' ' || valid_from, edge_id, thing_id, name, entity_type, importance,
        context_tags, valid_from,
        CAST(valid_from - to_days(CAST(getvariable('event_lead_days') AS INTEGER)) AS DATE), learned_at, session_id,
        turn_number
    FROM plans WHERE valid_from IS NOT NULL AND valid_precision = 'day'
    UNION ALL
    SELECT
        'plan_in_month', user_id, 'plan in ' || thing_id || ' ' || valid_from, edge_id, thing_id, name, entity_type,
        importance, context_tags, valid_from,
        CAST(valid_from - to_days(CAST(getvariable('month_lead_days') AS INTEGER)) AS DATE), learned_at, session_id,
        turn_number
    FROM plans WHERE valid_from IS NOT NULL AND valid_precision = 'month'
    UNION ALL
    SELECT
        'quiet_plan', user_id, 'quiet ' || thing_id || ' ' || CAST(spoken_at AS DATE), edge_id, thing_id, name, entity_type,
        importance, context_tags, NULL,
        CAST(CAST(spoken_at AS DATE) + to_days(CAST(getvariable('quiet_plan_days') AS INTEGER)) AS DATE), learned_at,
        session_id, turn_number
    FROM plans
    ANTI JOIN dated USING (user_id, thing_id)
    WHERE valid_from IS NULL
)
SELECT f.*
FROM found AS f, span AS s
WHERE
    f.due_on BETWEEN s.first AND s.last
    -- What was learned after it would have come due is told at once, as long as it lies ahead.
    OR f.due_on < s.first AND f.occasion_on > CAST(f.learned_at AS DATE) AND f.occasion_on BETWEEN s.first AND s.last
