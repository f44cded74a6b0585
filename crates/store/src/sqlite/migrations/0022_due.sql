-- Deadlines of asks that stay open when they pass are due soon too: the pages list them first.
INSERT OR IGNORE INTO deadline (scope, at, id)
    SELECT scope,
        CAST(round(unixepoch(json_extract(state, '$.asked.expires_at'), 'subsec') * 1000) AS INTEGER),
        listing.id
    FROM listing JOIN ask ON ask.id = listing.id
    WHERE (scope GLOB 'human/*' OR scope GLOB 'pool/*' OR scope GLOB 'kind/*')
        AND phase IN ('waiting', 'engaged')
        AND json_extract(state, '$.asked.expires_at') IS NOT NULL
        AND json_extract(state, '$.asked.on_expiry.on_expiry') = 'stay_open';
