-- What was found, but for what lies on a cycle.
CREATE OR REPLACE TEMP TABLE inference_found AS
SELECT f.* EXCLUDE (graph, start, goal)
FROM (
    SELECT
        n.*, t.cycle_graph AS graph, CASE WHEN t.is_against THEN n.object ELSE n.subject END AS start,
        CASE WHEN t.is_against THEN n.subject ELSE n.object END AS goal
    FROM inference_found AS n
    JOIN relation_traits AS t ON t.relation = n.relation
) AS f
ANTI JOIN arcs_on_cycles AS a ON a.graph = f.graph AND a.start = f.start AND a.goal = f.goal
