-- The whole home in one row.
SELECT
    (SELECT count(DISTINCT user_id) FROM users) AS n_people,
    (SELECT count(*) FROM messages) AS n_messages,
    (SELECT count(*) FROM sessions) AS n_sessions,
    (SELECT coalesce(sum(n_facts + n_denials), 0) FROM users) AS n_facts,
    (SELECT count(*) FROM entities WHERE merged_into IS NULL) AS n_entities,
    (SELECT count(*) FROM contradictions WHERE status = 'open') AS n_conflicts,
    (SELECT count(*) FROM quarantine) AS n_set_aside,
    (SELECT count(*) FROM dead_letters WHERE status = 'open') AS n_dead_letters,
    (SELECT count(*) FROM waiting_imports) AS n_imported,
    (SELECT count(*) FROM experiences) AS n_experiences,
    (SELECT count(*) FROM probes WHERE status = 'queued') AS n_probes,
    (SELECT coalesce(sum(cost_usd), 0) FROM llm_calls) AS cost_usd
