-- What became of questions, of everybody.
SELECT
    kind, sum(n_generated) AS n_generated, sum(n_delivered) AS n_delivered, sum(n_accepted) AS n_accepted,
    sum(n_ignored) AS n_ignored, sum(n_deflected) AS n_deflected
FROM probe_funnel
GROUP BY ALL
ORDER BY kind
