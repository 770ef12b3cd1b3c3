-- What of each user an event of the world may touch: where they are, what they plan, and what they care for.
SELECT
    user_id, edge_id, thing_id AS entity_id, name,
    CASE
        WHEN relation = 'lives_in' THEN 'home'
        WHEN relation IN ('plans', 'decided') THEN 'plan'
        ELSE 'interest'
    END AS role,
    CASE
        WHEN entity_type = 'place' THEN name
        WHEN relation IN ('plans', 'decided') THEN nullif(regexp_extract(name, '\b(?:to|in|at) (\p{Lu}.*)$', 1), '')
    END AS place,
    valid_from, importance, learned_at, context_tags
FROM probe_own
WHERE
    is_premise AND polarity = 1
    AND relation IN (
        'lives_in', 'plans', 'decided', 'likes', 'interested_in', 'uses', 'owns', 'works_on', 'studies', 'member_of', 'did'
    )
