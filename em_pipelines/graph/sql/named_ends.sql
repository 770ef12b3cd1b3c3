-- The entity of every name that today's feedback and messages of acting people mention.
SELECT m.message_id, m.name, min(l.entity_id) AS entity_id
FROM mentions AS m
JOIN entity_mentions AS l USING (mention_id)
WHERE m.user_id IN (SELECT user_id FROM acting)
GROUP BY ALL
