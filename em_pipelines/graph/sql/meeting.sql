-- One claim a slot (place = the round), met by the active edges of its slot.
-- `same` says the same; `rivals` cannot hold beside it: the other polarity, or another value of a functional relation.
-- REINFORCE: min(1, max(effective confidence then, the claim's) + step), once a session; a repeat within a session
-- refreshes the date alone.
CREATE OR REPLACE TEMP TABLE meeting AS
WITH met AS (
    SELECT
        i.claim_id,
        min(l.edge_id) FILTER (l.status = 'active' AND l.object_key = i.object_key AND l.polarity = i.polarity) AS same_id,
        list(l.edge_id ORDER BY l.edge_id) FILTER (
            l.status = 'active'
            AND (
                (l.object_key = i.object_key AND l.polarity <> i.polarity)
                OR (i.is_functional AND l.object_key <> i.object_key AND l.polarity = 1 AND i.polarity = 1)
            )
        ) AS rival_ids,
        1 + coalesce(max(l.spell) FILTER (l.object_key = i.object_key AND l.polarity = i.polarity), 0) AS next_spell
    FROM incoming AS i
    LEFT JOIN live AS l ON l.slot = i.slot
    WHERE i.place = getvariable('round')
    GROUP BY ALL
),
judged AS (
    SELECT
        m.*,
        decayed(
            l.confidence,
            date_diff('day', CAST(l.last_reinforced AS DATE), CAST(i.timestamp AS DATE)),
            r.loss_per_day,
            r.half_life_days
        ) AS effective,
        l.confidence AS confidence_before,
        list_contains(list_transform(l.provenance, lambda p: p.session_id), i.session_id) AS is_repeat
    FROM met AS m
    JOIN incoming AS i USING (claim_id)
    LEFT JOIN live AS l ON l.edge_id = m.same_id
    LEFT JOIN decay_rates AS r ON r.temporal_type = l.temporal_type
)
SELECT
    j.*,
    CASE
        WHEN j.same_id IS NULL THEN i.confidence
        WHEN j.is_repeat THEN j.confidence_before
        ELSE round(least(1.0, greatest(j.effective, i.confidence) + getvariable('reinforcement_step')), 6)
    END AS confidence_after,
    coalesce(
        j.same_id,
        edge_hash(
            i.user_id, i.subject_id, i.relation, concat(i.object_key, unverified_mark(i.requires_verification)),
            i.attribute, i.polarity, j.next_spell
        )
    ) AS edge_id
FROM judged AS j
JOIN incoming AS i USING (claim_id);
