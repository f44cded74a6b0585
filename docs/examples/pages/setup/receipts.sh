# Two requests with receipts: the page verifies the first and revokes it.
ASK=$(countersign ask "Refund €120.00 to Ada?" --approve --json | jq -r .id)
countersign answer "$ASK" approve
countersign receipt "$ASK" --out receipt.jws
curl -s "$URL/api/v1/asks/$ASK" -H "authorization: Bearer $AGENT" | jq .question >question.json
curl -s "$URL/api/v1/receipts/revocations" >revocations.jws
# The event is in a block a moment later.
until "$REAL_CURL" -sf "$URL/api/v1/asks/$ASK/receipt/proof" -H "authorization: Bearer $AGENT" >proof.json; do
  sleep 0.2
done
