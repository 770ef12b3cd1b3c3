-- The state at the end of the day: what was touched as it now stands, everything else as it stood, without what has
-- been in the archive for so long that it goes.
SELECT e.* FROM edges AS e ANTI JOIN live AS l USING (edge_id)
WHERE NOT is_dropped(
    e.status, e.confidence, e.last_reinforced, e.temporal_type, e.source_mechanism, e.flags, getvariable('as_of')
)
UNION ALL BY NAME
SELECT * EXCLUDE (slot, relation_key, family, is_functional, tone, subject_key, target_key, holder_key, meeting_key) FROM live
