countersign people add ada --name "Ada Lovelace" --project dev
