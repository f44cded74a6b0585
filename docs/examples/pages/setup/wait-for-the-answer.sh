printf '#!/bin/sh\necho deployed\n' >deploy.sh
chmod +x deploy.sh
ASK=$(countersign ask "Deploy v2.1?" --approve --json | jq -r .id)
