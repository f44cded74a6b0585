-- How many uploads somebody has of which nothing is made, finished or not, is bounded.
DROP INDEX upload_open;
CREATE INDEX upload_unused ON upload (owner) WHERE NOT used AND NOT given_up;
