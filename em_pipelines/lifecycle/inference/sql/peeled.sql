-- Without the arcs whose beginning nothing leads to, and those whose end leads nowhere: no cycle goes through them.
CREATE OR REPLACE TEMP TABLE inference_arcs AS
SELECT a.*
FROM inference_arcs AS a
SEMI JOIN inference_arcs AS b ON b.graph = a.graph AND b.goal = a.start
SEMI JOIN inference_arcs AS c ON c.graph = a.graph AND c.start = a.goal
