-- Names that are one with another, and those by which they are read, each with the latter.
CREATE OR REPLACE TEMP TABLE clustered AS
SELECT as_of, entity_id, merged_into AS canonical_id FROM entities_known WHERE merged_into IS NOT NULL
UNION
SELECT as_of, merged_into, merged_into FROM entities_known WHERE merged_into IS NOT NULL
