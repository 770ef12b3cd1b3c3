UPDATE live SET
    confidence = m.confidence_after,
    last_reinforced = greatest(live.last_reinforced, i.timestamp),
    reinforcement_count = live.reinforcement_count + CASE WHEN m.is_repeat THEN 0 ELSE 1 END,
    hedge_level = CASE WHEN m.is_repeat THEN live.hedge_level ELSE i.hedge_level END,
    valid_from = coalesce(live.valid_from, i.valid_from),
    valid_precision = CASE WHEN live.valid_from IS NULL THEN i.valid_precision ELSE live.valid_precision END,
    has_pasted_source = live.has_pasted_source OR i.has_pasted_source,
    provenance = list_append(live.provenance, i.source)
FROM meeting AS m
JOIN incoming AS i USING (claim_id)
WHERE m.same_id = live.edge_id;
