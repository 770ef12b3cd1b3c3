-- Every change of the day: filled round by round, read as operations at the end.
CREATE OR REPLACE TEMP TABLE changes (
    claim_id VARCHAR, edge_id VARCHAR, kind VARCHAR, user_id VARCHAR, timestamp TIMESTAMPTZ, reason VARCHAR,
    before VARCHAR, after VARCHAR, confidence_before DOUBLE, confidence_after DOUBLE, source_mechanism VARCHAR,
    session_id VARCHAR, turn_number BIGINT, correlation_id VARCHAR, pair_id VARCHAR
);
