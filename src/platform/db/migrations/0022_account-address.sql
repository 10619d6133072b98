ALTER TABLE `users` ADD `address` text;
