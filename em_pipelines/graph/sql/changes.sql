-- Every change of the day: filled round by round, read as operations at the end.
CREATE OR REPLACE TEMP TABLE changes (
    claim_id VARCHAR, edge_id VARCHAR, operation VARCHAR, is_repeat BOOLEAN, confidence_before DOUBLE,
    stored_confidence DOUBLE, before VARCHAR, after VARCHAR, confidence_after DOUBLE
);
