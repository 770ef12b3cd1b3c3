-- Why messages, or parts of them, were left out.
SELECT issue, severity, count(*) AS n_issues
FROM extraction_issues
GROUP BY ALL
ORDER BY n_issues DESC, issue
LIMIT 12
