-- Open and settled conflicts: of edges that today touched as they now stand, all others as they stood.
SELECT c.* FROM conflicts_before AS c ANTI JOIN live AS l USING (edge_id)
UNION ALL BY NAME
SELECT
    'con_' || left(sha256(concat_ws(chr(31), 'con', id_part(n.edge_id), id_part(o.edge_id))), 20) AS contradiction_id,
    n.user_id, n.edge_id, o.edge_id AS other_edge_id, n.subject_key AS entity_id,
    CASE WHEN n.target_key = o.target_key THEN 'polarity' ELSE 'another value' END AS reason,
    CASE WHEN n.status = 'contradicted' AND o.status = 'contradicted' THEN 'open' ELSE 'settled' END AS status,
    n.learned_at AS detected_at,
    CASE WHEN n.status = 'contradicted' AND o.status = 'contradicted' THEN NULL
        ELSE greatest(
            coalesce(n.unlearned_at, n.learned_at), coalesce(o.unlearned_at, o.learned_at)
        )
    END AS resolved_at
FROM live AS n
JOIN live AS o ON o.edge_id = n.contradicts
