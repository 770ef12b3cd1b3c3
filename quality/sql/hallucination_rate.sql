SELECT
    days.day,
    (
        SELECT count(nullif(claim_id, '')) FROM claims
        WHERE partition_day = days.day AND pattern_id IS DISTINCT FROM 'observation'
    )
    + (SELECT count(nullif(mention_id, '')) FROM mentions WHERE partition_day = days.day) AS n_kept,
    (
        SELECT count(*) FROM extraction_issues
        WHERE partition_day = days.day AND list_contains(getvariable('issues'), issue)
    ) AS n_refused
FROM days
