-- What is useful to know of anybody, and is not known of somebody who has said anything at all.
INSERT INTO probe_candidates
SELECT
    g.template, u.user_id, g.template, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0.5, 0.5, [], u.began_at, u.spoke_at,
    NULL, NULL
FROM probe_users AS u
CROSS JOIN (FROM probe_gaps WHERE form = 'cold') AS g
WHERE NOT EXISTS (
    FROM probe_answers AS a WHERE a.user_id = u.user_id AND a.template = g.template
)
