ALTER TABLE `webhook_endpoints` ADD `full` integer DEFAULT false NOT NULL;
