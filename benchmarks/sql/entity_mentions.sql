SELECT
    'men_' || i || '_' || e AS mention_id,
    'user' || lpad(CAST(u AS VARCHAR), 7, '0') AS user_id,
    made_entity(u, CASE e WHEN 0 THEN i % 40 ELSE i * 7 % 200 END) AS entity_id, 'exact' AS method, 1.0 AS score,
    getvariable('day') + to_seconds(i % 86400) AS timestamp, 'cor_' || i AS correlation_id
FROM (
    SELECT i, i % (getvariable('n_edges') // getvariable('edges_per_user')) AS u
    FROM range(getvariable('n_claims')) AS r(i)
), range(2) AS ends(e)
