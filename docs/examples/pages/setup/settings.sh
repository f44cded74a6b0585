countersign people add-project billing
for person in ada grace; do countersign people add "$person" --project billing --project dev; done
countersign groups set legal --member ada
