-- Every current edge that may be shown, in force or not. What needs verification or is a privilege claim never is.
CREATE OR REPLACE TEMP TABLE wanted_edges AS
WITH shown AS (
    SELECT
        e.relation,
        CASE WHEN e.object_id IS NULL THEN 'Value' ELSE 'Entity' END AS target,
        entity_key(e.user_id, e.subject_id) AS source_key,
        CASE
            WHEN e.object_id IS NULL THEN value_key(e.user_id, coalesce(e.attribute, e.relation), coalesce(e.value, ''))
            ELSE entity_key(e.user_id, e.object_id)
        END AS target_key,
        e.edge_id,
        e.user_id,
        e.polarity,
        e.status,
        round(e.effective_confidence, 4) AS confidence,
        e.temporal_type,
        e.attribute,
        e.over,
        e.statement,
        left(
            CAST(e.valid_from AS VARCHAR),
            CASE e.valid_precision WHEN 'year' THEN 4 WHEN 'month' THEN 7 ELSE 10 END
        ) AS valid_from,
        CAST(e.valid_to AS VARCHAR) AS valid_to,
        instant(e.learned_at) AS learned_at,
        instant(e.unlearned_at) AS unlearned_at,
        instant(e.last_reinforced) AS last_reinforced,
        e.reinforcement_count,
        e.source_mechanism,
        e.flags,
        e.privacy_level,
        e.supersedes,
        e.superseded_by,
        e.contradicts,
        list_transform(e.provenance, lambda p: p.session_id || '#' || p.turn_number) AS said_in,
        CASE WHEN e.object_id IS NULL THEN coalesce(e.value, '') END AS value_text
    FROM edges_standing AS e
    WHERE NOT e.requires_verification AND e.privacy_level <> 'L4'
      AND e.relation NOT IN (
        'instruction', 'decision', 'plan', 'event', 'state', 'relationship', 'preference', 'fact'
      )
)
SELECT *, digest_of(shown) AS digest FROM shown
