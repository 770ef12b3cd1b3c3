-- Every fact that does not stand in the later snapshot as it stood in the earlier one.
WITH joined AS (
    SELECT
        coalesce(n.user_id, o.user_id) AS user_id, edge_id, coalesce(n.subject, o.subject) AS subject,
        coalesce(n.relation, o.relation) AS relation, coalesce(n.object, o.object) AS object,
        coalesce(n.polarity, o.polarity) AS polarity, coalesce(n.learned_at, o.learned_at) AS learned_at,
        list_distinct(list_concat(coalesce(n.end_keys, []), coalesce(o.end_keys, []))) AS end_keys,
        coalesce(n.statement, o.statement) AS statement, coalesce(n.provenance, o.provenance) AS provenance, coalesce(n.superseded_by, o.superseded_by) AS superseded_by,
        n.edge_id IS NOT NULL AS is_there, o.edge_id IS NOT NULL AS was_there,
        {
            'subject': o.subject, 'object': o.object, 'status': o.status, 'band': o.band,
            'valid_from': o.valid_from, 'valid_to': o.valid_to, 'temporal_type': o.temporal_type
        } AS was,
        {
            'subject': n.subject, 'object': n.object, 'status': n.status, 'band': n.band,
            'valid_from': n.valid_from, 'valid_to': n.valid_to, 'temporal_type': n.temporal_type
        } AS now,
        o.confidence AS confidence_was, n.confidence AS confidence_now, o.asserted, o.temporal_type,
        date_diff('day', (o.last_reinforced AT TIME ZONE 'UTC')::DATE, getvariable('later_day')) AS unreferenced_days
    FROM earlier_facts AS o
    FULL JOIN later_facts AS n USING (edge_id)
    WHERE o.edge_id IS NULL OR n.edge_id IS NULL OR was <> now
),
-- Of what is gone, where it was said: if the words are gone as well, it was erased.
sources AS (
    SELECT edge_id, user_id, unnest(provenance) AS source FROM joined WHERE NOT is_there
),
words AS (
    SELECT
        s.edge_id, count(m.message_id) > 0 AS has_words,
        coalesce(bool_or(
            m.message_id IS NOT NULL
            AND (l.message_id IS NULL OR (l.content <> m.content AND contains(l.content, getvariable('cut_marker'))))
        ), false) AS is_cut
    FROM sources AS s
    LEFT JOIN earlier.messages AS m
        ON m.user_id = s.user_id AND m.session_id = s.source.session_id AND m.turn_number = s.source.turn_number
    LEFT JOIN later.messages AS l ON l.message_id = m.message_id
    GROUP BY ALL
),
unsaid AS (
    SELECT DISTINCT o.user_id FROM earlier.feedback AS o ANTI JOIN later.feedback AS n USING (feedback_id)
)
SELECT
    j.* EXCLUDE (asserted, temporal_type, unreferenced_days),
    CASE
        WHEN r.edge_id IS NOT NULL
            THEN {'edge_id': r.edge_id, 'relation': r.relation, 'object': r.object, 'polarity': r.polarity}
    END AS successor,
    NOT j.is_there AND (w.is_cut OR (NOT w.has_words AND u.user_id IS NOT NULL)) AS is_erased,
    -- In the archive for as long as the archive keeps things.
    NOT j.is_there AND j.was.status IN ('active', 'contradicted', 'expired', 'archived')
    AND j.unreferenced_days >= t.archive_days
    AND decayed(j.asserted, j.unreferenced_days - t.archive_days, d.loss_per_day, d.half_life_days)
        < t.archive_below_confidence AS is_purged
FROM joined AS j
LEFT JOIN words AS w USING (edge_id)
LEFT JOIN unsaid AS u ON u.user_id = j.user_id
LEFT JOIN later_facts AS r ON j.now.status = 'superseded' AND r.edge_id = j.superseded_by
LEFT JOIN later.decay_rates AS d ON d.temporal_type = j.temporal_type
CROSS JOIN later.time_rules AS t
ORDER BY j.user_id, j.subject, j.relation, j.object, j.edge_id
