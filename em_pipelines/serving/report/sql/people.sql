-- Who is remembered, those with most to remember first. Facts are what an agent would be told, denials among it.
SELECT u.user_id, u.n_messages, u.n_sessions, u.first_seen, u.last_seen,
    u.n_facts + u.n_denials AS n_facts, c.stage
FROM users AS u
LEFT JOIN cold_start AS c USING (user_id)
ORDER BY u.n_facts + u.n_denials DESC, u.user_id
