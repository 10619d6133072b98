CREATE TABLE `gateway_customers` (
	`user_id` integer NOT NULL,
	`gateway` text NOT NULL,
	`livemode` integer NOT NULL,
	`customer_id` text,
	`create_key` text NOT NULL,
	`email` text NOT NULL,
	`details` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `gateway`, `livemode`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "gateway_customers_gateway" CHECK("gateway_customers"."gateway" IN ('stripe', 'sandbox')),
	CONSTRAINT "gateway_customers_livemode" CHECK("gateway_customers"."livemode" IN (0, 1))
) STRICT;
--> statement-breakpoint
ALTER TABLE `payment_attempts` ADD `discount_coupon_id` text;--> statement-breakpoint
CREATE INDEX `payment_attempts_by_discount` ON `payment_attempts` (`id`) WHERE discount_coupon_id IS NOT NULL;
