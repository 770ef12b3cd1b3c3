-- Of each day of the last ninety: what was said, read and left out.
SELECT day, n_messages, n_claims, mean_confidence, n_discarded, n_errors, n_withheld, relates_to_share, n_dead_letters
FROM quality_by_day
ORDER BY day DESC
LIMIT 90
