-- The agent whose ask a record is about, so that its stream is one range; NULL for everything else.
ALTER TABLE record ADD COLUMN agent TEXT;

-- The first event of an ask says who asked.
UPDATE record SET agent = (
    SELECT json_extract(asked.body, '$.what.agent') FROM record AS asked
    WHERE asked.subject = record.subject AND asked.seq = 1
) WHERE subject GLOB 'ask_*';

CREATE INDEX record_agent ON record (agent, position) WHERE agent IS NOT NULL;
