-- Deadlines of asks that stay open when they pass are due soon too: the pages list them first.
INSERT INTO deadline (scope, at, id)
    SELECT scope,
        round(extract(epoch FROM (state::json #>> '{asked,expires_at}')::timestamptz) * 1000)::bigint,
        listing.id
    FROM listing JOIN ask ON ask.id = listing.id
    WHERE (scope LIKE 'human/%' OR scope LIKE 'pool/%' OR scope LIKE 'kind/%')
        AND phase IN ('waiting', 'engaged')
        AND state::json #>> '{asked,expires_at}' IS NOT NULL
        AND state::json #>> '{asked,on_expiry,on_expiry}' = 'stay_open'
    ON CONFLICT DO NOTHING;
