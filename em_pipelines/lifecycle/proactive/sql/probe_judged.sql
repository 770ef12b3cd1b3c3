-- What is worth asking of each user, with its wording, in order of worth.
CREATE OR REPLACE TEMP TABLE probe_judged AS
WITH worded AS (
    SELECT
        probe_hash(c.user_id, g.kind, c.cause) AS probe_id, c.*, g.kind, g.wordings, g.gap, g.benefit,
        g.topics, s.text AS object, o.text AS other,
        round(g.worth * (0.55 + 0.20 * c.importance + 0.15 * recency(c.spoken_at) + 0.10 * c.reach), 6) AS value,
        greatest(c.generated_at, c.spoken_at) + to_days(CAST(getvariable('probe_days') AS INTEGER)) AS expires_at
    FROM probe_candidates AS c
    JOIN probe_gaps AS g ON g.template = c.template
    LEFT JOIN probe_shapes AS s
        ON s.name = c.name AND s.entity_type = c.entity_type AND s.shape = g.shape
    LEFT JOIN probe_shapes AS o
        ON o.name = c.other_name AND o.entity_type = c.other_type AND o.shape = g.shape
    WHERE
        (g.shape IS NULL OR s.text IS NOT NULL) AND (c.other_name IS NULL OR o.text IS NOT NULL)
        AND coalesce(s.text <> o.text, true)
),
told AS (
    SELECT
        user_id, json_extract_string(payload, '$.probe_id') AS probe_id,
        arg_max(replace(type, 'probe_', ''), (timestamp, feedback_id)) AS said
    FROM feedback
    WHERE type IN ('probe_delivered', 'probe_accepted', 'probe_ignored', 'probe_deflected')
    GROUP BY ALL
)
SELECT
    w.*, replace(replace(replace(
        chosen(w.wordings, w.probe_id), '{whose}', coalesce(w.object || '''s', '')),
        '{object}', coalesce(w.object, '')), '{other}', coalesce(w.other, '')
    ) AS text,
    coalesce(
        t.said,
        CASE WHEN w.expires_at <= CAST(getvariable('as_of') + 1 AS TIMESTAMPTZ) THEN 'expired' ELSE 'queued' END
    ) AS status
FROM worded AS w
LEFT JOIN told AS t ON t.user_id = w.user_id AND t.probe_id = w.probe_id
WHERE w.value >= getvariable('min_value')
