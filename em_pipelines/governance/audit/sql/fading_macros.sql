-- How an effective confidence may be used: plainly, with hedging, with care, as background.
CREATE OR REPLACE TEMP MACRO band(confidence) AS
    CASE WHEN confidence >= 0.85 THEN 'plain' WHEN confidence >= 0.60 THEN 'hedged'
        WHEN confidence >= 0.40 THEN 'careful' ELSE 'background' END;
