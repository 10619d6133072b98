ALTER TABLE `order_holders` ADD `cart_key` text;
