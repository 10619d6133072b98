ALTER TABLE `webhook_endpoints` ADD `old_secrets` text;
