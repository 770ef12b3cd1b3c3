-- Names that are one with another, and the name by which they are read.
CREATE OR REPLACE TEMP TABLE merged AS
SELECT entity_id, merged_into AS canonical_id FROM entities_known WHERE merged_into IS NOT NULL
