countersign people add-project billing
