-- Ends, merges and sources are of the fact's own user. A conversation that nobody is known to have had is no crossing.
SELECT edge_id AS row_id FROM facts WHERE subject_user <> user_id OR object_user <> user_id
UNION
SELECT a.entity_id
FROM entities AS a
JOIN entities AS b ON b.entity_id = a.merged_into
WHERE b.user_id <> a.user_id
UNION
SELECT e.edge_id
FROM (SELECT edge_id, user_id, unnest(provenance).session_id AS session_id FROM edges) AS e
SEMI JOIN sessions AS anybody ON anybody.session_id = e.session_id
ANTI JOIN sessions AS own ON own.session_id = e.session_id AND own.user_id = e.user_id
