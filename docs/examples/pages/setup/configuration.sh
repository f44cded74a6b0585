cp "$FOLDER/blocks/toml-1" "$FOLDER/etc/countersign/settings.toml"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
  -keyout "$FOLDER/etc/countersign/key.pem" -out "$FOLDER/etc/countersign/cert.pem"
