-- New edges, and new spells of those that had ended.
INSERT INTO live BY NAME
SELECT
    c.edge_id, i.user_id, i.subject_id, i.relation, i.object_id, i.value, i.attribute, i."over", i.statement, i.object_key,
    c.next_spell AS spell, i.polarity,
    -- What lasts does not fade, whatever was said of its time.
    CASE WHEN i.is_lasting THEN 'attribute' ELSE i.temporal_type END AS temporal_type,
    -- What takes the place of something holds from then on; the day of a plan is still to come.
    coalesce(i.valid_from, CASE
        WHEN c.kind = 'REVISE' AND i.polarity = 1 AND i.temporal_type NOT IN ('plan', 'wish')
            THEN coalesce(i.said_on, CAST(i.timestamp AS DATE))
    END) AS valid_from,
    i.valid_to,
    coalesce(i.valid_precision, CASE
        WHEN c.kind = 'REVISE' AND i.polarity = 1 AND i.temporal_type NOT IN ('plan', 'wish') THEN 'day'
    END) AS valid_precision,
    i.timestamp AS learned_at,
    CASE WHEN c.kind = 'OVERRULED' THEN i.timestamp END AS unlearned_at,
    i.timestamp AS last_reinforced, c.new_confidence AS confidence, 0 AS reinforcement_count, i.hedge_level,
    i.source_mechanism, i.flags, i.context_tags, i.privacy_level, i.requires_verification, i.has_pasted_source,
    CASE c.kind WHEN 'OVERRULED' THEN 'superseded' WHEN 'CONTRADICT_NEW' THEN 'contradicted' ELSE 'active' END AS status,
    CASE WHEN c.kind IN ('REVISE', 'CONFIRM_NEW') THEN c.rival_ids[1] END AS supersedes,
    CASE WHEN c.kind = 'OVERRULED' THEN c.rival_ids[1] END AS superseded_by,
    CASE WHEN c.kind = 'CONTRADICT_NEW' THEN c.rival_ids[1] END AS contradicts,
    [i.source] AS provenance,
    i.relation_key, i.family, i.is_functional AND NOT i.requires_verification AS is_functional, i.tone, i.subject_key,
    i.target_key, i.holder_key, i.meeting_key, i.slot
FROM changing AS c
JOIN incoming AS i USING (claim_id)
WHERE c.kind IN ('INSERT', 'REVISE', 'CONTRADICT_NEW', 'OVERRULED', 'CONFIRM_NEW');
