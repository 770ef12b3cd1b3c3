-- What the round does to edges that are there.
UPDATE live SET
    status = CASE
        WHEN c.kind = 'RETRACT' THEN 'retracted'
        WHEN c.kind IN ('REPLACE', 'END', 'SUPERSEDE') THEN 'superseded'
        WHEN c.kind IN ('CONTRADICT', 'DOUBT') THEN 'contradicted'
        WHEN c.kind IN ('RESTORE', 'CONFIRM', 'VERIFY') OR (c.kind = 'REINFORCE' AND c.settles) THEN 'active'
        ELSE live.status
    END,
    confidence = CASE
        WHEN c.kind IN ('REINFORCE', 'CONFIRM') THEN coalesce(c.new_confidence, live.confidence) ELSE live.confidence
    END,
    last_reinforced = CASE
        WHEN c.kind IN ('REINFORCE', 'CONFIRM', 'RECALL', 'VERIFY') THEN greatest(live.last_reinforced, i.timestamp)
        ELSE live.last_reinforced
    END,
    reinforcement_count = live.reinforcement_count + CASE WHEN c.kind = 'REINFORCE' AND NOT c.is_repeat THEN 1 ELSE 0 END,
    hedge_level = CASE
        WHEN c.kind <> 'REINFORCE' OR c.is_repeat THEN live.hedge_level
        WHEN NOT coalesce(c.is_mood, false) THEN i.hedge_level
        WHEN live.temporal_type <> 'episode' OR is_vented_in(live.provenance, i.session_id) THEN 'moderate'
        ELSE i.hedge_level
    END,
    source_mechanism = CASE
        WHEN c.kind = 'CONFIRM' OR (c.kind = 'REINFORCE' AND i.source_mechanism = 'user_correction')
            THEN 'user_correction'
        ELSE live.source_mechanism
    END,
    -- What somebody vents about in conversation after conversation is no passing mood, nor is what they say plainly.
    temporal_type = CASE
        WHEN c.kind <> 'REINFORCE' OR NOT is_vented(live.temporal_type, live.flags) THEN live.temporal_type
        WHEN NOT c.is_mood THEN i.temporal_type
        WHEN is_vented_in(live.provenance, i.session_id) THEN 'trait'
        ELSE live.temporal_type
    END,
    -- The day of a plan is the one that was given last; since when a state holds is what was said first.
    valid_from = CASE
        WHEN c.kind = 'REINFORCE' AND live.temporal_type IN ('plan', 'wish') THEN coalesce(i.valid_from, live.valid_from)
        WHEN c.kind = 'REINFORCE' THEN coalesce(live.valid_from, i.valid_from)
        ELSE live.valid_from
    END,
    valid_precision = CASE
        WHEN c.kind = 'REINFORCE' AND i.valid_from IS NOT NULL
            AND (live.valid_from IS NULL OR live.temporal_type IN ('plan', 'wish'))
            THEN i.valid_precision
        ELSE live.valid_precision
    END,
    valid_to = CASE
        -- "Last year" may begin before the fact does; nothing ends before it began.
        WHEN c.kind IN ('REPLACE', 'END', 'SUPERSEDE')
            THEN greatest(coalesce(i.valid_from, i.said_on, CAST(i.timestamp AS DATE)), live.valid_from)
        WHEN c.kind = 'RESTORE' THEN NULL
        ELSE live.valid_to
    END,
    unlearned_at = CASE
        WHEN c.kind IN ('RETRACT', 'REPLACE', 'END', 'SUPERSEDE') THEN i.timestamp
        WHEN c.kind = 'RESTORE' THEN NULL
        ELSE live.unlearned_at
    END,
    superseded_by = CASE
        WHEN c.kind = 'SUPERSEDE' THEN c.winner_id WHEN c.kind = 'RESTORE' THEN NULL ELSE live.superseded_by
    END,
    statement = CASE
        WHEN c.kind IN ('REINFORCE', 'CONFIRM') THEN fuller(live.statement, i.statement) ELSE live.statement
    END,
    has_pasted_source = live.has_pasted_source OR (c.kind = 'REINFORCE' AND i.has_pasted_source),
    provenance = CASE
        WHEN c.kind IN ('REINFORCE', 'CONFIRM', 'VERIFY') THEN list_append(live.provenance, i.source)
        ELSE live.provenance
    END
FROM changing AS c
JOIN incoming AS i USING (claim_id)
WHERE c.edge_id = live.edge_id;
