ALTER TABLE `categories` ADD `updated_to` integer;
