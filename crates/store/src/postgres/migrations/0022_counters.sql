-- The statement that writes a batch counts its new requests itself. The triggers searched the text of
-- each new request for its names, and ran two functions for each batch. Requests that change or leave
-- a list are still counted by triggers.
DROP TRIGGER usage_listed ON listing;
DROP TRIGGER usage_asked ON ask;
