-- The day's operations, as an auditor reads them. Both sides of a revision are a REVISE, of a conflict a CONTRADICT.
SELECT
    op_hash(edge_id, kind, claim_id) AS op_id,
    user_id,
    CASE
        WHEN kind IN ('RECALL', 'VERIFY') THEN 'REINFORCE'
        WHEN kind IN ('CONTRADICT_NEW', 'OVERRULED', 'CIRCLE', 'DOUBT') THEN 'CONTRADICT'
        WHEN kind = 'CONFIRM_NEW' THEN 'CONFIRM'
        WHEN kind IN ('SUPERSEDE', 'REPLACE', 'END', 'RESTORE') THEN 'REVISE'
        ELSE kind
    END AS operation,
    edge_id, claim_id, timestamp, reason, before, after, confidence_before, confidence_after, source_mechanism,
    session_id, turn_number, correlation_id
FROM changes
