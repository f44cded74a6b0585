countersign people add-project billing
for person in ada grace linus; do countersign people add "$person" --project billing --project dev; done
countersign groups set legal --member ada
