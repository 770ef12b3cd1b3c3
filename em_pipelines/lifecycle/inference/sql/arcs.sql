-- The arcs of the relations in which nothing comes round to itself: those that are held, those that were inferred, and
-- those that were just found. Where nothing was found in a relation, none of it matters.
CREATE OR REPLACE TEMP TABLE inference_arcs AS
WITH known AS (
    SELECT relation, subject, object FROM inference_held
    UNION ALL
    SELECT relation, subject, object FROM inference_facts WHERE origin <> 'stated'
    UNION ALL
    SELECT relation, subject, object FROM inference_found
),
touched AS (
    SELECT DISTINCT t.cycle_graph FROM inference_found AS f JOIN relation_traits AS t USING (relation)
)
SELECT DISTINCT
    t.cycle_graph AS graph, CASE WHEN t.is_against THEN k.object ELSE k.subject END AS start,
    CASE WHEN t.is_against THEN k.subject ELSE k.object END AS goal
FROM known AS k
JOIN relation_traits AS t ON t.relation = k.relation AND t.cycle_graph IS NOT NULL
SEMI JOIN touched ON touched.cycle_graph = t.cycle_graph
