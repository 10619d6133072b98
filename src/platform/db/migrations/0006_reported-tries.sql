ALTER TABLE `gateway_subscriptions` ADD `reported_try` text;
