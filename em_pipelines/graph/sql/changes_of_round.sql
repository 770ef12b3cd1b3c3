-- What the round will do, and how the edges stood before: an edge is in at most one row a round.
CREATE OR REPLACE TEMP TABLE changing AS
WITH found AS (
    SELECT claim_id, edge_id, kind, effective FROM meeting WHERE kind NOT IN ('RETRACT', 'REPLACE', 'END', 'DOUBT', 'RESTORE')
    UNION ALL BY NAME
    SELECT claim_id, unnest(rival_ids) AS edge_id, 'SUPERSEDE' AS kind
    FROM meeting WHERE settles AND kind IN ('REVISE', 'REINFORCE', 'CONFIRM', 'CONFIRM_NEW', 'VERIFY')
    UNION ALL BY NAME
    SELECT claim_id, unnest(rival_ids) AS edge_id, 'CONTRADICT' AS kind FROM meeting WHERE kind = 'CONTRADICT_NEW'
    UNION ALL BY NAME
    SELECT claim_id, unnest(known_ids) AS edge_id, kind FROM meeting WHERE kind = 'RETRACT'
    UNION ALL BY NAME
    SELECT claim_id, unnest(standing_ids) AS edge_id, kind FROM meeting WHERE kind IN ('REPLACE', 'END', 'DOUBT', 'RESTORE')
    UNION ALL BY NAME
    -- What a retracted fact had displaced holds again, and so does the other side of a conflict of two: where both cannot
    -- hold, that one, which was said later.
    SELECT m.claim_id, l.edge_id, 'RESTORE' AS kind
    FROM meeting AS m
    JOIN incoming AS i USING (claim_id)
    JOIN live AS l ON l.status = 'superseded' AND list_contains(m.standing_ids, l.superseded_by)
    LEFT JOIN live AS d ON d.edge_id = CASE WHEN len(m.doubted_ids) = 1 THEN m.doubted_ids[1] END
    WHERE m.kind = 'RETRACT' AND NOT coalesce(
        d.relation_key = l.relation_key AND d.polarity = l.polarity
        AND ((i.is_functional AND d.polarity = 1) OR (d.subject_key = l.subject_key AND d.target_key = l.target_key)),
        FALSE
    )
    UNION ALL BY NAME
    SELECT claim_id, doubted_ids[1] AS edge_id, 'RESTORE' AS kind
    FROM meeting WHERE kind IN ('RETRACT', 'REPLACE') AND len(standing_ids) > 0 AND len(doubted_ids) = 1
)
SELECT
    f.claim_id, f.edge_id, f.kind, f.effective, m.settles, m.is_repeat, m.new_confidence, m.edge_id AS winner_id,
    m.rival_ids, m.next_spell, m.is_mood
FROM found AS f
JOIN meeting AS m USING (claim_id);

INSERT INTO changes BY NAME
SELECT
    c.claim_id, c.edge_id, c.kind, i.user_id, i.timestamp, i.source_mechanism, i.session_id, i.turn_number,
    i.correlation_id, i.pair_id,
    CASE c.kind
        WHEN 'REINFORCE' THEN
            CASE WHEN c.is_repeat THEN 'repeated in the same session' ELSE 'said again in another session' END
        WHEN 'RECALL' THEN 'surfaced in a session'
        WHEN 'VERIFY' THEN 'looked up and found to hold'
        WHEN 'CONFIRM' THEN 'confirmed'
        WHEN 'CONFIRM_NEW' THEN
            CASE WHEN c.next_spell > 1 THEN 'confirmed: it holds again' ELSE 'confirmed, and not known before' END
        WHEN 'RETRACT' THEN 'taken back'
        WHEN 'DOUBT' THEN 'a retraction fits it and other facts alike'
        WHEN 'REPLACE' THEN 'corrected'
        WHEN 'END' THEN 'over: what was said of its subject ends it'
        WHEN 'RESTORE' THEN 'holds again: what stood against it was taken back'
        WHEN 'REVISE' THEN 'takes the place of what cannot hold beside it'
        WHEN 'CONTRADICT_NEW' THEN 'speaks against what is known, not clearly enough to decide'
        WHEN 'CONTRADICT' THEN 'something spoke against it, not clearly enough to decide'
        WHEN 'OVERRULED' THEN 'speaks against what the person said themselves'
        WHEN 'INSERT' THEN CASE WHEN c.next_spell > 1 THEN 'holds again' ELSE 'not known before' END
        WHEN 'SUPERSEDE' THEN
            CASE
                WHEN l.relation_key = i.relation_key
                    AND (l.subject_key <> i.subject_key OR l.target_key <> i.target_key)
                    THEN 'another value of a functional relation was said later'
                ELSE 'the opposite was said later'
            END
    END AS reason,
    CASE WHEN l.edge_id IS NOT NULL
        THEN standing(l.status, l.valid_from, l.valid_to, l.spell, l.reinforcement_count) END AS before,
    coalesce(c.effective, l.confidence) AS confidence_before
FROM changing AS c
JOIN incoming AS i USING (claim_id)
LEFT JOIN live AS l USING (edge_id);
