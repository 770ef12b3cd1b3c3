-- Open and settled conflicts: of edges that today touched as they now stand, all others as they stood.
-- One that a retraction may have meant is decided by itself: the other fact of the pair need not be touched.
SELECT
    c.* REPLACE (
        CASE WHEN coalesce(n.status, o.status, 'contradicted') = 'contradicted' THEN c.status ELSE 'settled' END AS status,
        CASE WHEN c.status = 'settled' OR coalesce(n.status, o.status, 'contradicted') = 'contradicted' THEN c.resolved_at
            ELSE greatest(
                c.detected_at, coalesce(n.unlearned_at, n.last_reinforced, o.unlearned_at, o.last_reinforced)
            )
        END AS resolved_at
    )
FROM conflicts_before AS c
LEFT JOIN live AS n ON n.edge_id = c.edge_id
LEFT JOIN live AS o ON o.edge_id = c.other_edge_id
WHERE n.edge_id IS NULL OR o.edge_id IS NULL
UNION ALL BY NAME
SELECT
    'con_' || left(sha256(concat_ws(chr(31), 'con', id_part(n.edge_id), id_part(o.edge_id))), 20) AS contradiction_id,
    n.user_id, n.edge_id, o.edge_id AS other_edge_id, n.subject_key AS entity_id,
    -- Of different subjects or families both can hold, but a retraction may mean either.
    CASE
        WHEN n.meeting_key <> o.meeting_key OR n.family <> o.family THEN 'retraction'
        WHEN n.target_key = o.target_key THEN 'polarity'
        ELSE 'another value'
    END AS reason,
    CASE WHEN n.status = 'contradicted' AND o.status = 'contradicted' THEN 'open' ELSE 'settled' END AS status,
    n.learned_at AS detected_at,
    CASE WHEN n.status = 'contradicted' AND o.status = 'contradicted' THEN NULL
        ELSE greatest(
            coalesce(n.unlearned_at, n.learned_at), coalesce(o.unlearned_at, o.learned_at)
        )
    END AS resolved_at
FROM live AS n
JOIN live AS o ON o.edge_id = n.contradicts
