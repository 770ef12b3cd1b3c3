-- Messages in which anything can be read, and the names of things in them.
SELECT
    days.day,
    (SELECT count(*) FROM messages WHERE partition_day = days.day AND subject IS NOT NULL) AS n_messages,
    (SELECT count(*) FROM mentions WHERE partition_day = days.day) AS n_mentions
FROM days
