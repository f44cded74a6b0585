cp "$FOLDER/blocks/toml-1" people.toml
