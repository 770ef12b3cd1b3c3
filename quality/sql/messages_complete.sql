-- How many rows are in a file says its footer; that they can be read only their values do, and an id is never empty.
SELECT
    days.day,
    (SELECT count(nullif(correlation_id, '')) FROM interactions WHERE partition_day = days.day)
    - (SELECT count(nullif(message_id, '')) FROM messages WHERE partition_day = days.day) AS n_missing
FROM days
