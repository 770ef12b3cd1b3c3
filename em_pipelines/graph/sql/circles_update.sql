UPDATE live SET status = 'contradicted' WHERE edge_id IN (SELECT edge_id FROM closing)
