cp "$FOLDER/blocks/json-1" message.json
