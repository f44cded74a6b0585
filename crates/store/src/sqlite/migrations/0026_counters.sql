-- The program counts open requests and their bytes itself, in the same transaction and once for all
-- requests of a commit. The triggers wrote five rows and parsed the state for each new request.
DROP TRIGGER usage_listed;
DROP TRIGGER usage_unlisted;
DROP TRIGGER usage_asked;
DROP TRIGGER usage_changed;
