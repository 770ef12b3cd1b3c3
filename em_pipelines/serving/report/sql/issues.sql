-- Why messages, or parts of them, were left out.
SELECT issue, count(*) AS n_issues
FROM extraction_issues
GROUP BY issue
ORDER BY n_issues DESC, issue
LIMIT 12
