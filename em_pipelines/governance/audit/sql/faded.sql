-- On which days a fact left its band of confidence, or went out of use, between the ends of two days and by time alone.
-- Untouched facts only ever fade: what stands at both ends as it did needs no look at the days in between. What is
-- purged by the last day has long been out of use.
WITH held AS (
    SELECT *, expiry(temporal_type, last_reinforced, relation, value, valid_from, valid_precision) AS expires_on
    FROM standing
    WHERE faded_from < faded_until
      AND NOT is_purged(status, confidence, last_reinforced, temporal_type, faded_until)
),
at_ends AS (
    SELECT
        *,
        left_on(
            faded_from, confidence, last_reinforced, temporal_type, has_pasted_source, source_mechanism, provenance
        ) AS confidence_first,
        left_on(
            faded_until, confidence, last_reinforced, temporal_type, has_pasted_source, source_mechanism, provenance
        ) AS confidence_last
    FROM held
),
changed AS (
    SELECT * FROM at_ends
    WHERE status_on(faded_from, status, expires_on, confidence_first) IN ('active', 'contradicted')
      AND (
          status_on(faded_from, status, expires_on, confidence_first)
              <> status_on(faded_until, status, expires_on, confidence_last)
          OR band(confidence_first) <> band(confidence_last)
      )
),
days AS (
    SELECT *, CAST(unnest(generate_series(faded_from, faded_until - 1, INTERVAL 1 DAY)) AS DATE) AS the_day_before
    FROM changed
),
stood AS (
    SELECT
        *,
        the_day_before + 1 AS faded_on,
        left_on(
            the_day_before, confidence, last_reinforced, temporal_type, has_pasted_source, source_mechanism, provenance
        ) AS confidence_before,
        left_on(
            the_day_before + 1, confidence, last_reinforced, temporal_type, has_pasted_source, source_mechanism,
            provenance
        ) AS confidence_after
    FROM days
),
said AS (
    SELECT
        * REPLACE (status_on(the_day_before, status, expires_on, confidence_before) AS status),
        status_on(faded_on, status, expires_on, confidence_after) AS new_status
    FROM stood
)
SELECT
    edge_id, user_id, subject_id, source_mechanism, provenance, status AS old_status, new_status, confidence_before,
    confidence_after, faded_on, trail_day
FROM said
WHERE status IN ('active', 'contradicted')
  AND (status <> new_status OR band(confidence_before) <> band(confidence_after))
