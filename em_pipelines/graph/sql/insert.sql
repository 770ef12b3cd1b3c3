-- INSERT, and the newer side of REVISE: a new edge, or a new spell of one that had ended.
INSERT INTO live BY NAME
SELECT
    m.edge_id, user_id, subject_id, relation, object_id, value, attribute, "over", object_key, m.next_spell AS spell,
    polarity, temporal_type,
    coalesce(valid_from, CASE WHEN len(m.rival_ids) > 0 AND polarity = 1 THEN CAST(timestamp AS DATE) END) AS valid_from,
    valid_to,
    coalesce(valid_precision, CASE WHEN len(m.rival_ids) > 0 AND polarity = 1 THEN 'day' END) AS valid_precision,
    timestamp AS learned_at, timestamp AS last_reinforced, confidence, 0 AS reinforcement_count, hedge_level,
    source_mechanism, flags, context_tags, privacy_level, requires_verification, has_pasted_source,
    'active' AS status,
    m.rival_ids[1] AS supersedes, CAST(NULL AS VARCHAR) AS contradicts, [source] AS provenance, slot
FROM meeting AS m
JOIN incoming AS i USING (claim_id)
WHERE m.same_id IS NULL;
