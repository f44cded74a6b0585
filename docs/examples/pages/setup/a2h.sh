# A conversation, which the page continues.
curl -s -X PUT "$URL/api/v1/agents/agent_dev" -H "authorization: Bearer $HUMAN" --json '{
  "project": "dev", "owner": "user_dev", "conversations": true}'
TALK=$(curl -s "$URL/api/v1/agents/agent_dev/conversations" -H "authorization: Bearer $HUMAN" \
  --json '{"text": "Please refund order 7"}' | jq -r .id)
