CREATE TABLE `order_holders` (
	`order_id` integer PRIMARY KEY NOT NULL,
	`buyer` text NOT NULL,
	`is_guest` integer NOT NULL,
	`address_key` text NOT NULL,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `order_holders_by_buyer` ON `order_holders` (`buyer`);--> statement-breakpoint
CREATE INDEX `order_holders_by_address` ON `order_holders` (`address_key`);
