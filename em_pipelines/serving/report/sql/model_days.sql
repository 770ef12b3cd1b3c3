-- What models were asked and what they cost, by day, in the last ninety.
SELECT
    CAST(called_at AS DATE) AS day,
    count(*) AS n_calls,
    count(*) FILTER (WHERE outcome = 'failed') AS n_failed,
    sum(cost_usd) AS cost_usd,
    sum(prompt_tokens + completion_tokens) AS n_tokens
FROM llm_calls
GROUP BY ALL
ORDER BY day DESC
LIMIT 90
