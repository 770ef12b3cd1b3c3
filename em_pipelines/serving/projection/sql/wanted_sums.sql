-- What there has to be of each user.
SELECT
    user_id,
    CAST(sum(n_nodes) AS BIGINT) AS n_nodes,
    CAST(sum(n_edges) AS BIGINT) AS n_edges,
    CAST(sum(node_sum) AS VARCHAR) AS node_sum,
    CAST(sum(edge_sum) AS VARCHAR) AS edge_sum
FROM (
    SELECT user_id, count(*) AS n_nodes, 0 AS n_edges, sum(digest) AS node_sum, 0 AS edge_sum
    FROM wanted_entities GROUP BY user_id
    UNION ALL
    SELECT user_id, count(*), 0, sum(digest), 0 FROM wanted_values GROUP BY user_id
    UNION ALL
    SELECT user_id, 0, count(*), 0, sum(digest) FROM wanted_edges GROUP BY user_id
)
GROUP BY user_id
