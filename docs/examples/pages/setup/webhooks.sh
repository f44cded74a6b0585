countersign people add-agent refund-bot --project dev --owner user_dev
