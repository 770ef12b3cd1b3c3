-- One statement a slot (place = the round), met by the edges of its slot. An edge stands while it is active or
-- contradicted. `same` says the same; rivals cannot hold beside it: the other polarity, another value of a functional
-- relation, or liking against disliking one thing.
-- A statement is clear, and decides, if a person decided it, if it is explicit, hardly hedged and beyond doubt, or if
-- it is at least as sure as what it meets. What is inferred, imported, shared or second-hand never displaces what the
-- person said themselves.
-- An outburst ("I hate my job!", flagged emotional_state, an episode) displaces other outbursts, no stated fact. Its
-- repetition makes a mood no surer; in enough conversations it is a trait, as sure as what is moderately hedged.
-- REINFORCE: min(1, max(effective confidence then, the claim's) + step), once a session; a repeat within a session
-- refreshes the date alone.
CREATE OR REPLACE TEMP TABLE meeting AS
WITH pairs AS (
    SELECT
        i.claim_id, l.edge_id, l.status, l.subject_id = i.subject_id AS is_own,
        l.status IN ('active', 'contradicted') AS stands,
        l.subject_key = i.subject_key AND l.target_key = i.target_key AS is_same_pair,
        l.relation_key = i.relation_key AND is_same_pair AND l.polarity = i.polarity AS says_same,
        -- Of two people a fact is about either.
        i.holder_key IN (l.subject_key, l.target_key) AS is_about,
        is_vented(i.temporal_type, i.flags) AS is_outburst,
        (NOT is_outburst OR is_vented(l.temporal_type, l.flags))
        AND (
            (l.relation_key = i.relation_key AND is_same_pair AND l.polarity <> i.polarity)
            OR (
                i.is_functional AND NOT i.requires_verification AND l.relation_key = i.relation_key
                AND NOT is_same_pair AND is_about AND l.polarity = 1 AND i.polarity = 1
            )
            OR (l.relation_key <> i.relation_key AND is_same_pair AND l.tone * i.tone = -1)
        ) AS is_rival,
        l.subject_id = i.subject_id AND l.relation = i.relation AND l.object_key = i.object_key
        AND l.attribute IS NOT DISTINCT FROM i.attribute AND l.polarity = i.polarity AS is_earlier_spell,
        l.spell,
        l.source_mechanism IN ('explicit', 'user_correction') AND NOT list_contains(l.flags, 'secondhand') AS is_own_word,
        faded(
            l.confidence, date_diff('day', CAST(l.last_reinforced AS DATE), CAST(i.timestamp AS DATE)), l.temporal_type
        ) AS effective
    FROM incoming AS i
    LEFT JOIN live AS l ON l.slot = i.slot
    WHERE i.place = getvariable('round')
),
met AS (
    SELECT
        claim_id,
        list(edge_id ORDER BY status <> 'active', NOT is_own, edge_id) FILTER (stands AND says_same)[1] AS same_id,
        list(edge_id ORDER BY effective DESC, edge_id) FILTER (stands AND is_rival) AS rival_ids,
        max(effective) FILTER (stands AND is_rival) AS rival_confidence,
        coalesce(bool_or(is_own_word) FILTER (stands AND is_rival), false) AS faces_own_word,
        list(edge_id ORDER BY edge_id) FILTER (says_same AND status <> 'retracted') AS known_ids,
        list(edge_id ORDER BY edge_id) FILTER (says_same AND stands) AS standing_ids,
        list(edge_id ORDER BY edge_id) FILTER (NOT says_same AND is_about AND status = 'contradicted') AS doubted_ids,
        1 + coalesce(max(spell) FILTER (is_earlier_spell), 0) AS next_spell
    FROM pairs
    GROUP BY ALL
),
judged AS (
    SELECT
        m.*, p.effective,
        p.is_outburst AND list_contains(l.flags, 'emotional_state') AS is_mood,
        l.temporal_type = 'episode' AS is_passing,
        is_vented_in(l.provenance, i.session_id) AS is_vented_often,
        list_contains(list_transform(l.provenance, lambda p: p.session_id), i.session_id) AS is_repeat,
        i.act IN ('confirm', 'verify') OR i.is_decided
        OR (
            i.source_mechanism = 'explicit' AND i.hedge_level IN ('none', 'slight')
            AND NOT list_has_any(i.flags, ['secondhand', 'attribution_uncertain', 'sarcasm_detected', 'hypothetical'])
        )
        OR coalesce(i.confidence >= m.rival_confidence, true) AS is_clear,
        m.faces_own_word AND NOT i.is_decided AND (
            i.source_mechanism IN ('inferential', 'reflective', 'imported', 'shared')
            OR list_contains(i.flags, 'secondhand')
        ) AS is_overruled
    FROM met AS m
    JOIN incoming AS i USING (claim_id)
    LEFT JOIN live AS l ON l.edge_id = m.same_id
    LEFT JOIN pairs AS p ON p.claim_id = m.claim_id AND p.edge_id = m.same_id
)
SELECT
    j.*,
    j.is_clear AND NOT j.is_overruled AS settles,
    CASE
        WHEN i.act IN ('retract', 'replace', 'end', 'doubt', 'restore') THEN upper(i.act)
        WHEN i.act IN ('recall', 'verify') THEN CASE WHEN j.same_id IS NOT NULL THEN upper(i.act) END
        WHEN i.act = 'confirm' THEN CASE WHEN j.same_id IS NULL THEN 'CONFIRM_NEW' ELSE 'CONFIRM' END
        WHEN j.same_id IS NOT NULL THEN 'REINFORCE'
        WHEN j.rival_ids IS NULL THEN 'INSERT'
        WHEN j.is_overruled THEN 'OVERRULED'
        WHEN j.is_clear THEN 'REVISE'
        ELSE 'CONTRADICT_NEW'
    END AS kind,
    CASE
        WHEN i.act = 'confirm' THEN 1.0
        WHEN j.same_id IS NULL THEN i.confidence
        WHEN i.act IN ('recall', 'verify') THEN NULL
        WHEN j.is_repeat AND NOT i.is_decided THEN NULL
        WHEN j.is_mood AND NOT j.is_passing THEN greatest(j.effective, getvariable('vented_confidence'))
        WHEN j.is_mood AND j.is_vented_often THEN getvariable('vented_confidence')
        WHEN j.is_mood THEN greatest(j.effective, i.confidence)
        ELSE round(least(1.0, greatest(j.effective, i.confidence) + getvariable('reinforcement_step')), 6)
    END AS new_confidence,
    coalesce(
        j.same_id,
        edge_hash(
            i.user_id, i.subject_id, i.relation, concat(i.object_key, unverified_mark(i.requires_verification)),
            i.attribute, i.polarity, j.next_spell
        )
    ) AS edge_id
FROM judged AS j
JOIN incoming AS i USING (claim_id);
