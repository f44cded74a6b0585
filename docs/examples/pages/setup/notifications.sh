countersign notices add sms:+4930123456
countersign notices add email:ada@example.com
