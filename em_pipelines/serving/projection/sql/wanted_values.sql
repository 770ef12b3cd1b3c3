-- Literal objects, one node a user, kind and text: two facts on one birthday meet, an age and a house number do not.
CREATE OR REPLACE TEMP TABLE wanted_values AS
WITH shown AS (
    SELECT DISTINCT
        target_key AS key,
        user_id,
        user_key(user_id) AS user_key,
        value_text AS text,
        coalesce(attribute, relation) AS kind
    FROM wanted_edges
    WHERE target = 'Value'
)

SELECT *, digest_of(shown) AS digest FROM shown
